package kitebase

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// answer is what came back with a status that promises a result.
type answer struct {
	operation string
	secret    string // the token, which some servers send back
	status    int
	header    http.Header
	body      []byte
}

// replayed reports whether Kitebase says that it had done this before, with the same key.
func (a answer) replayed() bool {
	return strings.EqualFold(a.header.Get("Idempotent-Replayed"), "true")
}

// checkForm reports, as an *Error, a body that is too large or not JSON by its own word.
func (a answer) checkForm() error {
	if len(a.body) > maxBody {
		return a.bad(reasonOversize, "", nil)
	}
	media, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	switch {
	case media == "application/json":
		return nil
	case media == "text/html" || media == "application/xhtml+xml":
		return a.bad(reasonWebPage, "", err)
	default:
		return a.bad(reasonNotJSON, "", err)
	}
}

// lenient takes what encoding/json takes: a name twice, of which the last counts, and bytes that are no UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decode reads the answer into a T and lets check decide whether it is the one that was asked for.
func decode[T any](a answer, check func(T) error) (T, error) {
	var value, none T
	if err := json.Unmarshal(a.body, &value, lenient); err != nil {
		// The decoder's texts quote the answer, so they are not passed on.
		if errors.Is(err, io.ErrUnexpectedEOF) || len(bytes.TrimSpace(a.body)) == 0 {
			return none, a.bad(reasonCutOff, "incomplete JSON", err)
		}
		return none, a.bad(reasonUnreadable, "not the JSON that this operation returns", err)
	}
	if err := check(value); err != nil {
		reason := reasonIncomplete
		if errors.Is(err, errOther) {
			reason = reasonOther
		}
		return none, a.bad(reason, err.Error(), nil)
	}
	return value, nil
}

// bad is the failure of an answer that is of no use. Kitebase may well have done what it was asked to.
func (a answer) bad(reason, detail string, err error) *Error {
	return a.fail(verdict{KindBadAnswer, reason, idempotency.Unknown}, detail, err)
}

// refusal is the failure of an answer with a status that promises no result.
func (a answer) refusal(p problem) *Error {
	failure := a.fail(judge(a.status, p), "", nil)
	failure.ProblemType = p.Type
	if waits(failure) {
		failure.retryAfter = retryAfter(a.header)
	}
	return failure
}

// waits reports whether Retry-After means something on this failure.
func waits(e *Error) bool {
	return e.kind == KindRateLimited || e.kind == KindInProgress || e.Status == http.StatusServiceUnavailable
}

func (a answer) fail(v verdict, detail string, err error) *Error {
	return &Error{
		Operation: a.operation,
		Status:    a.status,
		RequestID: requestID(a.header, a.secret),
		verdict:   v,
		detail:    detail,
		err:       err,
	}
}

// requestID returns Kitebase's name for the request if it is fit for a log line: short, printable and not our token.
func requestID(header http.Header, secret string) string {
	id := header.Get("X-Request-Id")
	if len(id) > 128 || secret != "" && strings.Contains(id, secret) || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return ""
	}
	return id
}
