package main

import _ "embed"

// example is the documented config: every key, with its default as value.
//
//go:embed config.example.toml
var example string
