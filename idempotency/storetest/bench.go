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

// Benchmark measures claims and completions per second and their median and 99th percentile: one caller in turn with what
// the disk itself takes for two appends of a page, each followed by fdatasync; then 64 callers, and 4 processes of 16.
//
//	go test -run - -bench Store -benchtime 2s ./idempotency/...
func Benchmark(b *testing.B, open Opener, fresh func(testing.TB) string) {
	b.Run("callers=1 beside the disk", func(b *testing.B) { besideDisk(b, opened(b, open, fresh)) })
	b.Run("callers=64", func(b *testing.B) {
		store := opened(b, open, fresh)
		measure(b, 64, func(i int64) error { return cycle(store, fmt.Sprint(i)) })
	})
	b.Run("processes=4 callers=16", func(b *testing.B) { fourProcesses(b, open, fresh(b)) })
	b.Run("records=100000", func(b *testing.B) { large(b, open, fresh(b)) })
}

func opened(b *testing.B, open Opener, fresh func(testing.TB) string) idempotency.Store {
	store, err := open(b.Context(), fresh(b))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	return store
}

// page is the least that a database writes to its log.
const page = 4096

// besideDisk measures one caller. Disks change their pace from second to second, so each cycle is followed by two synced
// appends, and the ratio is that of the medians.
func besideDisk(b *testing.B, store idempotency.Store) {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	require.NoError(b, err)
	defer func() { require.NoError(b, f.Close()) }()
	var cycles, appends []time.Duration
	b.ResetTimer()
	for i := range b.N {
		began := time.Now()
		require.NoError(b, cycle(store, fmt.Sprint(i)))
		between := time.Now()
		for range 2 {
			_, err := f.Write(make([]byte, page))
			require.NoError(b, err)
			require.NoError(b, syncData(f))
		}
		cycles, appends = append(cycles, between.Sub(began)), append(appends, time.Since(between))
	}
	b.StopTimer()
	slices.Sort(cycles)
	slices.Sort(appends)
	half := len(cycles) / 2
	b.ReportMetric(float64(cycles[half].Microseconds()), "p50-µs")
	b.ReportMetric(float64(cycles[len(cycles)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(appends[half].Microseconds()), "disk-p50-µs")
	b.ReportMetric(float64(cycles[half])/float64(appends[half]), "×disk")
	b.ReportMetric(1/cycles[half].Seconds(), "cycles/s")
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
