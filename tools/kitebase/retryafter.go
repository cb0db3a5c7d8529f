package kitebase

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter caps what a server may ask for. It is longer than anyone waits, and far from where a Duration overflows.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns how long header asks to wait, between 0 and 24 hours. RFC 9110 section 10.2.3 knows whole seconds and
// the three forms of an HTTP date; fractions of a second occur in the field as well. Of several headers the longest wait
// counts. What is negative, past or unreadable asks for nothing.
//
// A date is compared with the Date of the same answer, if it has one: the two come from one clock, and ours may be off.
func retryAfter(header http.Header) time.Duration {
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	var longest time.Duration
	for _, value := range header.Values("Retry-After") {
		longest = max(longest, parseWait(strings.TrimSpace(value), now))
	}
	return longest
}

// parseWait returns the wait of one value; one that is past is negative.
func parseWait(value string, now time.Time) time.Duration {
	if at, err := http.ParseTime(value); err == nil {
		return min(at.Sub(now), maxRetryAfter)
	}
	if strings.Trim(value, "0123456789.") != "" { // ParseFloat also takes 1e3, 0x1p4 and inf
		return 0
	}
	seconds, err := strconv.ParseFloat(value, 64) // out of range is +Inf beside the error
	if err != nil && !math.IsInf(seconds, 1) {
		return 0
	}
	return time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
}
