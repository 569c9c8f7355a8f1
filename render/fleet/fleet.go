// Package fleet shows the sessions of many hosts in one list. Hosts publish rows, and viewers
// merge them; the transport (render/fleet/bus) stores the last value of each key and need not
// even be trusted to do that.
//
// A row on the wire is a fixed list of fields. It never contains a transcript, a prompt's
// whole text or a tool's input, and the session's host decides how much of the one-line texts
// it contains (Level).
//
// It guarantees: loss is harmless. A message is a whole state, not a change, so it may come
// twice, late or never; a row counts only while its host's newest presence is of the same
// epoch; clocks of other hosts are never compared; a silent host keeps its rows, marked as
// stale. What comes from the network is bounded and cleaned before anybody sees it.
//
// The package is pure: it neither sends nor waits, and takes the time as an argument.
package fleet

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// schema is the number of the format on the wire. Members are only ever added.
const schema = 1

// Beat is the interval of a host's presences, and Lost the silence after which its rows count
// as stale.
const (
	Beat = 15 * time.Second
	Lost = 3 * Beat
)

// Keep is how long the rows of a silent host are kept.
const Keep = 24 * time.Hour

// Limits on what is accepted from one message, and from one host.
const (
	MaxMessage = 8 << 10
	maxRows    = 1000
	maxHosts   = 100_000
)

// ID identifies a publisher: a host of a user. Node distinguishes two machines whose files
// were copied.
type ID struct {
	User, Host, Node string
}

// prefix returns the prefix of all keys that the ID publishes.
func (id ID) prefix() (string, error) {
	if id.User == "" || id.Host == "" || id.Node == "" {
		return "", fmt.Errorf("%q: a user, a host and a node need a name each", id)
	}
	return Token(id.User) + "." + Token(id.Host) + "." + Token(id.Node), nil
}

// Token makes any text one part of a key: letters, digits, "-" and "_". Different texts give
// different tokens.
func Token(s string) string {
	const most = 48
	var b strings.Builder
	for _, c := range s {
		if b.Len() == most {
			break
		}
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

// The last parts of a key.
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
	case len(parts) == 4 && parts[3] == presencePart:
		return strings.Join(parts[:3], "."), "", true
	case len(parts) == 5 && parts[3] == rowPart:
		return strings.Join(parts[:3], "."), parts[4], true
	}
	return "", "", false
}

// Message is one value under its key.
type Message struct {
	Key  string
	Data []byte
	Gone bool // the key is to be removed; Data says since when
}

// stamp orders a host's messages about one key.
type stamp struct {
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`
}

func (a stamp) before(b stamp) bool {
	return a.Epoch < b.Epoch || a.Epoch == b.Epoch && a.Seq < b.Seq
}

// Presence is what a host publishes about itself at every beat, after the rows that it counts.
type Presence struct {
	Schema int `json:"v"`
	stamp
	Instance string `json:"instance"` // of the program; two under one key mean a copied machine
	User     string `json:"user"`
	Host     string `json:"host"`
	Version  string `json:"beckon,omitempty"`
	Digest   string `json:"digest"`        // of the rows' keys and numbers
	Bye      bool   `json:"bye,omitempty"` // it is signing off
}
