package tools

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

const (
	maxMessageBytes       = 64 << 10 // counted after stripping: it is what would be sent
	maxQueryCharacters    = 500
	maxAssigneeCharacters = 100
)

// Argument is one argument of a tool: what the schema says of it, and how the value of a call is checked. All arguments
// are text.
type Argument struct {
	// Name is the name in the schema and in calls, matched exactly.
	Name string
	// Description is written for a model.
	Description string
	// Example is a value that is accepted.
	Example string
	// Optional arguments may be left out, null or blank, which all mean the same.
	Optional bool

	// blank says that a blank value is accepted though the argument must be given.
	blank bool
	// help is the sentence that says how to mend a missing, blank or mistyped value.
	help string
	// check returns the normalised value, or a [refusal]. It is not asked about blank values.
	check func(text string) (string, error)
}

func ticketIDArgument() Argument {
	return Argument{
		Name:        "ticket_id",
		Description: "The id of the ticket, such as KITE-142.",
		Example:     "KITE-142",
		help:        ticketIDForm,
		check:       checkTicketID,
	}
}

func messageArgument() Argument {
	return Argument{
		Name:        "message",
		Description: "The full text of the email, at most 64 KiB. White space around it is removed.",
		Example:     "Please sign in once from the SSO page, then try again.",
		help:        "Give the full text of the reply.",
		check:       checkMessage,
	}
}

func assigneeArgument() Argument {
	return Argument{
		Name:        "assignee",
		Description: "The name of the agent who takes the ticket, such as priya.",
		Example:     "priya",
		help:        "Give the name of an agent, such as priya.",
		check:       atMost(maxAssigneeCharacters, "assignee"),
	}
}

func helpQueryArgument() Argument {
	return Argument{
		Name:        "query",
		Description: "A few words to search for.",
		Example:     "locked out after SSO change",
		help:        "Give a few words to search for.",
		check:       atMost(maxQueryCharacters, "query"),
	}
}

// ticketQueryArgument may be blank; [handlers.searchTickets] accepts that only together with a status.
func ticketQueryArgument() Argument {
	return Argument{
		Name:        "query",
		Description: `A few words to search for. "" together with a status lists all tickets of that status.`,
		Example:     "locked out after SSO change",
		blank:       true,
		help:        blankTicketQuery,
		check:       atMost(maxQueryCharacters, "query"),
	}
}

func statusArgument() Argument {
	return Argument{
		Name:        "status",
		Description: "Only tickets with this status: " + statusList() + ". Leave it out for any.",
		Example:     "in_progress",
		Optional:    true,
		help:        "Leave it out for any status.",
		check:       checkStatus,
	}
}

func checkTicketID(text string) (string, error) {
	id := strings.Trim(text, " \t")
	if !isTicketID(id) {
		return "", refuse("The ticket_id is not a ticket id. %s Give the id alone, not a title or an address; "+
			"search_tickets finds it.", ticketIDForm)
	}
	return strings.ToUpper(id), nil
}

// isTicketID reports whether id is KITE-, in either case, and 1 to 9 digits. It keeps to ASCII: strings.EqualFold and
// strings.ToUpper also take the Kelvin sign for a K, and a digit of another script is no digit here.
func isTicketID(id string) bool {
	const upper, lower = "KITE-", "kite-"
	if len(id) <= len(upper) || len(id) > len(upper)+9 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		letter := i < len(upper) && (c == upper[i] || c == lower[i])
		digit := i >= len(upper) && '0' <= c && c <= '9'
		if !letter && !digit {
			return false
		}
	}
	return true
}

func checkMessage(text string) (string, error) {
	message := idempotency.Strip(text)
	if len(message) > maxMessageBytes {
		return "", refuse("The message is too long: %d bytes, and Kitebase takes at most %d. Shorten it.",
			len(message), maxMessageBytes)
	}
	if i := strings.IndexFunc(message, isUnsendable); i >= 0 {
		return "", refuse("The message holds a control character, which an email cannot carry. Leave it out.")
	}
	if !strings.ContainsFunc(message, isVisible) {
		return "", refuse("The message has nothing that can be seen. Give the text to send.")
	}
	return message, nil
}

// isUnsendable reports whether r is a control character other than tab and line ends.
func isUnsendable(r rune) bool { return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) }

// isVisible reports whether r leaves a mark: no space, no control or format character such as U+200B.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r)
}

// atMost returns the check of a short text.
func atMost(limit int, name string) func(string) (string, error) {
	return func(text string) (string, error) {
		text = idempotency.Strip(text)
		if n := utf8.RuneCountInString(text); n > limit {
			return "", refuse("The %s is too long: %d characters, and at most %d are taken. Shorten it.", name, n, limit)
		}
		return text, nil
	}
}

// statuses are the words that Kitebase knows, in the order in which a ticket goes through them.
func statuses() []string { return []string{"open", "in_progress", "waiting", "resolved", "closed"} }

func statusList() string {
	all := statuses()
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// checkStatus accepts the words as people and models write them: In Progress, in-progress.
func checkStatus(text string) (string, error) {
	status := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(idempotency.Strip(text)))
	if !slices.Contains(statuses(), status) {
		return "", refuse("There is no such status. Give %s, or leave it out for any status.", statusList())
	}
	return status, nil
}
