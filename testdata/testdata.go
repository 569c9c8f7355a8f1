// Package testdata holds the recordings that `beckon demo` plays, so that an
// installed program needs no source tree.
package testdata

import "embed"

// Demo is a day's work, a recording per session. They are recordings of the real client
// (recordings/README.md), with other words, directories and branches.
//
//go:embed demo/*.jsonl
var Demo embed.FS
