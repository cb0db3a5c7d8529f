package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

const notJSON = "The arguments are not valid JSON."

// values are the checked and normalised arguments of one call, by name. Optional ones that were not given are "".
type values map[string]string

// bind reads the arguments of a call, or returns a [refusal] that says in words what to mend.
//
// It reads the JSON as it came, because encoding/json forgives too much for a tool that sends emails: it matches names
// without regard to case, takes the last of two equal names, and turns lone surrogates and invalid bytes into U+FFFD.
// Here names are exact, a name given twice is refused, and so is damaged text. A U+FFFD that the caller wrote itself
// is text like any other: customers do ask about it.
func bind(request mcp.CallToolRequest, accepted []Argument) (values, error) {
	raw, err := rawArguments(request)
	if err != nil {
		return nil, err
	}
	members, err := split(raw, accepted)
	if err != nil {
		return nil, err
	}
	bound := make(values, len(accepted))
	for _, argument := range accepted {
		if bound[argument.Name], err = argument.value(members[argument.Name]); err != nil {
			return nil, err
		}
	}
	return bound, nil
}

// rawArguments returns the arguments as they came over the wire, or what a Go caller gave, as JSON. Missing arguments
// and null are an empty object, so that the answer can name what is missing.
func rawArguments(request mcp.CallToolRequest) (json.RawMessage, error) {
	raw := request.Params.RawArguments
	if len(raw) == 0 && request.Params.Arguments != nil {
		if given, ok := request.Params.Arguments.(map[string]any); ok && !validStrings(given) {
			return nil, refuse("The arguments contain damaged characters. Write them again as plain text.")
		}
		var err error
		if raw, err = json.Marshal(request.Params.Arguments); err != nil {
			return nil, refuse(notJSON)
		}
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return json.RawMessage("{}"), nil
	}
	if !json.Valid(raw) {
		return nil, refuse(notJSON)
	}
	return raw, nil
}

// split returns the members of a valid JSON object by name. It refuses anything but an object, names that the tool does
// not take, and names given twice.
func split(raw json.RawMessage, accepted []Argument) (map[string]json.RawMessage, error) {
	if raw[0] != '{' {
		return nil, refuse("The arguments must be a JSON object such as %s, not %s.", example(accepted), typeWord(raw))
	}
	members := make(map[string]json.RawMessage, len(accepted))
	decoder := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = decoder.ReadToken() // the opening brace
	for decoder.PeekKind() == '"' {
		name, value, err := member(decoder)
		_, twice := members[name]
		switch {
		case err != nil:
			return nil, refuse(notJSON)
		case !slices.ContainsFunc(accepted, func(a Argument) bool { return a.Name == name }):
			const says = "There is no argument %s. Give %s."
			return nil, refusal{
				reason: fmt.Sprintf(says, quotedName(name), nameList(accepted)),
				log:    fmt.Sprintf(says, "of that name", nameList(accepted)),
			}
		case twice:
			return nil, refuse("The %s is given twice. Give it once.", name)
		}
		members[name] = value
	}
	return members, nil
}

func member(decoder *jsontext.Decoder) (name string, value json.RawMessage, err error) {
	quoted, err := decoder.ReadValue()
	if err != nil {
		return "", nil, err
	}
	unquoted, _ := jsontext.AppendUnquote(nil, quoted) // what is no UTF-8 in it becomes U+FFFD, which is in no name
	read, err := decoder.ReadValue()
	return string(unquoted), json.RawMessage(read.Clone()), err
}

// value returns the normalised text of one member, whose JSON is nil if it was not given.
func (a Argument) value(raw json.RawMessage) (string, error) {
	switch {
	case a.Optional && (len(raw) == 0 || string(raw) == "null"):
		return "", nil
	case len(raw) == 0:
		return "", refuse("The %s is missing. %s", a.Name, a.help)
	case raw[0] != '"':
		return "", refuse("The %s must be text, not %s. %s", a.Name, typeWord(raw), a.help)
	case damaged(raw):
		return "", refuse("The %s contains damaged characters. Write it again as plain text.", a.Name)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", refuse(notJSON)
	}
	switch blank := idempotency.Strip(text) == ""; {
	case blank && (a.Optional || a.blank):
		return "", nil
	case blank:
		return "", refuse("The %s is blank. %s", a.Name, a.help)
	}
	return a.check(text)
}

// typeWord names the type of a JSON value as one would in a sentence.
func typeWord(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "text"
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`) })

// quotedName repeats a name that the caller made up, if it is harmless.
func quotedName(name string) string {
	if !plainName().MatchString(name) {
		return "of that name"
	}
	return strconv.Quote(name)
}

func nameList(accepted []Argument) string {
	names := make([]string, len(accepted))
	for i, argument := range accepted {
		names[i] = argument.Name
		if argument.Optional {
			names[i] += " (optional)"
		}
	}
	return strings.Join(names, " and ")
}

// example returns accepted arguments as JSON.
func example(accepted []Argument) string {
	var members []string
	for _, argument := range accepted {
		if !argument.Optional {
			members = append(members, fmt.Sprintf("%q: %q", argument.Name, argument.Example))
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}
