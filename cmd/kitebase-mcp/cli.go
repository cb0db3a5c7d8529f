package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// command is one command with its settings filled in.
type command interface {
	Run(context.Context, streams) error
}

// cli is the whole command line. A setting of serve may also come from the environment, see [environment].
type cli struct {
	Serve   serveCommand   `cmd:"" default:"withargs" help:"Serve MCP (the default)."`
	Fake    fakeCommand    `cmd:"" help:"Serve a fake Kitebase with switchable faults over HTTP."`
	Doctor  doctorCommand  `cmd:"" help:"Check settings, Kitebase, token, clock, ledger and the server itself, and say what to mend."`
	Ledger  ledgerCommand  `cmd:"" help:"What was sent, what is unknown, and the ways out."`
	Token   tokenCommand   `cmd:"" help:"Make a bearer token for an HTTP client, and its entry for --http-tokens."`
	Lab     labCommand     `cmd:"" help:"Drive an MCP server through the faults of the fake Kitebase and print a score card."`
	Config  configCommand  `cmd:"" help:"Print the configuration for a host, with absolute paths."`
	Health  healthCommand  `cmd:"" help:"Ask the server at --addr whether it is alive, as health checks of containers do."`
	Version versionCommand `cmd:"" help:"Print version, commit, Go version and protocol revisions."`
}

// errHelp ends the parsing after kong has printed the help.
var errHelp = errors.New("help was printed")

// parse reads the command line and the environment and hands the chosen command to do. What is wrong with them is a
// [usageError] that names the setting.
func parse(args, environ []string, std streams, do func(command) error) error {
	if err := checkText(args, environ); err != nil {
		return usageError{err}
	}
	if serve := plainServe(args, newEnvironment(environ)); serve != nil {
		return do(serve)
	}
	return parseAll(args, environ, std, do)
}

// checkText refuses what is not UTF-8, of which kong would make other text, and so a ledger in another file.
func checkText(args, environ []string) error {
	flag := ""
	for i, arg := range args {
		if name, ok := strings.CutPrefix(arg, "--"); ok {
			flag, _, _ = strings.Cut(name, "=")
		}
		if !utf8.ValidString(arg) {
			return fmt.Errorf("argument %d of the command line%s is not valid UTF-8", i+1, after(flag))
		}
	}
	for name, value := range newEnvironment(environ) {
		if flag := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, envPrefix), "_", "-")); !utf8.ValidString(name + value) {
			return fmt.Errorf("a variable of the environment%s is not valid UTF-8", after(flag))
		}
	}
	return nil
}

// after names a flag, unless it is none.
func after(flag string) string {
	if flag == "" || strings.ContainsFunc(flag, func(r rune) bool { return r != '-' && (r < 'a' || 'z' < r) }) {
		return ""
	}
	return " (--" + flag + ")"
}

// parseAll is parse for every command line.
func parseAll(args, environ []string, std streams, do func(command) error) error {
	env := newEnvironment(environ)
	var line cli
	parser, err := kong.New(&line,
		kong.Name("kitebase-mcp"),
		kong.Description("An MCP server for the help desk Kitebase. Every flag of serve can be given in the environment as KITEBASE_ and its name, for example KITEBASE_ATTEMPT_TIMEOUT=2s; a flag wins."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(int) { panic(errHelp) }),
		kong.Resolvers(env),
		kong.UsageOnError(),
	)
	if err != nil {
		return fmt.Errorf("describing the command line: %w", err)
	}
	chosen, err := parseOrHelp(parser, args)
	if chosen == nil && err == nil {
		return nil
	}
	if err != nil {
		return usageError{worded(err, parser.Model, chosen)}
	}
	if name := emptied(chosen); name != "" {
		return usageError{fmt.Errorf("--%s was given an empty value; leave it out for its default", name)}
	}
	target := chosen.Selected().Target.Addr().Interface().(command)
	if doctor, ok := target.(*doctorCommand); ok {
		doctor.around = surroundingsOf(chosen, env, environ)
		return do(doctor)
	}
	if lab, ok := target.(*labCommand); ok {
		lab.environ = environ
		return do(lab)
	}
	for _, name := range env.unknown(parser.Model) {
		fmt.Fprintf(std.err, "kitebase-mcp: the environment variable %s is no setting of this program and is ignored; see --help\n", name)
	}
	return do(target)
}

// emptied returns a flag that the command line gives as "", as scripts do with a variable that is not set: a token that is
// missing by mistake must not open the server. It returns "" if there is none.
func emptied(line *kong.Context) string {
	for _, part := range line.Path {
		if part.Flag == nil || part.Resolved {
			continue
		}
		if value, ok := part.Flag.Target.Interface().(string); ok && value == "" {
			return part.Flag.Name
		}
	}
	return ""
}

// parseOrHelp returns nil and nil when help was asked for and printed.
func parseOrHelp(parser *kong.Kong, args []string) (chosen *kong.Context, err error) {
	defer func() {
		if value := recover(); value != nil {
			if value != errHelp {
				panic(value)
			}
			chosen, err = nil, nil
		}
	}()
	chosen, err = parser.Parse(args)
	if failed := (*kong.ParseError)(nil); errors.As(err, &failed) {
		chosen = failed.Context // which command it was about
	}
	return chosen, err
}

// environment resolves the flags of serve from environment variables. An empty variable counts as not set, because hosts
// pass on the blank fields of their settings pages; so does one that is still a reference to such a field, see [blank].
type environment map[string]string

const envPrefix = "KITEBASE_"

func newEnvironment(environ []string) environment {
	env := make(environment)
	for _, pair := range environ {
		if name, value, ok := strings.Cut(pair, "="); ok && strings.HasPrefix(name, envPrefix) && !blank(value) {
			env[name] = value
		}
	}
	return env
}

// blank reports whether a variable says nothing. Claude Desktop passes on a field that was never filled in, and has no default,
// as the text ${user_config.NAME} (github.com/modelcontextprotocol/mcpb/issues/250).
func blank(value string) bool {
	return value == "" || strings.HasPrefix(value, "${user_config.") && strings.HasSuffix(value, "}")
}

func envName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Validate is part of [kong.Resolver].
func (e environment) Validate(*kong.Application) error { return nil }

// Resolve is part of [kong.Resolver]. The settings are those of serve; other commands that have one of them take it from the
// same variable, but for those that set up something else.
func (e environment) Resolve(context *kong.Context, parent *kong.Path, flag *kong.Flag) (any, error) {
	if parent.Command == nil || slices.Contains([]string{"fake", "lab", "token", "claude-code", "claude-desktop"}, parent.Command.Name) {
		return nil, nil
	}
	name := envName(flag.Name)
	value, ok := e[name]
	if !ok || !settings(context.Model)[name] {
		return nil, nil
	}
	if parent.Command.Name == "doctor" && !readable(flag, value) {
		return nil, nil // it is there to find this, and must not end by it
	}
	return value, nil
}

// settings returns the variables of the flags of serve.
func settings(app *kong.Application) map[string]bool {
	known := make(map[string]bool)
	for _, child := range app.Children {
		if child.Name == "serve" {
			for _, flag := range child.Flags {
				known[envName(flag.Name)] = true
			}
		}
	}
	return known
}

// unknown returns the variables with our prefix that are no setting, sorted.
func (e environment) unknown(app *kong.Application) []string {
	known := settings(app)
	var names []string
	for name := range e {
		if !known[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
