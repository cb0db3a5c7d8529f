// Package guard compares what the guard of kitebase-mcp costs, where nothing goes wrong, with what else guards a call: the
// timeout, retry and circuit breaker of failsafe-go, and backoff, gobreaker and context.WithTimeout put together by hand.
//
//	go test -C bench -run - -bench . ./guard
//
// All wrap the same handler, which does nothing. They take turns within one run, so that the ratios hold on a busy machine.
// The guard has all layers that a read has in the server, and does more than the others: it words errors, remembers
// failures and answers, bounds the calls under way, looks for what nobody can see in what a model reads.
package guard
