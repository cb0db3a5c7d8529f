package kitebase_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// A reply whose answer is lost is neither sent nor failed: the error says so.
func ExampleClient_Reply() {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway) // whatever stood behind the gateway may have sent the email
	}))
	defer upstream.Close()

	client, err := kitebase.New(kitebase.Config{BaseURL: upstream.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()

	_, err = client.Reply(ctx, kitebase.Reply{TicketID: "KITE-142", Message: "Any update?", Key: "9edb4ee9f524df95"})
	var failure *kitebase.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Reason())
		fmt.Println("outcome:", failure.Outcome())
		fmt.Println("another try could end differently:", failure.Retryable())
	}
	// Output:
	// Kitebase answered 502
	// outcome: unknown
	// another try could end differently: true
}
