package lab

import "encoding/json"

// ClaimOf returns what an answer with that result says of a change.
func ClaimOf(result string) Claim { return read(message{Result: json.RawMessage(result)}).claim() }
