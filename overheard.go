package main

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"holdfast/engine/llm/demo"
)

// unheard marks a request of the selftest's own.
const unheard = "X-Holdfast-Selftest"

// request is one that the provider got.
type request struct {
	at     time.Time // its arrival
	status int       // 0 = not answered yet, or reset
}

// overheard is the demo provider with somebody who listens in.
type overheard struct {
	url    string
	server *http.Server

	mu       sync.Mutex
	requests []*request
	now      int // under way
	most     int // under way at once, since it was last set to 0
}

// listenIn serves the demo on a free port of the loopback address.
func listenIn() (*overheard, error) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the demo provider: %w", err)
	}
	o := &overheard{url: "http://" + at.Addr().String() + "/v1"}
	o.server = &http.Server{Handler: o.over(demo.New(demo.Config{Word: 5 * time.Millisecond, Count: 60 * time.Millisecond}).Handler())}
	go func() { _ = o.server.Serve(at) }() // returns when it is closed
	return o, nil
}

func (o *overheard) close() { _ = o.server.Close() }

// over notes every request on its way to the demo.
func (o *overheard) over(model http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(unheard) != "" {
			model.ServeHTTP(w, r)
			return
		}
		heard := &request{at: time.Now()}
		o.mu.Lock()
		o.requests = append(o.requests, heard)
		o.now++
		o.most = max(o.most, o.now)
		o.mu.Unlock()
		defer func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.now--
		}()
		model.ServeHTTP(&statusWriter{w, o, heard}, r)
	})
}

// since copies the requests from the nth on.
func (o *overheard) since(n int) (list []request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.requests[n:] {
		list = append(list, *r)
	}
	return list
}

func (o *overheard) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.requests)
}

// atOnce is how many were under way at once since the last call.
func (o *overheard) atOnce() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	most := o.most
	o.most = o.now
	return most
}

// statusWriter notes the status.
type statusWriter struct {
	http.ResponseWriter
	all   *overheard
	heard *request
}

func (w *statusWriter) WriteHeader(status int) {
	w.all.mu.Lock()
	w.heard.status = status
	w.all.mu.Unlock()
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Write(b []byte) (int, error) {
	w.all.mu.Lock()
	if w.heard.status == 0 {
		w.heard.status = http.StatusOK
	}
	w.all.mu.Unlock()
	return w.ResponseWriter.Write(b)
}

// Unwrap lets the demo flush and hijack.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
