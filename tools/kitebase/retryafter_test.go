package kitebase_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// The values of the table were all met in the field. The one that hurt was 2^63: it overflowed to a negative wait, and
// every client came back at once.
func TestRetryAfter(t *testing.T) {
	const date = "Mon, 02 Mar 2026 09:00:00 GMT"
	for _, row := range []struct {
		name   string
		date   string
		values []string
		want   time.Duration
	}{
		{"none", date, nil, 0},
		{"empty", date, []string{""}, 0},
		{"zero", date, []string{"0"}, 0},
		{"seconds", date, []string{"120"}, 2 * time.Minute},
		{"spaces", date, []string{" 30 "}, 30 * time.Second},
		{"negative", date, []string{"-1"}, 0},
		{"fraction", date, []string{"1.5"}, 1500 * time.Millisecond},
		{"words", date, []string{"soon"}, 0},
		{"unit", date, []string{"30s"}, 0},
		{"exponent", date, []string{"1e9"}, 0},
		{"hexadecimal", date, []string{"0x10"}, 0},
		{"two dots", date, []string{"1.2.3"}, 0},
		{"a dot", date, []string{"."}, 0},
		{"infinite", date, []string{"inf"}, 0},
		{"a day and more", date, []string{"86401"}, 24 * time.Hour},
		{"2^63", date, []string{"9223372036854775808"}, 24 * time.Hour},
		{"400 digits", date, []string{strings.Repeat("9", 400)}, 24 * time.Hour},
		{"two headers", date, []string{"5", "30"}, 30 * time.Second},
		{"two headers, the longer first", date, []string{"30", "5"}, 30 * time.Second},
		{"two headers, one unreadable", date, []string{"soon", "5"}, 5 * time.Second},
		{"date", date, []string{"Mon, 02 Mar 2026 09:00:40 GMT"}, 40 * time.Second},
		{"date of RFC 850", date, []string{"Monday, 02-Mar-26 09:00:40 GMT"}, 40 * time.Second},
		{"date of asctime", date, []string{"Mon Mar  2 09:00:40 2026"}, 40 * time.Second},
		{"date in the past", date, []string{"Mon, 02 Mar 2026 08:59:00 GMT"}, 0},
		{"date far in the past", date, []string{"Thu, 01 Jan 1970 00:00:00 GMT"}, 0},
		{"date far in the future", date, []string{"Fri, 31 Dec 9999 23:59:59 GMT"}, 24 * time.Hour},
		{"date of an unknown form", date, []string{"2026-03-02 09:00:40"}, 0},
		{"date without a clock of the server", "", []string{"Sat, 01 Jan 2000 00:00:40 GMT"}, 40 * time.Second},
		{"date with an unreadable clock of the server", "now", []string{"Sat, 01 Jan 2000 00:00:40 GMT"}, 40 * time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // it is 2000-01-01 00:00:00 here
				header := http.Header{"Retry-After": row.values}
				if row.date != "" {
					header.Set("Date", row.date)
				}
				require.Equal(t, row.want, kitebase.RetryAfter(header))
			})
		})
	}
}

// Whatever a server writes, the wait is none or a sensible one, and another header never shortens it.
func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"0", "-1", "1.5", "9223372036854775808", "Mon, 02 Mar 2026 09:00:40 GMT", "NaN", "+5", ""} {
		f.Add(seed, "Mon, 02 Mar 2026 09:00:00 GMT", "3")
	}
	f.Fuzz(func(t *testing.T, value, date, second string) {
		one := http.Header{"Retry-After": {value}, "Date": {date}}
		two := http.Header{"Retry-After": {value, second}, "Date": {date}}
		if _, err := http.ParseTime(date); err != nil {
			return // then the result depends on the time of day
		}
		wait := kitebase.RetryAfter(one)
		if wait < 0 || wait > 24*time.Hour {
			t.Fatalf("Retry-After %q makes a wait of %v", value, wait)
		}
		if both := kitebase.RetryAfter(two); both < wait {
			t.Fatalf("Retry-After %q and %q wait %v, the first alone %v", value, second, both, wait)
		}
	})
}
