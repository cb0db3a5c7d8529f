package access

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A parser walks through a tokens file, which must be JSON. It reads token by token, since encoding/json forgets lines, takes
// the last of two fields with one name, and any case of a name.
type parser struct {
	data   []byte
	json   *json.Decoder
	tools  []Tool
	grants []Grant
}

var errShape = errors.New(`it must be {"tokens": [ … ]}, each entry an object such as {"name": "priya", "sha256": "…"}`)

// document reads the whole file.
func (p *parser) document() error {
	found := false
	err := p.object(func(field string) error {
		if field != "tokens" {
			return fmt.Errorf("there is no field %s; the file has tokens and nothing else", shown(field))
		}
		found = true
		return p.list()
	})
	if err == nil && !found {
		return errShape
	}
	return err
}

func (p *parser) list() error {
	if !p.opens('[') {
		return errShape
	}
	for p.json.More() {
		line := p.line()
		if err := p.entry(); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	_, err := p.json.Token()
	return err
}

// entry reads one grant. Its errors name it as soon as its name is known.
func (p *parser) entry() error {
	var g Grant
	err := p.object(func(field string) error {
		var value json.RawMessage
		if err := p.json.Decode(&value); err != nil {
			return err
		}
		return p.setField(&g, field, value)
	})
	if err == nil {
		err = p.add(g)
	}
	if err != nil && grantName().MatchString(g.Name) {
		return fmt.Errorf("%s: %w", g.Name, err)
	}
	return err
}

func (p *parser) add(g Grant) error {
	switch {
	case g.Name == "":
		return errors.New("the entry has no name; add one, such as \"name\": \"priya\"")
	case g.SHA256 == "":
		return errors.New("the entry has no sha256; make one with: kitebase-mcp token NAME")
	}
	for _, other := range p.grants {
		if other.Name == g.Name {
			return errors.New("another entry has the same name; rename or remove one")
		}
		if other.hash == g.hash {
			return fmt.Errorf("the entry %s has the same sha256; give each its own token", other.Name)
		}
	}
	p.grants = append(p.grants, g)
	return nil
}

// object reads an object, and lets take read the value of each field.
func (p *parser) object(take func(field string) error) error {
	if !p.opens('{') {
		return errShape
	}
	var seen []string
	for p.json.More() {
		token, err := p.json.Token()
		if err != nil {
			return err
		}
		field, _ := token.(string)
		if slices.Contains(seen, field) {
			return fmt.Errorf("the field %s stands there twice; leave one out", shown(field))
		}
		seen = append(seen, field)
		if err := take(field); err != nil {
			return err
		}
	}
	_, err := p.json.Token()
	return err
}

func (p *parser) opens(bracket json.Delim) bool {
	token, err := p.json.Token()
	return err == nil && token == bracket
}

// shown returns a word as an error repeats it: a slip of the hand, but nothing that may be a token at a wrong place.
func shown(word string) string {
	if len(word) > maxShown || strings.HasPrefix(word, TokenPrefix) {
		return "of that name, which is not repeated here, since it might be a token"
	}
	return strconv.Quote(word)
}

// maxShown is the most bytes of a word that is repeated.
const maxShown = 20

// line is that of the next value.
func (p *parser) line() int {
	at := int(p.json.InputOffset())
	rest := p.data[at:]
	return lineAt(p.data, at+1+len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,")))
}
