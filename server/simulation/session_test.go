package simulation_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/kitebase/kitebase-mcp/server/resilience"
)

// session is one connection of an agent to a process, over stdio.
type session struct {
	process    *process
	agent      int
	toServer   *io.PipeWriter
	fromServer *io.PipeReader
	in         *io.PipeReader
	out        *io.PipeWriter
	cancel     context.CancelFunc
	served     chan struct{} // closed when the server is done with it
	read       chan struct{} // closed when nothing more comes from it
	err        error         // of the server; read it after served

	mu      sync.Mutex
	next    int
	waiting map[int]*call
	over    bool // the agent is gone, or the process is
}

// write sends a line. A process that is gone takes none.
func (s *session) write(line string) bool {
	_, err := io.WriteString(s.toServer, line+"\n")
	return err == nil
}

// sever breaks both pipes, as the death of a process does.
func (s *session) sever() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.toServer.CloseWithError(io.ErrClosedPipe)
	s.in.CloseWithError(io.ErrClosedPipe)
	s.fromServer.CloseWithError(io.ErrClosedPipe)
	s.out.CloseWithError(io.ErrClosedPipe)
	s.cancel()
}

// crash breaks the agent's ends of the pipes.
func (s *session) crash() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.toServer.Close()
	s.fromServer.CloseWithError(io.ErrClosedPipe)
}

// leave closes the way to the server and reads on.
func (s *session) leave() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.toServer.Close()
}

func (s *session) open() bool {
	if s == nil || !s.process.runs() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.over
}

// listen takes the answers until there are no more.
func (s *session) listen() {
	defer close(s.read)
	lines := bufio.NewScanner(s.fromServer)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var message struct {
			ID     *int
			Result json.RawMessage
			Error  json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &message) != nil {
			s.process.world.fail("answers are readable", "not JSON-RPC: %s", lines.Text())
		}
		if message.ID == nil {
			continue
		}
		got := answer{rpcError: string(message.Error)}
		if len(message.Result) > 0 && json.Unmarshal(message.Result, &got) != nil && *message.ID != 0 {
			got.rpcError = "unreadable result"
		}
		s.deliver(*message.ID, got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for id, c := range s.waiting {
		delete(s.waiting, id)
		c.lost = true
		close(c.done)
	}
}

func (s *session) deliver(id int, got answer) {
	s.mu.Lock()
	c := s.waiting[id]
	delete(s.waiting, id)
	s.mu.Unlock()
	if c == nil {
		if id != 0 && s.process.runs() { // one that is ending no longer reads that a call was cancelled
			s.process.world.fail("answers are wanted", "%s answered request %d, which does not wait", s.process.name, id)
		}
		return
	}
	c.answer, c.answered = got, time.Now()
	s.process.world.note("call %d: %s", c.number, c.ending())
	close(c.done)
}

// begin makes a call.
func (s *session) begin(c *call) {
	arguments := map[string]any{}
	e := c.event
	switch e.Tool {
	case toolReply:
		arguments = map[string]any{"ticket_id": ticketID(e.Ticket), "message": writing(e.Text, e.Form)}
	case toolAssign:
		arguments = map[string]any{"ticket_id": ticketID(e.Ticket), "assignee": []string{"priya", "tomas"}[e.Text%2]}
	case toolGet:
		arguments = map[string]any{"ticket_id": ticketID(e.Ticket)}
	case toolSearch, toolHelp:
		arguments = map[string]any{"query": c.query()}
	}
	meta := map[string]any{}
	if e.CallID != "" {
		meta["claudecode/toolUseId"] = e.CallID
	}
	if e.Limit > 0 {
		meta[resilience.MetaDeadline] = e.Limit.Milliseconds()
	}
	s.mu.Lock()
	s.next++
	c.id, c.process, c.begun, c.done = s.next, s.process, time.Now(), make(chan struct{})
	if s.over {
		c.lost = true
		close(c.done)
		s.mu.Unlock()
		return
	}
	s.waiting[c.id] = c
	s.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": "tools/call", "params": map[string]any{
		"name": e.Tool, "arguments": arguments, "_meta": meta,
	}})
	if err != nil {
		panic(err) // texts and numbers
	}
	s.process.world.note("call %d at %s: %s", c.number, s.process.name, e.callString())
	s.write(string(line))
}

// withdraw cancels a call, if it is not answered yet.
func (s *session) withdraw(c *call) {
	s.mu.Lock()
	waits := s.waiting[c.id] == c
	if waits {
		delete(s.waiting, c.id)
		c.cancelled = time.Now()
		close(c.done)
	}
	s.mu.Unlock()
	if waits {
		s.process.world.note("call %d is cancelled", c.number)
		s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.id))
	}
}
