package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/idempotency/postgres"
	"github.com/kitebase/kitebase-mcp/idempotency/sqlite"
)

// desk are the settings that say which Kitebase, and where it is remembered what was sent there.
type desk struct {
	URL     string `name:"url" placeholder:"URL" help:"Base URL of Kitebase; without one the server works on an embedded fake."`
	Token   string `name:"token" placeholder:"TOKEN" help:"Bearer token for Kitebase."`
	Account string `name:"account" placeholder:"NAME" help:"Tells several accounts at one URL apart in the ledger."`
	Ledger  string `name:"ledger" placeholder:"FILE" help:"Where sent replies are remembered: a file, memory (which ends with the process), or postgres://… for several machines. Default: a file in the user's state directory; with the embedded fake, memory."`
}

// wrong reports a ledger that is neither a file nor a database, but the address of one with a typing error: taken for the
// name of a file, the password in it would stand in the file system and in every message about it. Likewise memory in capitals.
func (d desk) wrong() error {
	mistyped := strings.EqualFold(strings.TrimSpace(d.Ledger), memory) && d.Ledger != memory
	if mistyped || !isPostgres(d.Ledger) && isAddress(d.Ledger) {
		return errors.New("--ledger (KITEBASE_LEDGER) takes a file, memory, or postgres://USER:PASSWORD@HOST/DATABASE")
	}
	return unexpanded("ledger", d.Ledger)
}

// unexpanded reports a path that was meant for a shell. A host has none: it would make a folder named ~ where it happens to
// run. The path is not expanded here either, since the home is another one for each user that starts the server.
func unexpanded(flag, path string) error {
	if !strings.HasPrefix(path, "~") {
		return nil
	}
	example := "/home/priya/FILE"
	if runtime.GOOS == "windows" {
		example = `C:\Users\priya\FILE`
	}
	return fmt.Errorf("--%s (%s) takes a whole path, such as %s: nobody but a shell knows what ~ stands for; a folder of that name is ./~", flag, envName(flag), example)
}

// isAddress reports whether text is what no name of a file looks like: a URL, a user with a password, or the settings of a
// database.
func isAddress(text string) bool {
	if strings.Contains(text, "://") || strings.Contains(text, "password=") {
		return true
	}
	for part := range strings.FieldsFuncSeq(text, isSlash) {
		if _, password, found := strings.Cut(part, ":"); found && strings.Contains(password, "@") {
			return true
		}
	}
	return false
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// memory is the spec of a ledger that ends with the process.
const memory = "memory"

// spec returns where the ledger is: [memory], a PostgreSQL URL, or a path.
func (d desk) spec() string {
	switch {
	case d.Ledger != "":
		return d.Ledger
	case d.URL == "": // a fresh help desk with an old ledger would swallow every reply
		return memory
	}
	dir := stateDir(runtime.GOOS, os.Getenv)
	if dir == "" {
		return memory
	}
	return filepath.Join(dir, "kitebase-mcp", "ledger.db")
}

// stateDir returns the directory for what programs remember on this system, or "" if the environment names none.
func stateDir(system string, getenv func(string) string) string {
	under := func(variable string, names ...string) string {
		if base := getenv(variable); filepath.IsAbs(base) {
			return filepath.Join(append([]string{base}, names...)...)
		}
		return ""
	}
	switch system {
	case "windows":
		return under("LocalAppData")
	case "darwin":
		return under("HOME", "Library", "Application Support")
	}
	if dir := under("XDG_STATE_HOME"); dir != "" {
		return dir
	}
	return under("HOME", ".local", "state")
}

// store returns the ledger's store, which is opened when it is first needed, so that a broken one never stops the reads.
// strict is for a Kitebase without keys: there nothing but the ledger recognises a repeat, so that a damaged one is not
// replaced by one that knows nothing before a person has looked.
func (d desk) store(strict bool, log *slog.Logger) *idempotency.Standby {
	spec := d.spec()
	if spec == memory && d.Ledger == "" && d.URL != "" {
		log.Warn("no state directory was found, so what was sent is forgotten at the end; name a file with --ledger")
	}
	return &idempotency.Standby{
		Open: func(ctx context.Context) (idempotency.Store, error) {
			store, err := openStore(ctx, spec)
			if errors.Is(err, sqlite.ErrBadFile) && !strict {
				return beginAnew(ctx, spec, err, log)
			}
			return store, err
		},
		Strict: strict,
		Failed: func(err error) { log.Error("the ledger cannot be used", "cause", err) },
	}
}

// openStore opens the ledger as it is.
func openStore(ctx context.Context, spec string) (idempotency.Store, error) {
	switch {
	case spec == memory:
		return new(idempotency.Memory), nil
	case isPostgres(spec):
		return postgres.Open(ctx, spec)
	}
	return sqlite.Open(ctx, spec)
}

// beginAnew keeps a damaged ledger aside, because of what opening it showed, and opens a new one.
func beginAnew(ctx context.Context, path string, damage error, log *slog.Logger) (idempotency.Store, error) {
	kept, err := sqlite.SetAside(path)
	if err != nil {
		return nil, errors.Join(damage, err)
	}
	log.Error("the ledger was damaged: it is kept aside and a new one was begun, which does not know what was sent before",
		"kept", kept, "cause", damage)
	return sqlite.Open(ctx, path)
}

// warning returns what replies have to say while the ledger cannot be used.
func warning(store *idempotency.Standby) func() string {
	return func() string {
		if !store.Degraded() {
			return ""
		}
		return "The record of sent replies cannot be written now, so a repeat is recognised only by Kitebase and while this server runs. Tell a person."
	}
}

func isPostgres(spec string) bool {
	return strings.HasPrefix(spec, "postgres://") || strings.HasPrefix(spec, "postgresql://")
}
