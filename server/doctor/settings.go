package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/kitebase/kitebase-mcp/tools/kitebase"
)

// settings reports everything that the server would refuse at its start, whatever its transport.
func (e *examination) settings(context.Context) finding {
	wrong := slices.Clone(e.config.Wrong)
	const anyURL = "http://embedded"
	if err := (kitebase.Config{BaseURL: cmp.Or(e.config.Server.URL, anyURL)}).Validate(); err != nil {
		e.badAccess = true
		wrong = append(wrong, fmt.Errorf("--url (KITEBASE_URL): %w", err))
	}
	if err := (kitebase.Config{BaseURL: anyURL, Token: e.config.Server.Token}).Validate(); err != nil {
		e.badAccess = true
		wrong = append(wrong, fmt.Errorf("--token (KITEBASE_TOKEN): %w", err))
	}
	names, err := e.config.Server.ToolNames()
	if err != nil {
		wrong = append(wrong, fmt.Errorf("--tools (KITEBASE_TOOLS): %w", err))
	}
	e.tools = names
	e.badSettings = len(wrong) > 0
	if e.badSettings {
		return finding{Failed, sentences(wrong), "Change what is named here: in the environment if the host starts the server, else on the " +
			"command line. kitebase-mcp serve --help lists all settings."}
	}
	return finding{OK, "All settings have values that they can have.", ""}
}

// variables reports misspelt ones: without that they would be ignored, and the setting would keep its default.
func (e *examination) variables(context.Context) finding {
	if len(e.config.Unread) > 0 {
		return finding{Warning, "No settings, and therefore ignored: " + strings.Join(e.config.Unread, ", ") + ".",
			"Correct the spelling or remove it. kitebase-mcp serve --help lists all settings; a variable is KITEBASE_ and the name of its flag."}
	}
	return finding{OK, "Every KITEBASE_ variable is a setting.", ""}
}

// address reports whether the HTTP transport may listen where it should, and whether it can.
func (e *examination) address(ctx context.Context) finding {
	config := *e.config.Web
	if err := config.Validate(); err != nil {
		return finding{Failed, sentences([]error{err}), "Change what is named here; until then the server refuses to start with the HTTP transport."}
	}
	config.Addr = cmp.Or(config.Addr, "127.0.0.1:8090") // the default of web
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", config.Addr)
	if err != nil {
		return unheard(config.Addr, err)
	}
	_ = listener.Close() // it was only to be tried
	if config.Access().Open() {
		return finding{OK, "The server can listen at " + config.Addr + ", for programs on this machine only, without a token.", ""}
	}
	return finding{OK, "The server can listen at " + config.Addr + "; clients need a token.", ""}
}

// unheard explains why nothing can listen at addr.
func unheard(addr string, err error) finding {
	const another = "choose another address with --addr (KITEBASE_ADDR)."
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return finding{Failed, "Another program listens at " + addr + ".", "If that is this server, running already, all is well. Otherwise end the program, or " + another}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return finding{Failed, "This machine has no address " + addr + ".", "Give an address of this machine, such as 127.0.0.1:8090: " + another}
	case errors.Is(err, os.ErrPermission):
		return finding{Failed, "This user may not listen at " + addr + ".", "Ports below 1024 are for administrators: " + another}
	case errors.As(err, &dns):
		return finding{Failed, "The host or port of " + addr + " is not known.", "Give numbers, such as 127.0.0.1:8090: " + another}
	default:
		return finding{Failed, "Nothing can listen at " + addr + ".", "Another program may have it: end that, or " + another}
	}
}

// sentences writes errors, joined ones too, one after the other.
func sentences(errs []error) string {
	var all []string
	for _, err := range errs {
		for line := range strings.Lines(err.Error()) {
			all = append(all, sentence(strings.TrimSpace(line)))
		}
	}
	return strings.Join(all, " ")
}

// sentence gives a phrase a capital, which a flag at its beginning does without, and a full stop.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	return strings.ToUpper(phrase[:1]) + strings.TrimSuffix(phrase[1:], ".") + "."
}
