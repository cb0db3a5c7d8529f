package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// failure words what the SDK says for a person who runs this program: what happened, and what to mend if it is theirs to
// mend. The SDK's own words hold the URL and the whole body, in which a proxy may have put the key.
func (c claude) failure(err error) error {
	if answer, ok := errors.AsType[*anthropic.Error](err); ok {
		return errors.New(c.refusal(answer))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	if sending, ok := errors.AsType[*url.Error](err); ok {
		err = sending.Err // without the URL
	}
	return errors.New(c.clean("no answer that can be read: " + err.Error()))
}

func (c claude) refusal(answer *anthropic.Error) string {
	text := fmt.Sprintf("it answered %d", answer.StatusCode)
	if kind := string(answer.Type()); kind != "" {
		text += " (" + kind + ")"
	}
	var body struct{ Error struct{ Message string } }
	// What is not JSON is not the API's, but of something on the way to it, and says nothing to anybody.
	if json.Unmarshal([]byte(answer.RawJSON()), &body) == nil && body.Error.Message != "" {
		text += ": " + body.Error.Message
	}
	if answer.RequestID != "" {
		text += ", request " + answer.RequestID
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; check ANTHROPIC_API_KEY"
	case http.StatusNotFound:
		text += "; check -model, which is " + c.model
	}
	return c.clean(text)
}

// clean makes one line of a text that came from outside, without the key.
func (c claude) clean(text string) string {
	const most = 400
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), c.key, "(key)")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// refuseLongWaits has the SDK give up at once when it is told to wait for longer than the run will last. It would wait to the
// end, and the run would be over for its time limit, although nobody could have helped it by more time.
func refuseLongWaits(run context.Context) option.Middleware {
	return func(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		answer, err := next(request)
		if err != nil {
			return answer, err
		}
		if end, limited := run.Deadline(); limited && !retryAt(answer.Header.Get("Retry-After")).Before(end) {
			answer.Header.Set("X-Should-Retry", "false")
		}
		return answer, nil
	}
}

// retryAt reads a Retry-After, which is in seconds or a date (RFC 9110, section 10.2.3). One that is neither is the zero time.
func retryAt(value string) time.Time {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		const day = 24 * 60 * 60 // more would overflow sooner or later, and no run lasts that long
		return time.Now().Add(time.Duration(min(seconds, day) * float64(time.Second)))
	}
	date, _ := http.ParseTime(value) // the zero time for what is no date
	return date
}
