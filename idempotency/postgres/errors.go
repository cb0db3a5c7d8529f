package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"
)

// redact keeps the password out of error texts, which are the words of others.
type redact struct{ password string }

// leastSecret is the fewest bytes of a password that is looked for in texts: to strike a shorter one out of every word would
// spell it.
const leastSecret = 8

// Where a URL and the settings of a connection hold a password.
var (
	userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`//[^/\s@]*@`) })
	field    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(password\s*=\s*)('[^']*'|[^\s&'"]+)`) })
)

// clean returns text without the password.
func (r redact) clean(text string) string {
	text = field().ReplaceAllString(userinfo().ReplaceAllString(text, "//***@"), "${1}***")
	if len(r.password) < leastSecret {
		return text
	}
	return strings.NewReplacer(r.password, "***", url.QueryEscape(r.password), "***", url.PathEscape(r.password), "***").Replace(text)
}

// explain wraps err, if there is one, with what was being tried.
func (r redact) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("%s the ledger database: ", doing)
	if advice := advise(err); advice != "" {
		text += advice + ": "
	}
	text += r.clean(err.Error())
	return &failure{strings.Join(strings.Fields(text), " "), err}
}

// failure is an error with a text that is safe to show.
type failure struct {
	text  string
	cause error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.cause }

// advise says what to do about err, if that is known, by the server's SQLSTATE (PostgreSQL's manual, appendix A).
func advise(err error) string {
	failure, answered := errors.AsType[*pgconn.PgError](err)
	if !answered {
		if _, unreached := errors.AsType[*pgconn.ConnectError](err); unreached {
			return "it cannot be reached; check host and port, whether it runs, and whether a firewall is in between"
		}
		return ""
	}
	switch failure.Code {
	case "28P01", "28000":
		return "it refuses this user or password; check them in the URL, PGPASSWORD or PGPASSFILE"
	case "3D000":
		return "there is no such database; create it, or correct the URL"
	case "42501":
		return "this user lacks a right; let an administrator GRANT CREATE ON DATABASE, or create the schema and give it to this user"
	case "25006":
		return "it only reads; give the URL of the primary server"
	case "53100":
		return "its disk is full; free some space"
	case "53300":
		return "it has as many connections as it takes; each server here needs 5"
	case "57P03":
		return "it is starting or stopping; try again"
	}
	return ""
}
