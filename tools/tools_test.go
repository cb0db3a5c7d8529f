package tools_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools"
)

// testdata/tools.json is what a host reads in tools/list.
func TestToolsList(t *testing.T) {
	var list []mcp.Tool
	for _, tool := range tools.New(nil) {
		list = append(list, tool.Tool)
	}
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(list))
	if *update {
		require.NoError(t, os.WriteFile("testdata/tools.json", got.Bytes(), 0o600))
	}
	want, err := os.ReadFile("testdata/tools.json")
	require.NoError(t, err)
	require.Equal(t, string(want), got.String())
}

func TestEveryTool(t *testing.T) {
	for _, tool := range tools.Table(nil) {
		t.Run(tool.Name, func(t *testing.T) {
			listed := tool.MCP()
			require.Less(t, len(listed.Description), 1000)
			require.Equal(t, true, listed.Meta.AdditionalFields["anthropic/alwaysLoad"])
			require.Equal(t, listed.Title, listed.Annotations.Title)
			compile(t, listed.RawInputSchema)
			compile(t, listed.RawOutputSchema)
		})
	}
}

// Hosts decide by the hints what needs permission and what they may repeat by themselves.
func TestEffects(t *testing.T) {
	type hints struct{ readOnly, idempotent, destructive, openWorld bool }
	want := map[string]struct {
		effect string
		hints  hints
	}{
		"search_help":       {"reads", hints{readOnly: true, idempotent: true}},
		"get_ticket":        {"reads", hints{readOnly: true, idempotent: true}},
		"search_tickets":    {"reads", hints{readOnly: true, idempotent: true}},
		"assign_ticket":     {"sets", hints{idempotent: true}},
		"reply_to_customer": {"sends", hints{destructive: true, openWorld: true}},
	}
	table := tools.Table(nil)
	require.Len(t, table, len(want))
	for _, tool := range table {
		set := tool.MCP().Annotations
		require.Equal(t, want[tool.Name].effect, tool.Effect.String(), tool.Name)
		require.Equal(t, want[tool.Name].hints,
			hints{*set.ReadOnlyHint, *set.IdempotentHint, *set.DestructiveHint, *set.OpenWorldHint}, tool.Name)
	}
}

// The input schema must not refuse what the handlers take: hosts may check it before they call.
func TestInputSchemas(t *testing.T) {
	for name, test := range map[string]struct {
		tool, arguments string
		valid           bool
	}{
		"null status":    {"search_tickets", `{"query":"sso","status":null}`, true},
		"blank query":    {"search_tickets", `{"query":"","status":"In Progress"}`, true},
		"untidy id":      {"get_ticket", `{"ticket_id":" kite-142 "}`, true},
		"no id":          {"get_ticket", `{}`, false},
		"another name":   {"get_ticket", `{"ticket_id":"KITE-1","id":"KITE-1"}`, false},
		"number":         {"get_ticket", `{"ticket_id":142}`, false},
		"reply":          {"reply_to_customer", `{"ticket_id":"KITE-1","message":"Hello"}`, true},
		"without a text": {"reply_to_customer", `{"ticket_id":"KITE-1"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := compile(t, tool(nil, test.tool).MCP().RawInputSchema).Validate(parse(t, test.arguments))
			require.Equal(t, test.valid, err == nil, "%v", err)
		})
	}
}

func compile(t testing.TB, schema json.RawMessage) *jsonschema.Schema {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	require.NoError(t, compiler.AddResource("schema.json", parse(t, string(schema))))
	compiled, err := compiler.Compile("schema.json")
	require.NoError(t, err)
	return compiled
}

func parse(t testing.TB, text string) any {
	value, err := jsonschema.UnmarshalJSON(bytes.NewBufferString(text))
	require.NoError(t, err, text)
	return value
}
