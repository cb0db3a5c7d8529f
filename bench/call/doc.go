// Package call takes one call of get_ticket apart from the network and from the other processes: kitebase-mcp and bare mcp-go
// in this process, with a Kitebase that is a canned answer. What is left is the work of a server, with its memory and its
// profile:
//
//	go test -C bench -run - -bench . -cpu 1 ./call
//	go test -C bench -run - -bench Call/guarded -cpu 1 -cpuprofile cpu.out ./call && go tool pprof -top -cum bench/call.test cpu.out
package call
