package tools

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// schema is the part of JSON Schema 2020-12 that the tools need; hosts understand this much everywhere.
type schema struct {
	Type        string
	Nullable    bool // null is also taken
	Description string
	Example     string
	Properties  []property // models write arguments in the order in which they read them
	Required    []string
	Items       *schema
	Closed      bool // other properties are not allowed
}

type property struct {
	name   string
	schema schema
}

// JSON writes the schema. encoding/json would have to learn its types first, at each start of a server.
func (s schema) JSON() json.RawMessage { return s.appendTo(make([]byte, 0, 2<<10)) }

func (s schema) appendTo(text []byte) []byte {
	text = append(text, `{"type":`...)
	if s.Nullable {
		text = append(text, `["`+s.Type+`","null"]`...)
	} else {
		text = append(text, `"`+s.Type+`"`...)
	}
	if s.Description != "" {
		text = quote(append(text, `,"description":`...), s.Description)
	}
	if s.Example != "" {
		text = append(quote(append(text, `,"examples":[`...), s.Example), ']')
	}
	if len(s.Properties) > 0 {
		text = append(text, `,"properties":`...)
		for i, member := range s.Properties {
			text = append(quote(append(text, separator(i)), member.name), ':')
			text = member.schema.appendTo(text)
		}
		text = append(text, '}')
	}
	if len(s.Required) > 0 {
		text = append(text, `,"required":[`...)
		for i, name := range s.Required {
			if i > 0 {
				text = append(text, ',')
			}
			text = quote(text, name)
		}
		text = append(text, ']')
	}
	if s.Items != nil {
		text = s.Items.appendTo(append(text, `,"items":`...))
	}
	if s.Closed {
		text = append(text, `,"additionalProperties":false`...)
	}
	return append(text, '}')
}

// quote appends a text of this package, which is UTF-8, as JSON.
func quote(text []byte, s string) []byte {
	text, _ = jsontext.AppendQuote(text, s)
	return text
}

// separator stands before the i-th member of an object.
func separator(i int) byte {
	if i == 0 {
		return '{'
	}
	return ','
}

// inputSchema describes the arguments of a call. It names the form of a value in words rather than by pattern or enum:
// what is wrong is told in words by [bind], which a host that checks the schema itself would forestall. Optional
// arguments may be null, because models send that.
func inputSchema(arguments []Argument) schema {
	object := schema{Type: "object", Closed: true}
	for _, argument := range arguments {
		member := schema{Type: "string", Description: argument.Description, Example: argument.Example, Nullable: argument.Optional}
		if !argument.Optional {
			object.Required = append(object.Required, argument.Name)
		}
		object.Properties = append(object.Properties, property{argument.Name, member})
	}
	return object
}

// schemaOf describes how encoding/json writes a type. Fields with omitempty are optional; the tag about is the
// description. Other properties stay allowed, so that a newer server does not fail an older client's cached schema.
func schemaOf(t reflect.Type) schema {
	switch {
	case t == reflect.TypeFor[time.Time](), t.Kind() == reflect.String:
		return schema{Type: "string"}
	case t.Kind() == reflect.Bool:
		return schema{Type: "boolean"}
	case t.Kind() == reflect.Slice:
		return schema{Type: "array", Items: new(schemaOf(t.Elem()))}
	case t.Kind() == reflect.Struct:
		return objectOf(t)
	default:
		return schema{Type: "integer"}
	}
}

func objectOf(t reflect.Type) schema {
	object := schema{Type: "object", Properties: make([]property, 0, t.NumField()), Required: make([]string, 0, t.NumField())}
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			embedded := objectOf(field.Type)
			object.Properties = append(object.Properties, embedded.Properties...)
			object.Required = append(object.Required, embedded.Required...)
			continue
		}
		if !field.IsExported() {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		member := schemaOf(field.Type)
		member.Description = field.Tag.Get("about")
		object.Properties = append(object.Properties, property{name, member})
		if options != "omitempty" {
			object.Required = append(object.Required, name)
		}
	}
	return object
}

// encode writes JSON without escaping <, > and &, which a model reads better plain. The types of this package cannot
// fail to be encoded; invalid UTF-8 becomes U+FFFD.
func encode(v any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("tools: encode a result: " + err.Error())
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
