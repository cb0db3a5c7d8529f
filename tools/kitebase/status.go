package kitebase

import (
	"net/http"

	"github.com/kitebase/kitebase-mcp/idempotency"
)

// The problem types of Kitebase that the client understands.
const (
	typeKeyReused  = "urn:kitebase:problem:idempotency-key-reused"
	typeInProgress = "urn:kitebase:problem:idempotency-in-progress"
)

// verdict is the judgement on a failed call.
type verdict struct {
	kind    string
	reason  string
	outcome idempotency.Outcome
}

// judge is the table of statuses that are not the one asked for:
//
//	1xx 3xx              misconfigured  unknown   what answers is not the API (1xx: only 101 gets here)
//	2xx                  bad_answer     unknown   no answer of this operation
//	400 422              invalid        not done
//	413 414              invalid        not done  the sender can shorten it
//	422 key reused       key_reused     not done
//	401 402 403 451      denied         not done  a person must act
//	404 410              not_found      not done
//	408                  unavailable    unknown   the server gave up reading, which it may have done after acting
//	409 in flight        in_progress    unknown
//	409 unreadable       conflict       unknown   it may have been "in flight"
//	409 412 423          conflict       not done
//	425                  unavailable    not done  "not yet, it might be a replay" (RFC 8470)
//	429                  rate_limited   not done
//	other 4xx            misconfigured  not done  405, 406, 407, 415, 426 …: what answers is not the API that we know
//	5xx                  unavailable    unknown
//	anything else        bad_answer     unknown
func judge(status int, p problem) verdict {
	const notDone, unknown = idempotency.NotDone, idempotency.Unknown
	switch status {
	case http.StatusBadRequest:
		return verdict{KindInvalid, reasonInvalid, notDone}
	case http.StatusUnprocessableEntity:
		if p.Type == typeKeyReused {
			return verdict{KindKeyReused, reasonKeyReused, notDone}
		}
		return verdict{KindInvalid, reasonInvalid, notDone}
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong:
		return verdict{KindInvalid, reasonTooLarge, notDone}
	case http.StatusUnauthorized:
		return verdict{KindDenied, reasonToken, notDone}
	case http.StatusForbidden:
		return verdict{KindDenied, reasonForbidden, notDone}
	case http.StatusPaymentRequired, http.StatusUnavailableForLegalReasons:
		return verdict{KindDenied, reasonStatus(status), notDone}
	case http.StatusNotFound, http.StatusGone:
		return verdict{KindNotFound, reasonNotFound, notDone}
	case http.StatusRequestTimeout:
		return verdict{KindUnavailable, reasonStatus(status), unknown}
	case http.StatusConflict:
		return judgeConflict(p)
	case http.StatusPreconditionFailed, http.StatusLocked:
		return verdict{KindConflict, reasonConflict, notDone}
	case http.StatusTooEarly:
		return verdict{KindUnavailable, reasonStatus(status), notDone}
	case http.StatusTooManyRequests:
		return verdict{KindRateLimited, reasonLimited, notDone}
	}
	return judgeClass(status)
}

func judgeConflict(p problem) verdict {
	switch {
	case p.Type == typeInProgress:
		return verdict{KindInProgress, reasonRunning, idempotency.Unknown}
	case !p.readable:
		return verdict{KindConflict, reasonConflict, idempotency.Unknown}
	default:
		return verdict{KindConflict, reasonConflict, idempotency.NotDone}
	}
}

// judgeClass judges by the first digit.
func judgeClass(status int) verdict {
	switch status / 100 {
	case 3:
		return verdict{KindMisconfigured, reasonRedirect, idempotency.Unknown}
	case 1:
		return verdict{KindMisconfigured, reasonStatus(status), idempotency.Unknown}
	case 4:
		return verdict{KindMisconfigured, reasonStatus(status), idempotency.NotDone}
	case 5:
		return verdict{KindUnavailable, reasonStatus(status), idempotency.Unknown}
	default:
		return verdict{KindBadAnswer, reasonStatus(status), idempotency.Unknown}
	}
}
