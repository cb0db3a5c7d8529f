package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// redial is the pause between two attempts to get a lost lock back, a fraction of Grace.
	redial = 500 * time.Millisecond
	// quiet is how long the connection may be silent before it is tried; pingLimit how long the answer may take.
	quiet     = 5 * time.Second
	pingLimit = 2 * time.Second
	// lockWait is how long a claim waits for a lock that was lost: a pause between two attempts and a bit.
	lockWait = 900 * time.Millisecond
	lockLook = 10 * time.Millisecond
)

// owner is one opening of the store: a connection that holds the lock of that name. The lock is shared, so that the owner can
// take it again while the server still keeps a lost connection of its own; those who ask whether it lives try to have it alone.
type owner struct {
	name   string
	config *pgx.ConnConfig
	held   atomic.Bool
	others *watch
	cancel context.CancelFunc
	ended  chan struct{}
}

func newOwner(ctx context.Context, config *pgx.ConnConfig) (*owner, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	o := &owner{
		name: fmt.Sprintf("%.50s-%d-%s", host, os.Getpid(), rand.Text()), config: config, others: newWatch(),
		ended: make(chan struct{}),
	}
	conn, err := o.take(ctx)
	if err != nil {
		return nil, err
	}
	keeping, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	go o.keep(keeping, conn)
	return o, nil
}

// close ends the owner and waits until its lock is free.
func (o *owner) close() {
	o.cancel()
	<-o.ended
}

// take dials a connection and locks.
func (o *owner) take(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, o.config)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", lockOf(o.name)); err != nil {
		_ = conn.Close(ctx) // the error that counts is err
		return nil, err
	}
	o.held.Store(true)
	return conn, nil
}

// holds reports whether the lock is held. One that was just lost, because the server was started again, is waited for.
func (o *owner) holds(ctx context.Context) bool {
	for wait := lockWait; !o.held.Load() && wait > 0; wait -= lockLook {
		select {
		case <-time.After(lockLook):
		case <-ctx.Done():
			return false
		}
	}
	return o.held.Load()
}

// keep holds the lock until ctx ends, on one connection after the other.
func (o *owner) keep(ctx context.Context, conn *pgx.Conn) {
	defer close(o.ended)
	for ctx.Err() == nil {
		if conn != nil {
			rest(ctx, conn)
			o.held.Store(false)
			hangUp(conn)
		}
		if conn = o.retake(ctx); conn == nil {
			select {
			case <-ctx.Done():
			case <-time.After(redial):
			}
		}
	}
	if conn != nil {
		hangUp(conn)
	}
}

// retake takes the lock again, or returns nil.
func (o *owner) retake(ctx context.Context) *pgx.Conn {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	conn, err := o.take(ctx)
	if err != nil {
		return nil // Put says so when it matters
	}
	return conn
}

// rest returns when the connection or ctx has ended. It reads, so that the end of the connection is noticed at once, and asks
// after some silence, so that one that died in silence is noticed too.
func rest(ctx context.Context, conn *pgx.Conn) {
	for {
		waiting, cancel := context.WithTimeout(ctx, quiet)
		_, err := conn.WaitForNotification(waiting)
		cancel()
		if ctx.Err() != nil || err != nil && !pgconn.Timeout(err) {
			return
		}
		asking, cancel := context.WithTimeout(ctx, pingLimit)
		err = conn.Ping(asking)
		cancel()
		if err != nil {
			return
		}
	}
}

func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), pingLimit)
	defer cancel()
	_ = conn.Close(ctx) // it may be dead already
}
