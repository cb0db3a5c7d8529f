package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// FaultKind names a way to go wrong.
type FaultKind string

// The kinds of fault. Drop, status and redirect come before any work; slow waits before it; the others come after the
// work was done, so that a repeat with the same Idempotency-Key finds it done.
const (
	// FaultDrop cuts the connection; nothing was done.
	FaultDrop FaultKind = "drop"
	// FaultStatus answers Fault.Status as a problem document; nothing was done.
	FaultStatus FaultKind = "status"
	// FaultRedirect sends the caller to a sign-in page that answers 200 with HTML; nothing was done.
	FaultRedirect FaultKind = "redirect"
	// FaultSlow waits Fault.Delay, then works and answers as usual, even if the caller left. Meanwhile the
	// Idempotency-Key of a reply is in progress (409 for everyone else).
	FaultSlow FaultKind = "slow"
	// FaultHang works and never answers.
	FaultHang FaultKind = "hang"
	// FaultLose works and cuts the connection before the first byte of the answer.
	FaultLose FaultKind = "lose"
	// FaultGarble works and answers 200 with HTML.
	FaultGarble FaultKind = "garble"
	// FaultTruncate works, announces the whole answer and sends half of it.
	FaultTruncate FaultKind = "truncate"
	// FaultStall works, sends the headers of the answer and then nothing.
	FaultStall FaultKind = "stall"
	// FaultFailAfterCommit works and answers 500.
	FaultFailAfterCommit FaultKind = "fail_after_commit"
)

func faultKinds() []FaultKind {
	return []FaultKind{
		FaultDrop, FaultStatus, FaultRedirect, FaultSlow, FaultHang, FaultLose,
		FaultGarble, FaultTruncate, FaultStall, FaultFailAfterCommit,
	}
}

// Fault says what goes wrong and how often. In JSON (PUT /_faults/{operation}) Kind is "fault" and Delay a text such
// as "300ms".
type Fault struct {
	Kind FaultKind
	// Times is how many requests it strikes before all is well again. Default 0: until cleared.
	Times int
	// Status is what FaultStatus answers (200 to 599, no default) or FaultRedirect (300 to 399). Default 302 for
	// FaultRedirect.
	Status int
	// RetryAfter is the Retry-After header of FaultStatus, sent as it is, so that broken ones can be tried too.
	// Default "": no header.
	RetryAfter string
	// Delay is how long FaultSlow waits; it has no default.
	Delay time.Duration
	// Probability, between 0 and 1, is the chance of each request to be struck. Default 0: each one is.
	Probability float64
	// Seed makes the struck requests the same in every run with Probability. Default 0, a seed like any other.
	Seed uint64
}

// Validate says which field is wrong and what it takes.
func (f Fault) Validate() error {
	if !slices.Contains(faultKinds(), f.Kind) {
		return fmt.Errorf("fault %q is unknown; it is one of %s", f.Kind, list(faultKinds()))
	}
	if f.Times < 0 {
		return fmt.Errorf("times is %d; it takes a number of requests, or 0 for all until cleared", f.Times)
	}
	// The negated form also refuses NaN.
	if !(f.Probability >= 0 && f.Probability <= 1) {
		return fmt.Errorf("probability is %v; it takes a number between 0 and 1", f.Probability)
	}
	if err := f.validateStatus(); err != nil {
		return err
	}
	if f.Kind == FaultSlow && f.Delay <= 0 {
		return errors.New("slow needs a delay above zero, such as 300ms")
	}
	if f.Kind != FaultSlow && f.Delay != 0 {
		return fmt.Errorf("%s takes no delay; only slow does", f.Kind)
	}
	return nil
}

func (f Fault) validateStatus() error {
	switch {
	case f.Kind == FaultStatus && (f.Status < 200 || f.Status > 599):
		return fmt.Errorf("status is %d; it takes a status between 200 and 599", f.Status)
	case f.Kind == FaultRedirect && f.Status != 0 && (f.Status < 300 || f.Status > 399):
		return fmt.Errorf("status of a redirect is %d; it takes one between 300 and 399", f.Status)
	case f.Kind != FaultStatus && f.Kind != FaultRedirect && f.Status != 0:
		return fmt.Errorf("%s takes no status; only status and redirect do", f.Kind)
	case f.Kind != FaultStatus && f.RetryAfter != "":
		return fmt.Errorf("%s takes no retry-after; only status does", f.Kind)
	case strings.ContainsAny(f.RetryAfter, "\r\n"):
		return errors.New("retry-after holds a line break; it takes one line")
	}
	return nil
}

func (f Fault) withDefaults() Fault {
	if f.Kind == FaultRedirect {
		f.Status = cmp.Or(f.Status, http.StatusFound)
	}
	return f
}

// faultRule is a fault in force.
type faultRule struct {
	fault Fault
	left  int // requests still to strike; counts only when Fault.Times is set
	dice  *rand.Rand
}

// SetFault puts a fault in force for one of the five operations, or for "*": all of them, with one common count. It
// replaces the one that was set for the same name. An operation with a fault of its own is not struck by that of "*".
func (f *Fake) SetFault(operation string, fault Fault) error {
	if err := knownOperation(operation); err != nil {
		return err
	}
	if err := fault.Validate(); err != nil {
		return err
	}
	rule := &faultRule{fault: fault.withDefaults(), left: fault.Times, dice: rand.New(rand.NewPCG(fault.Seed, 0))}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[operation] = rule
	return nil
}

// ClearFaults ends the faults set for these names ("*" is a name of its own), or all when none is named.
func (f *Fake) ClearFaults(operations ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(operations) == 0 {
		clear(f.faults)
	}
	for _, name := range operations {
		delete(f.faults, name)
	}
}

// strike returns the fault that the next request for the operation meets, the zero Fault for none. Fake.mu is held.
func (f *Fake) strike(operation string) Fault {
	name := operation
	rule := f.faults[name]
	if rule == nil {
		name = "*"
		rule = f.faults[name]
	}
	if rule == nil {
		return Fault{}
	}
	if p := rule.fault.Probability; p > 0 && rule.dice.Float64() >= p {
		return Fault{}
	}
	if rule.fault.Times > 0 {
		rule.left--
		if rule.left == 0 {
			delete(f.faults, name)
		}
	}
	return rule.fault
}

func knownOperation(name string) error {
	if name == "*" || slices.Contains(operationNames(), name) {
		return nil
	}
	return fmt.Errorf("operation %q is unknown; it is one of %s, or * for all", name, list(operationNames()))
}

func list[S ~string](names []S) string {
	texts := make([]string, len(names))
	for i, n := range names {
		texts[i] = string(n)
	}
	return strings.Join(texts, ", ")
}
