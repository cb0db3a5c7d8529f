// Package sqlite keeps the records of package idempotency in one SQLite file that several processes may share.
//
//	ledger.db           the records, in WAL mode, synchronous=FULL
//	ledger.db-wal, -shm SQLite's own, while the file is open
//	ledger.db.lock      locked around each transaction, and around opening and closing
//	ledger.db.owners/   one file per process, locked for as long as the process lives
//
//	store, err := sqlite.Open(ctx, "/home/priya/.local/state/kitebase-mcp/ledger.db")
//
// A Put that has returned nil survives the loss of power, as far as the disk keeps what it says it has synced. Concurrent
// writes of one process share transactions. The lock file gives the processes their turn: SQLite's own lock makes those who
// wait poll, so that on a busy file a newcomer starves for seconds, and it cannot keep opening a fresh file apart from closing
// it. Both locks are freed by the system when a process dies, however it dies.
//
// The files must be on a local disk: locks over a network file system are not to be trusted. While a process is stopped in
// the middle of a transaction (SIGSTOP, a debugger) nobody can write; writes then fail after some seconds, and nothing is
// written late. Deleting the owners directory under running processes makes them look dead.
package sqlite
