package tracing

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// batching returns the settings of the queue in which spans wait, by the variables for them. They are not left to the SDK, which
// takes any number: a size below zero ends the program, a large one takes its memory, and without a delay a core is busy for
// ever. The defaults are those of the specification.
func batching(getenv func(string) string, warn func(string)) []sdktrace.BatchSpanProcessorOption {
	const (
		mostSpans = 1 << 20
		anHour    = 60 * 60 * 1000
	)
	number := func(variable string, usual, least, most int) int {
		text := strings.TrimSpace(getenv(variable))
		if text == "" {
			return usual
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			warn(fmt.Sprintf("%s is not used: it takes a number from %d to %d; %d counts instead", variable, least, most, usual))
			return usual
		}
		return n
	}
	queue := number("OTEL_BSP_MAX_QUEUE_SIZE", sdktrace.DefaultMaxQueueSize, 1, mostSpans)
	batch := number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", min(sdktrace.DefaultMaxExportBatchSize, queue), 1, queue)
	delay := number("OTEL_BSP_SCHEDULE_DELAY", sdktrace.DefaultScheduleDelay, 1, anHour)
	timeout := number("OTEL_BSP_EXPORT_TIMEOUT", sdktrace.DefaultExportTimeout, 1, anHour)
	return []sdktrace.BatchSpanProcessorOption{
		sdktrace.WithMaxQueueSize(queue), sdktrace.WithMaxExportBatchSize(batch),
		sdktrace.WithBatchTimeout(time.Duration(delay) * time.Millisecond),
		sdktrace.WithExportTimeout(time.Duration(timeout) * time.Millisecond),
	}
}
