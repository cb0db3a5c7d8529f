package otlp

import "net/http"

// These are the parts that have a test of their own.
var (
	Encode       = encode
	ParseHeaders = parseHeaders
	RejectedIn   = rejected
	RetryAfter   = retryAfter
)

// Through has the exporter deliver by another way than the network.
func (e *Exporter) Through(way http.RoundTripper) *Exporter {
	e.client.Transport = way
	return e
}
