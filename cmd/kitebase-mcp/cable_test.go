package main_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// cable leads connections to another address, until it is cut.
type cable struct {
	addr string

	mu    sync.Mutex
	down  bool
	conns []net.Conn
}

func startCable(t *testing.T, to string) *cable {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cable{addr: listener.Addr().String()}
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			here, err := listener.Accept()
			if err != nil {
				return
			}
			there, err := net.Dial("tcp", to)
			if err != nil || !c.holds(here, there) {
				_ = here.Close()
				continue
			}
			for _, ends := range [][2]net.Conn{{here, there}, {there, here}} {
				copying.Go(func() {
					_, _ = io.Copy(ends[0], ends[1]) // ends when one of them is closed
					_, _ = ends[0].Close(), ends[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		c.cut(true)
		copying.Wait()
	})
	return c
}

// holds keeps the two ends of a connection, or reports that the cable is cut.
func (c *cable) holds(ends ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, ends...)
	if c.down {
		for _, end := range ends {
			_ = end.Close()
		}
	}
	return !c.down
}

func (c *cable) cut(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
	for _, end := range c.conns {
		if down {
			_ = end.Close()
		}
	}
}
