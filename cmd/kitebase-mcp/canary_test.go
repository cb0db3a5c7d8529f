package main_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// canaries are secrets and words of others, one for each place where such a thing is: planted is the place, allowed are the
// outputs (see [outputs]) in which it has to be to be of use. Everywhere else it is a leak.
//
//	answers   what clients are answered: results of tools and protocol errors, over stdio and HTTP
//	reads     answers to tools that show what stands in Kitebase
var canaries = []struct {
	planted string
	allowed []string
}{
	{planted: "token for Kitebase"},
	{planted: "http token"},
	{planted: "http token of a wrong client"},
	{planted: "http token of a wrong client, Basic"},
	{planted: "http token in a query"},
	{planted: "cookie of a client"},
	{planted: "session id of a client"},
	{planted: "event id of a client"},
	{planted: "protocol version of a client"},
	{planted: "Host of a request"},
	{planted: "Origin of a request"},
	{planted: "path of a request"},
	{planted: "method of a request"},
	{planted: "host of Kitebase", allowed: []string{"doctor"}}, // which says where it found Kitebase
	{planted: "path of Kitebase", allowed: []string{"doctor"}},
	{planted: "password of the proxy"},

	{planted: "user in a refused URL"},
	{planted: "password in a refused URL"},
	{planted: "query of a refused URL"},
	{planted: "fragment of a refused URL"},
	{planted: "refused URL that is none"},
	{planted: "password of the PostgreSQL ledger"},
	{planted: "password of a ledger URL with a typing error"},
	{planted: "password of a ledger DSN"},
	{planted: "refused token"},
	{planted: "refused http token"},
	{planted: "value of a wrong number"},
	{planted: "value of a wrong duration"},
	{planted: "value of a wrong switch"},
	{planted: "value of a wrong choice"},
	{planted: "value of a wrong address"},
	{planted: "value of a wrong origin"},
	{planted: "value of a wrong tool"},
	{planted: "value of a wrong size"},
	{planted: "value of an unknown flag"},
	{planted: "name of an unknown flag"},
	{planted: "word too many on the command line"},
	{planted: "value of an unknown variable"},

	{planted: "AWS_SECRET_ACCESS_KEY"},
	{planted: "DATABASE_URL"},
	{planted: "ANTHROPIC_API_KEY"},
	{planted: "GITHUB_TOKEN"},
	{planted: "OTEL_EXPORTER_OTLP_HEADERS"},
	{planted: "PGPASSWORD"},

	{planted: "page of HTML with status 500"},
	{planted: "page of HTML with status 200"},
	{planted: "title of a problem"},
	{planted: "detail of a problem"},
	{planted: "instance of a problem"},
	{planted: "type of a problem"},
	{planted: "truncated JSON"},
	{planted: "JSON of a wrong type"},
	{planted: "name in unfit JSON"},
	{planted: "another ticket than was asked for"},
	{planted: "what is no HTTP"},
	{planted: "broken header"},
	{planted: "broken chunk"},
	{planted: "reason phrase"},
	{planted: "Location"},
	{planted: "Retry-After"},
	{planted: "Content-Type"},
	{planted: "Set-Cookie"},
	{planted: "Server"},
	{planted: "WWW-Authenticate"},
	{planted: "Date"},
	{planted: "trailer"},
	{planted: "X-Request-Id", allowed: []string{"stderr"}}, // by it people who run Kitebase find a request

	{planted: "title of a ticket", allowed: []string{"reads"}},
	{planted: "body of a customer's message", allowed: []string{"reads"}},
	{planted: "name of a customer", allowed: []string{"reads"}},
	{planted: "address of a customer", allowed: []string{"reads"}},
	{planted: "assignee in a ticket", allowed: []string{"reads"}},
	{planted: "text of an article", allowed: []string{"reads"}},
	{planted: "title of an article", allowed: []string{"reads"}},
	{planted: "key of a reply in a ticket"},
	{planted: "cursor of a page"},
	// A repeat is answered with the first result, so that this much of it is kept.
	{planted: "recipient of a reply", allowed: []string{"reads", "ledger"}},

	{planted: "message of a reply"},
	{planted: "message of a failed reply"},
	{planted: "message of a repeated reply"},
	{planted: "message of a reworded reply"},
	{planted: "message of a wrong type"},
	{planted: "message with a control character"},
	{planted: "message in a broken request"},
	// The audit line of an assignment says to whom, and each audit line by whom: on stdio, by the client's own word.
	{planted: "assignee of a call", allowed: []string{"reads", "stderr"}},
	{planted: "words of a search"},
	{planted: "words of a search that finds nothing", allowed: []string{"reads"}},
	{planted: "ticket id that is none"},
	{planted: "name of an unknown argument", allowed: []string{"answers"}},
	{planted: "value of an unknown argument"},
	{planted: "name of an unknown tool", allowed: []string{"answers"}},
	{planted: "arguments of an unknown tool"},
	{planted: "name of an unknown method", allowed: []string{"answers"}},
	{planted: "address of an unknown resource", allowed: []string{"answers"}},
	{planted: "name of an unknown prompt", allowed: []string{"answers"}},
	{planted: "name of a client", allowed: []string{"stderr"}},
	{planted: "body that is no JSON"},
	{planted: "parameters of a wrong type"},
}

// canary returns what is planted at a place: 18 letters and digits that no other place has.
func canary(planted string) string {
	for _, c := range canaries {
		if c.planted == planted {
			sum := sha256.Sum256([]byte(planted))
			return "cn" + hex.EncodeToString(sum[:8])
		}
	}
	panic("there is no canary " + strconv.Quote(planted))
}

// words returns a canary as somebody might write it, with characters that are escaped in JSON and in URLs.
func words(planted string) string { return `“` + canary(planted) + ` & <é>/"x"` }

// outputs are all that the program has given out, by name: what came over stdio and HTTP, both standard streams of each
// command, the files that it wrote, and what it sent to others than Kitebase. A name says at its beginning, up to a colon,
// which of the allowances of [canaries] it has.
type outputs map[string]string

// add appends text to an output.
func (o outputs) add(name string, text ...string) { o[name] += strings.Join(text, "\n") + "\n" }

// leaks looks for every canary in every output, in whatever form, and returns where one is that must not be.
func (o outputs) leaks() []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		text := strings.ToLower(o[name])
		for _, c := range canaries {
			may, _, _ := strings.Cut(name, ":")
			if slices.Contains(c.allowed, may) || may == "reads" && slices.Contains(c.allowed, "answers") {
				continue
			}
			for _, form := range forms(c.planted) {
				if at := strings.Index(text, strings.ToLower(form)); at >= 0 {
					found = append(found, fmt.Sprintf("%s is in %s: …%s…", c.planted, name, o[name][max(0, at-100):min(len(o[name]), at+60)]))
					break
				}
			}
		}
	}
	return found
}

// forms returns how a canary may look: plain, in hexadecimal, in base64 at each offset, and escaped for URLs and JSON.
// Letters are compared without regard to case.
func forms(planted string) []string {
	plain, phrase := canary(planted), words(planted)
	all := []string{plain, hex.EncodeToString([]byte(plain)), url.QueryEscape(phrase), url.PathEscape(phrase), strconv.QuoteToASCII(phrase)}
	if quoted, err := json.Marshal(phrase); err == nil {
		all = append(all, string(quoted))
	}
	percent := ""
	for _, c := range []byte(plain) {
		percent += fmt.Sprintf("%%%02x", c)
	}
	all = append(all, percent)
	for offset := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("\x00", offset) + plain))
		all = append(all, encoded[(offset*8+5)/6:len(encoded)-1]) // the characters that are made of the canary alone
	}
	return all
}

// A search that cannot find anything would pass every day.
func TestCanariesAreFoundInEachForm(t *testing.T) {
	t.Parallel()
	require.GreaterOrEqual(t, len(canaries), 50)
	const planted = "token for Kitebase"
	secret := canary(planted)
	quoted, err := json.Marshal(words(planted))
	require.NoError(t, err)
	for form, text := range map[string]string{
		"plain": "a" + secret + "b", "upper case": strings.ToUpper(secret), "hex": hex.EncodeToString([]byte("x" + secret)),
		"URL": "?q=" + url.QueryEscape(words(planted)), "JSON": string(quoted), "percent": "%63%6e" + forms(planted)[6][6:],
		"base64 of a user": base64.StdEncoding.EncodeToString([]byte("user:" + secret + "!")),
		"base64 offset 0":  base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 offset 1":  base64.URLEncoding.EncodeToString([]byte("x" + secret + "yz")),
		"base64 offset 2":  base64.RawURLEncoding.EncodeToString([]byte("xy" + secret + "y")),
	} {
		require.Len(t, outputs{"stderr: x": text}.leaks(), 1, form)
	}
	require.Empty(t, outputs{"stderr: x": "nothing " + secret[:17]}.leaks())
	require.Empty(t, outputs{"reads: x": canary("title of a ticket")}.leaks())
	require.Len(t, outputs{"ledger: x": canary("title of a ticket")}.leaks(), 1)
	seen := map[string]bool{}
	for _, c := range canaries {
		require.False(t, seen[canary(c.planted)], c.planted)
		seen[canary(c.planted)] = true
	}
}
