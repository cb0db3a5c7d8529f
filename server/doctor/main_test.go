package doctor_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/server"
)

// actAs names what the test binary does instead of running tests: serve like the program, or like one that is broken.
const actAs = "DOCTOR_TEST_ACT_AS"

func TestMain(m *testing.M) {
	act := os.Getenv(actAs)
	if act == "" {
		goleak.VerifyTestMain(m)
		return
	}
	switch act {
	case "dies":
		fmt.Fprintln(os.Stderr, "first words\nthe floor is lava, tok-secret\x1b[31m")
		os.Exit(3)
	case "lacks tools":
		serve(server.Config{Tools: []string{server.ReadOnly}})
	case "ends badly":
		serve(server.Config{})
		os.Exit(4)
	case "good":
		serve(server.Config{})
	}
}

func serve(config server.Config) {
	s, err := server.New(config)
	if err == nil {
		defer s.Close()
		err = s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
