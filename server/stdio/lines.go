package stdio

import (
	"bufio"
	"bytes"
	"io"
)

// What is kept of a line that is too long, for the id in it.
const (
	keepHead = 64 << 10
	keepTail = 4 << 10
)

// lines reads lines of bounded length. Not safe for concurrent use.
type lines struct {
	in  *bufio.Reader
	max int // bytes; -1: no limit
}

// line is one line without its end. If it was too long, text is its beginning and tail its end.
type line struct {
	text, tail []byte
	tooLong    bool
}

func newLines(in io.Reader, maxLine int) *lines {
	return &lines{in: bufio.NewReaderSize(in, keepHead), max: maxLine}
}

// next returns the next line that is not blank. It belongs to the caller. The end of the input ends a line, too.
func (l *lines) next() (line, error) {
	for {
		chunk, err := l.in.ReadSlice('\n')
		got := line{text: bytes.TrimSpace(chunk)}
		if err == bufio.ErrBufferFull {
			got, err = l.long(chunk)
		} else {
			got.tooLong = l.exceeds(len(got.text))
			got.text = bytes.Clone(got.text)
			got.tail = got.text
		}
		if len(got.text) > 0 {
			return got, nil // an error comes again at the next read
		}
		if err != nil {
			return line{}, err
		}
	}
}

// long reads the rest of a line that begins with chunk. Beyond the limit it keeps the two ends only.
func (l *lines) long(chunk []byte) (line, error) {
	got := line{text: bytes.Clone(chunk)}
	for {
		chunk, err := l.in.ReadSlice('\n')
		got.tail = append(got.tail, chunk...)
		got.tail = got.tail[max(0, len(got.tail)-keepTail):]
		if !got.tooLong {
			got.text = append(got.text, chunk...)
		}
		if !got.tooLong && l.exceeds(len(bytes.TrimSpace(got.text))) {
			got.tooLong, got.text = true, bytes.Clone(got.text[:keepHead])
		}
		if err != bufio.ErrBufferFull {
			got.text = bytes.TrimSpace(got.text)
			return got, err
		}
	}
}

func (l *lines) exceeds(n int) bool { return l.max >= 0 && n > l.max }
