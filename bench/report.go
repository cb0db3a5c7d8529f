package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// sheet has what was measured of one contestant, by the name of the figure: one value a round.
type sheet struct {
	Name      string               `json:"name"`
	Transport string               `json:"transport"`
	Rounds    map[string][]float64 `json:"rounds"`
	starts    []float64            // of this round
}

func (s *sheet) add(f figure, value float64) {
	if f == cold { // several in a round
		s.starts = append(s.starts, value)
		return
	}
	s.Rounds[f.name] = append(s.Rounds[f.name], value)
}

// endRound takes the median of what was measured several times.
func (s *sheet) endRound() {
	s.Rounds[cold.name] = append(s.Rounds[cold.name], spreadOf(s.starts).Median)
	s.starts = nil
}

// report is the whole comparison.
type report struct {
	Machine  string   `json:"machine"`
	Load     string   `json:"load_average"` // before and after, 1 minute
	Settings string   `json:"settings"`
	Skipped  []string `json:"skipped"`
	Sheets   []*sheet `json:"servers"`

	unjudged   bool  // it was too short to say anything about the targets
	unprofiled error // which profiles are missing, and why
}

func compare(ctx context.Context, s settings) (*report, error) {
	dir, err := os.MkdirTemp("", "kitebase-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &workshop{dir: dir}
	all, err := w.contestants(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c contestant) bool { return s.only != "" && c.transport != s.only })
	kitebase, err := openDesk(w)
	if err != nil {
		return nil, err
	}
	defer kitebase.stop()
	r := &report{Machine: machine(), Skipped: w.skipped, unjudged: s.short, Settings: fmt.Sprintf("%d rounds, %s for a figure, %d starts a round", s.rounds, s.slice, s.starts)}
	waits := &sheet{Name: noServer, Transport: "stdio", Rounds: map[string][]float64{}}
	for _, each := range all {
		r.Sheets = append(r.Sheets, &sheet{Name: each.name, Transport: each.transport, Rounds: map[string][]float64{}})
	}
	before := loadAverage()
	for n := range s.rounds {
		fmt.Fprintf(os.Stderr, "round %d of %d\n", n+1, s.rounds)
		one := &round{settings: s, workshop: w, desk: kitebase, noServer: waits, last: n == s.rounds-1}
		order, sheets := slices.Clone(all), slices.Clone(r.Sheets)
		if n%2 == 1 {
			slices.Reverse(order)
			slices.Reverse(sheets)
		}
		if err := one.run(ctx, order, sheets); err != nil {
			return nil, err
		}
		r.unprofiled = one.unprofiled
		for _, each := range sheets {
			each.endRound()
		}
	}
	r.Sheets = append(r.Sheets, waits)
	r.Load = before + " before, " + loadAverage() + " after"
	return r, nil
}

// machine says what was measured on.
func machine() string {
	model := "unknown CPU"
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d × %s, %s/%s, %s", runtime.NumCPU(), model, runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(text), " ")
	if one == "" {
		return "unknown"
	}
	return one
}

func (r *report) sheet(name, transport string) *sheet {
	for _, each := range r.Sheets {
		if each.Name == name && each.Transport == transport {
			return each
		}
	}
	return nil
}

func (r *report) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(struct {
		At time.Time `json:"at"`
		*report
		Targets []verdict `json:"targets"`
	}{time.Now().UTC(), r, r.verdicts()})
}
