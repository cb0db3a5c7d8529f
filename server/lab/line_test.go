package lab_test

import (
	"bufio"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// endless is a line without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// TestLongLine: a line was kept whole, however long; 600 MB of it took more than 800 MB of memory. It is not parallel, since it
// looks at what the whole process allocates.
func TestLongLine(t *testing.T) {
	const length = 32 * lab.MaxLine
	lines := bufio.NewReader(io.MultiReader(io.LimitReader(endless{}, length), strings.NewReader("\nthe next\nthe last")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	line, tooLong, err := lab.ReadLine(lines)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.True(t, tooLong)
	require.Less(t, len(line), 1000)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(length/2))

	for _, want := range []string{"the next\n", "the last"} {
		line, tooLong, err = lab.ReadLine(lines)
		require.False(t, tooLong)
		require.Equal(t, want, string(line))
	}
	require.ErrorIs(t, err, io.EOF)
}

// TestLongestLine: the limit is the last length that is read.
func TestLongestLine(t *testing.T) {
	t.Parallel()
	for _, length := range []int64{lab.MaxLine - 1, lab.MaxLine, lab.MaxLine + 1} {
		line, tooLong, _ := lab.ReadLine(bufio.NewReader(io.LimitReader(endless{}, length)))
		require.Equal(t, length > lab.MaxLine, tooLong)
		if !tooLong {
			require.Len(t, line, int(length))
		}
	}
}
