package main_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// cluster is a PostgreSQL server of a test's own, which can be stopped and started again.
type cluster struct {
	bin, dir, port string
	owner          *syscall.Credential // it does not run as root
}

// newCluster makes one where KITEBASE_TEST_POSTGRES says that PostgreSQL is wanted and Debian's programs are there.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is a good one
	if os.Getenv("KITEBASE_TEST_POSTGRES") == "" || len(found) == 0 {
		t.Skip("KITEBASE_TEST_POSTGRES is not set, or initdb is not in /usr/lib/postgresql")
	}
	dir, err := os.MkdirTemp("", "cluster") // t.TempDir is in a folder that only its owner may enter
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	_, port, err := net.SplitHostPort(occupiedOnce(t))
	require.NoError(t, err)
	c := &cluster{bin: filepath.Dir(found[len(found)-1]), dir: dir, port: port}
	if os.Getuid() == 0 {
		postgres, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, err := strconv.ParseUint(postgres.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(postgres.Gid, 10, 32)
		require.NoError(t, err)
		c.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(dir, int(uid), int(gid)))
	}
	c.run(t, "initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "--no-sync")
	return c
}

func (c *cluster) run(t *testing.T, program string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(c.bin, program), args...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.owner}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", program, out)
}

func (c *cluster) start(t *testing.T) {
	t.Helper()
	c.run(t, "pg_ctl", "-D", c.dir+"/data", "-w", "-l", c.dir+"/log", "-o",
		"-c listen_addresses=127.0.0.1 -p "+c.port+" -k "+c.dir, "start")
}

func (c *cluster) stop(t *testing.T, mode string) {
	t.Helper()
	c.run(t, "pg_ctl", "-D", c.dir+"/data", "-w", "-m", mode, "stop")
}

func (c *cluster) url() string {
	return "postgres://postgres@127.0.0.1:" + c.port + "/postgres?sslmode=disable"
}

// TestLedgerServerRestarts: PostgreSQL is started again between two calls, orderly or not. Nothing that was sent is forgotten,
// and the next reply knows nothing of it.
func TestLedgerServerRestarts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start(t)
	t.Cleanup(func() { c.stop(t, "fast") })
	for _, mode := range []string{"fast", "immediate"} {
		f := newFleetOn(t, c.url()+"&search_path=after_"+mode, 2, false)
		before := f.answered(t, statelessRevision, "Before")
		f.answered(t, statelessRevision, "Before") // of the other replica
		c.stop(t, mode)
		for _, replica := range f.replicas {
			r := replica.send(t, replica.reply(statelessRevision, "Meanwhile")).result(t)
			require.Equal(t, "person", r.Meta.Error.Next, "without keys and without a ledger nothing is sent: %s", r.text())
		}
		c.start(t)
		for i, replica := range f.replicas {
			again := replica.send(t, replica.reply(statelessRevision, "Before")).result(t).reply(t)
			require.True(t, again.AlreadySent)
			require.Equal(t, before.ReplyID, again.ReplyID)
			after := replica.send(t, replica.reply(statelessRevision, fmt.Sprint("After ", i))).result(t).reply(t)
			require.False(t, after.AlreadySent)
			require.Empty(t, after.Note)
		}
		require.Len(t, f.kitebase.emailsTo(crashTicket), 3)
		for _, replica := range f.replicas {
			replica.signal()
			replica.wait()
		}
	}
}
