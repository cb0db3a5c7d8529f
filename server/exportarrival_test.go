package server

import mcpserver "github.com/mark3labs/mcp-go/server"

// Use puts a layer around every guarded tool: what happens to a call between its arrival and its guard.
func (s *Server) Use(layer mcpserver.ToolHandlerMiddleware) { s.mcp.Use(layer) }
