// Package tools is the table of the five tools through which a model works in the help desk.
//
//	arguments ─▶ bind ─▶ kitebase.Client ─▶ word ─▶ result
//	(as they came)  │        │
//	                refusal  error of the client, reworded where the tool knows more
//
// A tool is one line of [Table]. Its [Effect] becomes the annotations by which hosts and the layers of the server decide
// what may be repeated; its arguments become the input schema and the checks of a call; the type of its result becomes
// the output schema. So none of them can drift apart.
//
//	client, err := kitebase.New(kitebase.Config{BaseURL: "https://help.example.com"})
//	…
//	for _, tool := range tools.New(client) {
//		mcpServer.AddTool(tool.Tool, guard(tool.Handler))
//	}
//
// Handlers return Go errors, which say by methods (Kind, Reason, Outcome …) what happened; whoever serves the tools must
// make results of them, or the host sees a protocol error. A success is one JSON object, as structuredContent and as
// text: some hosts show a model only the one, some only the other. What people wrote is a JSON string in each, out of
// which no text gets, is labelled as data, and holds only what a person can see, see package legible; that something was
// removed is said. The text is the object on one line, behind the note on a line of its own if there is one, so that nobody
// but this server can begin a line. Comparisons are made with what Kitebase has, not with what is shown.
//
// The package does not retry, wait, remember or log, and it sends one request per call.
package tools
