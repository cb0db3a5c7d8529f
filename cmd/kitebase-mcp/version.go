package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/kitebase/kitebase-mcp/server"
)

// release is set by the linker for releases: -ldflags "-X main.release=v1.2.3".
var release string

// version returns the release, else the module version that go install knows, else "dev".
var version = sync.OnceValue(func() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
})

type versionCommand struct{}

// Run prints what a report of a fault should contain.
func (versionCommand) Run(_ context.Context, std streams) error {
	_, err := fmt.Fprintf(std.out, "kitebase-mcp %s\ncommit      %s\ngo          %s %s/%s\nprotocol    %s\n",
		version(), commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, strings.Join(server.ProtocolRevisions(), ", "))
	return err
}

func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	at, dirty := "unknown", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			at = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = " (with changes)"
		}
	}
	return at + dirty
}
