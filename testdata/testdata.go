// Package testdata holds the recordings that `beckon demo` plays, so that an
// installed program needs no source tree.
package testdata

import "embed"

// Recordings are recordings of the real client, VERSION/NAME.jsonl below
// recordings/ (see recordings/README.md).
//
//go:embed recordings/2.1.329/*.jsonl
var Recordings embed.FS
