package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// serveCommand has the settings of the server. The README's table of settings is made from it.
type serveCommand struct {
	URL   string `name:"url" placeholder:"URL" help:"Base URL of Kitebase; without one the server works on an embedded fake."`
	Token string `name:"token" placeholder:"TOKEN" help:"Bearer token for Kitebase."`

	Tools []string `name:"tools" placeholder:"NAMES" help:"Tools to offer, separated by commas, or read-only. Default: all five."`

	Attempts       int           `name:"attempts" default:"2" help:"Most attempts of a call that is safe to repeat."`
	AttemptTimeout time.Duration `name:"attempt-timeout" default:"5s" help:"Longest wait of one attempt."`
	CallDeadline   time.Duration `name:"call-deadline" default:"25s" help:"Longest time of a whole call, waits included."`
	BackoffBase    time.Duration `name:"backoff-base" default:"100ms" help:"Bound of the random wait before the second attempt; it doubles with each further one."`
	BackoffCap     time.Duration `name:"backoff-cap" default:"2s" help:"Bound of the doubling."`

	Dedupe       bool          `name:"dedupe" default:"true" negatable:"" help:"Send the same reply once."`
	DedupeWindow time.Duration `name:"dedupe-window" default:"24h" help:"How long the same reply is a repeat."`
	SettleAfter  time.Duration `name:"settle-after" default:"30s" help:"How long after the last attempt a reply that is not in its ticket was certainly not sent."`
	Ledger       string        `name:"ledger" default:"memory" help:"Where sent replies are remembered: memory, which ends with the process."`
	UpstreamKeys bool          `name:"upstream-keys" default:"true" negatable:"" help:"Kitebase honours Idempotency-Key."`

	LogLevel slog.Level `name:"log-level" default:"info" help:"debug, info, warn or error; logs go to standard error."`
}

// Run serves until the input ends or ctx does.
func (s *serveCommand) Run(ctx context.Context, std streams) error {
	config, err := s.config(std)
	if err != nil {
		return err
	}
	srv, err := server.New(config)
	if err != nil {
		return usageError{err}
	}
	defer srv.Close()
	if url := srv.Embedded(); url != "" {
		config.Logger.Info("no --url was given: working on an embedded fake Kitebase, which forgets everything at the end", "url", url)
	}
	return srv.ServeStdio(ctx, std.in, std.out)
}

func (s *serveCommand) config(std streams) (server.Config, error) {
	for _, check := range []struct {
		flag string
		bad  bool
		want string
	}{
		{"attempts", s.Attempts < 1, "a number from 1"},
		{"attempt-timeout", s.AttemptTimeout <= 0, "a time above 0, such as 5s"},
		{"call-deadline", s.CallDeadline < s.AttemptTimeout, "a time not below --attempt-timeout, such as 25s"},
		{"backoff-base", s.BackoffBase <= 0, "a time above 0, such as 100ms"},
		{"backoff-cap", s.BackoffCap < s.BackoffBase, "a time not below --backoff-base, such as 2s"},
		{"dedupe-window", s.DedupeWindow <= 0, "a time above 0, such as 24h"},
		{"settle-after", s.SettleAfter <= 0, "a time above 0, such as 30s"},
		{"ledger", s.Ledger != "memory", "memory"},
	} {
		if check.bad {
			return server.Config{}, usageError{fmt.Errorf("--%s (%s) takes %s", check.flag, envName(check.flag), check.want)}
		}
	}
	return server.Config{
		URL: s.URL, Token: s.Token, Version: version(), Tools: trimmed(s.Tools),
		Guard: resilience.Policy{
			Attempts: s.Attempts, AttemptTimeout: s.AttemptTimeout, CallDeadline: s.CallDeadline,
			BackoffBase: s.BackoffBase, BackoffCap: s.BackoffCap,
		},
		NoDedupe: !s.Dedupe, DedupeWindow: s.DedupeWindow, SettleAfter: s.SettleAfter, IgnoresKeys: !s.UpstreamKeys,
		Logger: slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: s.LogLevel})),
	}, nil
}

func trimmed(names []string) []string {
	var all []string
	for _, name := range names {
		if name = strings.TrimSpace(name); name != "" {
			all = append(all, name)
		}
	}
	return all
}
