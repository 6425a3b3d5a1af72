package llm

import (
	"bufio"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// unzipped is the body of an answer without a compression that was not asked for: some proxies
// compress the pages and errors they make themselves, whatever the request accepts.
func unzipped(res *http.Response) io.ReadCloser {
	switch strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip":
		return &gunzip{src: res.Body, buf: bufio.NewReader(res.Body)}
	}
	return res.Body
}

// gunzip opens the compression at the first read, since it waits for bytes then. What does not
// begin like gzip is read as it is.
type gunzip struct {
	src  io.Closer
	buf  *bufio.Reader
	text io.Reader // nil before the first read
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.text == nil {
		start, err := g.buf.Peek(2)
		if err != nil && len(start) == 0 {
			return 0, err
		}
		g.text = g.buf
		if string(start) == "\x1f\x8b" {
			z, err := gzip.NewReader(g.buf)
			if err != nil {
				return 0, err
			}
			g.text = z
		}
	}
	return g.text.Read(p)
}

func (g *gunzip) Close() error { return g.src.Close() }
