package stdio_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// A process that blocks in a read of its real stdin, which knows no deadlines, ends on a signal nonetheless.
func TestProcessEndsOnSignal(t *testing.T) {
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), actAs+"=ours")
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	defer stdin.Close()
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	stderr, err := child.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = bufio.NewReader(stderr).ReadString('\n') // ready: the signal is caught from here on
	require.NoError(t, err)
	_, err = io.WriteString(stdin, ping("1")+"\n")
	require.NoError(t, err)
	answer, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, pong+"\n", answer)
	require.NoError(t, child.Process.Signal(os.Interrupt))
	require.NoError(t, child.Wait())
}
