package web

import (
	"net/http"

	"holdfast/engine"
)

// handler is everything that is served.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()

	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { reply(w, 200, map[string]bool{"ok": true}) })
	mux.HandleFunc("GET /readyz", s.handleReady)

	mux.Handle("GET /metrics", s.private(s.metrics.ServeHTTP))

	mux.Handle("POST /api/v1/commands", s.known(s.handleCommand))
	mux.Handle("GET /api/v1/turns", s.private(s.handleTurns))
	mux.Handle("GET /api/v1/turns/{id}", s.private(s.handleTurn))
	mux.Handle("GET /api/v1/chats", s.known(s.handleChats))
	mux.Handle("GET /api/v1/chats/{id}/messages", s.known(s.handleMessages))
	mux.Handle("GET /api/v1/schedules", s.private(s.handleSchedules))
	mux.Handle("GET /api/v1/memory", s.private(s.handleMemory))
	mux.Handle("GET /api/v1/usage", s.private(s.handleUsage))
	mux.Handle("GET /api/v1/state", s.private(s.handleState))
	mux.Handle("POST /api/v1/login-link", s.tokenOnly(s.handleLoginLink))
	mux.Handle("/api/", s.private(nothingHere))

	mux.HandleFunc("POST /login", s.handleLogin)
	mux.Handle("POST /logout", s.known(s.handleLogout))
	mux.HandleFunc("GET /ws", s.handleSocket)

	for _, page := range []string{"/{$}", "/login", "/operator", "/chats/{id}", "/turns/{id}"} {
		mux.HandleFunc("GET "+page, s.handleIndex)
	}
	mux.HandleFunc("GET /assets/{name}", s.handleAsset)
	mux.HandleFunc("/", nothingHere)

	return s.guard(mux)
}

func nothingHere(w http.ResponseWriter, _ *http.Request) {
	refuse(w, &problem{status: 404, code: "not_found", message: "there is nothing at this path, or not by this method"})
}

// handleReady says whether turns are worked on: the store open, the timers loaded, and none left lying.
func (s *Server) handleReady(w http.ResponseWriter, _ *http.Request) {
	if err := s.engine.Ready(); err != nil {
		refuse(w, &problem{status: http.StatusServiceUnavailable, code: "not_ready", message: err.Error()})
		return
	}
	reply(w, 200, map[string]bool{"ready": true})
}

var _ house = (*engine.Engine)(nil)
