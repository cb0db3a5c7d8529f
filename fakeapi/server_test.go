package fakeapi_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// A server that could not be closed while a request hung kept whole test runs alive.
func TestCloseEndsHeldRequests(t *testing.T) {
	for name, fault := range map[string]fakeapi.Fault{
		"hang":  {Kind: "hang"},
		"stall": {Kind: "stall"},
		"slow":  {Kind: "slow", Delay: 1 << 62},
	} {
		t.Run(name, func(t *testing.T) {
			server, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
			require.NoError(t, err)
			defer server.Close()
			require.NoError(t, server.SetFault("*", fault))
			// An open connection without a request must not hold Close up either.
			idle, err := net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
			require.NoError(t, err)
			defer idle.Close()

			failed := make(chan error)
			go func() {
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				response, err := client.Get(server.URL() + "/v1/tickets/KITE-142")
				if err == nil {
					_, err = io.ReadAll(response.Body)
					err = errors.Join(err, response.Body.Close())
				}
				failed <- err
			}()
			for len(server.Requests()) == 0 {
				// Nothing to wait on: the request is on its way through the kernel.
				runtime.Gosched()
			}
			server.Close()
			require.Error(t, <-failed)
			server.Close()
			require.Len(t, server.Requests(), 1)
			_, err = net.Dial("tcp", strings.TrimPrefix(server.URL(), "http://"))
			require.Error(t, err, "nobody listens any more")
		})
	}
}

func TestStart(t *testing.T) {
	server, err := fakeapi.Start(":0", fakeapi.Config{})
	require.NoError(t, err)
	defer server.Close()
	require.Regexp(t, `^http://127\.0\.0\.1:\d+$`, server.URL(), "a wildcard address becomes loopback")

	_, err = fakeapi.Start(strings.TrimPrefix(server.URL(), "http://"), fakeapi.Config{})
	require.ErrorContains(t, err, "fakeapi: listening")
	_, err = fakeapi.Start("127.0.0.1:0", fakeapi.Config{KeepRequests: -2})
	require.ErrorContains(t, err, "KeepRequests")
}

// The case that this help desk exists for: the reply is sent and its answer lost, and the caller repeats it.
func Example() {
	fake, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer fake.Close()
	if err := fake.SetFault("reply_to_customer", fakeapi.Fault{Kind: fakeapi.FaultLose, Times: 1}); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		request, _ := http.NewRequest("POST", fake.URL()+"/v1/tickets/KITE-142/replies", strings.NewReader(`{"message":"Any update?"}`))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Idempotency-Key", "9edb4ee9f524df95")
		request.GetBody = nil // or net/http repeats it by itself
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			fmt.Println("no answer")
			continue
		}
		fmt.Println(response.StatusCode, "replayed:", response.Header.Get("Idempotent-Replayed"))
		_ = response.Body.Close()
	}
	fmt.Println(len(fake.Outbox()), "email in", len(fake.Requests()), "requests")
	// Output:
	// no answer
	// 200 replayed: true
	// 1 email in 2 requests
}
