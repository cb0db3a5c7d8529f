package storetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// Benchmark measures claims and completions per second and their median and 99th percentile, with one caller and 64, and with
// 4 processes of 16, beside what the disk itself takes for two synced appends of the size of a record.
//
//	go test -run - -bench Store -benchtime 2s ./idempotency/...
func Benchmark(b *testing.B, open Opener, fresh func(testing.TB) string) {
	b.Run("two synced appends", syncedAppends)
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			store, err := open(b.Context(), fresh(b))
			require.NoError(b, err)
			defer func() { require.NoError(b, store.Close()) }()
			measure(b, callers, func(i int64) error { return cycle(store, fmt.Sprint(i)) })
		})
	}
	b.Run("processes=4 callers=16", func(b *testing.B) { fourProcesses(b, open, fresh(b)) })
	b.Run("records=100000", func(b *testing.B) { large(b, open, fresh(b)) })
}

func syncedAppends(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	defer func() { require.NoError(b, f.Close()) }()
	line := make([]byte, 500)
	measure(b, 1, func(int64) error {
		for range 2 {
			if _, err := f.Write(line); err != nil {
				return err
			}
			if err := f.Sync(); err != nil {
				return err
			}
		}
		return nil
	})
}

// cycle claims and completes one call.
func cycle(store idempotency.Store, fingerprint string) error {
	claim := record(fingerprint)
	_, written, err := store.Put(context.Background(), claim, 0)
	if err == nil && written {
		done := next(claim, idempotency.Finished)
		done.Result = []byte(`{"reply_id":"rpl_001","sent_to":"Northwind Studio","created_at":"2026-03-04T12:00:00Z"}`)
		_, written, err = store.Put(context.Background(), done, claim.Version)
	}
	if err == nil && !written {
		err = fmt.Errorf("%s was changed by someone else", fingerprint)
	}
	return err
}

// measure runs b.N cycles in that many goroutines and reports how long they took.
func measure(b *testing.B, callers int, run func(i int64) error) {
	var n atomic.Int64
	var mu sync.Mutex
	var all sync.WaitGroup
	var took []time.Duration
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			var mine []time.Duration
			for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
				begin := time.Now()
				if err := run(i); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(begin))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	if len(took) > 0 {
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

const cyclesPerCaller = 100

// load is what one of the four processes does: 16 callers, 100 cycles each.
func load(store idempotency.Store, name string) string {
	fmt.Println("ready")
	errs := make(chan error, 16)
	begin := time.Now()
	for caller := range 16 {
		go func() {
			var err error
			for i := range cyclesPerCaller {
				if err == nil {
					err = cycle(store, fmt.Sprint(name, " ", caller, " ", i))
				}
			}
			errs <- err
		}()
	}
	for range 16 {
		if err := <-errs; err != nil {
			return "error: " + err.Error()
		}
	}
	return strconv.FormatInt(int64(time.Since(begin)), 10)
}

// fourProcesses measures at the same time how long a newcomer takes to open the busy medium and to claim.
func fourProcesses(b *testing.B, open Opener, address string) {
	var rate, newcomer float64
	for i := range b.N {
		all := make([]*process, 4)
		for j := range all {
			all[j] = start(b)
			all[j].tell("load", fmt.Sprint(i, "-", j), address)
		}
		for _, p := range all {
			require.Equal(b, "ready", p.answer())
		}
		begin := time.Now()
		store, err := open(b.Context(), address)
		require.NoError(b, err)
		_, written, err := store.Put(b.Context(), record(fmt.Sprint("newcomer ", i)), 0)
		require.NoError(b, err)
		require.True(b, written)
		newcomer = max(newcomer, time.Since(begin).Seconds())
		require.NoError(b, store.Close())
		for _, p := range all {
			took, err := strconv.ParseInt(p.answer(), 10, 64)
			require.NoError(b, err)
			rate += 16 * cyclesPerCaller / time.Duration(took).Seconds()
			p.end()
		}
	}
	b.ReportMetric(rate/float64(b.N), "cycles/s")
	b.ReportMetric(newcomer*1000, "newcomer-ms")
}

// large measures opening and a first claim with 100,000 records in the store.
func large(b *testing.B, open Opener, address string) {
	store, err := open(b.Context(), address)
	require.NoError(b, err)
	var failed atomic.Int64
	var n atomic.Int64
	together(func(int) {
		for i := n.Add(1); i <= 100_000; i = n.Add(1) {
			r := record(fmt.Sprintf("%032x", i*0x9e3779b9))
			r.State, r.Result = idempotency.Finished, []byte(`{"reply_id":"rpl_001","sent_to":"Northwind Studio"}`)
			if _, written, err := store.Put(context.Background(), r, 0); err != nil || !written {
				failed.Add(1)
			}
		}
	})
	require.Zero(b, failed.Load())
	require.NoError(b, store.Close())
	b.ResetTimer()
	for i := range b.N {
		store, err := open(b.Context(), address)
		require.NoError(b, err)
		_, written, err := store.Put(b.Context(), record(fmt.Sprint("first ", i)), 0)
		require.NoError(b, err)
		require.True(b, written)
		b.StopTimer()
		require.NoError(b, store.Close())
		b.StartTimer()
	}
}
