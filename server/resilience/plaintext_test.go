package resilience

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:              "-1s",
		0:                         "0s",
		1:                         "0.001s",
		8100 * time.Nanosecond:    "0.001s",
		999 * time.Microsecond:    "0.001s",
		1500 * time.Microsecond:   "0.002s",
		16400 * time.Microsecond:  "0.016s",
		99949 * time.Microsecond:  "0.1s",
		100 * time.Millisecond:    "0.1s",
		149 * time.Millisecond:    "0.1s",
		12340 * time.Millisecond:  "12.3s",
		time.Minute:               "60s",
		1000 * 1000 * time.Second: "1000000s",
	} {
		require.Equal(t, want, seconds(d), "%d ns", d)
	}
}
