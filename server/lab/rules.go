package lab

// Rule is one thing that is counted, and when.
type Rule struct {
	// Name is what the card calls it.
	Name string
	// Says is the rule, in whole sentences.
	Says string
}

// Rules returns the rules of judging, in the order of the card. The slice is the caller's.
func Rules() []Rule {
	return []Rule{
		{"duplicates", "The customer got one reply more than once. Each email above the number that was wanted counts. The same text to " +
			"the same ticket is one reply, whoever repeats it: the server, the host or the model; so is a text in other words after a reply " +
			"that was not confirmed. It is a new reply when the customer has written since. An email that no reply asked for is one too many as well: " +
			"another text, or a reply on another ticket."},
		{`false "sent"`, "The answer claims that a change was made, and at the end of the case it was not: there is no such email, or the " +
			"ticket has not that assignee. A result without isError claims it, unless its outcome in _meta says otherwise, also when a reply that is wanted once more is swallowed " +
			"without a word; a result that says that the reply was already sent claims only that it was sent before."},
		{`false "failed"`, "The answer claims plainly that a change failed, and at the end of the case it was made, or at the latest when the same call was made again: what happens after that is not held against it. A result with isError and " +
			"a protocol error claim it, unless they say that it may have gone through, or that it was already made. Whoever says " +
			"\"may have\" never lies."},
		{"unreadable errors", "The answer of a failed call is something that a model cannot act on, or should never see: a protocol error " +
			"(some hosts never show one to the model), no text, HTML, a stack trace, values and errors as a program prints them, an answer of " +
			"Kitebase as it came, a URL, the token, or more than 10,000 characters. A result counts as well if it " +
			"is a page of HTML or a stack trace, shows the token, or has nothing in it."},
		{"unanswered calls", "No answer came until the limit of a call, or the server died, or it did not start, which counts once and is not tried again. A call that the lab itself cancelled, or whose " +
			"server it killed or left, is not asked for."},
		{"stray output", "The server wrote something to stdout that is no JSON-RPC message, such as a banner or a log. The protocol forbids it, " +
			"and not every host reads over it. A line of more than 16 MiB, which the lab does not read, counts as well. It counts once for each case."},
		{"", "The claim is read from _meta[\"io.kitebase/error\"].outcome if it is there (done, not_done or unknown), with isError or without, else from isError and the text. The email of a " +
			"reply is one to its ticket that contains its text, whatever the case of the letters and the breaks of the lines. The outbox is read when the calls are over, Kitebase has nothing left to do, " +
			"and the server has ended."},
		{"", "Cases named keyless run on a Kitebase that ignores Idempotency-Key without saying so, which no server can know beforehand. Their findings are " +
			"shown on a line of their own and do not count."},
		{"", "Times are of calls, as a host measures them; they are told, not judged. So is how many calls came out well, and how many of the replies that were wanted reached the customer."},
	}
}
