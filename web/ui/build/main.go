// Command build makes web/dist out of web/ui. It is run by `go generate ./web` and needs nothing
// but Go: the bundler is a tool line in go.mod, the libraries lie in ui/vendor.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"holdfast/web/ui"
)

// bundles are what the page loads at once, and what it fetches when it is needed.
var bundles = [][]string{
	{"app.tsx", "--inject:" + src + "/lib/jsx.ts"},
	{"more.ts", "--inject:" + src + "/more/jsx.ts", "--alias:#app=./" + src + "/more/app.cjs"},
	{"code.js"},
	{"app.css"},
}

const (
	src  = "ui"
	dist = "dist"
)

func main() {
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, "build the page:", err)
		os.Exit(1)
	}
}

// build empties dist and fills it from the sources.
func build() error {
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	for _, b := range bundles {
		if err := bundle(b[0], b[1:]...); err != nil {
			return err
		}
	}
	if err := os.CopyFS(dist, os.DirFS(filepath.Join(src, "static"))); err != nil {
		return err
	}
	if err := licenses(); err != nil {
		return err
	}
	sum, err := ui.Sum(src)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dist, "SOURCES.sha256"), []byte(sum+"\n"), 0o644)
}

// bundle runs esbuild over one entry.
func bundle(entry string, more ...string) error {
	args := []string{"tool", "esbuild", filepath.Join(src, entry), "--bundle", "--minify", "--format=esm",
		"--target=es2023,chrome123,firefox128,safari17.5", "--jsx=transform", "--jsx-factory=$h", "--jsx-fragment=$f",
		"--legal-comments=eof", "--charset=utf8", "--log-level=warning", "--tsconfig=" + filepath.Join(src, "tsconfig.build.json"), "--outdir=" + dist}
	cmd := exec.Command("go", append(args, more...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("esbuild %s: %w", entry, err)
	}
	return nil
}

// licenses puts those of the vendored libraries beside the bundles that hold them.
func licenses() error {
	names, err := filepath.Glob(filepath.Join(src, "vendor", "*", "LICENSE"))
	if err != nil {
		return err
	}
	var all []byte
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		all = fmt.Appendf(all, "%s\n\n%s\n\n", filepath.Base(filepath.Dir(name)), text)
	}
	return os.WriteFile(filepath.Join(dist, "licenses.txt"), all, 0o644)
}
