package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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
