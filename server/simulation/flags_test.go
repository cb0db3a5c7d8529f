package simulation_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	seed      = flag.Uint64("seed", 1, "the seed of the first schedule; the others follow it")
	schedules = flag.Int("schedules", 300, "how many schedules to run, from 1")
	shrinking = flag.Bool("shrink", true, "shrink the first schedule that fails")
	history   = flag.Bool("history", false, "print what happened in each schedule; go test shows it of one that passes with -v only")
	keepGoing = flag.Bool("keep-going", false, "tell of all schedules that fail, each in two lines")
	long      = flag.Bool("long", false, "run all mutants")
)

func TestMain(m *testing.M) {
	flag.Usage = usage
	flag.Parse()
	if err := checkFlags(); err != nil {
		fmt.Fprintln(os.Stderr, "simulation: "+err.Error())
		os.Exit(2)
	}
	m.Run()
}

// usage lists the flags of the simulation, without those that every test has.
func usage() {
	fmt.Fprintln(os.Stderr, "go test ./server/simulation -args takes:")
	flag.VisitAll(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			fmt.Fprintf(os.Stderr, "  -%-10s %s (%s)\n", f.Name, f.Usage, f.DefValue)
		}
	})
}

// checkFlags refuses what would run nothing, or something else than was meant, and end with ok.
func checkFlags() error {
	switch {
	case *schedules < 1:
		return fmt.Errorf("-schedules is %d; give a number from 1", *schedules)
	case flag.NArg() > 0:
		return fmt.Errorf("%q is no flag; give what you mean as -seed N, -schedules N", flag.Arg(0))
	}
	return nil
}

// again returns the command that plays a schedule again as this test did, and tells what happens.
func again(t *testing.T, schedule Schedule) string {
	if strings.HasPrefix(t.Name(), "TestSchedules/") {
		return fmt.Sprintf("go test -v ./server/simulation -run TestSchedules -args -seed %d -schedules 1 -history", schedule.Seed)
	}
	return fmt.Sprintf("go test ./server/simulation -run '%s'", t.Name())
}

// TestFlags guards against a run that runs nothing and ends with ok, as -schedules 0 once did.
func TestFlags(t *testing.T) {
	for given, said := range map[string]string{
		"-schedules 0":        "simulation: -schedules is 0; give a number from 1\n",
		"-schedules -5":       "simulation: -schedules is -5; give a number from 1\n",
		"-seed 7 8000":        `simulation: "8000" is no flag; give what you mean as -seed N, -schedules N` + "\n",
		"schedules=5 -seed 7": `simulation: "schedules=5" is no flag; give what you mean as -seed N, -schedules N` + "\n",
		"-seed -3":            "invalid value \"-3\" for flag -seed: parse error\ngo test ./server/simulation -args takes:\n",
	} {
		t.Run(given, func(t *testing.T) {
			out, err := exec.Command(os.Args[0], append([]string{"-test.run=^TestSchedules$"}, strings.Fields(given)...)...).CombinedOutput()
			require.Error(t, err)
			require.Contains(t, string(out), said)
			require.NotContains(t, string(out), "-test.", "the flags of every test are not what was asked for")
		})
	}
}

// TestHistory has what happened told of a schedule that passes as well.
func TestHistory(t *testing.T) {
	command := strings.Fields("-test.run=^TestSchedules$ -test.v -schedules 1 -seed 7")
	out, err := exec.Command(os.Args[0], command...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "everything works again")
	out, err = exec.Command(os.Args[0], append(command, "-history")...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "seed 7 holds; what happened:")
	require.Contains(t, string(out), "everything works again")
}
