package resilience

// The words that a model reads when a call fails stand in this file and nowhere else. Their rules:
//
//   - They begin with "Error:" and name the tool. (A not_found sentence names the thing instead.)
//   - They say what happened, whether it ran, how often it was tried, and what may help.
//   - Facts stand in the past tense, advice in the imperative.
//   - One line of plain words, under 600 characters, valid UTF-8: no stack, no URL, no Go syntax, no HTML, no secret.
//   - Never "failed" without "may have gone through" when it may have; never "sent" when that is not certain.
//
// What only the handler can know comes in as its error's Reason. Every variant is in testdata/words.txtar.

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// maxWords is the most bytes that a text for the model has: hosts cut long errors, and a long one helps nobody.
const maxWords = 599

const mayHaveHappened = "The change may have gone through anyway, so check before you repeat it."

// words knows the name of the upstream.
type words struct{ upstream string }

// ending is all that the words of a failed call depend on.
type ending struct {
	tool     string
	err      error
	kind     Kind
	attempts int
	outcome  idempotency.Outcome
	write    bool
}

// failure returns the whole text for a failed call.
func (w words) failure(e ending) string {
	if told := (*Failure)(nil); errors.As(e.err, &told) && told.whole {
		return plain(told.Says)
	}
	if e.kind == NotFound && isSentence(reasonOf(e.err)) && e.outcome != idempotency.Unknown {
		return plain("Error: " + reasonOf(e.err))
	}
	if e.attempts == 0 {
		return plain(joinWords("Error: "+e.tool+" was not run: "+asSentence(w.reason(e.err)), w.advice(e), w.effect(e)))
	}
	what := w.reason(e.err)
	if !isSentence(what) {
		what += " (" + w.class(e.kind) + ")."
	}
	head := fmt.Sprintf("Error: %s failed after %s: %s", e.tool, tries(e.attempts), what)
	if spent := (unretried{}); errors.As(e.err, &spent) {
		head += " It was not retried, because " + w.broadly(e.kind) + "."
	}
	return plain(joinWords(head, w.advice(e), w.effect(e)))
}

// broadly says why the retry budget is spent. An upstream that limits requests works.
func (w words) broadly(kind Kind) string {
	if kind == RateLimited {
		return "too many calls have failed lately"
	}
	return w.upstream + " is failing broadly"
}

// advice returns what may help, by kind.
func (w words) advice(e ending) string {
	switch e.kind {
	case Unavailable, TimedOut, BadAnswer:
		if e.attempts == 0 {
			return ""
		}
		return w.upstream + " may be slow or down."
	case RateLimited, Busy:
		if wait := retryAfter(e.err); wait > 0 {
			return "Wait " + seconds(wait) + " before you try again."
		}
		return "Wait a little before you try again."
	case Denied:
		return dontRepeat(e) + " person must check the access that this server has to " + w.upstream + "."
	case Misconfigured:
		return dontRepeat(e) + " person must check how this server reaches " + w.upstream + "."
	case Conflict:
		return "Look again before you decide what to change."
	case KeyReused:
		return "Don't repeat it: check what was done before."
	case InProgress:
		return "The first request is still running."
	case Internal:
		if e.write && e.outcome == idempotency.Unknown {
			return "" // what is said about the effect comes first
		}
		return "Don't repeat it: use another tool, or stop and tell a person."
	case Invalid:
		if isSentence(reasonOf(e.err)) {
			return ""
		}
		return "Change the input."
	default:
		return ""
	}
}

// dontRepeat begins an advice for a person. What may have happened is to be checked, and may have to be repeated then.
func dontRepeat(e ending) string {
	if e.write && e.outcome == idempotency.Unknown {
		return "A"
	}
	return "Don't repeat it: a"
}

// effect returns what is to be said about the effect of a write.
func (w words) effect(e ending) string {
	switch {
	case !e.write || e.outcome == idempotency.Done || e.kind == Held:
		return ""
	case e.outcome == idempotency.Unknown:
		return mayHaveHappened
	case e.attempts > 0:
		return "Nothing was changed."
	default:
		return ""
	}
}

// reason returns what happened, as a phrase; for errors without one, that of their kind.
func (w words) reason(err error) string {
	if says := reasonOf(err); says != "" {
		return says
	}
	switch kindOf(err) {
	case Invalid:
		return w.upstream + " refused the input"
	case NotFound:
		return w.upstream + " knows no such thing"
	case Conflict:
		return w.upstream + " refused it because something changed meanwhile"
	case KeyReused:
		return w.upstream + " has seen this call with another content"
	case Held:
		return "an earlier call is unconfirmed."
	case CircuitOpen:
		return w.upstream + " keeps failing"
	case Busy:
		return "too many calls of this tool are under way"
	case Denied:
		return w.upstream + " refused access"
	case RateLimited:
		return w.upstream + " is limiting requests"
	case Unavailable:
		return w.upstream + " could not be reached"
	case TimedOut:
		return "no response in time"
	case BadAnswer:
		return w.upstream + " answered with something that cannot be used"
	case Misconfigured:
		return w.upstream + " answered as if at a wrong address"
	case InProgress:
		return "the same call is still running at " + w.upstream
	case Canceled:
		return "the caller cancelled it"
	default:
		return "an internal fault in this server"
	}
}

// class returns the name of the error class that stands in parentheses.
func (w words) class(kind Kind) string {
	switch kind {
	case TimedOut:
		return "TimeoutError"
	case Internal:
		return "InternalError"
	case Canceled:
		return "Canceled"
	}
	var class strings.Builder
	for _, part := range append(strings.Fields(w.upstream), strings.Split(string(kind), "_")...) {
		first, size := utf8.DecodeRuneInString(part)
		class.WriteRune(unicode.ToUpper(first))
		class.WriteString(part[size:])
	}
	return class.String()
}

// waiting returns the line that is logged before a wait.
func (w words) waiting(attempt int, err error, wait time.Duration) string {
	return fmt.Sprintf("attempt %d: %s (%s). Retrying in %s.", attempt, w.reason(err), w.class(kindOf(err)), seconds(wait))
}

// attemptAfter returns the progress message before an attempt.
func attemptAfter(attempt, limit int, reason string) string {
	return plain(fmt.Sprintf("attempt %d of %d after %s", attempt, limit, reason))
}

// unconfirmed returns the sentence for a repeat of a call that may have had its effect. check names the tool to look with,
// "" for none; wait is how long until it can be settled, 0 if that is not known.
func unconfirmed(noun, check string, wait time.Duration) string {
	return joinWords("this exact "+noun+" was made before, and whether it went through is still unconfirmed.", look(check),
		when(wait, "Make the same call again in %s: then it can be settled."))
}

// heldBack returns the sentence for a call that waits until an earlier one of its group is settled.
func heldBack(noun, group, check string, wait time.Duration) string {
	return joinWords("an earlier "+noun+" to "+group+" is unconfirmed, and this one may say the same.", look(check),
		when(wait, "Make this call again in %s: then the earlier one can be settled."))
}

// delivers returns the sentence for a call that is held once because its caller does not know that an earlier one was made.
func delivers(noun, group, name string) string {
	if name != "" {
		name = " as " + name
	}
	return "your earlier " + noun + " to " + group + " was delivered" + name + ". To send this one as well, make the same call again."
}

// circuitOpen returns the sentences of a refusal: since when, until when, and what else there is.
func circuitOpen(since time.Time, wait time.Duration, instead string) string {
	soonest := (wait + time.Second - 1).Truncate(time.Second) // never too early
	text := "it has kept failing since " + moment(since) + ", so it is not tried for a while. The next try is possible in " +
		seconds(soonest) + "."
	if instead != "" {
		text += " Meanwhile use " + instead + "."
	}
	return text
}

// blockedCall is the fixed text for a call that cannot succeed; it names no tool, since it is about the exact call.
func blockedCall(failed int) string {
	return fmt.Sprintf("Error: not run. This exact call already failed %d times. Don't repeat it: change the input, use another tool, or stop and explain.", failed)
}

// copyFrom returns the first words of a degraded answer: why it is one, and of when it is.
func (w words) copyFrom(why Kind, asOf time.Time) string {
	reason := w.upstream + " is not answering"
	switch why {
	case RateLimited:
		reason = w.upstream + " is limiting requests"
	case Busy:
		reason = "Too many calls of this tool are under way"
	}
	return fmt.Sprintf("%s; this copy is from %s UTC, %s ago.", reason, asOf.UTC().Format("15:04"), aged(time.Since(asOf)))
}

func aged(age time.Duration) string {
	for _, unit := range []struct {
		name string
		is   time.Duration
	}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if n := int(age / unit.is); n > 1 {
			return fmt.Sprintf("%d %ss", n, unit.name)
		} else if n == 1 {
			return "1 " + unit.name
		}
	}
	return "less than a second"
}

func look(check string) string {
	if check == "" {
		return "Check before you repeat it."
	}
	return "Check with " + check + " before you repeat it."
}

func when(wait time.Duration, format string) string {
	if wait <= 0 {
		return ""
	}
	return fmt.Sprintf(format, seconds(max(wait, time.Second)))
}

// alreadyDone returns the note that marks a replayed result.
func alreadyDone(noun string, first time.Time) string {
	return "Already done: this exact " + noun + " went through at " + moment(first) +
		" and was not made again; this is its first result. To make it once more on purpose, change its content."
}

// moment tells a time by the clock, and with its day if it could be taken for one of today.
func moment(t time.Time) string {
	text := t.UTC().Format("15:04:05") + " UTC"
	if age := time.Since(t); age < -12*time.Hour || age > 12*time.Hour {
		text += " on " + t.UTC().Format(time.DateOnly)
	}
	return text
}

// confirmed is the note of a result that was found by looking, after the answer itself was lost.
const confirmed = "The answer was lost, but a look at the upstream showed that it went through; it was done once."

// unrecorded is the note of a result whose success could not be written down.
const unrecorded = "It went through, but that could not be recorded: do not repeat it, it might be done twice. A person should check the server."
