// Package lab drives any MCP server that works on Kitebase's API through a catalogue of faults, and counts what it did to
// the customers and what it told the model.
//
//	           what the model asked             what reached Kitebase        what the customer got
//	lab ──────────── MCP, stdio ────▶ server ──────── HTTP ────▶ fakeapi ─────────▶ outbox
//	 ▲                                                             │                  │
//	 └──────────────────── compares the answers with ◀─────────────┴──────────────────┘
//
// Each case gets a fresh fake Kitebase at a loopback port, a fresh state directory and a fresh process of the server. The
// server is told where Kitebase is by KITEBASE_URL and KITEBASE_TOKEN in its environment, or by {url}, {token} and {state} in
// its arguments:
//
//	report, err := lab.Run(ctx, lab.Config{Command: []string{"node", "server.mjs", "--api", "{url}"}})
//	if err != nil { … }
//	err = report.WriteTable(os.Stdout)
//
// # How it judges
//
// [Rules] has the rules in words; the page and the documentation show the same ones. What an answer claims is in claim.go and
// wording.go, what cannot be read in readable.go, the comparison in judge.go: each rule has one place.
//
// # What it does not do
//
//   - It knows the five tools of this repository and their arguments, nothing else, and speaks to servers over stdio alone.
//   - It plays a model that repeats what did not come out well. It does not ask whether a text helps a real one.
//   - It finds what its cases show. A clean card is no proof.
//   - What a server refuses is no finding, so a server that always says no is clean: the card says how many calls came out
//     well, and how many wanted replies arrived, beside what it counts.
package lab
