package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
	"github.com/kitebase/kitebase-mcp/server/doctor"
)

// doctorCommand has the settings of serve, to examine them.
type doctorCommand struct {
	Settings serveCommand `embed:""`
	JSON     bool         `name:"json" help:"Print one JSON document."`

	around surroundings
}

// Run prints each check when it is done, or all of them as one document. It fails if one of them did.
func (d *doctorCommand) Run(ctx context.Context, std streams) error {
	config, err := d.config()
	if err != nil {
		return err
	}
	var report doctor.Report
	for check := range doctor.Checks(ctx, config) {
		report.Add(check)
		if d.JSON {
			continue
		}
		if _, err := fmt.Fprint(std.out, check); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errors.New("doctor was interrupted before all checks were done")
	}
	if d.JSON {
		err = report.WriteJSON(std.out)
	} else {
		_, err = fmt.Fprintln(std.out, report.Summary())
	}
	if failed := report.Failed(); err == nil && failed > 0 {
		return fmt.Errorf("doctor found something to mend: %d failed", failed)
	}
	return err
}

func (d *doctorCommand) config() (doctor.Config, error) {
	path, err := executable()
	if err != nil {
		return doctor.Config{}, err
	}
	config := doctor.Config{
		Server: d.Settings.serverConfig(slog.New(slog.DiscardHandler)),
		Wrong:  append(d.around.unreadable, d.Settings.wrong()...),
		Unread: d.around.unknown,
		Ledger: d.Settings.examined(),

		AuditLog: d.Settings.AuditLog, MetricsAddr: d.Settings.MetricsAddr,
		Program: doctor.Program{Path: path, Args: []string{"serve"}, Env: d.around.child},
	}
	if d.Settings.Transport != "stdio" {
		web := d.Settings.webConfig()
		config.Web = &web
	}
	return config, nil
}

// examined returns the ledger for a look at it. A damaged file is left where it is: to set it aside is for the server.
func (d desk) examined() doctor.Ledger {
	spec := d.spec()
	if wrong := d.wrong() != nil; wrong || spec == memory {
		return doctor.Ledger{Wrong: wrong}
	}
	if strings.Contains(spec, "://") {
		return doctor.Ledger{Where: "the database of --ledger", Open: func(ctx context.Context) (idempotency.Store, error) {
			return openStore(ctx, spec)
		}}
	}
	path, err := filepath.Abs(spec)
	if err != nil { // the working directory is gone: opening it says so
		path = spec
	}
	ledger := doctor.Ledger{Where: "the file " + path, Relative: !filepath.IsAbs(spec)}
	ledger.Open = func(ctx context.Context) (idempotency.Store, error) {
		store, err := sqlite.Open(ctx, spec)
		switch {
		case errors.Is(err, sqlite.ErrBadFile):
			return nil, damaged{err}
		case err != nil: // not a nil *sqlite.Store in a Store
			return nil, err
		}
		return store, nil
	}
	return ledger
}

// damaged says what comes of a damaged ledger.
type damaged struct{ error }

func (d damaged) Unwrap() error { return d.error }

// Advice is shown by doctor.
func (damaged) Advice() string {
	return "The server keeps the file aside when it needs the ledger, and begins a new one, which does not know what was sent before."
}

// surroundings are what the doctor has to know of the environment beside the settings that were read from it.
type surroundings struct {
	unreadable []error  // settings whose values there cannot be read
	unknown    []string // variables that are no settings
	child      []string // what a server with the same settings, on stdio, is to be started with
}

// surroundingsOf takes them from a command line of doctor. The child gets all settings by its environment: its command line
// could be read by every user of the machine.
func surroundingsOf(line *kong.Context, env environment, environ []string) surroundings {
	s := surroundings{unknown: env.unknown(line.Model)}
	for _, pair := range environ {
		if !strings.HasPrefix(pair, envPrefix) {
			s.child = append(s.child, pair)
		}
	}
	names := settings(line.Model)
	for _, flag := range line.Selected().Flags {
		name := envName(flag.Name)
		if !names[name] {
			continue
		}
		if value, ok := env[name]; ok && !readable(flag, value) && !given(line, flag) {
			s.unreadable = append(s.unreadable, fmt.Errorf("--%s (%s) takes %s", flag.Name, name, wanted(flag)))
		}
		s.child = append(s.child, name+"="+written(flag))
	}
	s.child = append(s.child, envName("ledger")+"=memory", envName("transport")+"=stdio", // the last one of a name counts
		envName("metrics-addr")+"=", // the port may be that of a server at work
		envName("audit-log")+"=", "OTEL_SDK_DISABLED=true")
	return s
}

// readable reports whether value can be read as that of flag.
func readable(flag *kong.Flag, value string) bool {
	scan := kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: value})
	err := flag.Mapper.Decode(&kong.DecodeContext{Value: flag.Value, Scan: scan}, reflect.New(flag.Target.Type()).Elem())
	return err == nil && (flag.Enum == "" || flag.EnumMap()[value])
}

// given reports whether flag stands on the command line, where it wins over the environment.
func given(line *kong.Context, flag *kong.Flag) bool {
	for _, element := range line.Path {
		if element.Flag == flag && !element.Resolved {
			return true
		}
	}
	return false
}

// wanted says what a flag takes.
func wanted(flag *kong.Flag) string {
	if flag.Enum != "" {
		return "one of " + strings.Join(flag.EnumSlice(), ", ")
	}
	return "a value such as " + flag.Default
}

// written returns the value of flag as it stands in an environment.
func written(flag *kong.Flag) string {
	if list, ok := flag.Target.Interface().([]string); ok {
		return strings.Join(list, ",")
	}
	return fmt.Sprint(flag.Target.Interface())
}
