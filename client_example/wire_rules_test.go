package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPairing: the validator must see each breach, or the tests that lean on it show nothing.
func TestPairing(t *testing.T) {
	const (
		user   = `{"role":"user","content":[{"type":"text","text":"Go."}]}`
		calls  = `{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","input":{}},{"type":"tool_use","id":"b","input":{}}]}`
		result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"Hm."}]}`
		says   = `{"role":"assistant","content":[{"type":"text","text":"Wait."}]}`
	)
	for name, test := range map[string]struct{ conversation, breach string }{
		"valid":                    {user + "," + calls + "," + result, ""},
		"a turn that was paused":   {user + "," + says + "," + says + "," + user, ""},
		"one that is paused":       {user + "," + says, ""},
		"nothing":                  {"", "begin with the user"},
		"the assistant begins":     {says + "," + user, "begin with the user"},
		"calls at the end":         {user + "," + calls, `the last calls ["a" "b"] have no results`},
		"the user twice":           {user + "," + user, "twice in a row"},
		"no results":               {user + "," + calls + "," + user, `answers the calls [], but open are ["a" "b"]`},
		"one result of two":        {user + "," + calls + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`, "but open are"},
		"one result twice":         {user + "," + calls + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"a"}]}`, "but open are"},
		"results of nothing":       {result, "but open are []"},
		"text before results":      {user + "," + calls + `,{"role":"user","content":[{"type":"text","text":"Hm."},{"type":"tool_result","tool_use_id":"a"}]}`, "behind something else"},
		"an id again":              {user + "," + calls + "," + result + "," + calls + "," + result, `the id "a" is used twice`},
		"an empty message":         {`{"role":"user","content":[]}`, "message 0 is empty"},
		"an empty text":            {`{"role":"user","content":[{"type":"text","text":""}]}`, "an empty text"},
		"input that is no object":  {user + `,{"role":"assistant","content":[{"type":"tool_use","id":"a","input":null}]},` + user, "no object"},
		"a call of the user":       {`{"role":"user","content":[{"type":"tool_use","id":"a","input":{}}]}`, "a tool_use of the user"},
		"a result of nobody's own": {user + `,{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"a"}]},` + user, "a tool_result of the assistant"},
	} {
		t.Run(name, func(t *testing.T) {
			var conversation []wireMessage
			require.NoError(t, json.Unmarshal([]byte("["+test.conversation+"]"), &conversation))
			err := pairing(conversation)
			if test.breach == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.breach)
		})
	}
}
