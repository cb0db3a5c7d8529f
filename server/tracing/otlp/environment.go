package otlp

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// Settings is where spans are delivered, and how.
type Settings struct {
	// URL is where each batch is posted to, with its path.
	URL string
	// Headers are sent along, and may hold keys. Default: none.
	Headers http.Header
	// UserAgent names this program, unless Headers do. Default: that of net/http.
	UserAgent string
	// Timeout is how long a batch may take with all its attempts. Default 0: as long as the caller's context.
	Timeout time.Duration
	// Gzip has what is sent compressed.
	Gzip bool
	// Certificates are those of the collector and of this program. The zero value means those of the system, and none.
	Certificates Certificates
}

// The variables begin with one of these; the one for traces alone wins over the one for all signals.
const (
	traces = "OTEL_EXPORTER_OTLP_TRACES_"
	all    = "OTEL_EXPORTER_OTLP_"
)

// environment are the variables, and who is told what is wrong with them. No value is told: they hold keys.
type environment struct {
	getenv func(string) string
	warn   func(string)
}

// FromEnvironment reads the settings from the standard variables:
//
//	OTEL_EXPORTER_OTLP_ENDPOINT       http://localhost:4318, to which /v1/traces is added
//	…_HEADERS                         name=value, separated by commas, the values percent-encoded
//	…_TIMEOUT                         milliseconds, default 10000; 0 means no limit of its own
//	…_COMPRESSION                     gzip or none, which is the default
//	…_CERTIFICATE                     a file with those that the collector's is checked against
//	…_CLIENT_CERTIFICATE, …_CLIENT_KEY  files with that of this program
//
// For each, OTEL_EXPORTER_OTLP_TRACES_… wins, of which the endpoint is taken as it is. What is wrong is told to warn, by the
// name of the variable, and counts as not set. An error, which repeats no value either, means that nothing can be delivered:
// the endpoint is no URL, or certificates are set for one without TLS.
func FromEnvironment(getenv func(string) string, warn func(string)) (Settings, error) {
	e := environment{getenv, warn}
	where, collector, err := Endpoint(getenv)
	if err != nil {
		return Settings{}, err
	}
	settings := Settings{
		URL:          target(where, collector),
		Headers:      e.headers(),
		Timeout:      10 * time.Second,
		Certificates: e.certificates(),
	}
	e.read("TIMEOUT", "a number of milliseconds", settings.setTimeout)
	e.read("COMPRESSION", "gzip or none", settings.setCompression)
	if collector.Scheme == "http" && settings.Certificates.any() {
		return Settings{}, errors.New("certificates are set in the " + all + " variables, but the address of the collector begins with http:")
	}
	return settings, nil
}

// Endpoint returns the variable that says where the collector is, "" if none does, and its value as it is. The error names the
// variable and repeats nothing of its value.
func Endpoint(getenv func(string) string) (variable string, collector *url.URL, err error) {
	variable, value := environment{getenv: getenv}.first("ENDPOINT")
	if variable == "" {
		return "", &url.URL{Scheme: "http", Host: "localhost:4318"}, nil
	}
	collector, err = url.Parse(value)
	if err != nil || collector.Host == "" || collector.Scheme != "http" && collector.Scheme != "https" {
		return variable, nil, errors.New(variable + " takes a URL such as http://127.0.0.1:4318")
	}
	return variable, collector, nil
}

// target is where spans are posted to: an endpoint for all signals is the folder in which each has its path. The user and the
// query of an endpoint are left out.
func target(variable string, collector *url.URL) string {
	to := url.URL{Scheme: collector.Scheme, Host: collector.Host, Path: path.Join("/", collector.Path, "v1/traces")}
	if variable == traces+"ENDPOINT" {
		to.Path = collector.Path
		if to.Path == "" {
			to.Path = "/"
		}
	}
	return to.String()
}

func (s *Settings) setTimeout(value string) bool {
	milliseconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || milliseconds < 0 || milliseconds > math.MaxInt64/int64(time.Millisecond) {
		return false
	}
	s.Timeout = time.Duration(milliseconds) * time.Millisecond
	return true
}

func (s *Settings) setCompression(value string) bool {
	s.Gzip = value == "gzip"
	return s.Gzip || value == "none"
}

// value is what a variable is set to. White space around it does not count, nor does a variable that has nothing else.
func (e environment) value(variable string) string { return strings.TrimSpace(e.getenv(variable)) }

// first returns the variable of that name that counts, with its value; both are "" if none is set.
func (e environment) first(name string) (variable, value string) {
	for _, variable = range []string{traces + name, all + name} {
		if value = e.value(variable); value != "" {
			return variable, value
		}
	}
	return "", ""
}

// read has a value used, and tells what the variable takes if that fails. Then the one for all signals gets its turn.
func (e environment) read(name, takes string, use func(value string) bool) {
	for _, variable := range []string{traces + name, all + name} {
		value := e.value(variable)
		if value == "" {
			continue
		}
		if use(value) {
			return
		}
		e.warn(variable + " is not used: it takes " + takes)
	}
}
