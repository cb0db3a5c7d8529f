package lab

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"runtime"
	"time"
)

// Config says which server to drive and how. Only Command is needed.
type Config struct {
	// Command is the program and its arguments. In the arguments {url}, {token} and {state} stand for Kitebase's address, its
	// token, and the state directory of the case. It has no default.
	Command []string
	// Env is the environment of the server, NAME=value each. What begins with KITEBASE_ is left out: the settings of whoever runs the
	// lab must not decide the card, nor their ledger be written to. KITEBASE_URL, KITEBASE_TOKEN and XDG_STATE_HOME are added. Default
	// nothing.
	Env []string
	// CallLimit is how long a call may take before it counts as unanswered. Default 60s, which is what hosts give.
	CallLimit time.Duration
	// StartLimit is how long the server may take from its start to its list of tools. Default 30s.
	StartLimit time.Duration
	// Parallel is how many cases run at once. They wait far more than they compute. Default four for each processor.
	Parallel int
	// Cases are the names of the cases to run, as patterns of path.Match such as "repeat/*". Default all.
	Cases []string
	// Done is called after each case, one at a time. Default: nobody is told.
	Done func(done, of int, result Result)
}

// Validate says which field is wrong and what it takes.
func (c Config) Validate() error {
	switch {
	case len(c.Command) == 0:
		return errors.New("the command of the server is missing: put it after --, such as -- node server.mjs")
	case c.CallLimit < 0:
		return errors.New("the limit of a call takes a time above 0, such as 60s")
	case c.StartLimit < 0:
		return errors.New("the limit of the start takes a time above 0, such as 30s")
	case c.Parallel < 0:
		return errors.New("the number of cases at once takes a number from 1")
	}
	for _, pattern := range c.Cases {
		if len(matching([]string{pattern})) == 0 {
			return fmt.Errorf("no case is named %s", pattern)
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.CallLimit = cmp.Or(c.CallLimit, time.Minute)
	c.StartLimit = cmp.Or(c.StartLimit, 30*time.Second)
	c.Parallel = cmp.Or(c.Parallel, 4*runtime.NumCPU())
	return c
}

// matching returns the cases that one of the patterns names; all for no pattern.
func matching(patterns []string) []Case {
	all := Catalogue()
	if len(patterns) == 0 {
		return all
	}
	var chosen []Case
	for _, each := range all {
		for _, pattern := range patterns {
			if ok, err := path.Match(pattern, each.Name); ok && err == nil {
				chosen = append(chosen, each)
				break
			}
		}
	}
	return chosen
}
