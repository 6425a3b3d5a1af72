package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// assets are the files of the page, in memory as they are sent. The build leaves stable names; here
// each file but the index gets its hash into its name, so that browsers may keep it for ever, and
// the index is rewritten to these names.
type assets struct {
	index file
	build string          // names this build, also to itself: a page of another one is told to reload
	files map[string]file // by the name with the hash
}

// file is one file, plain and compressed.
type file struct {
	kind   string
	etag   string
	body   []byte
	packed func() []byte // by gzip, made when first asked for: a start does not wait for it; nil if that is not smaller
}

// loadAssets reads a built page: index.html at its root, which names the others as /assets/NAME, and
// the command that prints a login link, in place of which login is put.
func loadAssets(pages fs.FS, login string) (*assets, error) {
	index, err := fs.ReadFile(pages, "index.html")
	if err != nil {
		return nil, err
	}
	a := &assets{files: map[string]file{}}
	rename := []string{`"holdfast login"`, `"` + html.EscapeString(login) + `"`} // pairs, for the index
	err = fs.WalkDir(pages, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "index.html" || !served(name) {
			return err
		}
		body, err := fs.ReadFile(pages, name)
		if err != nil {
			return err
		}
		hashed := withHash(name, body)
		a.files[hashed] = newFile(name, body)
		rename = append(rename, `"/assets/`+name+`"`, `"/assets/`+hashed+`"`)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.Join(rename, "\n")))
	a.build = hex.EncodeToString(sum[:8])
	rename = append(rename, `data-build=""`, `data-build="`+a.build+`"`)
	a.index = newFile("index.html", []byte(strings.NewReplacer(rename...).Replace(string(index))))
	return a, nil
}

// served leaves out what the build keeps beside the page's files.
func served(name string) bool {
	return slices.Contains([]string{".js", ".css", ".svg", ".png", ".ico", ".woff2", ".webmanifest", ".txt"}, path.Ext(name))
}

// withHash is NAME.<hash>.EXT.
func withHash(name string, body []byte) string {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:8]) + ext
}

func newFile(name string, body []byte) file {
	sum := sha256.Sum256(body)
	return file{kind: kindOf(name), etag: hex.EncodeToString(sum[:16]), body: body, packed: sync.OnceValue(func() []byte { return pack(body) })}
}

// pack is a body by gzip; nil if that is not smaller.
func pack(body []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression) // the level is valid
	z.Write(body)                                           // a Buffer takes everything
	if z.Close() != nil || buf.Len() >= len(body) {
		return nil
	}
	return buf.Bytes()
}

// kindOf does not ask the machine's table of types for the files that matter.
func kindOf(name string) string {
	switch ext := path.Ext(name); ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default:
		if kind := mime.TypeByExtension(ext); kind != "" {
			return kind
		}
		return "application/octet-stream"
	}
}

// handleIndex is the page, whatever its path says it shows.
func (s *Server) handleIndex(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	s.greet(w, r)
	s.assets.index.serve(w, r)
}

func (s *Server) handleAsset(w http.ResponseWriter, r *http.Request) {
	f, ok := s.assets.files[r.PathValue("name")]
	if !ok {
		refuse(w, &problem{status: 404, code: "not_found", message: "no such file; reload the page to get the newest one"})
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	f.serve(w, r)
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	body, etag := f.body, `"`+f.etag+`"`
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		if packed := f.packed(); packed != nil {
			body, etag = packed, `"`+f.etag+`-gz"`
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", etag)
	h.Set("Content-Type", f.kind)
	if slices.Contains(strings.Split(strings.ReplaceAll(r.Header.Get("If-None-Match"), " ", ""), ","), etag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method != http.MethodHead {
		w.Write(body) // a client that is gone cannot be told
	}
}

// acceptsGzip reads an Accept-Encoding header as far as it matters: gzip, unless with q=0.
func acceptsGzip(header string) bool {
	for item := range strings.SplitSeq(header, ",") {
		coding, q, _ := strings.Cut(strings.ReplaceAll(item, " ", ""), ";")
		if strings.EqualFold(coding, "gzip") {
			return strings.Trim(strings.TrimPrefix(q, "q="), "0.") != "" || q == ""
		}
	}
	return false
}
