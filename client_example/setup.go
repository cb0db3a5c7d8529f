package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// ticketForm is that of Kitebase's ids.
var ticketForm = regexp.MustCompile(`^KITE-[1-9][0-9]{0,8}$`)

// validateLive checks the flags about model, server and journal against one another.
func (o options) validateLive() error {
	keeps := o.journal != "" || o.resume != ""
	for _, wrong := range []struct {
		bad  bool
		text string
	}{
		{!ticketForm.MatchString(o.ticket), "-ticket takes an id such as KITE-142"},
		{o.ticket != ticketID && !o.live, "-ticket needs -live: the script knows " + ticketID + " alone"},
		{o.model != defaultModel && !o.live, "-model needs -live"},
		{o.model == "", "-model takes the name of a model, such as " + defaultModel},
		{o.journal != "" && o.resume != "", "-journal begins a run and -resume goes on with one; give one of the two"},
		{keeps && len(o.scenarios) > 1, "a journal is of one run; name one scenario"},
	} {
		if wrong.bad {
			return usageError(wrong.text)
		}
	}
	for _, s := range o.scenarios {
		if o.live && (s.model != nil || s.run != nil) {
			return usageError(fmt.Sprintf("scenario %s is about what a script does; with -live only those run in which tools break", s.name))
		}
	}
	return nil
}

// driver returns the driver without server and journal. With -json nothing but the document goes to standard output.
func (o options) driver(stdout *screen, env []string, stderr io.Writer) (driver, error) {
	d := driver{screen: stdout, serverLog: io.Discard, experiment: o.experiment, ticket: o.ticket}
	attempts := io.Writer(stdout)
	if o.json {
		d.screen, attempts = &screen{out: io.Discard}, stderr
	}
	if o.verbose {
		d.serverLog = &serverLog{attempts: attempts, others: stderr}
	}
	var err error
	if o.live {
		if d.live, err = newClaude(o.model, env); err != nil {
			return d, err
		}
	}
	if d.abroad, err = newAbroad(o.server, o.mcpURL, env); err != nil {
		return d, err
	}
	if d.abroad == nil && (o.journal != "" || o.resume != "") {
		return d, usageError("a journal needs a server that outlives this program, or a help desk that does: see -mcp-url, and -server with arguments")
	}
	for _, s := range o.scenariosFor(d) {
		if d.abroad != nil {
			err = errors.Join(err, d.abroad.check(s))
		}
	}
	return d, err
}

// scenariosFor returns the scenarios that were named. Without a name these are all, but one if they cost money, or work on a
// help desk that is not thrown away.
func (o options) scenariosFor(d driver) []scenario {
	switch {
	case len(o.scenarios) > 0:
		return o.scenarios
	case d.live != nil || d.abroad != nil:
		return deskScenarios()[:1]
	default:
		return scenarios()
	}
}

// openJournal returns nil if nothing is to be kept.
func (o options) openJournal(server *abroad) (*journal, error) {
	if o.journal == "" && o.resume == "" {
		return nil, nil
	}
	id := identity{Version: journalVersion, Scenario: o.scenariosFor(driver{abroad: server})[0].name, Ticket: o.ticket, Model: "script"}
	if o.live {
		id.Model = o.model
	}
	hash := sha256.Sum256([]byte(server.String()))
	id.Server = hex.EncodeToString(hash[:8])
	return openJournal(o.journal+o.resume, o.resume != "", id, o.wrap)
}

// ended tells whether nothing is left to do but to tell.
func (j *journal) ended() bool { return j != nil && j.ending != nil }

// tellLate tells how a run ended that died over telling it.
func (j *journal) tellLate(stdout io.Writer, asDocument bool) error {
	if j.told {
		return fmt.Errorf("the run of %s has ended, and that has been told: see its last lines", j.path)
	}
	text := j.ending.Text
	if asDocument {
		text = string(j.ending.Document) + "\n"
	}
	if _, err := io.WriteString(stdout, text); err != nil {
		return fmt.Errorf("tell how the run ended: %w", err)
	}
	if err := j.tell(); err != nil {
		return err
	}
	if j.ending.HandedOver {
		return errHandedOver
	}
	return nil
}
