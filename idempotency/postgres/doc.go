// Package postgres keeps the records of package idempotency in a PostgreSQL database, for servers on several machines.
//
//	store, err := postgres.Open(ctx, "postgres://ledger:secret@db.example/support")
//
// The tables live in a schema of their own, kitebase_mcp, or the one that the URL names as search_path; it is created if it is
// missing. Concurrent writes of one process share a transaction, which is one round trip. A Put that has returned nil is
// on the server's disk (synchronous_commit=on, set for each connection).
//
// # Who lives
//
// Each opening of the store holds an advisory lock on a connection of its own; the server frees it when the connection ends,
// and the connection of a killed process ends at once. But a connection can also end under a living process: the server
// restarts, a proxy cuts it. Therefore
//
//   - an owner whose connection ends dials again at once and then every half second, and claims nothing until it holds its
//     lock again (Put waits for 0.9s, then returns an error and writes nothing);
//   - an owner is taken for dead only when its lock was seen free and is still free [Grace] later. The first look therefore
//     never says dead: ask again;
//   - an owner that can be neither seen nor asked (the server does not notice the dead connection for a while) is taken for
//     alive. The lease ends the wait then.
//
// What remains: a process that is cut off from the server for longer than Grace while others are not may be taken for dead
// with a request under way. Its claim is then unconfirmed, never free, and the version fences what it writes later.
//
// The connection must be a session of its own: a pooler in transaction mode (pgbouncer) frees advisory locks between
// statements and must not stand in between. Text must be valid UTF-8 without NUL, and the fields that name a record stay under
// the 2,700 bytes that an index takes.
package postgres
