package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Grant is one entry of a tokens file.
type Grant struct {
	// Name is what the caller is called in logs: 1 to 64 letters, digits and .-_@, unique in the file; it does not begin like a token.
	Name string `json:"name"`
	// SHA256 is the hash of the token, 64 hex digits, unique in the file.
	SHA256 string `json:"sha256"`
	// Tools are the tools that it may use. Default all; an empty list is none.
	Tools *[]string `json:"tools,omitempty"`
	// ReadOnly takes away those that change something. Default false.
	ReadOnly bool `json:"read_only,omitempty"`
	// Expires is when it ends, by RFC 3339. Default never.
	Expires *time.Time `json:"expires,omitempty"`

	hash [sha256.Size]byte
}

// tokensDocument is a whole file.
type tokensDocument struct {
	Tokens []Grant `json:"tokens"`
}

var grantName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`) })

// Parse reads the contents of a tokens file:
//
//	{"tokens": [
//	  {"name": "priya",   "sha256": "0f3c…"},
//	  {"name": "reports", "sha256": "91ab…", "read_only": true, "expires": "2027-01-31T00:00:00Z"},
//	  {"name": "scraper", "sha256": "77d0…", "tools": []}
//	]}
//
// It is strict: whatever it does not understand is an error that names the line, and says what to do. No error repeats a
// value that may be a token.
func Parse(data []byte, tools []Tool) ([]Grant, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors on Windows write it
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New(`the file is empty; make an entry with: kitebase-mcp token NAME --add FILE, or write {"tokens": []} to let nobody in`)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, notJSON(data, err)
	}
	p := &parser{data: data, json: json.NewDecoder(bytes.NewReader(data)), tools: tools}
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.grants, nil
}

func notJSON(data []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return errors.New("it is no JSON")
	}
	return fmt.Errorf("line %d: it is no JSON from here on: look for a missing comma, quote or bracket", lineAt(data, int(syntax.Offset)))
}

func lineAt(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(max(offset-1, 0), len(data))], []byte("\n"))
}

// setField sets the field of a grant from its JSON. Errors begin with the name of the field.
func (p *parser) setField(g *Grant, field string, value json.RawMessage) (err error) {
	switch field {
	case "name":
		if json.Unmarshal(value, &g.Name) != nil || !grantName().MatchString(g.Name) {
			return errors.New("name takes 1 to 64 letters, digits and .-_@, the first a letter or digit")
		}
		if strings.HasPrefix(g.Name, TokenPrefix) { // it would stand in every log
			g.Name = ""
			return errors.New("name must not begin with kb_, as tokens do; if a token stood here, replace it: others may have read it")
		}
	case "sha256":
		g.SHA256, g.hash, err = readHash(value)
	case "tools":
		g.Tools, err = p.readTools(value)
	case "read_only":
		if g.ReadOnly, err = readBool(value); err != nil {
			return errors.New("read_only takes true or false")
		}
	case "expires":
		g.Expires = new(time.Time)
		if json.Unmarshal(value, g.Expires) != nil || g.Expires.IsZero() {
			return errors.New("expires takes a time such as 2027-01-31T00:00:00Z; leave it out for never")
		}
	default:
		return fmt.Errorf("there is no field %s; an entry has name, sha256, tools, read_only and expires", shown(field))
	}
	return err
}

func readBool(value json.RawMessage) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, errors.New("no boolean")
}

func readHash(value json.RawMessage) (text string, hash [sha256.Size]byte, err error) {
	if json.Unmarshal(value, &text) != nil {
		text = ""
	}
	raw, err := hex.DecodeString(text)
	switch {
	case err != nil || len(raw) != sha256.Size:
		return "", hash, errors.New("sha256 takes the SHA-256 of the token as 64 hex digits, never the token itself; " +
			"make both with: kitebase-mcp token NAME. If a token stood here, replace it: others may have read it")
	case [sha256.Size]byte(raw) == sha256.Sum256(nil):
		return "", hash, errors.New("sha256 is the hash of nothing; make a token with: kitebase-mcp token NAME")
	}
	return text, [sha256.Size]byte(raw), nil
}

func (p *parser) readTools(value json.RawMessage) (*[]string, error) {
	var names []string
	if json.Unmarshal(value, &names) != nil || names == nil { // null could be meant as all or as none
		return nil, errors.New("tools takes a list of names; leave it out for all, and write [] for none")
	}
	for i, name := range names {
		if !knows(p.tools, name) {
			return nil, fmt.Errorf("there is no tool %s; the tools are %s", shown(name), listed(p.tools))
		}
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("tools has %s twice; leave one out", name)
		}
	}
	return &names, nil
}

func listed(tools []Tool) string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return strings.Join(names, ", ")
}
