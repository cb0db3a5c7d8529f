package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// ValidateMonitorAddr reports what is wrong with an address for [ServeMonitor].
func ValidateMonitorAddr(addr string) error {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return fmt.Errorf("host:port, such as 127.0.0.1:9464: %w", err)
	}
	if !isLoopback(addr) {
		return fmt.Errorf("an address that only this machine can reach, such as 127.0.0.1:9464, since it asks for no token; "+
			"%s can be reached from others, which --transport=http serves at /metrics behind its token", addr)
	}
	return nil
}

const (
	// askTime is what a client on this machine has to send a request, so that those that send none keep nobody out for long.
	askTime = 2 * time.Second
	// scrapeGrace is what the end gives to answers on their way. Whoever has asked nothing yet is not waited for: traces are delivered
	// after this end, and a host may kill the process 500 ms after it has closed its input.
	scrapeGrace = 100 * time.Millisecond
)

// ServeMonitor serves /healthz, /readyz and, if there is one, the [Config.Metrics] on listener, and closes it, until ctx ends.
// It is for whoever watches a server that has no HTTP transport, or has a token on it: it takes no calls, asks for no
// token, and so refuses to serve a listener that other machines can reach. Of config it uses Metrics, Ready, Logger and
// WriteTimeout. A request has to be sent within 2 seconds; at the end, answers on their way have 100 ms.
func ServeMonitor(ctx context.Context, listener net.Listener, config Config) error {
	if !isLocal(listener) {
		_ = listener.Close()
		return fmt.Errorf("serving metrics on %s: it takes %w", listener.Addr(), ValidateMonitorAddr(listener.Addr().String()))
	}
	config = config.withDefaults()
	monitor := &http.Server{
		Handler:        monitorHandler(config),
		ReadTimeout:    askTime,
		WriteTimeout:   config.WriteTimeout,
		IdleTimeout:    idleConnection,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(config.Logger.Handler(), slog.LevelWarn),
	}
	broken := make(chan error, 1)
	go func() { broken <- monitor.Serve(netutil.LimitListener(listener, reserve)) }()
	select {
	case err := <-broken:
		return fmt.Errorf("serving metrics on %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), scrapeGrace)
	defer cancel()
	if monitor.Shutdown(ending) != nil {
		_ = monitor.Close() // who still reads has had the time
	}
	if err := <-broken; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics on %s: %w", listener.Addr(), err)
	}
	return nil
}

// monitorHandler keeps web pages out: one that has let its name point here sends its own Host, any other an Origin.
func monitorHandler(config Config) http.Handler {
	health := &health{ready: config.Ready, draining: func() bool { return false }, log: config.Logger}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case !isLoopback(r.Host) || r.Header.Get("Origin") != "":
			http.Error(w, "This is not for web pages, and answers to localhost only.", http.StatusForbidden)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This path takes GET only.", http.StatusMethodNotAllowed)
		case health.serve(w, r):
		case r.URL.Path == "/metrics" && config.Metrics != nil:
			config.Metrics.ServeHTTP(w, r)
		default:
			http.Error(w, "There is nothing at this path.", http.StatusNotFound)
		}
	})
}
