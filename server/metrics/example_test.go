package metrics_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server/metrics"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// A call that was tried twice, as a scrape tells it.
func Example() {
	m := metrics.New(metrics.Config{Tools: []string{"get_ticket"}})
	m.Observe(resilience.Observation{Tool: "get_ticket", Attempts: 2, Took: 80 * time.Millisecond})

	scrape := httptest.NewRecorder()
	m.Handler().ServeHTTP(scrape, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(scrape.Body.String()) {
		if strings.HasPrefix(line, "kitebase_mcp_retries") || strings.HasPrefix(line, `kitebase_mcp_calls_total{result="ok"`) {
			fmt.Print(line)
		}
	}
	// Output:
	// kitebase_mcp_calls_total{result="ok",tool="get_ticket"} 1
	// kitebase_mcp_retries_total{tool="get_ticket"} 1
}
