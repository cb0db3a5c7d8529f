package simulation_test

import (
	"fmt"
	"strings"
)

// The tools, as they are named on the wire.
const (
	toolReply  = "reply_to_customer"
	toolAssign = "assign_ticket"
	toolGet    = "get_ticket"
	toolSearch = "search_tickets"
	toolHelp   = "search_help"
)

// How many tickets, texts for each, and ways to write a text there are.
const (
	tickets = 2
	texts   = 3
	forms   = 4
)

// ticketID names a ticket of the seed data.
func ticketID(n int) string { return []string{"KITE-142", "KITE-141"}[n%tickets] }

// lastText is a text of the finale, after the events are over.
const lastText = texts

// writing returns a text in one of its forms, which are all the same reply.
func writing(text, form int) string {
	plain := fmt.Sprintf("Text %c.\nThe café is open.", 'A'+rune(text))
	switch form % forms {
	case 1:
		return strings.ReplaceAll(plain, "\n", "\r\n")
	case 2:
		return "  " + plain + "\n\n"
	case 3:
		return strings.ReplaceAll(plain, "é", "e\u0301")
	}
	return plain
}

// textOf finds out which text a message is. It knows nothing of fingerprints: the product may not judge itself.
func textOf(body string) int {
	first, _, _ := strings.Cut(strings.TrimSpace(body), ".")
	letter, found := strings.CutPrefix(first, "Text ")
	if !found || len(letter) != 1 {
		return -1
	}
	return int(letter[0] - 'A')
}
