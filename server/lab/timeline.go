package lab

import (
	"fmt"
	"math"
	"slices"
)

// timeline is the picture of one case: three lanes, in which time runs to the right. Gaps are drawn by the logarithm of their
// length, since a case has calls of milliseconds beside waits of seconds.
type timeline struct {
	Height, AskedY, KitebaseY, CustomerY, AxisY float64
	Calls                                       []bar
	Requests, Emails, Events                    []mark
	Ticks                                       []mark
}

type bar struct {
	X, Y, Width, Height float64
	Class, Label, Title string
}

type mark struct {
	X, Y                float64
	Class, Label, Title string
}

// The geometry of the picture, in units of its view box.
const (
	picWidth   = 1000.0
	picLeft    = 96.0
	picRight   = 34.0
	rowHeight  = 26.0
	slimHeight = 5.0
	slimFrom   = 8 // so many rows of calls are drawn without labels
	lanePad    = 30.0
	labelSpace = 74.0 // that two labels of the axis need
)

func newTimeline(r Result) timeline {
	at := scale(r)
	t := timeline{AskedY: lanePad}
	rows := t.addCalls(r, at)
	height := rowHeight
	if rows > slimFrom {
		height = slimHeight
	}
	t.KitebaseY = t.AskedY + float64(max(rows, 1))*height + 2*lanePad
	t.CustomerY = t.KitebaseY + 2*lanePad + 8
	t.AxisY = t.CustomerY + lanePad + 4
	t.Height = t.AxisY + 22
	t.addMarks(r, at)
	t.addTicks(r, at)
	return t
}

// moments returns all times of a case in order.
func moments(r Result) []float64 {
	all := []float64{0}
	for _, call := range r.Calls {
		all = append(all, call.AtMS, call.AtMS+call.TookMS)
	}
	for _, request := range r.Requests {
		all = append(all, request.AtMS)
	}
	for _, email := range r.Emails {
		all = append(all, email.AtMS)
	}
	for _, event := range r.Events {
		all = append(all, event.AtMS)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// scale returns where each moment is drawn.
func scale(r Result) map[float64]float64 {
	all := moments(r)
	at := make(map[float64]float64, len(all))
	x := 0.0
	at[all[0]] = 0
	for i := 1; i < len(all); i++ {
		x += 12 * math.Log2(1.3+all[i]-all[i-1])
		at[all[i]] = x
	}
	room := picWidth - picLeft - picRight
	for moment, where := range at {
		at[moment] = picLeft + where*room/max(x, 1)
	}
	return at
}

// addCalls draws each call in the first row that is free, and returns the number of rows.
func (t *timeline) addCalls(r Result, at map[float64]float64) int {
	var free []float64 // where each row ends
	rows := make([]int, len(r.Calls))
	for i, call := range r.Calls {
		row := slices.IndexFunc(free, func(end float64) bool { return end <= at[call.AtMS] })
		if row < 0 {
			row, free = len(free), append(free, 0)
		}
		free[row], rows[i] = max(at[call.AtMS+call.TookMS], at[call.AtMS]+6), row
	}
	height, slim := rowHeight, len(free) > slimFrom
	if slim {
		height = slimHeight
	}
	for i, call := range r.Calls {
		b := bar{
			X: at[call.AtMS], Y: t.AskedY + float64(rows[i])*height, Height: height - min(8, height/3),
			Width: max(at[call.AtMS+call.TookMS]-at[call.AtMS], 6), Class: call.class(r), Title: call.told(),
		}
		if !slim {
			b.Label = fmt.Sprint(call.Number)
		}
		t.Calls = append(t.Calls, b)
	}
	return len(free)
}

func (t *timeline) addMarks(r Result, at map[float64]float64) {
	raised, before := false, -labelSpace
	for _, request := range r.Requests {
		m := mark{X: at[request.AtMS], Y: t.KitebaseY, Class: request.class(), Title: request.told()}
		if len(r.Requests) <= 16 {
			raised = !raised && m.X-before < labelSpace
			m.Label, before = request.label(), m.X
			if raised {
				m.Y -= 16
			}
		}
		t.Requests = append(t.Requests, m)
	}
	for _, email := range r.Emails {
		m := mark{X: at[email.AtMS], Y: t.CustomerY, Class: "email", Title: email.told()}
		if email.TooMany {
			m.Class = "email bad"
		}
		t.Emails = append(t.Emails, m)
	}
	for i, event := range r.Events {
		t.Events = append(t.Events, mark{X: at[event.AtMS], Y: 12, Label: letter(i), Title: event.Says})
	}
}

// addTicks labels the axis where there is room.
func (t *timeline) addTicks(r Result, at map[float64]float64) {
	all := moments(r)
	end := all[len(all)-1]
	last := -labelSpace
	for _, moment := range all {
		if at[moment]-last < labelSpace || at[end]-at[moment] < labelSpace {
			continue
		}
		last = at[moment]
		t.Ticks = append(t.Ticks, mark{X: last, Y: t.AxisY, Label: span(moment)})
	}
	t.Ticks = append(t.Ticks, mark{X: at[end], Y: t.AxisY, Label: span(end)})
}
