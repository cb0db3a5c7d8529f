package tools

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// schema is the part of JSON Schema 2020-12 that the tools need; hosts understand this much everywhere.
type schema struct {
	Type                 any        `json:"type"`
	Description          string     `json:"description,omitempty"`
	Examples             []string   `json:"examples,omitempty"`
	Properties           properties `json:"properties,omitempty"`
	Required             []string   `json:"required,omitempty"`
	Items                *schema    `json:"items,omitempty"`
	AdditionalProperties *bool      `json:"additionalProperties,omitempty"`
}

// properties keep their order on the wire, since models write arguments in the order in which they read them.
type properties []property

type property struct {
	name   string
	schema schema
}

// MarshalJSON writes an object with the members in order.
func (p properties) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, member := range p {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, encode(member.name)...)
		text = append(text, ':')
		text = append(text, encode(member.schema)...)
	}
	return append(text, '}'), nil
}

// inputSchema describes the arguments of a call. It names the form of a value in words rather than by pattern or enum:
// what is wrong is told in words by [bind], which a host that checks the schema itself would forestall. Optional
// arguments may be null, because models send that.
func inputSchema(arguments []Argument) schema {
	object := schema{Type: "object", AdditionalProperties: new(false)}
	for _, argument := range arguments {
		member := schema{Type: "string", Description: argument.Description, Examples: []string{argument.Example}}
		if argument.Optional {
			member.Type = []string{"string", "null"}
		} else {
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
	object := schema{Type: "object"}
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
