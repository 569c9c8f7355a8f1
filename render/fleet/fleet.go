// Package fleet shows the sessions of many hosts in one list. Each host puts its rows into one
// bucket of a NATS server, and views merge them by key.
//
// A row on the wire is a fixed list of fields. It never contains a transcript, a prompt's
// whole text or a tool's input, and the session's host decides how much of the one-line texts
// it contains (Level).
//
// It guarantees: loss is harmless. A value is a whole state, not a change, and a host puts all
// of its rows again after each connection and every few minutes, so a server that is away, slow
// or has lost its disk costs a view its freshness and nothing else. Clocks of hosts are never
// compared: ages are sent, and a view subtracts the server's times alone. A silent host keeps
// its rows, marked as stale. What comes from the network is bounded and cleaned before anybody
// sees it.
package fleet

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// schema is the number of the format on the wire. From 3 on a row is as `list --json` has it, and
// members are only ever added; rows of a machine with an earlier format are not shown.
const schema = 3

// Beat is how often a host says that it is there, and Lost the silence after which its rows
// count as stale.
const (
	Beat = 15 * time.Second
	Lost = 3 * Beat
)

// Keep is how long the server keeps a value that nobody puts again.
const Keep = 24 * time.Hour

// The bucket of rows, and the stream that is behind it.
const (
	bucket   = "beckon"
	stream   = "KV_" + bucket
	subjects = "$KV." + bucket + "."
)

// Limits on what is accepted from one message, from one host and by a bucket.
const (
	MaxMessage = 8 << 10
	maxRows    = 1000
	maxKeys    = 20_000
)

// token makes any text one part of a key: letters, digits, "-" and "_". Different texts give
// different tokens.
func token(s string) string {
	var b strings.Builder
	for _, c := range s[:min(len(s), 48)] {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '-' {
			b.WriteRune(c)
		} else {
			b.WriteByte('_')
		}
	}
	if b.String() == s {
		return s
	}
	h := fnv.New64a()
	h.Write([]byte(s))
	return b.String() + "_" + hex.EncodeToString(h.Sum(nil)[2:])
}

// The last parts of a key: USER.HOST.p and USER.HOST.r.ROW.
const (
	presencePart = "p"
	rowPart      = "r"
)

// splitKey splits a key. seat is empty for a presence.
func splitKey(key string) (host, seat string, ok bool) {
	parts := strings.Split(key, ".")
	for _, p := range parts {
		if p == "" || len(p) > 80 {
			return "", "", false
		}
	}
	switch {
	case len(parts) == 3 && parts[2] == presencePart:
		return strings.Join(parts[:2], "."), "", true
	case len(parts) == 4 && parts[2] == rowPart:
		return strings.Join(parts[:2], "."), parts[3], true
	}
	return "", "", false
}

type message struct {
	key  string
	data []byte
	gone bool
}

// presence is what a host says about itself at every beat, after its rows.
type presence struct {
	Schema int    `json:"v"`
	Run    string `json:"run"` // of the program; rows of an earlier run that were not put again are over
	User   string `json:"user"`
	Host   string `json:"host"`
}

// prefixOf returns the prefix of all keys of a user's host, without the last dot.
func prefixOf(user, host string) (string, error) {
	if user == "" || host == "" {
		return "", fmt.Errorf("%q at %q: a user and a host need a name each", user, host)
	}
	return token(user) + "." + token(host), nil
}
