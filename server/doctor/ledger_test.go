package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/doctor"
)

type explained struct{ error }

func (explained) Advice() string { return "Make room on the disk." }

// full is a store that cannot be written.
type full struct{ idempotency.Memory }

func (*full) Purge(context.Context, time.Time) (int, error) { return 0, errors.New("no space") }

func TestLedger(t *testing.T) {
	const url = "http://127.0.0.1:1"
	with := func(state idempotency.State, scope string) *idempotency.Memory {
		store := new(idempotency.Memory)
		_, written, err := store.Put(t.Context(), idempotency.Record{
			Scope: scope, Fingerprint: "f", Group: "KITE-142", Key: "k", State: state, Version: 1, FirstAt: time.Now(), LastAt: time.Now(),
		}, 0)
		require.NoError(t, err)
		require.True(t, written)
		return store
	}
	returns := func(store idempotency.Store, err error) func(context.Context) (idempotency.Store, error) {
		return func(context.Context) (idempotency.Store, error) { return store, err }
	}
	hangs := func(ctx context.Context) (idempotency.Store, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, c := range map[string]struct {
		open    func(context.Context) (idempotency.Store, error)
		keyless bool
		status  doctor.Status
		found   string
		advice  string
	}{
		"memory":                     {nil, false, doctor.Warning, "It is in memory and forgets at the end of the process; then only Kitebase's own idempotency keys stop a second email.", "--ledger"},
		"memory, no keys":            {nil, true, doctor.Warning, "It is in memory and forgets at the end of the process; then nothing stops a second email.", "--ledger"},
		"good":                       {returns(with(idempotency.Settled, server.Scope(url, "")), nil), false, doctor.OK, "It is the file F, which can be written. Nothing in it is unconfirmed.", ""},
		"unconfirmed":                {returns(with(idempotency.Unconfirmed, server.Scope(url, "")), nil), false, doctor.Warning, "It is the file F, which can be written. It has 1 unconfirmed.", "ledger settle"},
		"good, no whole path":        {returns(with(idempotency.Settled, server.Scope(url, "")), nil), false, doctor.Warning, "It is the file F, which can be written. Nothing in it is unconfirmed. But the setting is no whole path: started in another folder, the server has another ledger.", "the whole path"},
		"unconfirmed, no whole path": {returns(with(idempotency.Unconfirmed, server.Scope(url, "")), nil), false, doctor.Warning, "It is the file F, which can be written. It has 1 unconfirmed. But the setting is no whole path: started in another folder, the server has another ledger.", "the whole path"},
		"of other desks":             {returns(with(idempotency.Unconfirmed, "elsewhere"), nil), false, doctor.OK, "It is the file F, which can be written. Nothing in it is unconfirmed.", ""},
		"cannot be opened":           {returns(nil, errors.New("no room")), false, doctor.Failed, "It cannot be used: no room.", "in memory"},
		"and no keys":                {returns(nil, errors.New("no room")), true, doctor.Failed, "It cannot be used: no room.", "sends no replies"},
		"cannot be written":          {returns(new(full), nil), false, doctor.Failed, "It cannot be used: writing to it: no space.", "in memory"},
		"explained":                  {returns(nil, fmt.Errorf("opening it: %w", explained{errors.New("no space")})), false, doctor.Failed, "It cannot be used: opening it: no space.", "Make room on the disk."},
		"password":                   {returns(nil, errors.New("no postgres://priya:pw-secret@db/ledger")), false, doctor.Failed, "It cannot be used: no postgres://…@db/ledger.", "--ledger"},
		"a token":                    {returns(nil, errors.New("x tok-secret, (tok-secret) tok-secrets my-tok-secret tok-secret")), false, doctor.Failed, "It cannot be used: x …, (…) tok-secrets my-tok-secret ….", "--ledger"},
		"hangs":                      {hangs, false, doctor.Failed, "It is the file F, which could not be used within 4s.", "--ledger"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := dialling(func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no network") })
				config.Server.Token = "tok-secret"
				config.Server.URL, config.Server.IgnoresKeys = url, c.keyless
				config.Ledger = doctor.Ledger{Where: "the file F", Open: c.open, Relative: strings.HasSuffix(name, ", no whole path")}
				got := find(t, config, "ledger")
				require.Equal(t, c.status, got.Status)
				require.Equal(t, c.found, got.Found)
				require.Contains(t, got.Advice, c.advice)
				require.Equal(t, c.status == doctor.OK, got.Advice == "")
			})
		})
	}
}
