// Package ui holds the sources of the page. The program in build/ turns them into web/dist; Sum
// tells whether a dist was built from the sources as they are.
package ui

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
)

// Sum is the hex sha256 over names and contents of every file below dir, in name order. Line ends
// count as \n, so that a checkout with other line ends has the same sum.
func Sum(dir string) (string, error) {
	all := sha256.New()
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		one := sha256.Sum256(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")))
		fmt.Fprintf(all, "%x  %s\n", one, name)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("sum %s: %w", dir, err)
	}
	return hex.EncodeToString(all.Sum(nil)), nil
}
