// Package fakeapi is a help desk that speaks Kitebase's HTTP API and goes wrong on command: the other side for tests,
// demonstrations and benchmarks of anything that talks to Kitebase.
//
//	request ── recorded ── drop, status, redirect ── slow ── work ── hang, lose, garble, truncate, stall, ── answer
//	           fault drawn  (nothing is done)       (waits)          fail_after_commit (it is done)
//
// It is an ordinary http.Handler, so faults are real ones: a cut is a cut TCP connection, a stall a body that does not
// come. The API is described in openapi.yaml, beside this file, and tests hold every answer to it.
//
//	fake, err := fakeapi.Start("127.0.0.1:0", fakeapi.Config{})
//	if err != nil { … }
//	defer fake.Close()
//	err = fake.SetFault("reply_to_customer", fakeapi.Fault{Kind: fakeapi.FaultLose, Times: 1})
//	// … point a client at fake.URL() …
//	fmt.Println(len(fake.Outbox()), "email(s) sent in", len(fake.Requests()), "requests")
//
// The same from outside, on the same port:
//
//	PUT    /_faults/{operation}   {"fault":"status","status":503,"retry_after":"30","times":2}
//	DELETE /_faults[/{operation}]
//	GET    /_requests             every request that reached it, in order of arrival
//	GET    /_outbox               what customers really got
//	POST   /_messages             {"ticket_id":"KITE-142","body":"Any news?"}: the customer writes
//
// Idempotency-Key works as draft-ietf-httpapi-idempotency-key-header-07 has it: the same key and reply again is
// answered 200 with Idempotent-Replayed: true and sends nothing; the same key with another reply is 422; while the
// first request runs (it is slow) it is 409. Keys are kept for good.
//
// # What it does not do
//
//   - No TLS, no HTTP/2, no rate limits of its own (429 comes only as a fault), and one token at most.
//   - Status, priority and customer of a ticket never change; a reply or a new message does not reopen anything.
//   - Search covers the seed data. What is written later is in the ticket, not in the index.
//   - A cursor is an offset: a list that changes between two pages shifts.
//   - The controls ask for no token. Whoever reaches the port can read all and break all.
//   - A data file is for one process, and rewritten whole at each change.
package fakeapi
