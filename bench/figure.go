package main

// figure is one thing that is measured, with its unit.
type figure struct {
	name, unit string
}

var (
	p50      = figure{"one after another, p50", "µs"}
	p99      = figure{"one after another, p99", "µs"}
	rate     = figure{"64 in flight", "calls/s"}
	cpu      = figure{"64 in flight, CPU of the server per call", "µs"}
	slowRate = figure{"64 in flight, Kitebase takes 20 ms", "calls/s"}
	cold     = figure{"start to first answer", "ms"}
	rssIdle  = figure{"memory idle", "MiB"}
	rssLoad  = figure{"memory after load", "MiB"}
)

// figures are the rows of the tables.
func figures() []figure { return []figure{p50, p99, rate, slowRate, cpu, cold, rssIdle, rssLoad} }

// target is what a figure of this server should reach.
type target struct {
	transport string
	figure    figure
	versus    string // the contestant that the figure is divided by; "" for none
	atLeast   bool   // else at most
	limit     float64
}

func targets() []target {
	return []target{
		{"stdio", p50, bare, false, 1.05},
		{"stdio", rate, bare, true, 1.4},
		{"stdio", rate, typescript, true, 1},
		{"stdio", cpu, bare, false, 1},
		{"stdio", slowRate, bare, true, 12},
		{"stdio", slowRate, noServer, true, 0.9},
		{"stdio", cold, bare, false, 1.35},
		{"stdio", cold, typescript, false, 1.0 / 15},
		{"stdio", rssIdle, "", false, 30},
		{"http", rate, bare, true, 1},
	}
}
