package kitebase

import "strconv"

// What this client says about a failure, all of it. A model reads these phrases, so:
//
//   - The words are ours: nothing from upstream, no address, no token, no Go. The only variable is the status.
//   - A phrase continues a sentence: "get_ticket failed after 2 tries: connection reset by Kitebase". No capital for its
//     own sake, no full stop, past tense.
//   - For the kinds invalid and not_found it is one or two whole sentences, since they stand alone: what is wrong, then
//     what to do.
const (
	reasonReset        = "connection reset by Kitebase"
	reasonNoConnection = "no connection to Kitebase"
	reasonNoTLS        = "no secure connection to Kitebase"
	reasonTimeout      = "no answer from Kitebase in time"
	reasonCanceled     = "the caller went away"

	reasonBadID     = "That is no ticket id. Ticket ids look like KITE-142."
	reasonInvalid   = "Kitebase refused the input. Change it before you try again."
	reasonTooLarge  = "Kitebase refused the input as too large. Send less."
	reasonNotFound  = "Kitebase has nothing of that name"
	reasonConflict  = "it does not fit the present state of the ticket"
	reasonKeyReused = "Kitebase already knows the key of this reply, with another message"
	reasonRunning   = "the first request with this key was still running"
	reasonToken     = "Kitebase refused the access token"
	reasonForbidden = "Kitebase does not allow this with the access token"
	reasonLimited   = "Kitebase is limiting requests"
	reasonRedirect  = "Kitebase redirected the request"

	reasonWebPage    = "Kitebase answered with a web page instead of data"
	reasonNotJSON    = "Kitebase answered with something other than data"
	reasonCutOff     = "Kitebase's answer was cut off"
	reasonUnreadable = "Kitebase's answer could not be read"
	reasonIncomplete = "Kitebase's answer lacked required data"
	reasonOther      = "Kitebase's answer was about something else"
	reasonOversize   = "Kitebase's answer was too large"
)

func reasonStatus(status int) string { return "Kitebase answered " + strconv.Itoa(status) }
