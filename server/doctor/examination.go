package doctor

import (
	"context"
	"iter"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// examination is one run. The checks run in order, and later ones use what earlier ones found.
type examination struct {
	config Config

	badSettings bool     // the server would not start
	badAccess   bool     // there is no client of Kitebase with this URL and token
	tools       []string // that the server should offer
	kitebase    answer

	usableLedger bool
}

// finding is what a check found, before it has a name.
type finding struct {
	status        Status
	found, advice string
}

// Checks runs the checks one after the other, and yields each when it is done; it takes 46 seconds at the most, and with OAuth 5 more. When ctx
// ends it stops, without the check under way.
func Checks(ctx context.Context, config Config) iter.Seq[Check] {
	return func(yield func(Check) bool) {
		e := &examination{config: config}
		for _, step := range []struct {
			name string
			run  func(context.Context) finding
			not  bool
		}{
			{"settings", e.settings, false},
			{"variables", e.variables, false},
			{"address", e.address, config.Web == nil},
			{"callers", e.callers, config.Web == nil},
			{"metrics", e.metrics, config.MetricsAddr == ""},
			{"audit", e.audit, config.AuditLog == ""},
			{"kitebase", e.reach, false},
			{"token", e.token, false},
			{"clock", e.clock, false},
			{"ledger", e.ledger, false},
			{"keys", e.keys, false},
			{"protocol", e.protocol, false},
		} {
			if step.not {
				continue
			}
			f := step.run(ctx)
			if ctx.Err() != nil || !yield(Check{step.name, f.status, e.clean(f.found), e.clean(f.advice)}) {
				return
			}
		}
	}
}

var (
	userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`//[^/\s@]*@`) })
	control  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\x00-\x1f\x7f-\x{9f}]+`) })
)

// clean makes a text fit to be shown. No check means to show a secret, but texts of the system and of the child go through
// their hands. A secret shorter than leastSecret is left alone: to strike it out of every word would spell it.
func (e *examination) clean(text string) string {
	text = userinfo().ReplaceAllStringFunc(text, func(found string) string {
		if found == "//USER:PASSWORD@" { // what to type
			return found
		}
		return "//…@"
	})
	secrets := []string{e.config.Server.Token}
	if e.config.Web != nil {
		secrets = append(secrets, e.config.Web.Token)
	}
	for _, secret := range secrets {
		if len(secret) >= leastSecret {
			text = strike(text, secret)
		}
	}
	return control().ReplaceAllString(strings.ToValidUTF8(text, "�"), " ")
}

// leastSecret is the fewest bytes of a secret that is looked for in texts.
const leastSecret = 8

// strike takes secret out of text where it is no part of a longer word.
func strike(text, secret string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, secret)
		if at < 0 {
			return out.String() + text
		}
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(secret):])
		found := text[:at+len(secret)]
		if !inWord(before) && !inWord(after) {
			found = text[:at] + "…"
		}
		out.WriteString(found)
		text = text[at+len(secret):]
	}
}

// inWord reports whether r can be in a word. At an end of a text it is utf8.RuneError.
func inWord(r rune) bool {
	return r == '-' || r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
