package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
)

// journalVersion is that of the form of the lines.
const journalVersion = 1

// read takes up the lines of a journal and returns how many bytes of it are whole lines.
func (j *journal) read(text []byte, id identity) (whole int, err error) {
	whole = bytes.LastIndexByte(text, '\n') + 1
	if whole == 0 {
		if first, err := line(id); err != nil || !bytes.HasPrefix(first, text) {
			return 0, fmt.Errorf("%s is no journal of this run", j.path)
		}
		return 0, nil // it died before anything happened
	}
	lines := strings.Split(strings.TrimSuffix(string(text[:whole]), "\n"), "\n")
	if err := j.readIdentity(lines[0], id); err != nil {
		return 0, err
	}
	for i, text := range lines[1:] {
		var r record
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return 0, fmt.Errorf("line %d of %s is damaged, so it is not known what happened: %w", i+2, j.path, err)
		}
		j.recall(r)
	}
	return whole, nil
}

func (j *journal) readIdentity(text string, id identity) error {
	var was identity
	if err := json.Unmarshal([]byte(text), &was); err != nil || was.Version == 0 {
		return fmt.Errorf("%s is no journal", j.path)
	}
	for _, part := range []struct{ what, was, is string }{
		{"version", strconv.Itoa(was.Version), strconv.Itoa(id.Version)},
		{"scenario", was.Scenario, id.Scenario},
		{"ticket", was.Ticket, id.Ticket},
		{"model", was.Model, id.Model},
	} {
		if part.was != part.is {
			return fmt.Errorf("%s is the journal of a run with %s %s, not %s; it can only go on as it began", j.path, part.what, part.was, part.is)
		}
	}
	if was.Server != id.Server {
		return fmt.Errorf("%s is the journal of a run with another server; it can only go on with the one that knows what was sent", j.path)
	}
	return nil
}

func (j *journal) recall(r record) {
	switch {
	case r.End != nil:
		key := keyOf(*r.End)
		j.past[key] = append(j.past[key], *r.End)
	case r.Ending != nil:
		j.ending = r.Ending
	case r.Told:
		j.told = true
	}
}

// keyOf tells the steps of a run apart: turns have no id. Should a model use an id again, the order tells.
func keyOf(step agent.Step) string {
	key := strconv.Itoa(step.Number)
	if step.Use != nil {
		key += " " + step.Use.ID
	}
	return key
}

// Begin returns a step that ended in an earlier life of the run. Else it writes that the step begins.
func (j *journal) Begin(step agent.Step) (*agent.Step, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := keyOf(step)
	if past := j.past[key]; len(past) > 0 {
		j.past[key] = past[1:]
		return &past[0], nil
	}
	return nil, j.write(record{Begin: &step})
}

// End writes what came of a step.
func (j *journal) End(step agent.Step) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(record{End: &step})
}

// end writes how the run ended, before that is told. A nil journal keeps nothing.
func (j *journal) end(o outcome) error {
	if j == nil {
		return nil
	}
	document, err := json.Marshal(documentOf(o))
	if err != nil {
		return fmt.Errorf("write down how the run ended: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(record{Ending: &ending{Text: o.note() + o.ending() + "\n", Document: document, HandedOver: !o.report.Succeeded()}})
}

// tell writes that how the run ended has been told.
func (j *journal) tell() error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(record{Told: true})
}

// write appends a line and waits until it lasts.
func (j *journal) write(content any) error {
	if j.broken != nil {
		return fmt.Errorf("write to the journal: it is broken since: %w", j.broken)
	}
	text, err := line(content)
	if err != nil {
		return fmt.Errorf("write to the journal: %w", err)
	}
	if _, err = j.file.Write(text); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.broken = err
		return fmt.Errorf("write to the journal: %w", err)
	}
	return nil
}

// line returns content as a line. It has the text of people in it, in which <, > and & are common.
func line(content any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
