package tracing

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/kitebase/kitebase-mcp/server/tracing/otlp"
)

// Config is what the environment does not say. The zero value works.
type Config struct {
	// Version is that of the service. Default "dev".
	Version string
	// Logger gets what is wrong with the settings, and what was lost. Default: none.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	c.Version = cmp.Or(c.Version, "dev")
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

func (c Config) warn(text string) { c.Logger.Warn(text) }

// Tracing makes spans and delivers them. A nil one does nothing. It is safe for concurrent use.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	exporter *exporter
	hurry    func() // has no delivery wait for another attempt
	log      *slog.Logger
}

// flushTime is how long the end waits for what is not delivered yet. A host may kill the process 500 ms after it has asked
// it to end, and the log has to be written too.
const flushTime = 200 * time.Millisecond

// Start returns nil if the environment does not ask for traces, or asks for what cannot be done, which is logged: the
// variables may be meant for the host whose environment this process has inherited.
//
// The log and the errors of the OpenTelemetry SDK, which belong to the process, go to Logger from then on.
func Start(config Config) *Tracing {
	config = config.withDefaults()
	on, warning := asked(os.Getenv)
	if warning != "" {
		config.Logger.Warn(warning)
	}
	if !on {
		return nil
	}
	redirect(config.Logger)
	settings, err := otlp.FromEnvironment(os.Getenv, config.warn)
	if err != nil {
		config.Logger.Warn("traces are off: " + err.Error())
		return nil
	}
	settings.UserAgent = "kitebase-mcp/" + config.Version
	delivery := otlp.New(settings)
	started := start(context.Background(), config, delivery)
	started.hurry = delivery.Hurry
	return started
}

func start(ctx context.Context, config Config, delivery sdktrace.SpanExporter) *Tracing {
	described, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "kitebase-mcp"), attribute.String("service.version", config.Version)),
		resource.WithFromEnv(), // the last one counts
	)
	if err != nil {
		config.Logger.Warn("OTEL_RESOURCE_ATTRIBUTES is not understood in full; it takes name=value, separated by commas")
	}
	out := newExporter(delivery, config.Logger)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(out, batching(os.Getenv, config.warn)...), sdktrace.WithResource(described))
	return &Tracing{
		provider: provider,
		tracer:   provider.Tracer("github.com/kitebase/kitebase-mcp", trace.WithInstrumentationVersion(config.Version)),
		exporter: out,
		hurry:    func() {},
		log:      config.Logger,
	}
}

// Close delivers what is left, by one attempt and for at most 200 ms, and gives up the rest.
func (t *Tracing) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	t.hurry()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last traces were not delivered before the end")
	}
	t.exporter.giveUp()
}
