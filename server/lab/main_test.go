package lab_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// actAsServer is the environment variable that makes the test binary be an MCP server instead of running tests.
const actAsServer = "TEST_LAB_SERVER"

var update = flag.Bool("update", false, "rewrite the golden files with what the lab says now")

func TestMain(m *testing.M) {
	if os.Getenv(actAsServer) != "" {
		os.Exit(serve(os.Args[1:], os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}
