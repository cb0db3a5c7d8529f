package otlp_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// script is a way to a collector that does one after the other, and then takes everything. It notes when.
type script struct {
	acts   []act
	bodies []string
	times  []time.Duration // since the first attempt
	began  time.Time
}

type act func(*http.Request) (*http.Response, error)

// RoundTrip is part of [http.RoundTripper].
func (s *script) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	if s.began.IsZero() {
		s.began = time.Now()
	}
	s.bodies, s.times = append(s.bodies, string(body)), append(s.times, time.Since(s.began))
	act := status(200)
	if n := len(s.bodies); n <= len(s.acts) {
		act = s.acts[n-1]
	}
	return act(request)
}

// status answers with it, and with headers that are pairs.
func status(code int, headers ...string) act {
	return func(request *http.Request) (*http.Response, error) {
		response := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("canary")), Request: request}
		for i := 0; i < len(headers); i += 2 {
			response.Header.Set(headers[i], headers[i+1])
		}
		return response, nil
	}
}

func gone(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("canary")}
}

func unknown(*http.Request) (*http.Response, error) {
	return nil, &tls.CertificateVerificationError{Err: errors.New("canary")}
}

func hangs(request *http.Request) (*http.Response, error) {
	<-request.Context().Done()
	return nil, request.Context().Err()
}

func always(a act) []act {
	acts := make([]act, 100)
	for i := range acts {
		acts[i] = a
	}
	return acts
}

// play runs a test in a bubble, with an exporter to a collector that does the acts.
func play(t *testing.T, name string, limit time.Duration, acts []act, test func(t *testing.T, e *otlp.Exporter, s *script)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &script{acts: acts}
			exporter := otlp.New(otlp.Settings{URL: "http://collector.example/v1/traces", Timeout: limit}).Through(s)
			test(t, exporter, s)
			require.NoError(t, exporter.Shutdown(t.Context()))
		})
	})
}

func TestRetry(t *testing.T) {
	play(t, "until it is taken", 10*time.Second, []act{status(503), gone}, func(t *testing.T, e *otlp.Exporter, s *script) {
		require.NoError(t, e.ExportSpans(t.Context(), oneSpan()))
		require.Len(t, s.bodies, 3)
		require.Equal(t, []string{s.bodies[0], s.bodies[0]}, s.bodies[1:], "each attempt sends all")
		require.NotEmpty(t, s.bodies[0])
		for i, base := range []time.Duration{time.Second, 1500 * time.Millisecond} {
			wait := s.times[i+1] - s.times[i]
			require.GreaterOrEqual(t, wait, base/2)
			require.LessOrEqual(t, wait, base*3/2)
		}
	})
	play(t, "within the time limit", 10*time.Second, always(gone), func(t *testing.T, e *otlp.Exporter, s *script) {
		began := time.Now()
		err := e.ExportSpans(t.Context(), oneSpan())
		var connection *net.OpError
		require.ErrorAs(t, err, &connection, "the cause, not that the time is up")
		require.Greater(t, len(s.bodies), 3)
		require.Less(t, time.Since(began), 10*time.Second, "a wait that ends too late is not begun")
	})
	play(t, "within that of the caller", time.Hour, always(status(429)), func(t *testing.T, e *otlp.Exporter, s *script) {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		require.ErrorContains(t, e.ExportSpans(ctx, oneSpan()), "status 429")
		require.Less(t, time.Since(s.began), 4*time.Second)
	})
	play(t, "for a minute without any", 0, always(status(429)), func(t *testing.T, e *otlp.Exporter, s *script) {
		require.ErrorContains(t, e.ExportSpans(t.Context(), oneSpan()), "status 429")
		require.LessOrEqual(t, s.times[len(s.times)-1], time.Minute)
		require.Greater(t, s.times[len(s.times)-1], 50*time.Second)
	})
	play(t, "a collector that hangs", 10*time.Second, always(hangs), func(t *testing.T, e *otlp.Exporter, s *script) {
		began := time.Now()
		require.ErrorIs(t, e.ExportSpans(t.Context(), oneSpan()), context.DeadlineExceeded)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Len(t, s.bodies, 1)
	})
	play(t, "who is not to be trusted is asked once", 10*time.Second, always(unknown), func(t *testing.T, e *otlp.Exporter, s *script) {
		require.Error(t, e.ExportSpans(t.Context(), oneSpan()))
		require.Len(t, s.bodies, 1)
	})
	play(t, "the caller leaves in a wait", time.Minute, []act{status(503, "Retry-After", "30")}, func(t *testing.T, e *otlp.Exporter, s *script) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, cancel)
		require.ErrorContains(t, e.ExportSpans(ctx, oneSpan()), "status 503")
		require.Equal(t, 2*time.Second, time.Since(s.began))
		require.Len(t, s.bodies, 1)
	})
}

func TestNothingBeginsAfterShutdown(t *testing.T) {
	play(t, "", time.Minute, nil, func(t *testing.T, e *otlp.Exporter, s *script) {
		require.NoError(t, e.Shutdown(t.Context()))
		require.ErrorIs(t, e.ExportSpans(t.Context(), oneSpan()), context.Canceled)
		require.Empty(t, s.bodies)
	})
}

func TestRetryAfter(t *testing.T) {
	inTen := func(request *http.Request) (*http.Response, error) {
		return status(503, "Retry-After", time.Now().Add(10*time.Second).UTC().Format(http.TimeFormat))(request)
	}
	play(t, "seconds", time.Minute, []act{status(429, "Retry-After", "7")}, func(t *testing.T, e *otlp.Exporter, s *script) {
		require.NoError(t, e.ExportSpans(t.Context(), oneSpan()))
		require.Equal(t, []time.Duration{0, 7 * time.Second}, s.times)
	})
	play(t, "a date", time.Minute, []act{inTen}, func(t *testing.T, e *otlp.Exporter, s *script) {
		require.NoError(t, e.ExportSpans(t.Context(), oneSpan()))
		require.Equal(t, []time.Duration{0, 10 * time.Second}, s.times)
	})
	play(t, "it is that of the last answer", time.Minute, []act{status(429, "Retry-After", "7"), gone}, func(t *testing.T, e *otlp.Exporter, s *script) {
		require.NoError(t, e.ExportSpans(t.Context(), oneSpan()))
		require.Less(t, s.times[2]-s.times[1], 3*time.Second)
	})
	play(t, "past the limit", 5*time.Second, []act{status(503, "Retry-After", "7")}, func(t *testing.T, e *otlp.Exporter, s *script) {
		require.ErrorContains(t, e.ExportSpans(t.Context(), oneSpan()), "status 503")
		require.Equal(t, []time.Duration{0}, s.times)
		require.Zero(t, time.Since(s.began), "there is nothing to wait for")
	})
	for value, want := range map[string]time.Duration{
		"": 0, "canary": 0, "-5": 0, "1.5": 0, "0": 0, "9223372036854775807": 9223372036 * time.Second, "99999999999999999999": 0,
		"Mon, 01 Jan 2001 00:00:00 GMT": 0,
	} {
		require.Equal(t, want, otlp.RetryAfter(value), value)
	}
}

// The statuses that are tried again are those of the official exporter.
func TestStatusesAreThoseOfTheOfficialExporter(t *testing.T) {
	for code := 200; code < 600; code++ {
		synctest.Test(t, func(t *testing.T) {
			theirs, mine := &script{acts: []act{status(code)}}, &script{acts: []act{status(code)}}
			exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithHTTPClient(&http.Client{Transport: theirs}))
			require.NoError(t, err)
			failed := exporter.ExportSpans(t.Context(), oneSpan()) != nil
			require.NoError(t, exporter.Shutdown(t.Context()))

			var other sdktrace.SpanExporter = otlp.New(otlp.Settings{URL: "http://collector.example"}).Through(mine)
			require.Equal(t, failed, other.ExportSpans(t.Context(), oneSpan()) != nil, code)
			require.Len(t, mine.bodies, len(theirs.bodies), "status %d", code)
			require.NoError(t, other.Shutdown(t.Context()))
		})
	}
}

// A program that ends does not wait for a collector that is not there, and still tells why it got nothing.
func TestHurry(t *testing.T) {
	play(t, "", time.Minute, always(gone), func(t *testing.T, e *otlp.Exporter, s *script) {
		failed := make(chan error, 1)
		go func() { failed <- e.ExportSpans(t.Context(), oneSpan()) }()
		synctest.Wait() // it waits for the second attempt
		e.Hurry()
		var connection *net.OpError
		require.ErrorAs(t, <-failed, &connection)
		require.ErrorAs(t, e.ExportSpans(t.Context(), oneSpan()), &connection)
		require.Equal(t, []time.Duration{0, 0}, s.times)
	})
}
