// Package simulation runs the real server through schedules that nobody thought of, and holds what callers were told
// against what Kitebase did. It is tests only.
//
//	agents ── pipes ──▶ process 0: server.New, stdio ──┐                      ┌──▶ middleware ──▶ fakeapi.Fake
//	  call, repeat,     process 1: …                   ├── in-memory network ─┤    who asked,      faults,
//	  reword, cancel,   process 2: …                   │   cut, parted, late  │    when, kill      outbox
//	  reconnect, crash      │                          ┘                      └──▶ the customer writes
//	                        └── store handle of each: dies with it, fails, is slow, by its own clock ──▶ one ledger
//
// All of it lives in one testing/synctest bubble per schedule, so that an hour takes milliseconds. A process is a server
// with a store handle, a link to Kitebase and pipes of its own; when it is killed all of them fail from that instant, also
// in the middle of a call: before or after a claim is stored, when a reply arrives, when it was sent, before or after the
// outcome is stored. The fake behind it is the real one, with all its faults.
//
//	go test ./server/simulation                                     300 schedules
//	go test ./server/simulation -args -seed 7 -schedules 10000      as in CI
//	go test -v ./server/simulation -run TestSchedules -args -seed 412 -schedules 1 -history
//	go test ./server/simulation -run TestMutants -timeout 60m -args -long
//
// # What must hold
//
// In each schedule, when it is over (check_test.go, one method each) and after everything works again (finale_test.go):
//
//   - One email per logical reply. A logical reply is a text to a ticket, however it is written, in one generation: until
//     the customer writes, or the window has passed. Only where Kitebase ignores keys and nobody told the servers may there
//     be more: both from one call, by its own retry, and not once the process has said that it found out. Such copies are
//     told, if the ticket could be read.
//   - What was sent longer ago than the window makes no repeat: the same reply goes out again.
//   - What was told as sent is in the outbox, under the id that was told; if it was told as sent now, it was sent in this
//     call, else it is marked as a repeat.
//   - Of what was told as not sent, no request of that call sent an email or ever will.
//   - What was told as unknown could not be known, where no process, connection or store broke.
//   - A reworded reply is held while the one before is unknown, or was delivered without anybody having been told.
//   - Every call is answered within its deadline, unless its process died or it was cancelled. What a slow store took is
//     added: stores have limits of their own.
//   - Attempts are requests: for each process and tool those told add up to those that Kitebase saw. Where a connection was
//     refused or cut, there may be as many more attempts as that happened.
//   - Attempts are limited: of no call does Kitebase see more requests with one key than there may be attempts.
//   - A wait that Kitebase asked for is kept, and a write that has begun is finished although its caller left.
//   - Answers are results, and errors are words.
//   - Unknowns end: after the horizon no record is unconfirmed, and none is claimed, except where a store failed just when the
//     end should have been written; that one ends with the next call.
//   - No circuit is stuck: after all faults every tool gets through at every process, every reply that was ever asked for
//     can be sent, once more after the customer wrote, and is a repeat then. After the window it is none.
//   - Memory is bounded: after the retention the ledger holds what is new, and no process ever had more than 64 connections.
//   - No goroutine is left in the bubble when all processes have ended.
//
// # What is sound to assume
//
// The generator keeps to what the settings promise, since no program could do without: Kitebase does not work on a reply
// for longer than the settle horizon less the difference of the clocks; clocks that are minutes apart come without slow
// work; the same reply in other bytes, whose key is another, does not come together with a store that memory stands in for;
// nor does a Kitebase that ignores keys in secret. Where memory stood in for a store, the ledger may not know what was sent
// before: then a repeat may be told as sent now if Kitebase knew its key only at the second attempt or a look found it, and a
// record that the store has nevertheless waits for the next process.
//
// # What can be repeated
//
// A seed is always the same schedule, to the microsecond, and no two of its events share an instant. What the product draws
// itself is not part of it: jitter of waits, versions of records. Neither is the order in which goroutines run that are
// ready at the same instant, such as two calls that wait for one answer. So a seed that fails may not fail each time: the
// report says how often in 100 runs, gives the command that plays it again, and shrinks it to the shortest schedule that still
// does.
//
// A schedule that failed once is kept in testdata/schedules, whole: a seed is another schedule as soon as the generator
// changes. testdata/mutants holds the ways to break the product that the simulation must see, each within 1,000 schedules.
//
// # What it does not see
//
// Time within a process is one clock: only the ledger tells processes apart. Real stores are tested in idempotency/storetest;
// here is one in memory with the same contract. HTTP transports are not part of it, nor is a deadline that runs from the
// arrival of a message rather than from its handler: between the two no time passes here. A process that is stopped and
// goes on (SIGSTOP) cannot be made of goroutines.
//
// A goroutine that waits for a mutex stops the time of its bubble. So product code that waits for the store or for Kitebase
// must not hold one: it takes its turn by a channel.
package simulation
