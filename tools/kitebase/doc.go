// Package kitebase is the client of the Kitebase help desk. It says what happened; it decides nothing.
//
//	one call = one request = one answer or one *Error
//
// Nothing is sent twice in here: no retry, no redirect, and none of the re-sending that net/http does by itself when a
// kept connection turns out to be dead. Whoever repeats a call knows that it does, and can count it.
//
// Every failure is an [*Error]. It carries a kind, whether a later try could end differently, how long Kitebase asked to
// wait, and the [idempotency.Outcome]: whether the effect of the call is certain to have happened, certain not to have, or
// unknown. The outcome rests on one observation, taken with [net/http/httptrace]: was the request written?
//
//	no connection, or cut before the header was written      not done
//	refused by status 4xx, apart from 408 and 409 in flight  not done
//	written, then anything but a readable, complete answer   unknown
//
// A success is only what was checked: the status that the operation promises, JSON, complete, with the required fields,
// about the ticket that was asked for.
//
//	client, err := kitebase.New(kitebase.Config{BaseURL: "https://kitebase.example.com", Token: token})
//	…
//	ticket, err := client.GetTicket(ctx, "KITE-142")
//
// The package does not limit time: only the context does, and the caller should always give it a deadline. It does not
// validate arguments beyond what keeps a path well formed, and it does not make up idempotency keys.
package kitebase
