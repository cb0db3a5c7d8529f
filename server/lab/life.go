package lab

import "time"

// The verbs of the cases that end and start the server.

// killed ends the server the hard way.
func (s *scene) killed() {
	s.happened("the server is killed")
	s.server.kill()
}

// restart starts the server anew, on the same state directory.
func (s *scene) restart() {
	if s.failed {
		return
	}
	if err := s.start(); err != nil {
		s.happened("the server did not start again")
		s.lastWords = append(append(s.lastWords, "the server did not start again: "+err.why()), err.lastWords...)
		return
	}
	s.happened("the server is started again")
}

// revive starts a server that has died by itself, as hosts do for the next call.
func (s *scene) revive() {
	if s.server.dead() && s.ctx.Err() == nil {
		s.mourn()
		s.restart()
	}
}

// leaves ends the session as Claude Code does: SIGINT, SIGTERM 100 ms later, SIGKILL at 500 ms.
func (s *scene) leaves() {
	s.happened("the host ends the session: SIGINT, SIGTERM, SIGKILL")
	interrupt(s.server.cmd)
	s.pause(100 * time.Millisecond)
	terminate(s.server.cmd)
	s.pause(400 * time.Millisecond)
	s.server.kill()
}

// hangsUp closes the input of the server in the middle of things and waits for its end.
func (s *scene) hangsUp() {
	s.happened("the host closes the input of the server")
	s.server.end(s.ctx)
}
