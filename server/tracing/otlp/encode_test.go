package otlp_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// The same spans become the same request, through the network and back, but for the trace state of links, which only ours
// delivers. The official exporter gets its strings mended, without which it delivers nothing.
func TestSpansAreThoseOfTheOfficialExporter(t *testing.T) {
	receiver := startReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	for seed := range uint64(100) {
		require.NoError(t, official(t, t.Context(), makeSpans(seed, mended)))
		warnings, err := ours(t, t.Context(), makeSpans(seed, asIs))
		require.NoError(t, err)
		require.Empty(t, warnings)
		got := receiver.take()
		require.Len(t, got, 2)
		want, have := decode(t, got[0].body), decode(t, withoutLinkState(t, got[1].body))
		require.True(t, proto.Equal(want, have), "seed %d:\n%v\n%v", seed, want, have)
		for _, header := range []string{"Content-Type", "Content-Encoding"} {
			require.Equal(t, got[0].header[header], got[1].header[header])
		}
	}
}

func withoutLinkState(t *testing.T, body []byte) []byte {
	t.Helper()
	request := decode(t, body)
	eachSpan(request, func(span *otlpSpan) {
		for _, link := range span.Links {
			link.TraceState = ""
		}
	})
	stripped, err := proto.Marshal(request)
	require.NoError(t, err)
	return stripped
}

func TestTraceStateOfLinks(t *testing.T) {
	state, err := trace.ParseTraceState("host=1,other=2")
	require.NoError(t, err)
	context := trace.NewSpanContext(trace.SpanContextConfig{TraceState: state})
	request := decode(t, otlp.Encode(tracetest.SpanStubs{{Links: []sdktrace.Link{{SpanContext: context}}}}.Snapshots()))
	eachSpan(request, func(span *otlpSpan) { require.Equal(t, "host=1,other=2", span.Links[0].TraceState) })
}

// One string that is no UTF-8 cost the whole batch.
func TestInvalidUTF8LosesNothing(t *testing.T) {
	receiver := startReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	spans := tracetest.SpanStubs{{Name: "good"}, {Name: "bad", Attributes: []attribute.KeyValue{attribute.String("a", "b\xffc")}}}.Snapshots()
	require.Error(t, official(t, t.Context(), spans))
	require.Empty(t, receiver.take())

	_, err := ours(t, t.Context(), spans)
	require.NoError(t, err)
	var told []string
	eachSpan(decode(t, receiver.take()[0].body), func(span *otlpSpan) { told = append(told, fmt.Sprint(span.Name, span.Attributes)) })
	require.Len(t, told, 2)
	require.Contains(t, told[1], "b\uFFFDc")
}

func TestNoSpansAreNoRequest(t *testing.T) {
	receiver := startReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL)
	for _, none := range [][]sdktrace.ReadOnlySpan{nil, {}, {nil, nil}} {
		_, err := ours(t, t.Context(), none)
		require.NoError(t, err)
	}
	require.Empty(t, receiver.take())
}

// Whatever stands in a span, the official package reads it back.
func FuzzEncode(f *testing.F) {
	f.Add("name", "key", "value", int64(1), 0.5, int64(1_796_000_000), []byte{1}, uint64(7))
	f.Add("\xff", "", "\x00", int64(-1), -1e300, int64(-1), []byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, name, key, value string, number int64, real float64, seconds int64, bytes []byte, seed uint64) {
		stub := tracetest.SpanStub{Name: name, StartTime: time.Unix(0, seconds), DroppedLinks: int(number), Attributes: []attribute.KeyValue{
			attribute.String(key, value), attribute.Int64("n", number), attribute.Float64("f", real), attribute.ByteSlice("b", bytes),
		}}
		request := decode(t, otlp.Encode(append(tracetest.SpanStubs{stub}.Snapshots(), makeSpans(seed%1000, asIs)...)))
		found := false
		eachSpan(request, func(span *otlpSpan) {
			found = found || span.Name == mended(name) && len(span.Attributes) == 4 && span.Attributes[0].Key == mended(key) &&
				span.Attributes[0].Value.GetStringValue() == mended(value) && span.Attributes[1].Value.GetIntValue() == number &&
				math.Float64bits(span.Attributes[2].Value.GetDoubleValue()) == math.Float64bits(real) &&
				string(span.Attributes[3].Value.GetBytesValue()) == string(bytes) && span.StartTimeUnixNano == uint64(max(0, seconds))
		})
		require.True(t, found)
	})
}

// An answer is read as the official package reads it, and what is none is an error.
func FuzzAnswer(f *testing.F) {
	for _, partial := range []*collector.ExportTracePartialSuccess{nil, {}, {RejectedSpans: 3}, {RejectedSpans: -1, ErrorMessage: "canary"}} {
		answer, err := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: partial})
		require.NoError(f, err)
		f.Add(answer)
	}
	f.Add([]byte("canary"))
	f.Add([]byte{0x08, 0x01})
	f.Add([]byte{0x0a, 0x02, 0x0a, 0x00})
	f.Fuzz(func(t *testing.T, answer []byte) {
		_ = otlp.RejectedIn(answer) // it returns
		var read collector.ExportTraceServiceResponse
		if (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(answer, &read) != nil {
			return
		}
		plain, err := proto.Marshal(&read) // with each field once
		require.NoError(t, err)
		var want error
		if n := read.PartialSuccess.GetRejectedSpans(); n > 0 {
			want = otlp.Rejected(n)
		}
		require.Equal(t, want, otlp.RejectedIn(plain))
	})
}
