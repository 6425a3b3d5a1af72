package openai

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/engine/llm"
	"holdfast/engine/llm/llmtest"
)

// at makes a provider that speaks to a real address.
func at(t *testing.T, base string, transport *http.Transport) (llm.Provider, llm.Prepared) {
	t.Helper()
	c := llm.Default()
	c.BaseURL = base
	p, err := New(c, transport)
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Prepare(llm.Request{Model: "m", Messages: []llm.Message{{Role: "user", Text: "hi"}}})
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

// A kept-alive connection that turns out to be dead must not make net/http send the request again:
// every request is the ladder's to count. The server takes the second request of a connection and
// hangs up without an answer, which is when net/http repeats whatever it may.
func TestStaleConnectionIsNotRepeated(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for n := 0; ; n++ {
					req, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, req.Body)
					requests.Add(1)
					if n > 0 {
						return
					}
					body := `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`
					_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				}
			})
		}
	})
	transport := llm.NewTransport(2)
	p, s := at(t, "http://"+l.Addr().String(), transport)
	for send := int64(1); send <= 6; send++ {
		h := llmtest.Listen(t.Context(), p, s)
		if requests.Load() != send {
			t.Fatalf("%d sends made %d requests", send, requests.Load())
		}
		if f := h.Failure(); send%2 == 0 && (f == nil || f.Class != llm.Network || f.Begun || !f.Transient) || send%2 == 1 && h.Text != "ok" {
			t.Errorf("send %d: %+v", send, h)
		}
	}
	transport.CloseIdleConnections()
	l.Close()
	conns.Wait()
}

// A server that hangs up on an idle connection costs at most a failure, never a second request.
func TestIdleCloseIsNotRepeated(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	server.Config.SetKeepAlivesEnabled(true)
	transport := llm.NewTransport(2)
	defer transport.CloseIdleConnections()
	p, s := at(t, server.URL, transport)
	for send := int64(1); send <= 20; send++ {
		llmtest.Listen(t.Context(), p, s)
		server.CloseClientConnections()
		if requests.Load() > send {
			t.Fatalf("%d sends made %d requests", send, requests.Load())
		}
	}
}

// HTTP/2: a stream refused by the server may be sent again by net/http only if the body can be rewound.
func TestRefusedStreamIsNotRepeated(t *testing.T) {
	tlsServer := httptest.NewUnstartedServer(nil)
	tlsServer.StartTLS() // for its certificate
	defer tlsServer.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: tlsServer.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { refuse(c, &requests) })
		}
	})
	transport := llm.NewTransport(2)
	transport.TLSClientConfig = tlsServer.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	p, s := at(t, "https://"+l.Addr().String(), transport)
	for send := int64(1); send <= 3; send++ {
		f := llmtest.Listen(t.Context(), p, s).Failure()
		if f == nil || f.Class != llm.Network || !f.Transient {
			t.Errorf("%+v", f)
		}
		if requests.Load() != send {
			t.Fatalf("%d sends made %d requests", send, requests.Load())
		}
	}
	transport.CloseIdleConnections()
	l.Close()
	conns.Wait()
}

// refuse speaks just enough HTTP/2 (RFC 9113) to refuse every stream.
func refuse(c net.Conn, requests *atomic.Int64) {
	const data, headers, reset, settings, ack, refused = 0, 1, 3, 4, 1, 7
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.ReadFull(c, make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))); err != nil {
		return
	}
	_, _ = c.Write([]byte{0, 0, 0, settings, 0, 0, 0, 0, 0})
	for {
		head := make([]byte, 9) // length, kind, flags, stream
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		if _, err := io.CopyN(io.Discard, c, int64(head[0])<<16|int64(head[1])<<8|int64(head[2])); err != nil {
			return
		}
		endsStream := head[4]&1 != 0
		switch kind := head[3]; {
		case kind == settings && head[4]&ack == 0:
			_, _ = c.Write([]byte{0, 0, 0, settings, ack, 0, 0, 0, 0})
		case kind == headers:
			requests.Add(1)
		case kind == data && endsStream:
			_, _ = c.Write([]byte{0, 0, 4, reset, 0, head[5], head[6], head[7], head[8], 0, 0, 0, refused})
		}
	}
}

// A certificate nobody trusts is no passing trouble.
func TestUnknownAuthority(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = nil
	p, s := at(t, server.URL, nil)
	if f := llmtest.Listen(t.Context(), p, s).Failure(); f == nil || f.Class != llm.Network || f.Transient || !f.Certificate {
		t.Errorf("%+v", f)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	p, s = at(t, "https"+plain.URL[4:], nil)
	if f := llmtest.Listen(t.Context(), p, s).Failure(); f == nil || f.Class != llm.Network || f.Transient || !f.Certificate {
		t.Errorf("%+v", f)
	}
}

// Refused connections and unknown hosts are network failures.
func TestNobodyThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for _, base := range []string{"http://" + l.Addr().String() + "/v1", "http://nowhere.invalid/v1"} {
		p, s := at(t, base, nil)
		if f := llmtest.Listen(t.Context(), p, s).Failure(); f == nil || f.Class != llm.Network || !f.Transient || f.Status != 0 || f.Begun {
			t.Errorf("%s: %+v", base, f)
		}
	}
}

// An answer without an end is given up before it has filled the memory, be it text or the arguments of a
// call; the provider fails, and the ladder does what it does then.
func TestEndlessAnswerIsGivenUp(t *testing.T) {
	for what, delta := range map[string]string{
		"text":  `{"content":"` + strings.Repeat("w ", 50_000) + `"}`,
		"calls": `{"tool_calls":[{"index":0,"id":"c","function":{"name":"","arguments":"` + strings.Repeat("y", 1_000_000) + `"}}]}`,
	} {
		var sent atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				n, err := io.WriteString(w, `data: {"choices":[{"delta":`+delta+"}]}\n\n")
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}))
		p, s := at(t, server.URL, http.DefaultTransport.(*http.Transport).Clone())
		h := llmtest.Listen(t.Context(), p, s)
		server.Close()
		if f := h.Failure(); f == nil || f.Class != llm.Server || !f.Transient || !f.Begun || f.Status != 200 || !strings.Contains(f.Text, "no end") {
			t.Errorf("%s: %+v", what, f)
		}
		if len(h.Text) > 5<<20 || sent.Load() > 100<<20 {
			t.Errorf("%s: %d bytes of text of %d sent", what, len(h.Text), sent.Load())
		}
	}
}
