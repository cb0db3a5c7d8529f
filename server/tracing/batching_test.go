package tracing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/kitebase/kitebase-mcp/server/tracing"
)

// What the SDK would end by, take its memory by, or be busy with for ever is not used, and told.
func TestBatching(t *testing.T) {
	usual := sdktrace.BatchSpanProcessorOptions{
		MaxQueueSize: 2048, MaxExportBatchSize: 512, BatchTimeout: 5 * time.Second, ExportTimeout: 30 * time.Second,
	}
	with := func(change func(*sdktrace.BatchSpanProcessorOptions)) sdktrace.BatchSpanProcessorOptions {
		changed := usual
		change(&changed)
		return changed
	}
	for name, test := range map[string]struct {
		set   map[string]string
		want  sdktrace.BatchSpanProcessorOptions
		wrong []string
	}{
		"nothing": {nil, usual, nil},
		"all": {map[string]string{
			"OTEL_BSP_MAX_QUEUE_SIZE": "64", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": " 8 ", "OTEL_BSP_SCHEDULE_DELAY": "1", "OTEL_BSP_EXPORT_TIMEOUT": "1000",
		}, sdktrace.BatchSpanProcessorOptions{MaxQueueSize: 64, MaxExportBatchSize: 8, BatchTimeout: time.Millisecond, ExportTimeout: time.Second}, nil},
		"a small queue": {map[string]string{"OTEL_BSP_MAX_QUEUE_SIZE": "1"}, with(func(o *sdktrace.BatchSpanProcessorOptions) {
			o.MaxQueueSize, o.MaxExportBatchSize = 1, 1
		}), nil},
		"a batch above the queue": {map[string]string{"OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "101"},
			with(func(o *sdktrace.BatchSpanProcessorOptions) { o.MaxQueueSize, o.MaxExportBatchSize = 100, 100 }),
			[]string{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE is not used: it takes a number from 1 to 100; 100 counts instead"}},
		"below zero": {map[string]string{
			"OTEL_BSP_MAX_QUEUE_SIZE": "-1", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "-1", "OTEL_BSP_SCHEDULE_DELAY": "-5", "OTEL_BSP_EXPORT_TIMEOUT": "-5",
		}, usual, []string{
			"OTEL_BSP_MAX_QUEUE_SIZE is not used: it takes a number from 1 to 1048576; 2048 counts instead",
			"OTEL_BSP_MAX_EXPORT_BATCH_SIZE is not used: it takes a number from 1 to 2048; 512 counts instead",
			"OTEL_BSP_SCHEDULE_DELAY is not used: it takes a number from 1 to 3600000; 5000 counts instead",
			"OTEL_BSP_EXPORT_TIMEOUT is not used: it takes a number from 1 to 3600000; 30000 counts instead",
		}},
		"more than there is memory": {map[string]string{"OTEL_BSP_MAX_QUEUE_SIZE": "99999999999"}, usual,
			[]string{"OTEL_BSP_MAX_QUEUE_SIZE is not used: it takes a number from 1 to 1048576; 2048 counts instead"}},
		"no number, never repeated": {map[string]string{"OTEL_BSP_SCHEDULE_DELAY": "tok-secret"}, usual,
			[]string{"OTEL_BSP_SCHEDULE_DELAY is not used: it takes a number from 1 to 3600000; 5000 counts instead"}},
		"no delay": {map[string]string{"OTEL_BSP_SCHEDULE_DELAY": "0"}, usual,
			[]string{"OTEL_BSP_SCHEDULE_DELAY is not used: it takes a number from 1 to 3600000; 5000 counts instead"}},
	} {
		t.Run(name, func(t *testing.T) {
			var wrong []string
			var got sdktrace.BatchSpanProcessorOptions
			for _, option := range tracing.Batching(func(name string) string { return test.set[name] }, func(text string) { wrong = append(wrong, text) }) {
				option(&got)
			}
			require.Equal(t, test.want, got)
			require.Equal(t, test.wrong, wrong)
		})
	}
}
