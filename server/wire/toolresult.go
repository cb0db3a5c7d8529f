package wire

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"
)

// appendToolResult writes the members that the MarshalJSON of r would.
func appendToolResult(dst []byte, r *mcp.CallToolResult) ([]byte, error) {
	if r == nil {
		return append(dst, "null"...), nil
	}
	o := object{text: append(slices.Grow(dst, size(r)), '{')}
	if r.Meta != nil {
		o.name("_meta")
		o.meta(r.Meta)
	}
	o.name("content")
	o.contents(r.Content)
	if len(r.InputRequests) > 0 {
		o.member("inputRequests", r.InputRequests)
	}
	if r.IsError {
		o.member("isError", true)
	}
	if r.RequestState != "" {
		o.member("requestState", r.RequestState)
	}
	if r.ResultType != "" {
		o.member("resultType", string(r.ResultType))
	}
	switch {
	case len(r.RawStructuredContent) > 0:
		o.name("structuredContent")
		o.raw(r.RawStructuredContent)
	case r.StructuredContent != nil:
		o.member("structuredContent", r.StructuredContent)
	}
	return append(o.text, '}'), o.err
}

// size is about what r takes, so that its bytes are not moved time and again while it is written.
func size(r *mcp.CallToolResult) int {
	size := 256 + len(r.RawStructuredContent)
	for _, content := range r.Content {
		if text, ok := content.(mcp.TextContent); ok {
			size += len(text.Text) + len(text.Text)/8 + 32
		}
	}
	return size
}

// object is one that is being written, up to its end. After an error nothing that is written matters any more.
type object struct {
	text  []byte
	later bool // a member stands in it already
	err   error
}

func (o *object) member(name string, value any) {
	o.name(name)
	o.value(value)
}

func (o *object) name(name string) {
	if o.later {
		o.text = append(o.text, ',')
	}
	o.later = true
	o.text = append(appendString(o.text, name), ':')
}

// value writes a value of any type, and those that are in most results without reflection.
func (o *object) value(value any) {
	switch v := value.(type) {
	case string:
		o.text = appendString(o.text, v)
	case bool:
		o.text = strconv.AppendBool(o.text, v)
	case int:
		o.text = strconv.AppendInt(o.text, int64(v), 10)
	default:
		if o.err == nil {
			o.text, o.err = appendValue(o.text, v)
		}
	}
}

// asWritten takes the JSON that encoding/json takes, and leaves out only the space between its tokens.
var asWritten = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true)}

// raw writes what is JSON already, if it is.
func (o *object) raw(value []byte) {
	text, err := jsontext.AppendFormat(o.text, value, asWritten...)
	if o.text = text; o.err == nil {
		o.err = err
	}
}

func (o *object) contents(contents []mcp.Content) {
	o.text = append(o.text, '[')
	for i, content := range contents {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		if text, ok := content.(mcp.TextContent); ok && text.Annotations == nil && text.Meta == nil {
			o.text = appendString(append(o.text, `{"type":`...), text.Type)
			o.text = append(appendString(append(o.text, `,"text":`...), text.Text), '}')
			continue
		}
		o.value(content)
	}
	o.text = append(o.text, ']')
}

// meta writes the fields of m in the order of their names.
func (o *object) meta(m *mcp.Meta) {
	fields := m.AdditionalFields
	if m.ProgressToken != nil {
		fields = map[string]any{"progressToken": m.ProgressToken}
		maps.Copy(fields, m.AdditionalFields)
	}
	names := slices.AppendSeq(make([]string, 0, len(fields)), maps.Keys(fields))
	slices.Sort(names)
	in := object{text: append(o.text, '{'), err: o.err}
	for _, name := range names {
		in.member(name, fields[name])
	}
	o.text, o.err = append(in.text, '}'), in.err
}
