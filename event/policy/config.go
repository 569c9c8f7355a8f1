package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/handler"
)

// Level is where a hook comes from.
type Level string

// The levels, in the order in which their hooks run (row C2).
const (
	Project    Level = "project" // <project>/.beckon/policy.json, once trusted
	Global     Level = "global"  // policy.json in beckon's configuration directory
	Registered Level = "program" // Engine.Register
)

// Type is what a hook is.
type Type string

// The types of hooks.
const (
	TypeCommand Type = "command"
	TypeServer  Type = "server"
	TypeHTTP    Type = "http"
	TypePrompt  Type = "prompt"
	TypeRule    Type = "rule"
	TypeProgram Type = "program" // Engine.Register
)

// Conventions of commands (row C9).
const (
	Client = "client" // exit code 2 blocks; timeout is in seconds
	Simple = "simple" // any exit code but 0 blocks; timeout is in milliseconds
)

// Hook is one handler with what it is for.
type Hook struct {
	ID      string // as written, else made from what the hook is
	Event   event.Kind
	Matcher Matcher
	If      *Permission
	Type    Type

	Timeout    time.Duration // 0: whatever the event has left
	FailClosed bool          // when the handler does not work, the event is refused
	Observe    bool          // runs beside the others; what it says is not heard
	Grant      bool          // its "allow" skips the user's own decision
	Enabled    bool
	StopBlocks int // how often in a row it may keep the agent from stopping

	Spec Spec

	Level Level
	File  string
	Line  int
	Path  string // JSON path

	handler handler.Handler
	hashed  string // key, once it is known: at every tool call each hook's is asked for several times
}

// Name tells hooks of both levels apart: "global/no-force-push".
func (h *Hook) Name() string { return string(h.Level) + "/" + h.ID }

// Runs reports whether the hook starts something: a process or a request.
func (h *Hook) Runs() bool { return h.Type != TypeRule && h.Type != TypeProgram }

// Spec is what a handler is made from; which members count is the type's
// affair.
type Spec struct {
	Command    string
	Args       []string // not nil: no shell
	Shell      string
	Convention string

	URL            string
	Retries        int
	RetryDelay     time.Duration
	Headers        map[string]string
	AllowedEnvVars []string

	Prompt string
	Model  string

	Rule *Rule
}

// Config is one policy file.
type Config struct {
	File  string
	Level Level
	Hooks []*Hook // in definition order, servers after the others
}

// key is what makes two hooks identical (row C2): all but how long they may
// take, what becomes of a failure, and what they are called.
func (h *Hook) key() string {
	if h.hashed != "" {
		return h.hashed
	}
	s := h.Spec
	k := digest{sha256.New()}
	k.add(string(h.Event), h.Matcher.text, string(h.Type), s.Command, s.Shell, s.Convention, s.URL, s.Prompt, s.Model)
	k.add(fmt.Sprint(s.Args != nil, h.Observe))
	k.list(s.Args)
	k.list(s.AllowedEnvVars)
	for _, name := range names(s.Headers) {
		k.add(name, s.Headers[name])
	}
	if h.If != nil {
		k.add("if", h.If.text)
	}
	if r := s.Rule; r != nil {
		k.add(string(r.Decision), r.Reason, r.Tools.text)
		k.list(r.Paths)
		k.list(r.Commands)
		k.list(r.Words)
	}
	h.hashed = hex.EncodeToString(k.Sum(nil))
	return h.hashed
}

// digest is a hash over texts that do not run together.
type digest struct{ hash.Hash }

func (d digest) add(texts ...string) {
	for _, t := range texts {
		_, _ = fmt.Fprintf(d, "%d:%s", len(t), t) // a hash takes everything
	}
}

func (d digest) list(texts []string) {
	d.add(strconv.Itoa(len(texts)))
	d.add(texts...)
}

// Same reports whether two hooks are identical (row C2).
func (h *Hook) Same(other *Hook) bool { return h.key() == other.key() }

// made is the id of a hook that was not given one.
func (h *Hook) made() string { return string(h.Type) + "-" + h.key()[:8] }

// Merge puts the hooks of several files in the order in which they run:
// project before global, definition order within a file, identical ones once
// at their first place. Of identical hooks the stricter wins, so that a
// project cannot weaken a global hook by repeating it.
func Merge(configs ...*Config) []*Hook {
	var out []*Hook
	at := map[string]int{}
	for _, level := range []Level{Project, Global, Registered} {
		for _, c := range configs {
			if c == nil || c.Level != level {
				continue
			}
			for _, h := range c.Hooks {
				key := h.key()
				if i, ok := at[key]; ok {
					out[i] = stricter(out[i], h)
					continue
				}
				at[key] = len(out)
				out = append(out, h)
			}
		}
	}
	return out
}

// stricter is the one that is enabled, the first of two, with the stricter
// terms of both.
func stricter(a, b *Hook) *Hook {
	h := *a
	if !a.Enabled && b.Enabled {
		h = *b
	}
	h.FailClosed = a.FailClosed || b.FailClosed
	h.Observe = a.Observe && b.Observe
	h.Grant = a.Grant && b.Grant
	h.Enabled = a.Enabled || b.Enabled
	h.StopBlocks = max(a.StopBlocks, b.StopBlocks)
	if a.Timeout == 0 || b.Timeout == 0 {
		h.Timeout = 0
	} else {
		h.Timeout = max(a.Timeout, b.Timeout)
	}
	return &h
}

// Decode reads a policy file. It is strict: every unknown key, wrong type,
// value that can only be a mistake, and everything that its event cannot
// express is a Problem of the error, which is a Problems. home is the user's
// home directory, for ~ in patterns.
func Decode(file string, level Level, data []byte, home string) (*Config, error) {
	d := &decoder{document: document{file: file, text: data}, level: level, home: home, convention: Client}
	if len(strings.TrimSpace(string(data))) == 0 {
		return &Config{File: file, Level: level}, nil
	}
	if root, ok := d.parse(); ok {
		d.root(root)
	}
	d.ids()
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	return &Config{File: file, Level: level, Hooks: d.hooks}, nil
}

// decoder is one Decode under way.
type decoder struct {
	document
	level      Level
	home       string
	convention string
	observes   bool // every hook of the file does
	hooks      []*Hook
	named      map[string]int // ids as written, and their line
}

func (d *decoder) root(n node) {
	members, ok := n.object()
	if !ok {
		return
	}
	// These give the others their meaning, wherever they stand.
	for _, m := range members {
		switch m.name {
		case "convention":
			if s, ok := m.value.oneOf(Client, Simple); ok {
				d.convention = s
			}
		case "observe":
			d.observes, _ = m.value.truth()
		}
	}
	skip := func(node) {}
	readers := map[string]func(node){"$schema": skip, "convention": skip, "observe": skip, "hooks": d.events, "servers": skip}
	lone := false
	for _, key := range serverKeys {
		readers[key] = func(node) { lone = true }
	}
	n.fields(readers)
	for _, m := range members {
		if m.name == "servers" {
			for _, item := range m.value.items() {
				d.server(item)
			}
		}
	}
	if lone {
		d.loneServer(n, members)
	}
}

func (d *decoder) events(n node) {
	members, _ := n.object()
	for _, m := range members {
		kind, ok := d.event(m.value, m.name)
		if !ok {
			continue
		}
		for _, g := range m.value.items() {
			d.group(kind, g)
		}
	}
}

// event reads an event's name. One that the installer never registers would
// never be asked about.
func (d *decoder) event(n node, name string) (event.Kind, bool) {
	k := event.Kind(name)
	if _, ok := event.Lookup(k); !ok {
		all := make([]string, len(event.Kinds))
		for i, info := range event.Kinds {
			all[i] = string(info.Kind)
		}
		n.fail(suggest(name, all), "unknown event %q", name)
		return k, false
	}
	if why := rulesOf(k).never; why != "" {
		n.fail("beckon never registers this event", "no hook may answer %s: %s", name, why)
		return k, false
	}
	return k, true
}

// group reads one entry of an event: a matcher with its hooks.
func (d *decoder) group(kind event.Kind, n node) {
	base := Hook{Event: kind, Enabled: true, StopBlocks: 1, Observe: d.observes, Level: d.level, File: d.file}
	var hooks []node
	ok := n.fields(map[string]func(node){
		"matcher": func(v node) { base.Matcher = d.matcher(kind, v) },
		"if":      func(v node) { base.If = d.permission(kind, v) },
		"hooks":   func(v node) { hooks = v.items() },
	})
	if ok && hooks == nil {
		n.fail("", "has no hooks")
	}
	for _, h := range hooks {
		d.hook(base, h)
	}
}

func (d *decoder) matcher(kind event.Kind, n node) Matcher {
	s, ok := n.text()
	if !ok {
		return Matcher{}
	}
	m, err := NewMatcher(kind, s)
	switch {
	case err == errNoField:
		n.fail("leave the matcher out", "%s has nothing to match; the client would ignore %q", kind, s)
	case err != nil:
		n.fail("matchers are lists of names, or regular expressions without lookahead and back references", "no expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case m.exact != nil && len(m.exact) == 0:
		n.fail("", "matches nothing")
	}
	return m
}

func (d *decoder) permission(kind event.Kind, n node) *Permission {
	s, ok := n.filled()
	if !ok {
		return nil
	}
	if !rulesOf(kind).tool {
		n.fail("the client never runs such a hook", "%s is no tool event, so \"if\" cannot hold", kind)
		return nil
	}
	p, err := NewPermission(s, d.home)
	if err != nil {
		n.fail("like Bash(git push *) or Edit(src/**)", "%q %v", s, err)
	}
	return p
}

// ids gives the hooks without an id one that the same hook always gets.
func (d *decoder) ids() {
	for _, h := range d.hooks {
		if h.ID == "" {
			h.ID = h.made()
		}
	}
	seen := map[string]*Hook{}
	d.hooks = slices.DeleteFunc(d.hooks, func(h *Hook) bool {
		first := seen[h.key()]
		if first == nil {
			seen[h.key()] = h
			return false
		}
		*first = *stricter(first, h)
		return true
	})
}
