package doctor

import (
	"context"
	"time"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/web"
)

// Config is the set-up to examine. The zero value is a server of the default settings, which works on an embedded fake.
type Config struct {
	// Server has the settings of the server. Default: its defaults.
	Server server.Config
	// Wrong is what is known to be wrong with the settings beside what Server and Web can tell themselves. Each names the
	// setting and says what it takes. Default none.
	Wrong []error
	// Unread are the names of environment variables that look like settings and are none. Default none.
	Unread []string
	// Web has the settings of the HTTP transport. Default: it is not used.
	Web *web.Config
	// AuditLog is the file that audit lines go to. Default "": they go to the log.
	AuditLog string
	// MetricsAddr is where metrics are served in addition. Default "": nowhere.
	MetricsAddr string
	// Ledger is where sent replies are remembered. Default: in memory.
	Ledger Ledger
	// Program is how to start the server on stdio. Default: the protocol is not tried.
	Program Program
}

// Ledger says where sent replies are remembered.
type Ledger struct {
	// Where is what the store is called, such as "the file /home/priya/ledger.db". It holds no credentials. Default "".
	Where string
	// Wrong says that the setting can name no ledger, as the Wrong of [Config] tells. Default false.
	Wrong bool
	// Relative says that the setting does not name the file by its whole path, so that it depends on who starts the server where.
	// Default false.
	Relative bool
	// Open opens the store, which is begun if it is not there yet. Its error says what is wrong with which store, without credentials,
	// and may say by a method Advice() string what to do. Default nil: the ledger is in memory.
	Open func(context.Context) (idempotency.Store, error)
}

// Program is a command line.
type Program struct {
	// Path is the program. Default "": there is none.
	Path string
	// Args are its arguments. Default none.
	Args []string
	// Env is its whole environment, NAME=value each. Default nothing.
	Env []string
}

// How long what can hang may take: together 46 seconds, of which a server that hangs has most. It is started three times, and hosts
// give it half a minute for one (Claude Code), on machines that have much else to do.
const (
	kitebaseLimit = 8 * time.Second
	ledgerLimit   = 4 * time.Second // for the ledger itself, and for what it shows of Kitebase
	protocolLimit = 30 * time.Second
)

// patience is how long Kitebase has to answer: as long as the server would give it.
func (c Config) patience() time.Duration {
	if attempt := c.Server.Guard.AttemptTimeout; attempt > 0 {
		return min(attempt, kitebaseLimit)
	}
	return 5 * time.Second
}
