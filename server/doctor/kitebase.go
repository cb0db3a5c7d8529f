package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// answer is what came of the one request that is sent to Kitebase.
type answer struct {
	failure *kitebase.Error // nil if it succeeded
	took    time.Duration
	sender  bool      // an answer came, and from Kitebase as it seems
	date    time.Time // that the answer bears; zero if it bears none
	at      time.Time // when its header was here
}

// reach sends the request, with the client that the server uses, and reports whether Kitebase answered.
func (e *examination) reach(ctx context.Context) finding {
	switch {
	case e.badAccess:
		return finding{Skipped, "Its URL or token cannot be used.", "Mend the settings first."}
	case e.config.Server.URL == "" && e.config.Server.Token != "":
		return finding{Warning, "A token is set but no URL: the server works on an embedded fake Kitebase, and no customer is reached.",
			"Set --url (KITEBASE_URL) to the address of your Kitebase."}
	case e.config.Server.URL == "":
		return finding{OK, "No URL is set: the server works on an embedded fake Kitebase, which forgets everything at the end.", ""}
	}
	if err := e.ask(ctx); err != nil { // the settings passed, so there is no reason that is known
		return finding{Failed, sentence(err.Error()), "Check --url (KITEBASE_URL)."}
	}
	failure := e.kitebase.failure
	e.kitebase.sender = failure == nil || failure.Kind() == kitebase.KindDenied || failure.Kind() == kitebase.KindRateLimited
	address := strings.TrimRight(e.config.Server.URL, "/")
	switch {
	case !e.kitebase.sender:
		return diagnose(failure, e.config.patience())
	case failure != nil && failure.Kind() == kitebase.KindRateLimited:
		return finding{Warning, "Kitebase answers at " + address + ", but is limiting requests.",
			"Find out who else uses this token. The server waits as long as Kitebase asks, if the deadline of the call allows."}
	default:
		return finding{OK, fmt.Sprintf("Kitebase answers at %s, in %s.", address, e.kitebase.took.Round(time.Millisecond)), ""}
	}
}

// ask makes one harmless read. Its error is that of [kitebase.New]; that of the read is kept.
func (e *examination) ask(ctx context.Context) error {
	got := &e.kitebase
	client, err := kitebase.New(kitebase.Config{
		BaseURL: e.config.Server.URL, Token: e.config.Server.Token, Version: e.config.Server.Version, DialContext: e.config.Server.DialContext,
		OnAnswer: func(header http.Header) {
			got.at = time.Now()
			got.date, _ = http.ParseTime(header.Get("Date")) // the zero time if there is none that can be read
		},
	})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, e.config.patience())
	defer cancel()
	began := time.Now()
	_, err = client.SearchTickets(ctx, kitebase.TicketQuery{Status: "open", Limit: 1})
	got.took = time.Since(began)
	_ = errors.As(err, &got.failure) // nothing else comes from the client
	return nil
}

// token reports what the answer says of the token.
func (e *examination) token(context.Context) finding {
	failure, given := e.kitebase.failure, e.config.Server.Token != ""
	switch {
	case e.config.Server.URL == "" && !e.badAccess:
		return finding{Skipped, "The embedded fake lets everyone in.", ""}
	case !e.kitebase.sender || failure != nil && failure.Kind() == kitebase.KindRateLimited:
		return finding{Skipped, "There was no answer that would tell.", "Mend what is above first."}
	case failure == nil && given:
		return finding{OK, "Kitebase accepts the token for reading. Whether it may also assign and reply, only doing so would show.", ""}
	case failure == nil:
		return finding{OK, "Kitebase lets this server read without a token.", ""}
	case failure.Status == http.StatusUnauthorized && !given:
		return finding{Failed, "Kitebase asks for a token, and none is set.", "Set --token (KITEBASE_TOKEN) to an access token of your Kitebase."}
	case failure.Status == http.StatusUnauthorized:
		return finding{Failed, "Kitebase refuses the token (status 401).",
			"It is wrong, expired, or of another Kitebase: set --token (KITEBASE_TOKEN) to a valid one, without quotes and without the word Bearer."}
	default:
		return finding{Failed, fmt.Sprintf("Kitebase does not let this token read tickets (status %d).", failure.Status),
			"Give the account of the token the right to read, assign and answer tickets, or set --token (KITEBASE_TOKEN) to one that has it."}
	}
}
