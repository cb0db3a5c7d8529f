package postgres

import (
	"fmt"
	"net/url"
	"strings"
)

// redact keeps the password out of error texts.
type redact struct{ password string }

// explain wraps err, if there is one, with what was being tried.
func (r redact) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("%s the ledger database: %v", doing, err)
	if r.password != "" {
		text = strings.NewReplacer(r.password, "***", url.QueryEscape(r.password), "***", url.PathEscape(r.password), "***").Replace(text)
	}
	return &failure{strings.Join(strings.Fields(text), " "), err}
}

// failure is an error with a text that is safe to show.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }
