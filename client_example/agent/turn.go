package agent

import (
	"fmt"
	"slices"
)

// take acts upon a turn. It returns nil if the run goes on.
func (r *run) take(turn Turn) *ending {
	r.report.StopReason = turn.StopReason
	if turn.StopReason == StopMaxTokens {
		return r.cutOff()
	}
	r.room = r.cfg.MaxTokens
	switch turn.StopReason {
	case StopEndTurn, StopSequence, StopToolUse, StopPauseTurn:
	case StopRefusal:
		return &ending{reason: Refusal, why: "Claude declined to continue"}
	case StopContextWindow:
		return &ending{reason: ContextWindow, why: "the conversation no longer fits into what Claude can read (model_context_window_exceeded)"}
	default:
		return &ending{reason: UnexpectedStop, why: fmt.Sprintf("Claude stopped with %q", turn.StopReason)}
	}
	if err := turn.check(); err != nil {
		return &ending{reason: BadTurn, why: "Claude's reply contradicts itself", err: err}
	}
	r.say(turn)
	switch turn.StopReason {
	case StopPauseTurn:
		return r.pause()
	case StopToolUse:
		r.pauses = 0
		return nil
	default:
		return &ending{reason: Reason(turn.StopReason)}
	}
}

// say takes the turn into the conversation. A turn without anything in it stays out: an empty message is refused.
func (r *run) say(turn Turn) {
	if turn.Text != "" {
		r.report.Text = turn.Text
		r.cfg.OnEvent(Said{Step: r.report.Steps, Text: turn.Text})
	}
	if turn.Text != "" || len(turn.Calls) > 0 || len(turn.Raw) > 0 {
		said := Message{Role: Assistant, Text: turn.Text, Calls: slices.Clone(turn.Calls), Raw: turn.Raw}
		r.report.Messages = append(r.report.Messages, said)
	}
}

// cutOff has a turn redone once that ended at max_tokens. Nothing of it is kept or run: beside a call that was cut in
// half a complete one may stand that depends upon it.
func (r *run) cutOff() *ending {
	if r.room > r.cfg.MaxTokens {
		return &ending{reason: CutOffTwice, why: fmt.Sprintf("Claude's reply was cut off twice, even at max_tokens=%d", r.room)}
	}
	r.cfg.OnEvent(CutOff{Step: r.report.Steps, MaxTokens: r.room, Next: 2 * r.room})
	r.room *= 2
	return nil
}

// pause lets the model go on with a turn that it interrupted by itself, a bounded number of times.
func (r *run) pause() *ending {
	if r.pauses++; r.cfg.MaxPauses > 0 && r.pauses > r.cfg.MaxPauses {
		return &ending{reason: Paused, why: fmt.Sprintf("Claude paused its turn %s in a row (pause_turn)", times(r.pauses))}
	}
	r.cfg.OnEvent(Pause{Step: r.report.Steps})
	return nil
}
