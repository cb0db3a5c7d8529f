package kitebase

import (
	"net/http"
	"time"
)

// RetryAfter lets tests reach the parser without a server.
func RetryAfter(header http.Header) time.Duration { return retryAfter(header) }
