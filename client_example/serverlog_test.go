package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestServerLog(t *testing.T) {
	retry := `time=2026-01-02T03:04:05Z level=INFO msg="attempt 1: connection reset by Kitebase (KitebaseUnavailable). Retrying in 0.1s." tool=get_ticket` + "\n"
	for name, test := range map[string]struct {
		chunks           []string
		attempts, others string
	}{
		"an attempt":           {[]string{retry}, "    attempt 1: connection reset by Kitebase (KitebaseUnavailable). Retrying in 0.1s.\n", ""},
		"another line":         {[]string{"level=WARN msg=\"call failed\"\n"}, "", "    | level=WARN msg=\"call failed\"\n"},
		"a word":               {[]string{"level=WARN msg=attempt\n"}, "", "    | level=WARN msg=attempt\n"},
		"no log at all":        {[]string{"panic: attempt 1\n"}, "", "    | panic: attempt 1\n"},
		"lines in pieces":      {[]string{"one\ntw", "o\n" + retry[:60], retry[60:] + "thr"}, "    attempt 1: connection reset by Kitebase (KitebaseUnavailable). Retrying in 0.1s.\n", "    | one\n    | two\n"},
		"quotes in the middle": {[]string{`x msg="attempt 2: \"odd\"" y="z"` + "\n"}, "    attempt 2: \"odd\"\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var attempts, others bytes.Buffer
			log := &serverLog{attempts: &attempts, others: &others}
			for _, chunk := range test.chunks {
				n, err := log.Write([]byte(chunk))
				require.NoError(t, err)
				require.Equal(t, len(chunk), n)
			}
			require.Equal(t, test.attempts, attempts.String())
			require.Equal(t, test.others, others.String())
		})
	}
	t.Run("a reader that left", func(t *testing.T) {
		_, err := (&serverLog{others: broken{}}).Write([]byte("one\n"))
		require.EqualError(t, err, "broken pipe")
	})
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
