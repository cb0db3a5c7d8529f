package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/resilience"
	"github.com/kitebase/kitebase-mcp/server/stdio"
	"github.com/kitebase/kitebase-mcp/server/tracing"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// serveCommand has the settings of the server. The README's table of settings is made from it.
type serveCommand struct {
	desk

	Tools []string `name:"tools" placeholder:"NAMES" help:"Tools to offer, separated by commas, or read-only. Default: all five."`

	Attempts       int           `name:"attempts" default:"2" help:"Most attempts of a call that is safe to repeat."`
	AttemptTimeout time.Duration `name:"attempt-timeout" default:"5s" help:"Longest wait of one attempt."`
	CallDeadline   time.Duration `name:"call-deadline" default:"25s" help:"Longest time of a whole call, waits included."`
	BackoffBase    time.Duration `name:"backoff-base" default:"100ms" help:"Bound of the random wait before the second attempt; it doubles with each further one."`
	BackoffCap     time.Duration `name:"backoff-cap" default:"2s" help:"Bound of the doubling."`

	BreakerThreshold int           `name:"breaker-threshold" default:"5" help:"Failed calls of a tool in a row that open its circuit; -1 for never."`
	BreakerCooldown  time.Duration `name:"breaker-cooldown" default:"30s" help:"How long an open circuit refuses calls."`
	RetryBudget      int           `name:"retry-budget" default:"10" help:"Tokens of the retry budget: a transient failure takes one, ten successes give one back, and at half nothing is retried; -1 for no limit."`
	FallbackAge      time.Duration `name:"fallback-age" default:"1h" help:"How old a copy may be that is shown while Kitebase does not answer; 0s shows none."`
	RepeatGuard      bool          `name:"repeat-guard" default:"true" negatable:"" help:"Do not run a call that just failed twice for good."`
	HideOpenTools    bool          `name:"hide-open-tools" default:"false" help:"Leave a tool out of tools/list while its circuit is open; each change costs hosts their prompt cache."`

	Dedupe       bool          `name:"dedupe" default:"true" negatable:"" help:"Send the same reply once."`
	DedupeWindow time.Duration `name:"dedupe-window" default:"24h" help:"How long the same reply is a repeat."`
	SettleAfter  time.Duration `name:"settle-after" default:"30s" help:"How long after the last attempt a reply that is not in its ticket is taken for not sent: longer than Kitebase ever works on one."`
	UpstreamKeys bool          `name:"upstream-keys" default:"true" negatable:"" help:"Kitebase honours Idempotency-Key."`

	Transport      string   `name:"transport" default:"stdio" enum:"stdio,http,sse" help:"stdio, or http, which is also called sse: /mcp is streamable HTTP, /sse is SSE."`
	Addr           string   `name:"addr" default:"127.0.0.1:8090" help:"Address of the HTTP transport. Any but loopback needs --http-token, --http-tokens or --oauth-issuer."`
	HTTPToken      string   `name:"http-token" placeholder:"TOKEN" help:"Bearer token that HTTP clients must send."`
	HTTPTokens     string   `name:"http-tokens" placeholder:"FILE" help:"File with the hashes of several tokens, each with its rights; read again when it changes. See kitebase-mcp token."`
	OAuthIssuer    string   `name:"oauth-issuer" placeholder:"URL" help:"Issuer whose JWTs are taken as bearer tokens (OAuth 2.1). Needs --oauth-audience."`
	OAuthAudience  string   `name:"oauth-audience" placeholder:"URL" help:"URL of this server as its clients know it, which a JWT must name as its audience."`
	AllowedOrigins []string `name:"allowed-origins" placeholder:"ORIGINS" help:"Web origins whose pages may call the server, separated by commas."`
	BodyLimit      size     `name:"body-limit" default:"1MiB" help:"Largest HTTP request body."`

	MetricsAddr string `name:"metrics-addr" placeholder:"HOST:PORT" help:"Loopback address at which metrics and health are served in addition, without a token; stdio serves them nowhere else."`

	LogLevel string `name:"log-level" default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error; logs go to standard error."`
	logging
}

// Run serves until the input ends or ctx does.
func (s *serveCommand) Run(ctx context.Context, std streams) error {
	logs := stdio.NewLogWriter(std.err, 0)
	defer logs.Close()
	format := s.format(std.err, s.level())
	logs.Gap = gap(format)
	config, err := s.config(slog.New(format(logs)))
	if err != nil {
		return err
	}
	trail, closer, err := s.audit(config.Logger)
	if err != nil {
		return err
	}
	defer closer.Close()
	config.Audit = trail
	config.Tracing = tracing.Start(tracing.Config{Version: version(), Logger: config.Logger})
	defer config.Tracing.Close()
	store := s.store(config.IgnoresKeys && !config.NoDedupe, config.Logger)
	defer store.Close()
	config.Store, config.Warning = store, warning(store)
	srv, err := server.New(config)
	if err != nil {
		return usageError{err}
	}
	defer srv.Close()
	if url := srv.Embedded(); url != "" {
		config.Logger.Info("no --url was given: working on an embedded fake Kitebase, which forgets everything at the end", "url", url)
	}
	stop, err := s.monitor(ctx, srv, config.Logger)
	if err != nil {
		return err
	}
	defer stop()
	if s.Transport != "stdio" {
		return s.serveHTTP(ctx, srv, config.Logger)
	}
	err = srv.ServeStdio(ctx, std.in, std.out)
	if ctx.Err() != nil && errors.Is(err, stdio.ErrUnread) {
		return nil // asked to end by a host that no longer reads: that is how hosts leave
	}
	return err
}

// config returns the settings as the server takes them, or the first that is wrong.
func (s *serveCommand) config(log *slog.Logger) (server.Config, error) {
	if wrong := s.wrong(); len(wrong) > 0 {
		return server.Config{}, usageError{wrong[0]}
	}
	config := s.serverConfig(log)
	if err := named(config.Validate()); err != nil {
		return config, usageError{err}
	}
	if s.Transport == "stdio" {
		return config, nil
	}
	if err := s.webConfig().Validate(); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return config, usageError{errors.New(first)}
	}
	return config, nil
}

// named puts the flag and the variable before what a setting takes.
func named(err error) error {
	if wrong := (*server.SettingError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("--%s (%s): %w", wrong.Setting, envName(wrong.Setting), wrong.Err)
	}
	return err
}

// wrong reports the settings that cannot work, as far as that can be told without the server.
func (s *serveCommand) wrong() []error {
	var errs []error
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
		{"breaker-threshold", s.BreakerThreshold < 1 && s.BreakerThreshold != -1, "a number from 1, or -1 for never"},
		{"breaker-cooldown", s.BreakerCooldown <= 0, "a time above 0, such as 30s"},
		{"retry-budget", s.RetryBudget < 1 && s.RetryBudget != -1, "a number from 1, or -1 for no limit"},
		{"fallback-age", s.FallbackAge < 0, "a time such as 1h, or 0s for no copies"},
		{"dedupe-window", s.DedupeWindow <= 0, "a time above 0, such as 24h"},
		{"settle-after", s.SettleAfter <= 0, "a time above 0, such as 30s"},
	} {
		if check.bad {
			errs = append(errs, fmt.Errorf("--%s (%s) takes %s", check.flag, envName(check.flag), check.want))
		}
	}
	if s.MetricsAddr != "" {
		if err := web.ValidateMonitorAddr(s.MetricsAddr); err != nil {
			errs = append(errs, fmt.Errorf("--metrics-addr (%s) takes %w", envName("metrics-addr"), err))
		}
	}
	for _, err := range []error{s.desk.wrong(), unexpanded("http-tokens", s.HTTPTokens), unexpanded("audit-log", s.AuditLog)} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (s *serveCommand) level() (level slog.Level) {
	_ = level.UnmarshalText([]byte(s.LogLevel)) // one of four words
	return level
}

func (s *serveCommand) serverConfig(log *slog.Logger) server.Config {
	return server.Config{
		URL: s.URL, Token: s.Token, Account: s.Account, Version: version(), Tools: trimmed(s.Tools),
		Guard: resilience.Policy{
			Attempts: s.Attempts, AttemptTimeout: s.AttemptTimeout, CallDeadline: s.CallDeadline,
			BackoffBase: s.BackoffBase, BackoffCap: s.BackoffCap,
		},
		BreakerThreshold: s.BreakerThreshold, BreakerCooldown: s.BreakerCooldown, RetryBudget: s.RetryBudget, CopiesFor: cmp.Or(s.FallbackAge, -1), NoRepeatGuard: !s.RepeatGuard,
		HideOpenTools: s.HideOpenTools,
		NoDedupe:      !s.Dedupe, DedupeWindow: s.DedupeWindow, SettleAfter: s.SettleAfter, IgnoresKeys: !s.UpstreamKeys,
		Metrics: s.Transport != "stdio" || s.MetricsAddr != "",
		Logger:  log,
	}
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
