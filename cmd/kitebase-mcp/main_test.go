package main_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	program "github.com/kitebase/kitebase-mcp/cmd/kitebase-mcp"
)

// actAsProgram is the environment variable that makes the test binary run main instead of tests. It does not begin with
// KITEBASE_, since the program warns of such variables that it does not know.
const actAsProgram = "TEST_ACT_AS_PROGRAM"

var update = flag.Bool("update", false, "rewrite the golden files with what the program does now")

func TestMain(m *testing.M) {
	if os.Getenv(actAsProgram) != "" {
		program.Main()
	}
	flag.Parse()
	// These tests wait for child processes and for faults far more than they compute; by default only as many of them
	// would run at once as there are processors.
	if err := flag.Set("test.parallel", "12"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
