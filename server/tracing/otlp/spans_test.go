package otlp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// maker makes spans at random. Two with the same seed make the same, but for what text does.
type maker struct {
	*rand.Rand
	text func(string) string // of every string
	keys int
}

func asIs(text string) string { return text }

// mended is how this package delivers what is no UTF-8.
func mended(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func makeSpans(seed uint64, text func(string) string) []sdktrace.ReadOnlySpan {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), text: text}
	resources := []*resource.Resource{nil, resource.Empty(), m.resource(), m.resource()}
	scopes := []instrumentation.Scope{{}, m.scope(), m.scope()}
	stubs := make(tracetest.SpanStubs, 1+m.IntN(12))
	for i := range stubs {
		stubs[i] = m.span()
		stubs[i].Resource = pick(m, resources...)
		stubs[i].InstrumentationScope = pick(m, scopes...)
	}
	spans := stubs.Snapshots()
	if m.IntN(10) == 0 {
		spans = append(spans, nil)
	}
	return spans
}

func pick[T any](m *maker, from ...T) T { return from[m.IntN(len(from))] }

func list[T any](m *maker, one func() T) []T {
	var all []T
	for range pick(m, 0, 0, 1, 2, 5) {
		all = append(all, one())
	}
	return all
}

func (m *maker) string() string {
	if m.IntN(200) == 0 {
		return m.text(strings.Repeat("ü", m.IntN(40_000)))
	}
	return m.text(pick(m, "", "a", "reply_to_customer", "größe 🪁", "\x00\n", "\xff", "cut \xf0\x9f", "\xed\xa0\x80 surrogate",
		strings.Repeat("x", 127), strings.Repeat("x", 128)))
}

func (m *maker) resource() *resource.Resource {
	return resource.NewWithAttributes(m.string(), m.attributes()...)
}

func (m *maker) scope() instrumentation.Scope {
	return instrumentation.Scope{Name: m.string(), Version: m.string(), SchemaURL: m.string(), Attributes: attribute.NewSet(m.attributes()...)}
}

func (m *maker) span() tracetest.SpanStub {
	return tracetest.SpanStub{
		Name:              m.string(),
		SpanContext:       m.context(),
		Parent:            m.context(),
		SpanKind:          trace.SpanKind(m.IntN(9) - 1),
		StartTime:         m.time(),
		EndTime:           m.time(),
		Attributes:        m.attributes(),
		Events:            list(m, m.event),
		Links:             list(m, m.link),
		Status:            sdktrace.Status{Code: pick(m, codes.Unset, codes.Error, codes.Ok, codes.Code(7)), Description: m.string()},
		DroppedAttributes: m.count(),
		DroppedEvents:     m.count(),
		DroppedLinks:      m.count(),
	}
}

func (m *maker) context() trace.SpanContext {
	var config trace.SpanContextConfig
	if m.IntN(3) > 0 {
		for i := range config.TraceID {
			config.TraceID[i] = byte(m.Uint32())
		}
		for i := range config.SpanID {
			config.SpanID[i] = byte(m.Uint32())
		}
	}
	config.TraceFlags = trace.TraceFlags(m.Uint32())
	config.TraceState, _ = trace.ParseTraceState(pick(m, "", "host=1", "a=1,b=2")) // they are right
	config.Remote = m.IntN(2) == 0
	return trace.NewSpanContext(config)
}

func (m *maker) event() sdktrace.Event {
	return sdktrace.Event{Name: m.string(), Time: m.time(), Attributes: m.attributes(), DroppedAttributeCount: m.count()}
}

func (m *maker) link() sdktrace.Link {
	return sdktrace.Link{SpanContext: m.context(), Attributes: m.attributes(), DroppedAttributeCount: m.count()}
}

func (m *maker) time() time.Time {
	return pick(m, time.Time{}, time.Unix(0, 0), time.Unix(-5, 0), time.Unix(1_796_000_000, int64(m.IntN(1e9))), time.Unix(0, math.MaxInt64))
}

func (m *maker) count() int {
	return pick(m, 0, 1, 300, -1, math.MaxUint32, math.MaxUint32+1, math.MaxInt)
}

// attributes have keys that stay in order, and different, when they are mended: sets are sorted.
func (m *maker) attributes() []attribute.KeyValue {
	return list(m, func() attribute.KeyValue { return m.attribute(3) })
}

func (m *maker) attribute(depth int) attribute.KeyValue {
	m.keys++
	return attribute.KeyValue{Key: attribute.Key(fmt.Sprintf("%06d", m.keys) + m.string()), Value: m.value(depth)}
}

func (m *maker) value(depth int) attribute.Value {
	kinds := 11
	if depth == 0 {
		kinds = 9
	}
	switch m.IntN(kinds) {
	case 0:
		return attribute.Value{}
	case 1:
		return attribute.BoolValue(m.bool())
	case 2:
		return attribute.Int64Value(m.int64())
	case 3:
		return attribute.Float64Value(m.float64())
	case 4:
		return attribute.StringValue(m.string())
	case 5:
		return attribute.ByteSliceValue([]byte(pick(m, "", "\xff\x00", "bytes")))
	case 6:
		return attribute.BoolSliceValue(list(m, m.bool))
	case 7:
		return pick(m, attribute.Int64SliceValue(list(m, m.int64)), attribute.Float64SliceValue(list(m, m.float64)))
	case 8:
		return attribute.StringSliceValue(list(m, m.string))
	case 9:
		return attribute.SliceValue(list(m, func() attribute.Value { return m.value(depth - 1) })...)
	default:
		return attribute.MapValue(list(m, func() attribute.KeyValue { return m.attribute(depth - 1) })...)
	}
}

func (m *maker) bool() bool { return m.IntN(2) == 0 }

func (m *maker) int64() int64 {
	return pick[int64](m, 0, 1, -1, 127, 128, math.MaxInt64, math.MinInt64)
}

func (m *maker) float64() float64 {
	return pick(m, 0, 1.5, math.Copysign(0, -1), math.Inf(1), math.NaN())
}
