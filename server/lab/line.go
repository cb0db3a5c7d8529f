package lab

import (
	"bufio"
	"errors"
)

// maxLine is how long a line of a server can be, in bytes; a host that takes longer ones has memory to spare. Of a longer one
// only the beginning is kept.
const (
	maxLine   = 16 << 20
	beginning = 160
)

// readLine reads a line with its end, or what there is before an error. Too long is one of more than maxLine bytes.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		switch {
		case tooLong:
		case len(line)+len(part) > maxLine:
			line, tooLong = append([]byte(nil), append(line, part...)[:beginning]...), true
		default:
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
