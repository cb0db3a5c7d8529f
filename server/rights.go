package server

import (
	"github.com/kitebase/kitebase-mcp/server/access"
	"github.com/kitebase/kitebase-mcp/tools"
)

// Rights returns all tools to which a caller on HTTP can be given a right, also those that a server does not offer: one file
// of tokens is good for several servers.
func Rights() []access.Tool {
	var all []access.Tool
	for _, tool := range tools.Table(nil) { // names need no Kitebase
		all = append(all, access.Tool{Name: tool.Name, Reads: tool.Effect == tools.Reads})
	}
	return all
}
