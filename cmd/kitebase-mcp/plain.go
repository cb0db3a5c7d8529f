package main

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// plainServe returns serve with its settings if they are given in the forms that hosts use, which are the environment,
// --name VALUE, --name=VALUE, --name and --no-name, each setting once, after the word serve or not, and nothing is wrong with them. For everything else
// it returns nil, and kong has the say: it knows more forms, and what to say of a mistake. Asked each time, kong would take
// a fifteenth of the time from the start to the first answer.
//
//	what plainServe takes, kong reads alike
func plainServe(args []string, env environment) *serveCommand {
	var serve serveCommand
	all := make(map[string]plainSetting, 64)
	addSettings(all, reflect.ValueOf(&serve).Elem())
	if len(args) > 0 && args[0] == "serve" {
		args = args[1:]
	}
	given, ok := givenValues(args, all)
	if !ok || !addVariables(given, env, all) {
		return nil
	}
	for name, setting := range all {
		value, ok := given[name]
		if !ok {
			value, ok = setting.tag.Lookup("default")
		}
		if ok && !setting.set(value) {
			return nil
		}
	}
	return &serve
}

// plainSetting is one field of serve with its tags, which are those of kong.
type plainSetting struct {
	value reflect.Value
	tag   reflect.StructTag
}

func addSettings(all map[string]plainSetting, of reflect.Value) {
	for i := range of.NumField() {
		field := of.Type().Field(i)
		if field.Anonymous {
			addSettings(all, of.Field(i))
			continue
		}
		all[field.Tag.Get("name")] = plainSetting{of.Field(i), field.Tag}
	}
}

// givenValues returns the values of the command line by the names of their settings. ok is false if it is not plain.
func givenValues(args []string, all map[string]plainSetting) (given map[string]string, ok bool) {
	given = make(map[string]string)
	for len(args) > 0 {
		flag, dashes := strings.CutPrefix(args[0], "--")
		name, value, follows := strings.Cut(flag, "=")
		args = args[1:]
		setting, known := all[name]
		switch {
		case known && follows:
		case known && setting.value.Kind() == reflect.Bool:
			value = "true"
		case known && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
			value, args = args[0], args[1:]
		default:
			var no bool
			name, no = strings.CutPrefix(flag, "no-")
			_, known = all[name].tag.Lookup("negatable")
			value, known = "false", known && no
		}
		if _, twice := given[name]; !dashes || !known || twice || value == "" {
			return nil, false
		}
		given[name] = value
	}
	return given, true
}

// addVariables adds the values of variables to those of the command line, which win. It reports whether all are of settings.
func addVariables(given map[string]string, env environment, all map[string]plainSetting) bool {
	for variable, value := range env {
		name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, envPrefix), "_", "-"))
		if _, known := all[name]; !known || envName(name) != variable {
			return false
		}
		if _, won := given[name]; !won {
			given[name] = value
		}
	}
	return true
}

// set reads text as the value, if it is a plain one.
func (s plainSetting) set(text string) bool {
	if enum, ok := s.tag.Lookup("enum"); ok && !slices.Contains(strings.Split(enum, ","), text) {
		return false
	}
	var err error
	switch target := s.value.Addr().Interface().(type) {
	case *string:
		*target = text
	case *[]string:
		*target = kong.SplitEscaped(text, ',')
		return !slices.ContainsFunc(*target, func(part string) bool { return strings.HasPrefix(part, "-") })
	case *bool:
		*target, err = strconv.ParseBool(text)
		return err == nil && strconv.FormatBool(*target) == text
	case *int:
		*target, err = strconv.Atoi(text)
		return err == nil && strconv.Itoa(*target) == text // 010 is 8 for kong
	case *time.Duration:
		*target, err = time.ParseDuration(text)
	case encoding.TextUnmarshaler:
		err = target.UnmarshalText([]byte(text))
	default:
		return false
	}
	return err == nil
}
