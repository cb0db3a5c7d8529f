package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// metaReplyID is the field of a result's _meta that tells a reply id apart which is not shown as it is.
const metaReplyID = "io.kitebase/reply_id_sha256"

func digest(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// withMeta adds a field to the _meta of a result that nobody else has yet.
func withMeta(result *mcp.CallToolResult, name string, value any) *mcp.CallToolResult {
	if result.Meta == nil {
		result.Meta = mcp.NewMetaFromMap(make(map[string]any))
	}
	result.Meta.AdditionalFields[name] = value
	return result
}

// metaReplayed is the field of a result's _meta that is true if Kitebase said that it had this reply already.
const metaReplayed = "io.kitebase/upstream_replayed"

// ReplayedUpstream reports whether Kitebase said that it had the reply of this result already, and when it was sent.
func ReplayedUpstream(result *mcp.CallToolResult) (sentAt time.Time, replayed bool) {
	if result.Meta == nil || result.Meta.AdditionalFields[metaReplayed] != true {
		return time.Time{}, false
	}
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // we wrote it ourselves
	return sent.SentAt, true
}

// metaKeyIgnored is the field of a result's _meta that is true if Kitebase was found to ignore the key of this reply.
const metaKeyIgnored = "io.kitebase/key_ignored"

// MarkKeyIgnored notes on the result of a reply that Kitebase ignored its key, for whoever reads the record later.
func MarkKeyIgnored(result *mcp.CallToolResult) {
	if result.Meta == nil {
		result.Meta = mcp.NewMetaFromMap(nil)
	}
	if result.Meta.AdditionalFields == nil {
		result.Meta.AdditionalFields = map[string]any{}
	}
	result.Meta.AdditionalFields[metaKeyIgnored] = true
}

// KeyIgnored reports whether [MarkKeyIgnored] was told of the result.
func KeyIgnored(result *mcp.CallToolResult) bool {
	return result.Meta != nil && result.Meta.AdditionalFields[metaKeyIgnored] == true
}

// ReplyName returns the reply id in the result of a reply_to_customer call for use in a sentence, or "" if it holds none that
// could be taken for nothing but an id.
func ReplyName(result *mcp.CallToolResult) string {
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // what cannot be read holds none
	if !plainName().MatchString(sent.ReplyID) {
		return ""
	}
	return sent.ReplyID
}

// IsReply reports whether the message of that id is the reply in the result of a reply_to_customer call. It compares ids as
// Kitebase wrote them, not as they are shown.
func IsReply(result *mcp.CallToolResult, id string) bool {
	if result.Meta != nil && result.Meta.AdditionalFields[metaReplyID] != nil {
		return result.Meta.AdditionalFields[metaReplyID] == digest(id)
	}
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // what cannot be read holds none
	return id != "" && sent.ReplyID == id
}

// ReplySentAt returns when the reply of a result was sent, by Kitebase's clock; the zero time if it does not say.
func ReplySentAt(result *mcp.CallToolResult) time.Time {
	var sent sentReply
	_ = json.Unmarshal(result.RawStructuredContent, &sent) // what cannot be read holds none
	return sent.SentAt
}
