package otlp_test

import (
	"testing"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	otel.SetLogger(logr.Discard()) // that of the official exporter, which says what is wrong with its variables
	goleak.VerifyTestMain(m)
}
