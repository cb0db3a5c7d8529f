package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// healthCommand is for images that have no shell and no curl.
type healthCommand struct {
	Addr string `name:"addr" default:"127.0.0.1:8090" help:"Where the server listens: its own --addr."`
}

// healthWait ends the wait before the 5s are over that the image gives a check, so that the reason is told.
const healthWait = 3 * time.Second

// Run fails unless the server on this machine says that it is alive. It does not ask about Kitebase or the ledger: to start
// the server again would mend neither.
func (h *healthCommand) Run(ctx context.Context, std streams) error {
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	url := "http://" + reachable(h.Addr) + "/healthz"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return usageError{fmt.Errorf("--addr (%s) takes host:port, such as 127.0.0.1:8090", envName("addr"))}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // and no proxy
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("the server does not answer: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // nothing is read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s with %s", url, response.Status)
	}
	_, err = fmt.Fprintln(std.out, "ok")
	return err
}

// reachable returns where a server that listens at addr can be reached from its own machine: who listens at all addresses
// listens at loopback, too.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip.IsUnspecified() && ip.Is4():
		host = "127.0.0.1"
	case err == nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
