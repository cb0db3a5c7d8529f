package agent

import "strings"

// Handover returns the note for the person who picks up a run that did not succeed. It is made from what the tools said
// alone, never from the words of the model.
func (r Report) Handover() string {
	lines := []string{"I couldn't finish this: " + r.Why + ".", r.changesMade()}
	lines = append(lines, r.Unconfirmed()...)
	return strings.Join(append(lines, "A person needs to pick this up."), "\n")
}

// Message says to a person how the run ended: the [Report.Handover] of one that did not succeed, and for the others what
// they changed.
func (r Report) Message() string {
	if !r.Succeeded() {
		return r.Handover()
	}
	return strings.Join(append([]string{"Done.", r.changesMade()}, r.Unconfirmed()...), "\n")
}

// Unconfirmed returns a line for each change of which nobody knows whether it went through. A run that succeeded can have
// some: that the model is content does not confirm them.
func (r Report) Unconfirmed() []string {
	var lines []string
	for _, change := range r.Changes {
		if change.Confirmed {
			continue
		}
		line := "Not confirmed: " + change.What + ". It may have gone through, so check before you repeat it"
		if change.Check != "" {
			line += ": " + change.Check
		}
		lines = append(lines, line+".")
	}
	return lines
}

func (r Report) changesMade() string {
	var made []string
	for _, change := range r.Changes {
		if change.Confirmed {
			made = append(made, change.What)
		}
	}
	switch {
	case len(made) > 0:
		return "Changes made: " + strings.Join(made, "; ") + "."
	case len(r.Changes) > 0:
		return "Changes made: none that is confirmed."
	default:
		return "Changes made: none, nothing was sent to the customer or changed."
	}
}
