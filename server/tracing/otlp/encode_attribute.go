package otlp

import "go.opentelemetry.io/otel/attribute"

func appendSet(m message, field uint32, set *attribute.Set) {
	for each := set.Iter(); each.Next(); {
		appendAttribute(m.child(field), each.Attribute())
	}
}

func appendAttributes(m message, field uint32, attributes []attribute.KeyValue) {
	for _, a := range attributes {
		appendAttribute(m.child(field), a)
	}
}

func appendAttribute(m message, a attribute.KeyValue) {
	m.text(1, string(a.Key))
	appendValue(m.child(2), a.Value)
}

// appendValue writes an AnyValue. An empty one has no field; one of a type that this code does not know is INVALID.
func appendValue(m message, v attribute.Value) {
	switch v.Type() {
	case attribute.EMPTY:
	case attribute.STRING:
		m.text(1, v.AsString())
	case attribute.BOOL:
		m.AppendBool(2, v.AsBool())
	case attribute.INT64:
		m.AppendInt64(3, v.AsInt64())
	case attribute.FLOAT64:
		m.AppendDouble(4, v.AsFloat64())
	case attribute.MAP:
		appendAttributes(m.child(6), 1, v.AsMap())
	case attribute.BYTESLICE:
		m.AppendBytes(7, v.AsByteSlice())
	default:
		appendList(m, v)
	}
}

func appendList(m message, v attribute.Value) {
	switch v.Type() {
	case attribute.SLICE:
		appendArray(m, v.AsSlice(), appendValue)
	case attribute.STRINGSLICE:
		appendArray(m, v.AsStringSlice(), func(m message, s string) { m.text(1, s) })
	case attribute.BOOLSLICE:
		appendArray(m, v.AsBoolSlice(), func(m message, b bool) { m.AppendBool(2, b) })
	case attribute.INT64SLICE:
		appendArray(m, v.AsInt64Slice(), func(m message, n int64) { m.AppendInt64(3, n) })
	case attribute.FLOAT64SLICE:
		appendArray(m, v.AsFloat64Slice(), func(m message, f float64) { m.AppendDouble(4, f) })
	default:
		m.text(1, "INVALID")
	}
}

// appendArray writes an ArrayValue, whose values are an AnyValue each.
func appendArray[T any](m message, values []T, appendOne func(message, T)) {
	array := m.child(5)
	for _, value := range values {
		appendOne(array.child(1), value)
	}
}
