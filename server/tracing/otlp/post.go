package otlp

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/VictoriaMetrics/easyproto"
)

const (
	protobuf = "application/x-protobuf"

	// readAtMost bounds what is read of an answer, in bytes. One that says how many spans were rejected has less than 100,
	// and an explanation.
	readAtMost = 64 << 10
)

// Rejected is how many spans the collector did not take, while it took the others.
type Rejected int64

// Error is part of error. It leaves out what the collector says about it.
func (r Rejected) Error() string {
	return fmt.Sprintf("the collector rejected %d of the spans", int64(r))
}

// post makes one attempt. The error is [temporary] if another one may do.
func (e *Exporter) post(ctx context.Context, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = e.headers.Clone()
	response, err := e.client.Do(request)
	if err != nil {
		return connectionFailed(err)
	}
	defer func() { _ = response.Body.Close() }()                         // it was read
	answer, err := io.ReadAll(io.LimitReader(response.Body, readAtMost)) // to its end, for the next request on the connection
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return temporary{refused(response), retryAfter(response.Header.Get("Retry-After"))}
	}
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return refused(response)
	case err != nil:
		return fmt.Errorf("read the answer: %w", err)
	case response.Header.Get("Content-Type") != protobuf:
		return nil // it was taken, and what else is said is not for us
	}
	return rejected(answer)
}

// connectionFailed is [temporary] unless who answers is not to be trusted. It leaves out what net/http adds: the address.
func connectionFailed(err error) error {
	if request := (*url.Error)(nil); errors.As(err, &request) {
		err = request.Err
	}
	if certificate := (*tls.CertificateVerificationError)(nil); errors.As(err, &certificate) {
		return err
	}
	return temporary{error: err}
}

func refused(response *http.Response) error {
	return fmt.Errorf("the collector answered with status %d", response.StatusCode)
}

// rejected reads an ExportTraceServiceResponse.
func rejected(answer []byte) error {
	partial, err := field(answer, 1)
	if err != nil || partial == nil {
		return err
	}
	data, ok := partial.MessageData()
	if !ok {
		return errAnswer
	}
	spans, err := field(data, 1)
	if err != nil || spans == nil {
		return err
	}
	if n, ok := spans.Int64(); !ok {
		return errAnswer
	} else if n > 0 {
		return Rejected(n)
	}
	return nil
}

var errAnswer = errors.New("the answer of the collector is no ExportTraceServiceResponse")

// field returns the last field of that number in a message, which is the one that counts; nil if there is none.
func field(message []byte, number uint32) (last *easyproto.FieldContext, err error) {
	for len(message) > 0 {
		var each easyproto.FieldContext
		if message, err = each.NextField(message); err != nil {
			return nil, errAnswer
		}
		if each.FieldNum == number {
			last = &each
		}
	}
	return last, nil
}

// retryAfter reads a Retry-After header: seconds, or a date (RFC 9110, section 10.2.3). It is 0 for anything else.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), math.MaxInt64/int64(time.Second))) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(time.Until(date), 0)
	}
	return 0
}
