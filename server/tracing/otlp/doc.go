// Package otlp delivers spans to an OpenTelemetry collector by OTLP over HTTP, as binary protobuf.
//
//	settings, err := otlp.FromEnvironment(os.Getenv, warn)
//	if err != nil { … }
//	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(otlp.New(settings)))
//
// It is not the exporter of the OpenTelemetry project, since that one brings gRPC, the protobuf runtime and their
// registrations into the program: 3.3 MB, and a twentieth of the time that this server takes to start, of which a program
// that only posts spans needs nothing. The tests hold this one to it: the same spans and the same variables have to become the
// same requests.
//
// What is different on purpose:
//
//   - The time limit is for a batch with all its attempts, as the specification has it, not for each attempt.
//   - A collector that cannot be reached is tried again, too.
//   - Bytes that are no UTF-8 become U+FFFD. There, one such string costs the whole batch.
//   - The trace state of a link is delivered.
//   - No redirect is followed, since the headers hold keys.
//   - The default address is http://localhost:4318, with http as in the specification, which also says that
//     OTEL_EXPORTER_OTLP_INSECURE is for gRPC only.
//   - A setting that is wrong is told by the name of its variable, never by its value, and counts as not set.
//   - An answer in JSON, which is not what the collector was asked for, is not read.
//
// It speaks neither gRPC nor JSON and delivers neither metrics nor logs.
package otlp
