package otlp

import (
	"context"
	"net"
)

// connections end with the exporter. To close those that are idle would not do: one of HTTP/2 is busy for a moment after its
// request was given up, and would then stay for as long as it may be idle.
type connections struct{ running context.Context }

func (c connections) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return connection{conn, context.AfterFunc(c.running, func() { _ = conn.Close() })}, nil
}

// connection is forgotten by the exporter when it is closed before the end.
type connection struct {
	net.Conn
	forget func() bool
}

// Close is part of [net.Conn].
func (c connection) Close() error {
	c.forget()
	return c.Conn.Close()
}
