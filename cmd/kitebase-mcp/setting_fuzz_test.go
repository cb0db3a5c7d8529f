package main_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	program "github.com/kitebase/kitebase-mcp/cmd/kitebase-mcp"
)

// FuzzSettings states: whatever the value of a setting is, by flag or by variable, it is taken or refused with exit code 2 by one
// line that names the setting; both ways agree, and a token is never repeated.
func FuzzSettings(f *testing.F) {
	for i, value := range []string{"5s", "-1", "1e3s", "9223372036854775807ns", "512KiB", "true", "http", "a,b", "http://u:p@h", "\x00", "--url", "1h\n"} {
		f.Add(uint8(i), value)
		f.Add(uint8(i+9), value)
	}
	all := settings()
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		s := all[int(which)%len(all)]
		_, code, err := program.Read([]string{"--" + s.flag + "=" + value}, nil)
		requireRefusal(t, s.flag, code, err)
		if value == "" {
			return // an empty variable counts as not set
		}
		_, byVariable, errByVariable := program.Read(nil, []string{"KITEBASE_" + strings.ToUpper(strings.ReplaceAll(s.flag, "-", "_")) + "=" + value})
		requireRefusal(t, s.flag, byVariable, errByVariable)
		require.Equal(t, code, byVariable, "--%s=%q: %v; by variable: %v", s.flag, value, err, errByVariable)
		if strings.Contains(s.flag, "token") && len(value) > 30 && err != nil {
			require.NotContains(t, err.Error(), value)
		}
	})
}

func requireRefusal(t *testing.T, flag string, code int, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.Equal(t, 2, code, err)
	require.Contains(t, err.Error(), "--"+flag)
	require.False(t, strings.ContainsFunc(err.Error(), unicode.IsControl), "%q", err)
}

// FuzzSize states: a size is a number with at most one unit, it reads the same each time, and is never below what its number says.
func FuzzSize(f *testing.F) {
	for _, text := range []string{"1", "512KiB", "1MiB", "2147483647MiB", "1MiBKiB", "1KiBMiB", "+5", "-1", "0", "1kib", " 1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := program.ReadSize(text)
		for range 10 {
			again, errAgain := program.ReadSize(text)
			require.Equal(t, n, again)
			require.Equal(t, err == nil, errAgain == nil)
		}
		if err != nil {
			return
		}
		require.Positive(t, n)
		require.Regexp(t, `^\+?[0-9]+(KiB|MiB)?$`, text)
		bare, err := program.ReadSize(strings.TrimSuffix(strings.TrimSuffix(text, "KiB"), "MiB"))
		require.NoError(t, err)
		require.Contains(t, []int64{bare, bare << 10, bare << 20}, n)
	})
}
