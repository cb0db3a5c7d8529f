// Package doctor examines a set-up before somebody has to find out the hard way: each check says what was found, and what to
// do if that is not good.
//
//	settings   what the server would refuse at its start
//	variables  KITEBASE_ variables that nobody reads
//	address    may the HTTP transport listen there, and can it? (only with that transport)
//	callers    who may call over HTTP, and can their tokens be checked? (only with that transport)
//	metrics    can metrics be served where they should? (only with --metrics-addr)
//	audit      can the audit lines be written? (only with --audit-log)
//	kitebase   one harmless read, with the client of the server
//	token      what that read says of the token
//	clock      what its answer says of the clocks
//	ledger     can it be used, and will it outlive the process?
//	keys       what is to stop a second email
//	protocol   the program itself, started as a child and spoken to as by a host
//
// A check that has nothing to look at, because another one failed, is skipped and not failed. All of them run:
//
//	var report doctor.Report
//	for check := range doctor.Checks(ctx, config) {
//		report.Add(check)
//		fmt.Print(check)
//	}
//	fmt.Println(report.Summary())
//
// Nothing is changed, but for a ledger that is begun if it is not there yet, and nothing is sent to a customer. Where an audit log is
// to be made, a file is made for a moment and removed. Whether Kitebase
// honours Idempotency-Key only a repeated reply can show: if the ledger has one, it is looked at, else it is told that nothing is
// proved. No text holds a token, a credential, or anything that Kitebase wrote.
//
// The JSON form of a report is stable: fields and values are added, never changed or removed. Names of checks are those above.
package doctor
