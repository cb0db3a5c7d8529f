package doctor_test

import (
	"context"
	"fmt"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/doctor"
)

func Example() {
	config := doctor.Config{Server: server.Config{URL: "kitebase.example.com", NoDedupe: true}}
	var report doctor.Report
	for check := range doctor.Checks(context.Background(), config) {
		report.Add(check)
		if check.Name == "kitebase" || check.Name == "ledger" {
			fmt.Println(check.Name, check.Status, check.Found)
		}
	}
	fmt.Println(report.Summary())
	// Output:
	// kitebase skipped Its URL or token cannot be used.
	// ledger warning There is none (--dedupe=false): the same reply goes out as often as it is asked for.
	// Mend what is marked FAIL, then run this again: 2 ok, 1 warning(s), 1 failed, 4 skipped.
}
