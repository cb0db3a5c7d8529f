package doctor

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"syscall"

	"github.com/kitebase/kitebase-mcp/server/web"
)

// webAddr is the default of web.
const webAddr = "127.0.0.1:8090"

// address reports whether the HTTP transport may listen where it should, and whether it can.
func (e *examination) address(ctx context.Context) finding {
	config := *e.config.Web
	if err := config.Validate(); err != nil {
		return finding{Failed, sentences([]error{err}), "Change what is named here; until then the server refuses to start with the HTTP transport."}
	}
	config.Addr = cmp.Or(config.Addr, webAddr)
	if err := try(ctx, config.Addr); err != nil {
		return unheard(config.Addr, "--addr (KITEBASE_ADDR)", err)
	}
	if config.Access().Open() {
		return finding{OK, "The server can listen at " + config.Addr + ", for programs on this machine only, without a token.", ""}
	}
	return finding{OK, "The server can listen at " + config.Addr + "; clients need a token.", ""}
}

// metrics reports whether metrics can be served where they should, also when the HTTP transport listens. A server on stdio goes on
// without them.
func (e *examination) metrics(ctx context.Context) finding {
	const flag = "--metrics-addr (KITEBASE_METRICS_ADDR)"
	addr := e.config.MetricsAddr
	if web.ValidateMonitorAddr(addr) != nil {
		return finding{Skipped, "The settings have to be mended first.", ""}
	}
	if err := try(ctx, addr); err != nil {
		f := unheard(addr, flag, err)
		if e.config.Web == nil {
			f.status = Warning
			f.found += " The server goes on without metrics, since hosts start it several times."
		}
		return f
	}
	if e.config.Web != nil {
		transport, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(e.config.Web.Addr, webAddr))
		if err == nil {
			err = try(ctx, addr)
			_ = transport.Close() // it was only to be tried
			if err != nil {
				return finding{Failed, "The metrics cannot be served at " + addr + ", where the HTTP transport is to listen (--addr).",
					"Give " + flag + " another port, or leave it out: the HTTP transport serves /metrics too."}
			}
		}
	}
	return finding{OK, "Metrics can be served at " + addr + ".", ""}
}

// try listens at addr for a moment.
func try(ctx context.Context, addr string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err == nil {
		_ = listener.Close() // it was only to be tried
	}
	return err
}

// unheard explains why nothing can listen at addr, which flag names.
func unheard(addr, flag string, err error) finding {
	another := "choose another address with " + flag + "."
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return finding{Failed, "Another program listens at " + addr + ".", "If that is this server, running already, all is well. Otherwise end the program, or " + another}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return finding{Failed, "This machine has no address " + addr + ".", "Give an address of this machine, such as 127.0.0.1:8090: " + another}
	case errors.Is(err, os.ErrPermission):
		return finding{Failed, "This user may not listen at " + addr + ".", "Ports below 1024 are for administrators: " + another}
	case errors.As(err, &dns):
		return finding{Failed, "The host or port of " + addr + " is not known.", "Give numbers, such as 127.0.0.1:8090: " + another}
	default:
		return finding{Failed, "Nothing can listen at " + addr + ".", "Another program may have it: end that, or " + another}
	}
}
