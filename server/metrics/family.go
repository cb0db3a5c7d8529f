package metrics

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	victoria "github.com/VictoriaMetrics/metrics"
)

// kind is what Prometheus calls the type of a metric.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
	summary   kind = "summary"
)

// family are all series of one name. The library counts; it knows no help, and types only for a whole program at once, so that
// both are written here. It is safe for concurrent use.
type family struct {
	kind       kind
	name, help string
	series     *victoria.Set
}

// counter returns the series with these labels, which are names and values in turn, by name in alphabetical order. It is
// zero if it is new.
func (f *family) counter(labels ...string) *victoria.Counter {
	return f.series.GetOrCreateCounter(f.name + labelled(labels))
}

// gauge is like [family.counter].
func (f *family) gauge(labels ...string) *victoria.Gauge {
	return f.series.GetOrCreateGauge(f.name+labelled(labels), nil)
}

// histogram is like [family.counter], with upper bounds that are the same for the whole family.
func (f *family) histogram(bounds []float64, labels ...string) *victoria.PrometheusHistogram {
	return f.series.GetOrCreatePrometheusHistogramExt(f.name+labelled(labels), bounds)
}

// labelled returns labels as they follow a name. What is no UTF-8 is replaced, since Prometheus refuses a whole scrape for it.
func labelled(labels []string) string {
	if len(labels) == 0 {
		return ""
	}
	var text strings.Builder
	separator := "{"
	for pair := range slices.Chunk(labels, 2) {
		fmt.Fprintf(&text, `%s%s="%s"`, separator, pair[0], labelText.Replace(strings.ToValidUTF8(pair[1], "\uFFFD")))
		separator = ","
	}
	return text.String() + "}"
}

// What the text format wants escaped.
var (
	labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

// write appends the family in the text format of Prometheus, version 0.0.4. One without series is left out.
func (f *family) write(to *bytes.Buffer) {
	var series bytes.Buffer
	f.series.WritePrometheus(&series)
	if series.Len() == 0 {
		return
	}
	fmt.Fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", f.name, helpText.Replace(f.help), f.name, f.kind)
	for line := range bytes.Lines(series.Bytes()) {
		// A program that has the library add types to what is its own gets them here as well.
		if line[0] != '#' {
			to.Write(line)
		}
	}
}

// families are what is told in one scrape.
type families []*family

// add returns a new family without series.
func (all *families) add(kind kind, name, help string) *family {
	f := &family{kind: kind, name: name, help: help, series: victoria.NewSet()}
	*all = append(*all, f)
	return f
}

// text returns all families by name, and sorts them.
func (all families) text() []byte {
	slices.SortFunc(all, func(a, b *family) int { return cmp.Compare(a.name, b.name) })
	var text bytes.Buffer
	for _, f := range all {
		f.write(&text)
	}
	return text.Bytes()
}
