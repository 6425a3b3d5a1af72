// Holdfast is a self-hosted agent daemon that never loses a turn: not to a rate limit, an outage, a
// crash, a restart or a closed laptop lid.
//
// This package is the front door. It reads the config, builds the parts in reading order, runs them
// and stops them in reverse; everything else happens in the rooms:
//
//	web         people look and press
//	surfaces    people talk
//	engine      the life of a turn (with ladder, wheel, llm and tool)
//	store       what is remembered
//
// While a daemon runs, the other commands speak to it over HTTP; while none does, those that only
// need the file work on the file.
package main

import (
	"os"
	_ "time/tzdata" // time zones by name also where the machine has no list of them: Windows, small containers
)

func main() {
	os.Exit(holdfast(os.Args[1:], here(), os.Stdout, os.Stderr))
}
