package tools_test

import (
	"fmt"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/tools"
	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// The table is all that documentation and policies need to know.
func ExampleTable() {
	client, err := kitebase.New(kitebase.Config{BaseURL: "https://help.example.com"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range tools.Table(client) {
		fmt.Print(tool.Name, " ", tool.Effect)
		for _, argument := range tool.Arguments {
			fmt.Print(" ", argument.Name)
		}
		fmt.Println()
	}
	// Output:
	// search_help reads query
	// get_ticket reads ticket_id
	// search_tickets reads query status
	// assign_ticket sets ticket_id assignee
	// reply_to_customer sends ticket_id message
}

// Two calls are the same reply if their normalised arguments are.
func ExampleReplyArguments() {
	for _, arguments := range []string{
		`{"ticket_id": "KITE-142", "message": "Any update?"}`,
		`{"ticket_id": " kite-142 ", "message": "Any update?\n"}`,
	} {
		ticketID, message, err := tools.ReplyArguments(wireRequest(arguments))
		fmt.Println(idempotency.Key(ticketID, message), err)
	}
	// Output:
	// 9edb4ee9f524df95 <nil>
	// 9edb4ee9f524df95 <nil>
}
