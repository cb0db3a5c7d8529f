package main_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestEndInTheMiddleOfReply: a host closes the input, cancels, or ends the session while Kitebase works on a reply. What has
// begun is finished and recorded before the process ends, so that the next session repeats nothing.
func TestEndInTheMiddleOfReply(t *testing.T) {
	t.Parallel()
	signal := func(s syscall.Signal) func(*testing.T, *child, string) {
		return func(t *testing.T, c *child, _ string) {
			require.NoError(t, c.cmd.Process.Signal(s))
			c.wait()
		}
	}
	for name, end := range map[string]func(t *testing.T, c *child, id string){
		"end of input": func(_ *testing.T, c *child, _ string) { c.end() },
		"cancelled": func(_ *testing.T, c *child, id string) {
			c.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", id))
			c.end()
		},
		"SIGINT":  signal(syscall.SIGINT),
		"SIGTERM": signal(syscall.SIGTERM),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachUpstream(t, func(t *testing.T, keys bool) {
				s := newScene(t, keys)
				s.kitebase.fault(t, "reply_to_customer=slow=300ms:1")
				first := s.serve(t)
				id := first.send("reply_to_customer", replyTo(crashTicket, crashText))
				s.kitebase.arrived(1)
				pause(50 * time.Millisecond)
				end(t, first, id) // child checks that the exit code is 0
				require.Equal(t, []string{"rpl_001"}, s.kitebase.emailsTo(crashTicket))
				require.Equal(t, "done", s.only(t).State)

				again := s.serve(t).call("reply_to_customer", replyTo(crashTicket, crashText)).reply(t)
				require.True(t, again.AlreadySent)
				require.Equal(t, "rpl_001", again.ReplyID)
				require.Equal(t, []string{"rpl_001"}, s.kitebase.emailsTo(crashTicket))
			})
		})
	}
}
