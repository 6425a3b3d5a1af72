package web

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// TokenFile reads the bearer token in dir/web.token; if there is none it makes one that only the
// owner can read. Several processes may ask at once: all get the same.
func TokenFile(dir string) (string, error) {
	path := filepath.Join(dir, "web.token")
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make %s for the web token: %w", dir, err)
	}
	// Written aside and linked into place, so that nobody ever reads half a token.
	aside, err := os.CreateTemp(dir, "web.token.*") // 0600
	if err != nil {
		return "", fmt.Errorf("write the web token: %w", err)
	}
	defer os.Remove(aside.Name())
	_, err = aside.WriteString(rand.Text() + rand.Text() + "\n")
	if err := errors.Join(err, aside.Close()); err != nil {
		return "", fmt.Errorf("write the web token: %w", err)
	}
	if err := os.Link(aside.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(aside.Name(), path); err != nil { // a file system without links
			return "", fmt.Errorf("write the web token: %w", err)
		}
	}
	return readToken(path)
}

func readToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the web token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", fmt.Errorf("%s is empty; delete it to get a new token", path)
	}
	return token, nil
}
