package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// childVariable makes the test binary a child: its standard input holds commands, one a line, each answered by one line.
const childVariable = "STORETEST_CHILD"

// Main runs the tests of a package that calls [RunShared], and looks for goroutines that they leave behind.
func Main(m *testing.M, open Opener) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child(open, os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

func child(open Opener, in io.Reader, out io.Writer) int {
	commands := map[string]func(idempotency.Store, string) string{
		"claim": claimOne, "work": work, "hold": hold, "stream": stream, "load": load,
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		command, rest, _ := strings.Cut(lines.Text(), " ")
		name, address, _ := strings.Cut(rest, " ")
		store, err := open(context.Background(), address)
		if err != nil {
			fmt.Fprintln(out, "error: opening:", err)
			continue
		}
		fmt.Fprintln(out, commands[command](store, name))
		if err := store.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "closing:", err)
			return 1
		}
	}
	return 0
}

// claimOne claims one call that others want as well.
func claimOne(store idempotency.Store, name string) string {
	_, written, err := store.Put(context.Background(), record(name), 0)
	switch {
	case err != nil:
		return "error: " + err.Error()
	case written:
		return "won"
	}
	return "lost"
}

// work claims and completes calls of its own and some that others want as well, and says how many it got.
func work(store idempotency.Store, name string) string {
	won := 0
	for i := range own + shared {
		fingerprint := fmt.Sprint(name, " ", i)
		if i >= own {
			fingerprint = fmt.Sprint("shared ", i)
		}
		claim := record(fingerprint)
		_, written, err := store.Put(context.Background(), claim, 0)
		if err == nil && written {
			won++
			_, written, err = store.Put(context.Background(), next(claim, idempotency.Finished), claim.Version)
			if err == nil && !written {
				return "error: a claim was taken from a living owner"
			}
		}
		if err != nil {
			return "error: " + err.Error()
		}
	}
	return fmt.Sprint("won ", won)
}

// hold claims a call and waits for its death.
func hold(store idempotency.Store, name string) string {
	claim := record(name)
	claim.Owner = store.Owner()
	if _, written, err := store.Put(context.Background(), claim, 0); err != nil || !written {
		return fmt.Sprintf("error: not claimed: %v", err)
	}
	fmt.Println("holds as", store.Owner())
	select {}
}

// stream claims and completes calls without end, and names each one that is written.
func stream(store idempotency.Store, name string) string {
	for i := 0; ; i++ {
		fingerprint := fmt.Sprint(name, " ", i)
		if err := cycle(store, fingerprint); err != nil {
			return "error: " + err.Error()
		}
		fmt.Println(fingerprint)
	}
}
