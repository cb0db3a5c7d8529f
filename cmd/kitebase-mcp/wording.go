package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/kong"
)

var namesFlag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--([a-z][a-z-]*)`) })

// worded turns what kong has to say of the value of a setting into what the setting takes, with the names by which it can
// be given. Other errors, such as an unknown flag, are passed on in one line.
func worded(err error, app *kong.Application, chosen *kong.Context) error {
	text := err.Error()
	if astray := strayWord(text); astray != nil {
		return astray
	}
	found := namesFlag().FindStringSubmatch(text)
	if found == nil {
		return oneLine(err)
	}
	flag := flagNamed(app, chosen, found[1])
	if flag == nil {
		return oneLine(err)
	}
	names := "--" + flag.Name
	if settings(app)[envName(flag.Name)] {
		names += " (" + envName(flag.Name) + ")"
	}
	return fmt.Errorf("%s takes %s", names, takes(flag))
}

// stray is what kong says of a word or flag that has no place; typo is a word that can be repeated to whoever typed it.
var (
	stray = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^(unexpected argument|unknown flag) (-*)(.*?)(, did you mean .*)?$`)
	})
	typo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_-]{1,20}$`) })
)

// strayWord returns what is wrong with a word that has no place on the command line, nil if that is not it. It repeats a
// typing error, but nothing that may be a secret at a wrong place, such as a token behind a blank too many.
func strayWord(text string) error {
	found := stray().FindStringSubmatch(text)
	if found == nil {
		return nil
	}
	if typo().MatchString(found[3]) {
		return oneLine(errors.New(text))
	}
	return fmt.Errorf("%s, which is not repeated here, since it might be a secret; see --help", found[1])
}

// flagNamed returns the flag of the chosen command, or else of serve, that has this name.
func flagNamed(app *kong.Application, chosen *kong.Context, name string) *kong.Flag {
	nodes := []*kong.Node{}
	if chosen != nil && chosen.Selected() != nil {
		nodes = append(nodes, chosen.Selected())
	}
	for _, child := range app.Children {
		if child.Name == "serve" {
			nodes = append(nodes, child)
		}
	}
	for _, node := range nodes {
		for _, flag := range node.Flags {
			if flag.Name == name || "no-"+flag.Name == name {
				return flag
			}
		}
	}
	return nil
}

// takes says what values a flag has. One may say it itself.
func takes(flag *kong.Flag) string {
	if flag.Tag.Has("takes") {
		return flag.Tag.Get("takes")
	}
	if flag.Enum != "" {
		return "one of " + strings.ReplaceAll(flag.Enum, ",", ", ")
	}
	switch flag.Target.Interface().(type) {
	case time.Duration:
		return "a time with its unit, such as 500ms, 5s or 24h"
	case size:
		return "a size above 0, such as 512KiB or 1MiB"
	}
	switch flag.Target.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	default:
		return "a value"
	}
}

func oneLine(err error) error { return errors.New(strings.Join(strings.Fields(err.Error()), " ")) }
