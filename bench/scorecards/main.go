// Command scorecards drives three servers through the lab, one after the other, and prints their score cards as one table:
// kitebase-mcp, unguarded and retrying, as they are built from this checkout.
//
//	go run -C bench ./scorecards              # prints
//	go run -C bench ./scorecards -update      # also writes the section of README.md
//	go run -C bench ./scorecards -html DIR    # also writes a page for each server
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/kitebase/kitebase-mcp/server/lab"
)

// contestants are built from these packages, in the order of the table.
var contestants = []struct{ name, module, pkg string }{
	{"kitebase-mcp", "..", "./cmd/kitebase-mcp"},
	{"unguarded", ".", "./unguarded"},
	{"retrying", ".", "./retrying"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scorecards: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	update := flag.Bool("update", false, "write the section of README.md")
	pages := flag.String("html", "", "directory to write a page for each server to")
	flag.Parse()
	if _, err := os.Stat(readme); err != nil {
		return errors.New("run this in the module bench: go run -C bench ./scorecards")
	}
	programs, err := os.MkdirTemp("", "scorecards-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(programs)
	var reports []*lab.Report
	for _, each := range contestants {
		program := filepath.Join(programs, each.name)
		if err := build(ctx, each.module, each.pkg, program); err != nil {
			return err
		}
		report, err := drive(ctx, program)
		if err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		reports = append(reports, report)
		fmt.Fprintf(os.Stderr, "%s: %s\n", each.name, report.Verdict())
		if *pages != "" {
			if err := write(report, filepath.Join(*pages, each.name+".html")); err != nil {
				return err
			}
		}
	}
	table := tableOf(reports)
	fmt.Print(table)
	if *update {
		return updateREADME(table)
	}
	return nil
}

func build(ctx context.Context, module, pkg, program string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, pkg)
	cmd.Dir = module
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w: %s", pkg, err, said)
	}
	return nil
}

func drive(ctx context.Context, program string) (*lab.Report, error) {
	return lab.Run(ctx, lab.Config{Command: []string{program}, Env: os.Environ()})
}

func write(report *lab.Report, file string) error {
	page, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(report.WriteHTML(page), page.Close())
}
