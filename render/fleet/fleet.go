// Package fleet shows the sessions of many hosts in one list. Each host puts its rows, as one value,
// into a bucket of a NATS server, and views merge the values of all hosts.
//
// A value is what `list --json` prints, with a fixed list of members. It never contains a
// transcript, a prompt's whole text or a tool's input, and the session's host decides how much of
// the one-line texts it contains (Level).
//
// It guarantees: loss is harmless. A value is a whole state, not a change, and a host puts it again
// at every beat, so a server that is away, slow or has lost its disk costs a view its freshness and
// nothing else. Clocks of hosts are never compared: a value has its sender's time, and a view
// subtracts the server's times alone. A silent host keeps its rows, marked as stale. What comes
// from the network is bounded and cleaned before anybody sees it.
package fleet

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"beckon/event"
	"beckon/event/redact"
	"beckon/render"
	"beckon/state"
)

// Beat is how often a host puts its rows, and Lost the silence after which they count as stale.
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

// Limits on a value, as sent and as read, and on a bucket.
const (
	MaxMessage = 60 << 10 // a server takes 64 KiB
	maxPlain   = 8 << 20
	maxHosts   = 20_000
)

// names encodes names in keys, since a part of one must have no dots and blanks.
var names = base64.RawURLEncoding

// keyOf returns the key of a user's host.
func keyOf(user, host string) string {
	return names.EncodeToString([]byte(user)) + "." + names.EncodeToString([]byte(host))
}

// namesOf is the reverse of keyOf.
func namesOf(key string) (user, host string, ok bool) {
	u, h, _ := strings.Cut(key, ".")
	name, errUser := names.DecodeString(u)
	at, errHost := names.DecodeString(h)
	ok = errUser == nil && errHost == nil && len(name) > 0 && len(at) > 0
	return string(name), string(at), ok && utf8.Valid(name) && utf8.Valid(at) // else it is an earlier version's
}

// report is the value of a host.
type report struct {
	Changed time.Time `json:"changed"` // when its rows did, by its own clock
	render.List
}

// pack makes a value of a report, a tenth of its size.
func pack(r *report) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_ = json.NewEncoder(z).Encode(r) // into memory
	_ = z.Close()
	return b.Bytes()
}

// unpack is the reverse of pack; unknown members are a newer version's.
func unpack(data []byte) (r report, ok bool) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	ok = len(data) <= MaxMessage && err == nil && json.NewDecoder(io.LimitReader(z, maxPlain)).Decode(&r) == nil
	return r, ok && r.Schema >= 1
}

// Level says how much text about its sessions a host publishes (the user's name for one, the prompt, the
// request), in the words of the setting fleet_texts.
type Level string

// limits are how many bytes of a text the levels allow; any other level none.
var limits = map[Level]int{"short": 120, "full": fullText}

const (
	fullText     = 600
	maxWord      = 120 // bytes of a name
	maxSubagents = 50
	maxAge       = 10 * 365 * 24 * time.Hour // of a state
)

// text returns what the level allows of a text. Secrets are removed before it is cut.
func (l Level) text(s string) string {
	if n := limits[l]; n > 0 {
		return cut(render.OneLine(redact.Text(s)), n)
	}
	return ""
}

// permitted returns a copy of the members of a row that may leave a host, with bounded names, and
// texts as text allows them. The receiver uses it, too: a host could send anything.
func permitted(r *render.Row, text func(string) string) render.Row {
	p := render.Row{
		SessionID:  word(r.SessionID),
		Part:       word(r.Part),
		SeatID:     word(r.SeatID),
		Agent:      word(r.Agent),
		Project:    word(r.Project),
		State:      r.State,
		Reason:     word(r.Reason),
		Since:      r.Since,
		Group:      r.Group,
		NeedsYou:   r.NeedsYou,
		Unseen:     r.Unseen,
		Source:     state.Source(word(string(r.Source))),
		Confidence: state.Confidence(word(string(r.Confidence))),
		Name:       text(r.Name),
		Title:      text(r.Title),
		Model:      word(r.Model),
		CostUSD:    math.Round(100*max(0, min(r.CostUSD, 1e9))) / 100,
		Background: r.Background,
	}
	if r.Git != nil {
		p.Git = &event.Git{Branch: word(r.Git.Branch), Worktree: word(r.Git.Worktree)}
	}
	if r.Context != nil {
		p.Context = &render.Context{UsedPercentage: math.Round(max(0, min(r.Context.UsedPercentage, 100)))}
	}
	if r.Terminal != nil {
		p.Terminal = &render.Terminal{Kind: word(r.Terminal.Kind)}
	}
	if r.Tool != nil {
		p.Tool = &render.Tool{Name: word(r.Tool.Name), Summary: text(r.Tool.Summary)}
	}
	if r.Question != nil && text(r.Question.Text) != "" {
		p.Question = &render.Question{Text: text(r.Question.Text)}
	}
	for _, a := range r.Subagents[:min(len(r.Subagents), maxSubagents)] {
		p.Subagents = append(p.Subagents, render.Subagent{State: a.State})
	}
	return p
}

// word makes a name safe to send or show.
func word(s string) string { return cut(render.OneLine(s), maxWord) }

func cut(s string, n int) string { return strings.TrimRight(event.Cut(s, n), " ") }
