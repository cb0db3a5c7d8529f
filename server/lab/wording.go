package lab

// How people say that nobody knows, or that it was done before, stands in this file. A text is read clause by clause, so that a
// "not" touches only what it stands with. What is left open is decided in favour of the server, but a plain "it was not sent" or
// "an unknown error" leaves nothing open.

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// wording are the patterns, for clauses in lower case.
type wording struct {
	goesOn, ends *regexp.Regexp // a line that goes on in the next; the end of a clause

	aside     []*regexp.Regexp // looks like doubt, and is none
	doubt     *regexp.Regexp   // says that it may have happened, or is to be looked up
	unknowing *regexp.Regexp   // says that something is not known: the outcome, or just the reason
	reason    *regexp.Regexp
	outcome   *regexp.Regexp
	field     *regexp.Regexp // an outcome in a text that is written like a program's

	before    *regexp.Regexp // says that it was made before, if nothing in front denies it
	duplicate *regexp.Regexp // says that this call is one, if nothing in the clause denies it
	denies    *regexp.Regexp
	feared    *regexp.Regexp // a duplicate that is not there
	heldBack  *regexp.Regexp // says that it was not made, perhaps since it was made before
}

// wordings are compiled when they are first needed: a server never needs them, and should not start later for them.
var wordings = sync.OnceValue(func() wording {
	const (
		adverbs = `(?: (?:well|still|already|also|even|yet|now|then|nevertheless|just|possibly|or may not|or might not))*`
		modal   = `\b(?:(?:may|might)(?: not)?|could)` + adverbs
		effect  = `(?:sent|delivered|gone|went|go|got|reached|arrived|received|made|done|through|on (?:its|the) way|happened|assigned|posted|accepted|processed|applied)`
		again   = `(?:again|once more|twice|a second time)`
		sent    = `(?:sent|made|delivered|repeated|done)`
		checks  = `(?:confirm(?:ed)?|verif(?:y|ied)|validated?|check(?:ed)?)`
		access  = `(?:token|key|certificate|credentials?|signature|identity|login|password|host|arguments?|input|address|id|settings|connection|network|spelling|url|parameters?)`
		named   = `(?:ticket|agent|assignee|tool|user|customer|host|article|method)`
		cannot  = `(?:can(?:not| not|'t)|could(?: not|n't))`
		knowing = `(?:confirm(?:ed)?|verif(?:y|ied)|checked|know|known|sure|certain|clear|determined?|establish(?:ed)?|ascertain(?:ed)?|find out|found out|` +
			`settled?|ruled? out|prove[nd]?|guaranteed?|learn|(?:tell|say|see|check)(?: (?:whether|if|that|what|for)\b|$))`
	)
	anyOf := func(alternatives ...string) *regexp.Regexp {
		return regexp.MustCompile(`(?:` + strings.Join(alternatives, `)|(?:`) + `)`)
	}
	return wording{
		goesOn: anyOf(`[ \t\r]*\n[ \t\r]*([a-z])`),
		ends: anyOf(`[.!?;:,](?:\s|$)`, `[()\n—–]`,
			`\s(?:-|because|since|but|and|so|although|though|while|however|or else|as (?:it|the|this|that|an?))\s`),
		aside: []*regexp.Regexp{
			// You may have to sign in. Kitebase may have an outage.
			anyOf(modal + ` have (?:to|an?|no|some|any|too|problems?|trouble|issues|timed|expired)\b`),
			// Nothing could be sent.
			anyOf(`\b(?:nothing|none|neither|never|no(?: \S+){1,4}) could\b`),
			// You may send it again. The call may be repeated once more.
			anyOf(`\byou (?:may|might|can|could)`+adverbs+` (?:safely )?(?:try|send|repeat|retry|make|call|ask|do|use|need|want|check|wait|reply)\b`,
				modal+` (?:be )?(?:safely )?\w+ (?:it )?`+again+`\b`, `\b(?:may|might|could) only\b`),
			// An unknown error. Ticket KITE-412 is not known.
			anyOf(`\bunknown (?:\w+ )?(?:error|exception|failure|problem|issue|fault|code|type|field|authority|server|`+named+`|`+access+`)\b`,
				`\b`+named+`(?: \S+)? (?:is |was )?(?:unknown|not known)\b`, `\b(?:does not|doesn't) know (?:of )?(?:the |this |that |an? |any )?(?:kite\S+|`+named+`)\b`),
			// Could not verify the token. Check your arguments before you retry.
			anyOf(`\b`+checks+` (?:the |your |its |this |that |an? )*(?:\w+ )?`+access+`\b.*`, `\b`+access+`(?: \S+)? (?:is not|was not|`+cannot+` be) `+checks+`\b`),
			// Wait a minute before you retry.
			anyOf(`\b(?:wait|pause|sleep|fix|change|correct|sign|log)\b.*\bbefore\b.*`),
		},
		doubt: anyOf(
			modal+` have\b`,
			modal+` (?:be|get)`+adverbs+` (?:`+effect+`|under ?way|in progress|pending|queued|(?:in|with) (?:the|\w+'s) (?:\w+ )?(?:outbox|queue|inbox|customer)|there|out)\b`,
			modal+` (?:arrive|reach|go (?:out|through)|come through|show up|turn up|appear|deliver|take effect|send)\b`,
			`\b(?:possibly|perhaps|maybe|probably|likely)\b.*\b(?:`+effect+`|inbox|outbox)\b`, `\b`+effect+`\b.*\b(?:possibly|perhaps|maybe|probably)\b`,
			`\bwhether\b.*\b(?:`+effect+`|reply|email|message|change|it|succeeded|worked)\b`,
			`\b(?:check|see|verify|confirm|find out|look|make sure|ask|determine|know|say|tell|sure|certain|clear|known)\b.* if\b.*\b`+effect+`\b`,
			`\bbefore (?:you )?(?:re-?(?:peat|try|send|do)|(?:send|try|call|mak|do)\w*(?: \w+){0,2} `+again+`)`,
			modal+` (?:cause|create|lead to|result in|be) (?:an? )?(?:second|duplicate)`, `\b(?:chance|possible|possibility) (?:that|of)\b`,
			`\bbefore (?:you have |having )?check`, `\b(?:check|look)\b.* first\b`,
		),
		unknowing: anyOf(
			`\b(?:`+cannot+`|(?:un|not )able to|impossible to|no way (?:to|of)|(?:do|does|did|was|is|am|are|were|has|have)n't|not|fail(?:s|ed)? to|hard to|nobody|no one|neither)`+
				`(?: (?:be|been|yet|currently|reliably|fully|definitely|entirely|quite|safely|now|really))* `+knowing+`(?:\b|$)`,
			`\b(?:unconfirmed|unverified|uncertain|unsure|unclear|undetermined|indeterminate|inconclusive|ambiguous|in doubt)\b`,
			`\b(?:is|was|are|it's|remains?|stays?|still|left)(?: \w+)? unknown\b`, `\bunknown (?:whether|if|outcome|result|fate|state|delivery)\b`,
			`\b(?:no|without(?: an?| any)?) (?:confirmation|proof|certainty)\b`,
		),
		reason:  anyOf(`\b(?:why|reasons?|causes?|caused)\b`),
		outcome: anyOf(`\b(?:whether|if|outcome)\b`),
		field:   anyOf(`\b(?:outcome|fate|delivery)["']*\s*[:=]?\s*["']*(?:unknown|unconfirmed|uncertain)\b`),
		before: anyOf(
			`\balready (?:been )?(?:successfully )?(?:sent|delivered|done|made|replied|answered|posted|assigned|completed|processed|handled|received|gone (?:out|through)|went (?:out|through))\b`,
			`\balready (?:has|have|got|received) (?:it|this|that|the (?:reply|email|message|answer))\b`,
			`\b(?:was|were|been|is) (?:sent|delivered|made|done) (?:before|earlier|previously)\b`, `\bpreviously (?:sent|delivered)\b`,
		),
		duplicate: anyOf(`\b(?:is|was|as|be|it's|this|are) (?:an? |the )?(?:\w+ )?duplicate\b`, `^(?:an? |the |exact )*duplicate\b`,
			`\bduplicate of (?:an?|the|your|what|one)\b`, `\bduplicate(?: \w+)? (?:(?:was|is) )?(?:suppressed|ignored|skipped|rejected|refused|detected|dropped|blocked|prevented)\b`),
		denies: anyOf(`\b(?:no|not|nothing|never|none|neither|nor|nobody|without|cannot|unable|if|unless|whether|in case|may|might|could|would|can)\b`, `n't\b`),
		feared: anyOf(`\b(?:avoid|prevent|cause|risk|create|send)\w*\b`),
		heldBack: anyOf(`\bnot `+sent+` `+again+`\b`, `\bno second (?:reply|email|message)\b`, `\bnot `+sent+` to (?:avoid|prevent)\b`,
			`\bduplicate(?: \w+)? (?:was|is|has been)(?: \w+)? not `+sent+`\b`),
	}
})

// clauses returns the clauses of a text in lower case.
func (w wording) clauses(text string) []string {
	text = strings.ToLower(w.goesOn.ReplaceAllString(strings.ReplaceAll(text, "’", "'"), " $1"))
	var all []string
	for _, clause := range w.ends.Split(text, -1) {
		if clause = strings.Join(strings.Fields(clause), " "); clause != "" {
			all = append(all, clause)
		}
	}
	return all
}

// tellsDoubt reports whether the text leaves open whether the change was made.
func tellsDoubt(text string) bool {
	w := wordings()
	if w.field.MatchString(strings.ToLower(text)) {
		return true
	}
	for _, clause := range w.clauses(text) {
		for _, aside := range w.aside {
			clause = aside.ReplaceAllString(clause, "")
		}
		about := !w.reason.MatchString(clause) || w.outcome.MatchString(clause) // not why it failed
		if w.doubt.MatchString(clause) || about && w.unknowing.MatchString(clause) {
			return true
		}
	}
	return false
}

// tellsBefore reports whether the text says, and denies nowhere, that the change was made before.
func tellsBefore(text string) bool {
	w := wordings()
	for _, clause := range w.clauses(text) {
		if at := w.before.FindStringIndex(clause); at != nil && !w.denies.MatchString(clause[:at[0]]) {
			return true
		}
		if w.duplicate.MatchString(clause) && !w.denies.MatchString(clause) && !w.feared.MatchString(clause) {
			return true
		}
	}
	return false
}

// tellsHeldBack reports whether the text says that the change was not made again, which leaves open whether it was made at all.
func tellsHeldBack(text string) bool {
	w := wordings()
	return slices.ContainsFunc(w.clauses(text), w.heldBack.MatchString)
}
