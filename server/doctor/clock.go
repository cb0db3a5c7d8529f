package doctor

import (
	"context"
	"fmt"
	"time"
)

// The clocks may differ that much. The second is how far back the server looks for a reply when Kitebase keeps no keys: one
// that is dated even earlier is overlooked, and could be sent again.
const (
	skewToTell = time.Minute
	skewToMend = 5 * time.Minute
)

// clock compares the clock of this machine with the date of Kitebase's answer, which is in whole seconds.
func (e *examination) clock(context.Context) finding {
	switch {
	case !e.kitebase.sender:
		return finding{Skipped, "There was no answer of Kitebase to compare with.", ""}
	case e.kitebase.date.IsZero():
		return finding{Skipped, "The answer of Kitebase bears no date.", ""}
	}
	ahead := e.kitebase.at.Sub(e.kitebase.date).Truncate(time.Second)
	direction := "ahead of"
	if ahead < 0 {
		direction = "behind"
	}
	const advice = "Let both machines get the time from the network (NTP). Replies are looked up by their time."
	found := fmt.Sprintf("The clock of this machine is %s %s that of Kitebase.", ahead.Abs(), direction)
	switch {
	case ahead.Abs() > skewToMend:
		return finding{Failed, found, advice}
	case ahead.Abs() > skewToTell:
		return finding{Warning, found, advice}
	default:
		return finding{OK, "The clocks of this machine and of Kitebase agree within a minute.", ""}
	}
}
