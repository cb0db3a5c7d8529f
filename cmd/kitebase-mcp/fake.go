package main

import (
	"context"
	"fmt"

	"github.com/kitebase/kitebase-mcp/fakeapi"
)

type fakeCommand struct {
	Addr  string   `name:"addr" default:"127.0.0.1:8142" help:"Address to listen on; port 0 takes a free one."`
	Keys  bool     `name:"keys" default:"true" negatable:"" help:"Honour Idempotency-Key."`
	Fault []string `name:"fault" sep:"none" placeholder:"OPERATION=FAULT" help:"A fault to begin with, such as reply_to_customer=lose:1; may be repeated."`
	Token string   `name:"token" placeholder:"TOKEN" help:"Bearer token to ask for. Default: any or none will do."`
	Data  string   `name:"data" placeholder:"FILE" help:"File that keeps tickets and outbox across restarts."`
}

// Run serves the fake until ctx ends. Its address is the first line on standard output.
func (f *fakeCommand) Run(ctx context.Context, std streams) error {
	fake, err := fakeapi.Start(f.Addr, fakeapi.Config{IgnoreKeys: !f.Keys, Token: f.Token, DataFile: f.Data})
	if err != nil {
		return err
	}
	defer fake.Close()
	for _, spec := range f.Fault {
		operation, fault, err := fakeapi.ParseFault(spec)
		if err == nil {
			err = fake.SetFault(operation, fault)
		}
		if err != nil {
			return usageError{fmt.Errorf("--fault: %w", err)}
		}
	}
	if _, err := fmt.Fprintln(std.out, "fake Kitebase at "+fake.URL()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}
