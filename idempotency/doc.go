// Package idempotency knows when two calls are the same call, and what became of the first one.
//
// A call that must not happen twice, such as a reply to a customer, has an [Identity]: a key for the upstream, a
// fingerprint for ourselves. The ledger keeps one [Record] per fingerprint, and a record is a small state machine:
//
//	          claim            certain success
//	(absent) ──────▶ claimed ──────────────────▶ done
//	   ▲                │  ╲ no certain answer      │ window passed, or the
//	   │ certain failure│   ╲──────▶ unknown        │ other side wrote since
//	   └────────────────┘              │            ▼
//	                                   └─▶ settled: done, or claimed again
//
// A certain failure is forgotten, never replayed. What is unknown is never taken for free: it is settled first.
//
//	key := idempotency.Key("KITE-142", "Any update?") // 9edb4ee9f524df95
//
// The package does not send anything and does not know what is sent; the dedupe layer of server/resilience drives it.
package idempotency
