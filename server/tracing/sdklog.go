package tracing

import (
	"log/slog"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
)

// redirect sends the log of the SDK, which would go to stderr as it is, through log. Its messages are constants; its values
// and errors repeat settings and are left out.
func redirect(log *slog.Logger) {
	otel.SetLogger(logr.New(sdkLog{log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) {
		log.Warn("a setting of OpenTelemetry is not understood; look at those that begin with OTEL_TRACES_ and OTEL_RESOURCE_")
	}))
}

// sdkLog is a [logr.LogSink] for warnings and errors.
type sdkLog struct{ log *slog.Logger }

// Init is part of [logr.LogSink].
func (sdkLog) Init(logr.RuntimeInfo) {}

// Enabled is part of [logr.LogSink]. The SDK logs warnings at level 1 and errors at any.
func (sdkLog) Enabled(level int) bool { return level <= 1 }

// Info is part of [logr.LogSink].
func (s sdkLog) Info(_ int, message string, _ ...any) { s.log.Warn("OpenTelemetry: " + message) }

// Error is part of [logr.LogSink].
func (s sdkLog) Error(_ error, message string, _ ...any) {
	s.log.Warn("OpenTelemetry: could not " + message + "; look at the variables that begin with OTEL_")
}

// WithValues is part of [logr.LogSink].
func (s sdkLog) WithValues(...any) logr.LogSink { return s }

// WithName is part of [logr.LogSink].
func (s sdkLog) WithName(string) logr.LogSink { return s }
