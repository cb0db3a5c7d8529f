package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/kitebase/kitebase-mcp/server"
)

// monitor serves metrics and health at --metrics-addr, if there is one, until stop is called, which is after the last call
// was answered. A host starts a stdio server as often as it likes, Claude Desktop twice each time: the second one finds
// the port taken and goes on without. Over HTTP that is an error, as a taken --addr is.
func (s *serveCommand) monitor(ctx context.Context, srv *server.Server, log *slog.Logger) (stop func(), err error) {
	if s.MetricsAddr == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", s.MetricsAddr)
	if err != nil {
		err = fmt.Errorf("listening at --metrics-addr (%s): %w", envName("metrics-addr"), err)
		if s.Transport != "stdio" {
			return nil, err
		}
		log.Warn("metrics are not served by this process, which goes on without", "cause", err)
		return func() {}, nil
	}
	log.Info("serving metrics", "url", "http://"+listener.Addr().String()+"/metrics")
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := srv.ServeMonitor(ctx, listener); err != nil {
			log.Warn("metrics are no longer served", "cause", err)
		}
	}()
	return func() { cancel(); <-ended }, nil
}
