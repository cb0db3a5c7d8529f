package metrics

import (
	"bytes"
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strconv"
	"strings"
	"time"

	victoria "github.com/VictoriaMetrics/metrics"
)

// ofRuntime are what the Go runtime measures, under the names that programs in Go give it. A value is the sum of what is named
// after the help.
var ofRuntime = []struct {
	kind       kind
	name, help string
	sum        []string
}{
	{gauge, "go_gc_gogc_percent", "Percentage that the heap may grow by between collections (GOGC).", []string{"/gc/gogc:percent"}},
	{gauge, "go_gc_gomemlimit_bytes", "Memory limit of the Go runtime (GOMEMLIMIT); 2^63-1 if there is none.", []string{"/gc/gomemlimit:bytes"}},
	{gauge, "go_goroutines", "Goroutines that exist.", []string{"/sched/goroutines:goroutines"}},
	{gauge, "go_sched_gomaxprocs_threads", "Threads that may run Go code at once (GOMAXPROCS).", []string{"/sched/gomaxprocs:threads"}},
	{gauge, "go_threads", "Threads of the operating system that the Go runtime has.", []string{"/sched/threads/total:threads"}},

	{gauge, "go_memstats_alloc_bytes", "Bytes of heap objects that were not collected yet.", []string{"/memory/classes/heap/objects:bytes"}},
	{counter, "go_memstats_alloc_bytes_total", "Bytes of all heap objects that were ever made.", []string{"/gc/heap/allocs:bytes"}},
	{counter, "go_memstats_mallocs_total", "Heap objects that were ever made.", []string{"/gc/heap/allocs:objects", "/gc/heap/tiny/allocs:objects"}},
	{counter, "go_memstats_frees_total", "Heap objects that were collected.", []string{"/gc/heap/frees:objects", "/gc/heap/tiny/allocs:objects"}},
	{gauge, "go_memstats_heap_objects", "Heap objects that were not collected yet.", []string{"/gc/heap/objects:objects"}},
	{gauge, "go_memstats_heap_alloc_bytes", "The same as go_memstats_alloc_bytes.", []string{"/memory/classes/heap/objects:bytes"}},
	{gauge, "go_memstats_heap_inuse_bytes", "Bytes of the heap that is in use, with its gaps.", []string{"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes"}},
	{gauge, "go_memstats_heap_idle_bytes", "Bytes of the heap that is not in use.", []string{"/memory/classes/heap/released:bytes", "/memory/classes/heap/free:bytes"}},
	{gauge, "go_memstats_heap_released_bytes", "Bytes of the heap that were given back to the system.", []string{"/memory/classes/heap/released:bytes"}},
	{gauge, "go_memstats_heap_sys_bytes", "Bytes of the whole heap.", []string{"/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/free:bytes"}},
	{gauge, "go_memstats_next_gc_bytes", "Bytes of the heap at which it is collected next.", []string{"/gc/heap/goal:bytes"}},
	{gauge, "go_memstats_stack_inuse_bytes", "Bytes of the stacks of goroutines.", []string{"/memory/classes/heap/stacks:bytes"}},
	{gauge, "go_memstats_stack_sys_bytes", "Bytes of all stacks.", []string{"/memory/classes/heap/stacks:bytes", "/memory/classes/os-stacks:bytes"}},
	{gauge, "go_memstats_mcache_inuse_bytes", "Bytes of mcache structures of the runtime that are in use.", []string{"/memory/classes/metadata/mcache/inuse:bytes"}},
	{gauge, "go_memstats_mcache_sys_bytes", "Bytes of all mcache structures of the runtime.", []string{"/memory/classes/metadata/mcache/inuse:bytes", "/memory/classes/metadata/mcache/free:bytes"}},
	{gauge, "go_memstats_mspan_inuse_bytes", "Bytes of mspan structures of the runtime that are in use.", []string{"/memory/classes/metadata/mspan/inuse:bytes"}},
	{gauge, "go_memstats_mspan_sys_bytes", "Bytes of all mspan structures of the runtime.", []string{"/memory/classes/metadata/mspan/inuse:bytes", "/memory/classes/metadata/mspan/free:bytes"}},
	{gauge, "go_memstats_buck_hash_sys_bytes", "Bytes of the tables of the profiler.", []string{"/memory/classes/profiling/buckets:bytes"}},
	{gauge, "go_memstats_gc_sys_bytes", "Bytes of what the collector knows of the heap.", []string{"/memory/classes/metadata/other:bytes"}},
	{gauge, "go_memstats_other_sys_bytes", "Bytes of what else the runtime needs.", []string{"/memory/classes/other:bytes"}},
	{gauge, "go_memstats_sys_bytes", "Bytes that the runtime has of the system.", []string{"/memory/classes/total:bytes"}},
}

// addRuntime adds what the Go runtime says of itself. What it does not know is left out.
func (all *families) addRuntime() {
	all.add(gauge, "go_info", "Always 1; the label says which Go this is.").gauge("version", runtime.Version()).Set(1)
	all.addCollections()
	values := readRuntime()
	for _, each := range ofRuntime {
		total, known := 0.0, true
		for _, name := range each.sum {
			value, ok := values[name]
			total, known = total+value, known && ok
		}
		if known {
			all.add(each.kind, each.name, each.help).gauge().Set(total)
		}
	}
}

// readRuntime returns what all of [ofRuntime] are made of, read at once.
func readRuntime() map[string]float64 {
	var samples []runtimemetrics.Sample
	for _, each := range ofRuntime {
		for _, name := range each.sum {
			samples = append(samples, runtimemetrics.Sample{Name: name})
		}
	}
	runtimemetrics.Read(samples)
	values := make(map[string]float64, len(samples))
	for _, sample := range samples {
		if sample.Value.Kind() == runtimemetrics.KindUint64 {
			values[sample.Name] = float64(sample.Value.Uint64())
		}
	}
	return values
}

// addCollections adds how long the garbage collector stopped the program.
func (all *families) addCollections() {
	quantiles := []string{"0", "0.25", "0.5", "0.75", "1"}
	collections := debug.GCStats{PauseQuantiles: make([]time.Duration, len(quantiles))}
	debug.ReadGCStats(&collections)
	pauses := all.add(summary, "go_gc_duration_seconds", "How long collections of garbage stopped the program.")
	for i, quantile := range quantiles {
		pauses.gauge("quantile", quantile).Set(collections.PauseQuantiles[i].Seconds())
	}
	pauses.series.GetOrCreateGauge(pauses.name+"_sum", nil).Set(collections.PauseTotal.Seconds())
	pauses.series.GetOrCreateGauge(pauses.name+"_count", nil).Set(float64(collections.NumGC))
	all.add(gauge, "go_memstats_last_gc_time_seconds", "When garbage was collected last, in seconds since 1970; 0 if never.").
		gauge().Set(float64(collections.LastGC.UnixNano()) / float64(time.Second))
}

// ofProcess are what the system says of the process, under the names that programs in all languages give it.
var ofProcess = []struct {
	kind       kind
	name, help string
}{
	{counter, "process_cpu_seconds_total", "Processor time of the process, in user and system mode."},
	{gauge, "process_max_fds", "File descriptors that the process may have open."},
	{gauge, "process_open_fds", "File descriptors that are open."},
	{gauge, "process_resident_memory_bytes", "Memory of the process that is in RAM."},
	{gauge, "process_start_time_seconds", "When the process was started, in seconds since 1970."},
	{gauge, "process_virtual_memory_bytes", "Address space of the process."},
	{gauge, "process_virtual_memory_max_bytes", "Address space that the process may have."},
}

// addProcess adds what the system says of the process. What it does not say, which depends on the system, is left out.
func (all *families) addProcess() {
	values := readProcess()
	for _, each := range ofProcess {
		if value, known := values[each.name]; known {
			all.add(each.kind, each.name, each.help).gauge().Set(value)
		}
	}
}

// readProcess returns what the library knows of the process, by name. It reports on standard error what it cannot read.
func readProcess() map[string]float64 {
	var text bytes.Buffer
	victoria.WriteProcMetrics(&text)
	victoria.WriteFDMetrics(&text)
	values := make(map[string]float64)
	for line := range strings.Lines(text.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = number
		}
	}
	return values
}
