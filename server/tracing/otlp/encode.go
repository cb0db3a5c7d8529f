package otlp

import (
	"math"
	"strings"
	"time"

	"github.com/VictoriaMetrics/easyproto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// message is a protobuf message that is being written. Each has to be written to its end before its parent goes on. The
// numbers of the fields are those of opentelemetry/proto/trace/v1/trace.proto and of the files that it imports.
type message struct{ *easyproto.MessageMarshaler }

func (m message) child(field uint32) message { return message{m.AppendMessage(field)} }

// text has what is no UTF-8 replaced, since a string of protobuf must be: a collector would refuse all that came with it.
func (m message) text(field uint32, text string) {
	m.AppendString(field, strings.ToValidUTF8(text, "\uFFFD"))
}

// count keeps what the SDK counts within the 32 bits that are for it.
func (m message) count(field uint32, n int) {
	m.AppendUint32(field, uint32(min(uint64(max(n, 0)), math.MaxUint32)))
}

// time is in nanoseconds since 1970. What was before has no place.
func (m message) time(field uint32, t time.Time) {
	m.AppendFixed64(field, uint64(max(t.UnixNano(), 0)))
}

// encode returns an ExportTraceServiceRequest with the spans, nil without any.
func encode(spans []sdktrace.ReadOnlySpan) []byte {
	var marshaler easyproto.Marshaler
	request := message{marshaler.MessageMarshaler()}
	for _, described := range group(spans) {
		described.append(request.child(1))
	}
	return marshaler.Marshal(nil)
}

// described are the spans of a resource, by what made them.
type described struct {
	resource *resource.Resource
	scopes   []*scoped
}

// scoped are the spans that one library made.
type scoped struct {
	scope instrumentation.Scope
	spans []sdktrace.ReadOnlySpan
}

// group puts together what has the same resource and the same scope, in the order in which they come. Resources are the same
// if their attributes are.
func group(spans []sdktrace.ReadOnlySpan) (groups []*described) {
	byResource := make(map[attribute.Distinct]*described)
	for _, span := range spans {
		if span == nil {
			continue
		}
		of := span.Resource().Equivalent()
		if byResource[of] == nil {
			byResource[of] = &described{resource: span.Resource()}
			groups = append(groups, byResource[of])
		}
		byResource[of].add(span)
	}
	return groups
}

func (d *described) add(span sdktrace.ReadOnlySpan) {
	for _, s := range d.scopes { // they are few
		if s.scope == span.InstrumentationScope() {
			s.spans = append(s.spans, span)
			return
		}
	}
	d.scopes = append(d.scopes, &scoped{span.InstrumentationScope(), []sdktrace.ReadOnlySpan{span}})
}

func (d *described) append(m message) {
	if d.resource != nil {
		appendSet(m.child(1), 1, d.resource.Set())
	}
	for _, s := range d.scopes {
		s.append(m.child(2))
	}
	m.text(3, d.resource.SchemaURL())
}

func (s *scoped) append(m message) {
	if s.scope != (instrumentation.Scope{}) {
		scope := m.child(1)
		scope.text(1, s.scope.Name)
		scope.text(2, s.scope.Version)
		appendSet(scope, 3, &s.scope.Attributes)
	}
	for _, span := range s.spans {
		appendSpan(m.child(2), span)
	}
	m.text(3, s.scope.SchemaURL)
}

func appendSpan(m message, span sdktrace.ReadOnlySpan) {
	context, parent := span.SpanContext(), span.Parent()
	appendContext(m, context)
	if id := parent.SpanID(); id.IsValid() {
		m.AppendBytes(4, id[:])
	}
	m.text(5, span.Name())
	m.AppendInt32(6, kind(span.SpanKind()))
	m.time(7, span.StartTime())
	m.time(8, span.EndTime())
	appendAttributes(m, 9, span.Attributes())
	m.count(10, span.DroppedAttributes())
	for _, event := range span.Events() {
		appendEvent(m.child(11), event)
	}
	m.count(12, span.DroppedEvents())
	for _, link := range span.Links() {
		appendLink(m.child(13), link)
	}
	m.count(14, span.DroppedLinks())
	appendStatus(m.child(15), span.Status())
	m.AppendFixed32(16, flags(context.TraceFlags(), parent))
}

// appendContext writes what is alike in a span and in a link.
func appendContext(m message, context trace.SpanContext) {
	traceID, spanID := context.TraceID(), context.SpanID()
	m.AppendBytes(1, traceID[:])
	m.AppendBytes(2, spanID[:])
	m.text(3, context.TraceState().String())
}

func appendEvent(m message, event sdktrace.Event) {
	m.time(1, event.Time)
	m.text(2, event.Name)
	appendAttributes(m, 3, event.Attributes)
	m.count(4, event.DroppedAttributeCount)
}

func appendLink(m message, link sdktrace.Link) {
	appendContext(m, link.SpanContext)
	appendAttributes(m, 4, link.Attributes)
	m.count(5, link.DroppedAttributeCount)
	m.AppendFixed32(6, flags(link.SpanContext.TraceFlags(), link.SpanContext))
}

// appendStatus writes the code of OTLP, which has failure and success the other way round than the SDK.
func appendStatus(m message, status sdktrace.Status) {
	m.text(2, status.Description)
	switch status.Code {
	case codes.Ok:
		m.AppendInt32(3, 1)
	case codes.Error:
		m.AppendInt32(3, 2)
	}
}

// kind has the same numbers here and there.
func kind(k trace.SpanKind) int32 {
	if k < trace.SpanKindInternal || k > trace.SpanKindConsumer {
		return 0
	}
	return int32(k)
}

// flags are those of W3C Trace Context, and above them that it is known whether a context came from another process, and
// whether it did: the parent of a span, or what a link leads to.
func flags(of trace.TraceFlags, context trace.SpanContext) uint32 {
	const known, remote = 0x100, 0x200
	bits := uint32(of) | known
	if context.IsRemote() {
		bits |= remote
	}
	return bits
}
