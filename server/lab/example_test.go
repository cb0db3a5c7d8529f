package lab_test

import (
	"context"
	"fmt"
	"os"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// The server here is the test binary, which acts as an honest one. Two cases are run; all of them take about a minute.
func ExampleRun() {
	self, err := os.Executable()
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := lab.Run(context.Background(), lab.Config{
		Command: []string{self},
		Env:     []string{actAsServer + "=1"},
		Cases:   []string{"once/lose", "repeat/garble"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range report.Cases {
		fmt.Println(result.Name, result.Card().Duplicates, "email(s) too many")
	}
	fmt.Println(report.Verdict())
	// Output:
	// once/lose 0 email(s) too many
	// repeat/garble 0 email(s) too many
	// Clean in 2 cases: 0 duplicates, 0 false "sent", 0 false "failed", 0 unreadable errors, 0 unanswered calls; 2 of 3 calls came out well, 2 of 2 wanted replies reached the customer.
}
