package otlp

import (
	"net/http"
	"net/url"
	"strings"
)

func (e environment) headers() http.Header {
	variable, value := e.first("HEADERS")
	headers, right := parseHeaders(value)
	if !right {
		e.warn(variable + " takes name=value, separated by commas, with percent-encoded values; what is not of this form is not sent")
	}
	return headers
}

// parseHeaders reads a list in the form of W3C Baggage, of which the names are taken as they are and the values are
// percent-encoded. It leaves out what is not of this form or cannot stand in a header, and reports whether that was nothing.
// Of two values for a name the last one counts.
func parseHeaders(list string) (headers http.Header, right bool) {
	headers, right = make(http.Header), true
	for member := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(member) == "" {
			continue // a comma at the end does no harm
		}
		name, encoded, found := strings.Cut(member, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(encoded)
		value = strings.TrimSpace(value)
		if !found || err != nil || name == "" || strings.ContainsFunc(name, noToken) || strings.ContainsFunc(value, control) {
			right = false
			continue
		}
		headers.Set(name, value)
	}
	return headers, right
}

// noToken reports what cannot stand in the name of a header (RFC 9110, section 5.6.2).
func noToken(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// control reports what cannot stand in the value of a header (RFC 9110, section 5.5).
func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
