package main

import (
	"context"
	"fmt"

	"github.com/kitebase/kitebase-mcp/client_example/agent"
	"github.com/kitebase/kitebase-mcp/fakeapi"
)

// stage is what a scenario is played on.
type stage struct {
	desk   *fakeapi.Server
	screen *screen
	job    agent.Job
	limits agent.Config
}

// runner plays a scenario in which more happens than one run of the loop. The report is that of the run that is shown.
type runner func(ctx context.Context, on stage) (agent.Report, error)

func (s scenario) play(ctx context.Context, on stage) (agent.Report, error) {
	if s.run != nil {
		return s.run(ctx, on)
	}
	if p, ok := on.job.Model.(parent); ok {
		return p.run(ctx, on.screen, on.job, on.limits)
	}
	return agent.Run(ctx, on.job, on.limits)
}

// breakDown breaks a help desk that is open, by faults as fakeapi.ParseFault reads them.
func breakDown(desk *fakeapi.Server, faults []string) error {
	for _, spec := range faults {
		operation, fault, err := fakeapi.ParseFault(spec)
		if err == nil {
			err = desk.SetFault(operation, fault)
		}
		if err != nil {
			return fmt.Errorf("break the help desk: %w", err)
		}
	}
	return nil
}
