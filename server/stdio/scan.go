package stdio

import "bytes"

// cursor walks over JSON text just far enough to tell its outermost members apart. It accepts some texts that are no
// JSON, and refuses none that are: HandleMessage parses everything again, and strictly.
type cursor struct {
	text []byte
	at   int
}

// members calls visit with each member of the object that text must be, key still in quotes, value as written. It
// reports false when text is not one object.
func members(text []byte, visit func(key, value []byte)) bool {
	c := cursor{text: text}
	if !c.take('{') {
		return false
	}
	if c.take('}') {
		return c.atEnd()
	}
	for {
		c.space()
		key := c.quoted()
		if key == nil || !c.take(':') {
			return false
		}
		value := c.value()
		if value == nil {
			return false
		}
		visit(key, value)
		if c.take(',') {
			continue
		}
		return c.take('}') && c.atEnd()
	}
}

func (c *cursor) space() {
	for c.at < len(c.text) && isSpace(c.text[c.at]) {
		c.at++
	}
}

// take steps over space and then over b, if that is what comes.
func (c *cursor) take(b byte) bool {
	c.space()
	if c.at == len(c.text) || c.text[c.at] != b {
		return false
	}
	c.at++
	return true
}

func (c *cursor) atEnd() bool {
	c.space()
	return c.at == len(c.text)
}

// value steps over one value and returns it as written, nil if there is none.
func (c *cursor) value() []byte {
	c.space()
	if c.at == len(c.text) {
		return nil
	}
	switch c.text[c.at] {
	case '"':
		return c.quoted()
	case '{', '[':
		return c.nested()
	}
	rest := c.text[c.at:]
	n := bytes.IndexAny(rest, ",}] \t\r\n")
	if n <= 0 {
		return nil
	}
	c.at += n
	return rest[:n]
}

// quoted steps over one string and returns it with its quotes, nil if there is none.
func (c *cursor) quoted() []byte {
	if c.at == len(c.text) || c.text[c.at] != '"' {
		return nil
	}
	start := c.at
	for c.at++; ; c.at++ {
		n := bytes.IndexByte(c.text[c.at:], '"')
		if n < 0 {
			return nil
		}
		c.at += n
		if !c.escaped() {
			c.at++
			return c.text[start:c.at]
		}
	}
}

// escaped reports whether an odd number of backslashes stands in front of the cursor.
func (c *cursor) escaped() bool {
	n := 0
	for c.text[c.at-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// nested steps over one object or array and returns it, nil if it does not end.
func (c *cursor) nested() []byte {
	start, depth := c.at, 0
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case '"':
			if c.quoted() == nil {
				return nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		c.at++
		if depth == 0 {
			return c.text[start:c.at]
		}
	}
	return nil
}

func isSpace(b byte) bool {
	return b == ' ' || b == '\t' || b == '\r' || b == '\n'
}
