package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mattn/go-isatty"
)

// screen is standard output. On a terminal it shows below the last line what is under way and for how long, and some
// words in colour; anywhere else it is plain lines. Each Write must be whole lines. It is safe for concurrent use.
type screen struct {
	out         io.Writer
	live, color bool

	mu    sync.Mutex
	drawn int // width of what stands below the last line
	stop  chan struct{}
	ended sync.WaitGroup
}

// tick is how often the time on the screen moves. What ends sooner is never shown.
const tick = 100 * time.Millisecond

// The colours of a terminal that are used.
const (
	red   = "31"
	green = "32"
)

// newScreen asks the file what it is, and the environment for NO_COLOR (no-color.org).
func newScreen(out io.Writer, env []string) *screen {
	file, isFile := out.(*os.File)
	terminal := isFile && isatty.IsTerminal(file.Fd()) && !slices.Contains(env, "TERM=dumb")
	colorless := slices.ContainsFunc(env, func(pair string) bool {
		value, found := strings.CutPrefix(pair, "NO_COLOR=")
		return found && value != ""
	})
	return &screen{out: out, live: terminal, color: terminal && !colorless}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	return s.out.Write(p)
}

// paint returns text in a colour, if there are colours.
func (s *screen) paint(color, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// busy shows what is under way from now on, until idle is called.
func (s *screen) busy(what string) {
	s.idle()
	if !s.live {
		return
	}
	stop, start := make(chan struct{}), time.Now()
	s.stop = stop
	s.ended.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				s.draw(fmt.Sprintf("    … %s %.1fs", what, time.Since(start).Seconds()))
			}
		}
	})
}

// idle ends what busy began.
func (s *screen) idle() {
	if s.stop == nil {
		return
	}
	close(s.stop)
	s.stop = nil
	s.ended.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// draw writes the text below the last line. What goes wrong with it is seen at the next line.
func (s *screen) draw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.drawn = utf8.RuneCountInString(text)
	_, _ = io.WriteString(s.out, text)
}

func (s *screen) erase() {
	if s.drawn > 0 {
		_, _ = io.WriteString(s.out, "\r"+strings.Repeat(" ", s.drawn)+"\r")
		s.drawn = 0
	}
}
