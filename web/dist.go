package web

import (
	"embed"
	"io/fs"
)

//go:embed dist
var built embed.FS

// Dist is the built page as `go generate ./web` leaves it, under stable names: index.html at the
// root refers to the other files as /assets/NAME.
var Dist = mustSub(built, "dist")

// mustSub is fs.Sub for a directory that the embed line above guarantees.
func mustSub(f fs.FS, dir string) fs.FS {
	sub, err := fs.Sub(f, dir)
	if err != nil {
		panic(err)
	}
	return sub
}
