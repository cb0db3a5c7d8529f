package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/client"
)

// protocol starts the server as a host does and speaks to it, without any call reaching Kitebase.
func (e *examination) protocol(ctx context.Context) finding {
	program := e.config.Program
	switch {
	case e.badSettings:
		return finding{Skipped, "The server does not start with these settings.", "Mend the settings first."}
	case program.Path == "":
		return finding{Skipped, "It is not known how to start the server.", ""}
	}
	ctx, cancel := context.WithTimeout(ctx, protocolLimit)
	defer cancel()
	var revisions []string
	for _, options := range [][]client.ClientOption{
		{client.WithDiscoverTimeout(-1)}, // what this program's library speaks at best, however slowly the server starts
		//lint:ignore SA1019 hosts still speak the revisions with a handshake
		{client.WithLegacyProtocolOnly()},
	} {
		revision, lastWords, err := e.conversation(ctx, options...)
		if ctx.Err() != nil {
			err = fmt.Errorf("the server was not done within %s", protocolLimit)
		}
		if err != nil {
			return e.unspoken(err, lastWords)
		}
		revisions = append(revisions, revision)
	}
	return finding{OK, fmt.Sprintf("The server starts, speaks MCP %s over stdio, offers %s, answers a wrong call in words, and ends with its input.",
		strings.Join(revisions, " and "), strings.Join(e.tools, ", ")), ""}
}

// conversation runs the server for one client, and returns the revision that they spoke, and what the server said last.
func (e *examination) conversation(ctx context.Context, options ...client.ClientOption) (revision, lastWords string, err error) {
	child, err := start(ctx, e.config.Program, options...)
	if err != nil {
		return "", "", fmt.Errorf("the server cannot be started: %w", err)
	}
	revision, err = child.converse(ctx, e.tools)
	if ended := child.end(); err == nil {
		err = ended
	}
	return revision, child.lastWords(), err
}

func (e *examination) unspoken(err error, lastWords string) finding {
	found := sentence(err.Error())
	if lastWords != "" {
		found += " Its last words: " + sentence(lastWords)
	}
	return finding{Failed, found, "Start it by hand with kitebase-mcp serve --log-level debug and read what it says; its input ends with Ctrl-D."}
}

// same reports the first difference between the tools that a server should offer and those that it does.
func same(want, got []string) error {
	slices.Sort(got)
	if slices.Equal(want, got) {
		return nil
	}
	return fmt.Errorf("the server offers the tools %s instead of %s", strings.Join(got, ", "), strings.Join(want, ", "))
}
