package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kitebase/kitebase-mcp/server"
	"github.com/kitebase/kitebase-mcp/server/access"
)

type tokenCommand struct {
	Name     string   `arg:"" help:"What the client is called in logs."`
	Tools    []string `name:"tools" placeholder:"NAMES" help:"Tools that it may use, separated by commas, or none. Default: all."`
	ReadOnly bool     `name:"read-only" help:"Only those that change nothing."`
	Expires  term     `name:"expires" takes:"a time from now, such as 90d or 12h" placeholder:"TIME" help:"When it ends, such as 90d or 12h from now. Default: never."`
	Add      string   `name:"add" placeholder:"FILE" help:"Add the entry to this file, which is begun if there is none; the file keeps its mode, not its owner."`
}

// Run prints the token, which nobody can find out again, and its entry unless that went into a file.
func (c *tokenCommand) Run(_ context.Context, std streams) error {
	_, plain := access.Mint(access.Grant{Name: c.Name})
	if err := plain.Check(nil); err != nil {
		return usageError{err}
	}
	token, grant := access.Mint(c.grant())
	if err := grant.Check(server.Rights()); err != nil {
		return usageError{fmt.Errorf("--tools: %w", err)}
	}
	if c.Add == "" {
		_, err := fmt.Fprintf(std.out, "The token, shown this once: %s\n\nIts entry for the list \"tokens\" in the file of --http-tokens:\n%s", token, grant.JSON())
		return err
	}
	if err := access.Add(c.Add, grant, server.Rights()); err != nil {
		return fmt.Errorf("adding to %s: %w", c.Add, err)
	}
	_, err := fmt.Fprintf(std.out, "The token, shown this once: %s\n\n%s was added to %s. Servers that use the file take the token within a second.\n",
		token, c.Name, c.Add)
	return err
}

func (c *tokenCommand) grant() access.Grant {
	grant := access.Grant{Name: c.Name, ReadOnly: c.ReadOnly}
	if names := trimmed(c.Tools); len(names) == 1 && names[0] == "none" {
		grant.Tools = &[]string{}
	} else if len(names) > 0 {
		grant.Tools = &names
	}
	if c.Expires > 0 {
		at := time.Now().Add(time.Duration(c.Expires)).UTC().Truncate(time.Second)
		grant.Expires = &at
	}
	return grant
}

// term is a span of time in days, as 90d, or as Go writes it.
type term time.Duration

// UnmarshalText is how kong reads a term.
func (t *term) UnmarshalText(text []byte) error {
	span, err := time.ParseDuration(string(text))
	if days, isDays := strings.CutSuffix(string(text), "d"); isDays {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		span = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || span <= 0 {
		return errors.New("it takes a time from now, such as 90d or 12h")
	}
	*t = term(span)
	return nil
}
