package main

import (
	"time"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// deskScenarios are those in which the help desk, or the way to it, breaks.
func deskScenarios() []scenario {
	return []scenario{
		{
			name:   "happy",
			breaks: "nothing breaks",
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "flaky",
			breaks: "search_help drops the connection once; the model sees no error",
			faults: []string{"search_help=drop:1"},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "slow",
			breaks: "get_ticket hangs on both tries; the model goes by search_tickets",
			faults: []string{"get_ticket=hang:2"},
			ending: "DONE (end_turn) after 5 step(s), 1 email(s) sent",
		},
		{
			name:   "duplicate",
			breaks: "the reply is sent but the answer is lost; the customer still gets one email",
			faults: []string{"reply_to_customer=lose:1"},
			ending: "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:    "no-keys",
			breaks:  "the same, but nobody honours keys and the server remembers nothing; the customer gets two emails",
			faults:  []string{"reply_to_customer=lose:1"},
			keyless: true,
			server:  []string{"--upstream-keys=false", "--dedupe=false"},
			ending:  "DONE (end_turn) after 5 step(s), 2 email(s) sent",
		},
		{
			name:    "no-keys-guarded",
			breaks:  "the same, but the server remembers and reads the ticket back; one email",
			faults:  []string{"reply_to_customer=lose:1"},
			keyless: true,
			server:  []string{"--upstream-keys=false"},
			ending:  "DONE (end_turn) after 4 step(s), 1 email(s) sent",
		},
		{
			name:   "deadline",
			breaks: "every answer takes 450ms and the run has 0.8s",
			faults: []string{"*=slow=450ms"},
			server: []string{"--attempt-timeout", "1s"},
			limits: agent.Config{Deadline: 800 * time.Millisecond},
			ending: "FAILED (deadline) after 3 step(s), 0 email(s) sent",
		},
	}
}
