package server

// Streams returns how many streams are told of changes: none may be left when its request has ended.
func (s *Server) Streams() int {
	s.audience.mu.Lock()
	defer s.audience.mu.Unlock()
	return len(s.audience.streams)
}
