package fakeapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// ParseFault reads a fault as it is written on a command line:
//
//	OPERATION=KIND[=VALUE][,OPTION=VALUE]...[:TIMES]
//
//	reply_to_customer=lose:1                         the next reply is done, its answer lost
//	get_ticket=hang                                  until cleared
//	search_help=status=503,retry-after=30:2          VALUE is the status
//	*=slow=450ms                                     VALUE is the delay
//	get_ticket=drop,probability=0.3,seed=7           three in ten, the same ones in every run
//
// The options are retry-after, probability and seed. A Retry-After that holds a comma (a date) can only be set from Go
// or over PUT /_faults. The error says what is wrong in words for who typed it.
func ParseFault(spec string) (operation string, fault Fault, err error) {
	fail := func(err error) (string, Fault, error) { return "", Fault{}, fmt.Errorf("fault %q: %w", spec, err) }
	operation, rest, found := strings.Cut(spec, "=")
	if !found {
		return fail(errors.New("write it as operation=kind, such as reply_to_customer=lose:1"))
	}
	if err := knownOperation(operation); err != nil {
		return fail(err)
	}
	if before, times, ok := cutLast(rest, ":"); ok {
		if fault.Times, err = strconv.Atoi(times); err != nil || fault.Times < 1 {
			return fail(fmt.Errorf("times is %q; it takes a number from 1, or nothing for all until cleared", times))
		}
		rest = before
	}
	kind, options, _ := strings.Cut(rest, ",")
	name, value, hasValue := strings.Cut(kind, "=")
	fault.Kind = FaultKind(name)
	if hasValue {
		if err := fault.setValue(value); err != nil {
			return fail(err)
		}
	}
	for option := range strings.SplitSeq(options, ",") {
		if err := fault.setOption(option); err != nil {
			return fail(err)
		}
	}
	if err := fault.Validate(); err != nil {
		return fail(err)
	}
	return operation, fault, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// setValue takes what stands behind the kind: a status or a delay.
func (f *Fault) setValue(value string) (err error) {
	switch f.Kind {
	case FaultStatus, FaultRedirect:
		if f.Status, err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("status is %q; it takes a number such as 503", value)
		}
	case FaultSlow:
		if f.Delay, err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("delay is %q; it takes a duration such as 300ms", value)
		}
	default:
		return fmt.Errorf("%s takes no value, and here it has %q", f.Kind, value)
	}
	return nil
}

func (f *Fault) setOption(option string) (err error) {
	if option == "" {
		return nil
	}
	name, value, _ := strings.Cut(option, "=")
	switch name {
	case "retry-after":
		f.RetryAfter = value
	case "probability":
		if f.Probability, err = strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("probability is %q; it takes a number between 0 and 1", value)
		}
	case "seed":
		if f.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("seed is %q; it takes a whole number", value)
		}
	default:
		return fmt.Errorf("option %q is unknown; it is one of retry-after, probability, seed", name)
	}
	return nil
}

// faultJSON is a Fault as the control endpoints write it.
type faultJSON struct {
	Fault       FaultKind `json:"fault"`
	Times       int       `json:"times,omitempty"`
	Status      int       `json:"status,omitempty"`
	RetryAfter  string    `json:"retry_after,omitempty"`
	Delay       string    `json:"delay,omitempty"`
	Probability float64   `json:"probability,omitempty"`
	Seed        uint64    `json:"seed,omitempty"`
}

// MarshalJSON writes the body of PUT /_faults/{operation}.
func (f Fault) MarshalJSON() ([]byte, error) {
	out := faultJSON{Fault: f.Kind, Times: f.Times, Status: f.Status, RetryAfter: f.RetryAfter, Probability: f.Probability, Seed: f.Seed}
	if f.Delay != 0 {
		out.Delay = f.Delay.String()
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the body of PUT /_faults/{operation}. Unknown fields are errors, since a misspelt "times" would
// otherwise mean "for ever". It does not Validate.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var in faultJSON
	if err := decodeStrict(data, &in); err != nil {
		return err
	}
	*f = Fault{Kind: in.Fault, Times: in.Times, Status: in.Status, RetryAfter: in.RetryAfter, Probability: in.Probability, Seed: in.Seed}
	if in.Delay == "" {
		return nil
	}
	return f.setDelay(in.Delay)
}

func (f *Fault) setDelay(text string) (err error) {
	if f.Delay, err = time.ParseDuration(text); err != nil {
		return fmt.Errorf("delay is %q; it takes a duration such as 300ms", text)
	}
	return nil
}

// decodeStrict reads one JSON object without unknown fields and says in plain words what is wrong with anything else.
func decodeStrict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, end := dec.Token(); !errors.Is(end, io.EOF) {
			return errors.New("something follows after the JSON object")
		}
	}
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrongType) && wrongType.Field != "":
		return fmt.Errorf("%s cannot be of the type %s", wrongType.Field, wrongType.Value)
	case errors.As(err, &wrongType):
		return fmt.Errorf("not a JSON object but of the type %s", wrongType.Value)
	case errors.As(err, &syntax), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not a JSON object")
	case err != nil:
		// What is left is an unknown field, and an error of a Fault, both worded for people.
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
