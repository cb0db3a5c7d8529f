package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// errNotObject is shown to the model.
var errNotObject = errors.New("the input is not a JSON object")

// callKey returns a string that is the same for calls that mean the same: the order of members, spacing, escapes and
// the form of numbers do not matter. The input must be a JSON object; of a member that comes twice the last one counts.
func callKey(use ToolUse) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(use.Input))
	decoder.UseNumber()
	var input map[string]any
	if !json.Valid(use.Input) || decoder.Decode(&input) != nil || input == nil {
		return "", errNotObject
	}
	text, err := json.Marshal(canonical(input))
	if err != nil {
		return "", fmt.Errorf("write the input in canonical form: %w", err)
	}
	return use.Name + " " + string(text), nil
}

// canonical rewrites the numbers in value, in place. All else is made canonical by json.Marshal, which sorts members.
func canonical(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = canonical(member)
		}
	case []any:
		for i, element := range value {
			value[i] = canonical(element)
		}
	case json.Number:
		return json.Number(canonicalNumber(value.String()))
	}
	return value
}

// canonicalNumber writes a JSON number as digits and exponent, without zeros at either end: 1, 1.0 and 10e-1 become
// 1e0, and -0 becomes 0. It works on the text, since a float64 would make large ids that differ the same, and a big.Float of
// 1e999999999 would take all memory.
func canonicalNumber(text string) string {
	digits, negative := strings.CutPrefix(text, "-")
	digits, exponentText, _ := strings.Cut(strings.ToLower(digits), "e")
	exponent := 0
	if exponentText != "" {
		var err error
		if exponent, err = strconv.Atoi(exponentText); err != nil {
			return text // an exponent beyond int: equal only to itself
		}
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	if short == "" {
		return "0"
	}
	if negative {
		short = "-" + short
	}
	return short + "e" + strconv.Itoa(exponent)
}
