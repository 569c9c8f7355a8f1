// Package fleet shows the sessions of many hosts in one list. Hosts publish
// rows, whoever may see them merges them; what carries them (render/fleet/bus)
// keeps the last value of each key and need not be trusted to keep even that.
//
// A row on the wire is a fixed list of fields. It never holds a transcript, a
// prompt's whole text or a tool's input, and how much of the one-line texts it
// holds is decided by the host that owns the session (Level).
//
// It guarantees: loss is harmless. A message is a whole state, not a change, so
// one that comes twice, late or never does no damage; a row counts only while its
// host's newest presence is of the same epoch; clocks of other hosts are never
// compared; a host that is not heard keeps its rows, marked as stale. What comes
// from the network is bounded and cleaned before anybody sees it.
//
// The package is pure: it neither sends nor waits, and takes the time as an
// argument.
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

// Beat is how often a host says that it is there, and Lost after which silence it
// is not heard any more.
const (
	Beat = 15 * time.Second
	Lost = 3 * Beat
)

// Keep is how long the rows of a host that is not heard are kept.
const Keep = 24 * time.Hour

// Bounds of what is taken from one message, and from one host.
const (
	MaxMessage = 8 << 10
	maxRows    = 1000
	maxHosts   = 100_000
)

// ID names what publishes: a host of a user. Node tells two machines apart that
// were copied with their files.
type ID struct {
	User, Host, Node string
}

// prefix is what the keys of all that the ID publishes begin with.
func (id ID) prefix() (string, error) {
	if id.User == "" || id.Host == "" || id.Node == "" {
		return "", fmt.Errorf("%q: a user, a host and a node need a name each", id)
	}
	return Token(id.User) + "." + Token(id.Host) + "." + Token(id.Node), nil
}

// Token makes any text one part of a key: letters, digits, "-" and "_". Texts
// that differ give tokens that differ.
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

// splitKey takes a key apart. seat is empty for a presence.
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
	Gone bool // nothing is to be kept of the key; Data says since when
}

// stamp orders what one host says of one key.
type stamp struct {
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`
}

func (a stamp) before(b stamp) bool {
	return a.Epoch < b.Epoch || a.Epoch == b.Epoch && a.Seq < b.Seq
}

// Presence is what a host says of itself at every beat. It is sent after the rows
// that it counts.
type Presence struct {
	Schema int `json:"v"`
	stamp
	Instance string `json:"instance"` // of the program; two under one key are a copied machine
	User     string `json:"user"`
	Host     string `json:"host"`
	Version  string `json:"beckon,omitempty"`
	Digest   string `json:"digest"`        // of the rows' keys and numbers
	Bye      bool   `json:"bye,omitempty"` // it ends, and will not be heard for now
}
