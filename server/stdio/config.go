package stdio

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Config holds the settings of [Serve]. The zero value works.
type Config struct {
	// Logger gets what the client must not see: texts of panics, lines that were refused. Default: nothing is logged.
	Logger *slog.Logger

	// MaxLine is the longest line in bytes that is read as a message; -1 sets no limit. Default 4 MiB.
	MaxLine int

	// MaxCalls is how many tool calls may be under way at once; one more is refused at once, with an error result; -1
	// sets no limit. It is the last fence, meant to lie above the limits of single tools, whose words are better.
	// Default 512.
	MaxCalls int

	// MaxUnread is how many bytes of answers may wait for a client that does not read before no more is read from it
	// either; -1 sets no limit. Default 64 MiB.
	MaxUnread int

	// Drain is how long calls may go on after the end of the input or of ctx; then their contexts end and Serve gives
	// up on them; -1 waits for as long as they take. Default 1 minute.
	Drain time.Duration

	// Stall is how long one write may stay unread, after the end of the input or of ctx or while answers pile up, before
	// the client counts as gone (it is looked at twice in that time); -1 waits forever. Default 4 seconds.
	Stall time.Duration

	// Context may add values to the context of a request, such as the time at which its line was read. Default: adds
	// nothing.
	Context func(ctx context.Context, arrived time.Time) context.Context
}

// Validate reports the first setting that cannot be meant, by the name of its field.
func (c Config) Validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"MaxLine", int64(c.MaxLine)},
		{"MaxCalls", int64(c.MaxCalls)},
		{"MaxUnread", int64(c.MaxUnread)},
		{"Drain", int64(c.Drain)},
		{"Stall", int64(c.Stall)},
	} {
		if f.value < -1 {
			return fmt.Errorf("stdio: %s must be positive, 0 for the default, or -1 to turn it off", f.name)
		}
	}
	return nil
}

func (c Config) withDefaults() Config {
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	c.MaxLine = cmp.Or(c.MaxLine, 4<<20)
	c.MaxCalls = cmp.Or(c.MaxCalls, 512)
	c.MaxUnread = cmp.Or(c.MaxUnread, 64<<20)
	c.Drain = cmp.Or(c.Drain, time.Minute)
	c.Stall = cmp.Or(c.Stall, 4*time.Second)
	if c.Context == nil {
		c.Context = func(ctx context.Context, _ time.Time) context.Context { return ctx }
	}
	return c
}
