package agent

// Event is something that happened in a run: one of [Asking], [Said], [Calling], [Called], [CutOff] and
// [Pause].
type Event interface{ event() }

// Asking comes before the model is asked for a turn.
type Asking struct{ Step int }

// Said is text of the model, at the end of the run or beside calls.
type Said struct {
	Step int
	Text string
}

// Calling comes before a call runs.
type Calling struct {
	Step int
	Use  ToolUse
}

// Called comes after the call, and after all calls that ran beside it; also for one that a guard kept from running. Err
// is set when the tool gave no answer: it is for people and logs, while Result is what the model gets to read.
type Called struct {
	Step   int
	Use    ToolUse
	Result Result
	Err    error
}

// CutOff comes when a turn ended at MaxTokens and is redone with room for Next tokens.
type CutOff struct {
	Step      int
	MaxTokens int
	Next      int
}

// Pause comes when the model interrupted its turn and is asked to go on with it.
type Pause struct{ Step int }

func (Asking) event()  {}
func (Said) event()    {}
func (Calling) event() {}
func (Called) event()  {}
func (CutOff) event()  {}
func (Pause) event()   {}
