// Package config parses a policy file: its hooks with their events, and every error with its
// place and what to do about it. A decision that an event cannot express is an error of the
// file, reported here and not at run time.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/policy/rule"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// Level is where a hook comes from.
type Level string

// The levels, in the order in which their hooks run.
const (
	Project    Level = "project" // <project>/.beckon/policy.json, once trusted
	Global     Level = "global"  // policy.json in beckon's configuration directory
	Own        Level = "beckon"  // built-in rules, which any policy has
	Registered Level = "program" // of no file: the other copy of a firing
)

// Type is what a hook is.
type Type string

// The types of hooks.
const (
	Command Type = "command"
	Server  Type = "server"
	HTTP    Type = "http"
	Prompt  Type = "prompt"
	BuiltIn Type = "rule"
	Program Type = "program" // of no file: the other copy of a firing
)

// Conventions of commands.
const (
	Client = "client" // exit code 2 blocks; timeout is in seconds
	Simple = "simple" // any exit code but 0 blocks; timeout is in milliseconds
)

// Hook is one handler with what it is for.
type Hook struct {
	ID      string // as written, else derived from the hook
	Event   event.Kind
	Matcher rule.Matcher
	If      *rule.Permission
	Type    Type

	Timeout    time.Duration // 0: the rest of the event's time
	FailClosed bool          // if the handler fails, the event is refused
	Observe    bool          // runs concurrently with the others; its answer does not count
	Grant      bool          // its "allow" skips the user's own decision
	Enabled    bool
	Once       bool // the user may let a refused call pass once
	StopBlocks int  // how often in a row it may keep the agent from stopping

	Spec Spec

	Level Level
	File  string
	Line  int
	Path  string // JSON path

	Handler wire.Handler // created before the hook's turn, by the package that can start it
	Fault   error        // why it cannot be run
	hashed  string       // caches key, which every tool call needs several times for each hook
}

// Name returns a name that is unique across levels: "global/no-force-push".
func (h *Hook) Name() string { return string(h.Level) + "/" + h.ID }

// Runs reports whether the hook starts a process or a request.
func (h *Hook) Runs() bool { return h.Type != BuiltIn && h.Type != Program }

// Asks reports whether the hook only asks a question without side effects, so that it may run
// concurrently with others, and twice.
func (h *Hook) Asks() bool { return h.Type == Server || h.Type == Prompt }

// Texts returns the words of the hook that may name files to run.
func (h *Hook) Texts() []string { return append([]string{h.Spec.Command}, h.Spec.Args...) }

// Takes reports whether the hook's matcher accepts an event.
func (h *Hook) Takes(payload []byte) bool {
	asksItself := h.Spec.Rule != nil && wire.RulesOf(h.Event).Tool
	return asksItself || h.Matcher.All() || h.Matcher.Match(subject(h.Event, payload))
}

// Applies reports whether the call matches the hook's "if". For a rule that approves, "if"
// must cover the whole call; any other handler examines the call itself.
func (h *Hook) Applies(c *rule.Call) bool {
	switch {
	case h.If == nil:
		return true
	case h.Spec.Rule != nil && h.Spec.Rule.Decision == wire.Allow:
		return h.If.Covers(c)
	}
	return h.If.Match(c)
}

// Spec is what a handler is created from; its type says which members count.
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
	// TraceAll: calls that no hook applies to are traced, too.
	TraceAll bool
}

// key returns what makes two hooks identical: everything but timeout, fail mode and name.
func (h *Hook) key() string {
	if h.hashed != "" {
		return h.hashed
	}
	s := h.Spec
	var k digest
	k.add(string(h.Event), h.Matcher.Text(), string(h.Type), s.Command, s.Shell, s.Convention, s.URL, s.Prompt, s.Model)
	k.add(fmt.Sprint(s.Args != nil, h.Observe))
	k.list(s.Args)
	k.list(s.AllowedEnvVars)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		k.add(name, s.Headers[name])
	}
	if h.If != nil {
		k.add("if", h.If.Text())
	}
	if r := s.Rule; r != nil {
		k.add(string(r.Decision), r.Reason, string(r.Unsure))
		for _, m := range r.Match.Tools {
			k.add(m.Text())
		}
		if r.CI != nil {
			k.add(fmt.Sprint("ci", *r.CI))
		}
		k.list(r.Branches)
		k.list(r.Repositories)
		k.conditions(r.Match.Conditions)
		if r.Match.Unless != nil {
			k.add("unless")
			k.conditions(*r.Match.Unless)
		}
	}
	sum := sha256.Sum256(k)
	h.hashed = hex.EncodeToString(sum[:])
	return h.hashed
}

// digest is texts with their lengths, so that they cannot run together.
type digest []byte

func (d *digest) add(texts ...string) {
	for _, t := range texts {
		*d = append(strconv.AppendInt(*d, int64(len(t)), 10), ":"+t...)
	}
}

func (d *digest) list(texts []string) {
	d.add(strconv.Itoa(len(texts)))
	d.add(texts...)
}

func (d *digest) conditions(c rule.Conditions) {
	d.list(c.Commands)
	d.list(c.Regex)
	d.list(c.Paths)
	d.list(c.Words)
}

// Same reports whether two hooks are identical.
func (h *Hook) Same(other *Hook) bool { return h.key() == other.key() }

// Merge returns the hooks of several files in the order in which they run: project before
// global, definition order within a file, identical ones once at their first place. Of
// identical hooks the stricter wins, so that a project cannot weaken a global hook by
// repeating it.
func Merge(configs ...*Config) []*Hook {
	var out []*Hook
	at := map[string]int{}
	for _, level := range []Level{Project, Global, Own} {
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

// stricter returns the one that is enabled, the first of two, with the stricter settings of
// both.
func stricter(a, b *Hook) *Hook {
	h := *a
	if !a.Enabled && b.Enabled {
		h = *b
	}
	h.FailClosed = a.FailClosed || b.FailClosed
	h.Observe = a.Observe && b.Observe
	h.Grant = a.Grant && b.Grant
	h.Once = a.Once && b.Once
	h.Enabled = a.Enabled || b.Enabled
	h.StopBlocks = max(a.StopBlocks, b.StopBlocks)
	if a.Timeout == 0 || b.Timeout == 0 {
		h.Timeout = 0
	} else {
		h.Timeout = max(a.Timeout, b.Timeout)
	}
	return &h
}

// Decode parses a policy file. It is strict: every unknown key, wrong type, implausible value,
// and decision that the event cannot express is a Problem of the error, which is a Problems.
func Decode(file string, level Level, data []byte) (*Config, error) {
	return decode(file, level, data, false)
}

// DecodeAgain is Decode for a text that Decode has accepted before: it does not check the
// patterns of rules, which is most of the work.
func DecodeAgain(file string, level Level, data []byte) (*Config, error) {
	return decode(file, level, data, true)
}

func decode(file string, level Level, data []byte, again bool) (*Config, error) {
	d := &decoder{again: again, document: document{file: file, text: data}, level: level, convention: Client}
	if root, ok := d.parse(); ok {
		d.root(root)
	}
	d.ids()
	if err := d.problems.err(); err != nil {
		return nil, err
	}
	return &Config{File: file, Level: level, Hooks: d.hooks, TraceAll: d.traceAll}, nil
}

// decoder is the state of Decode.
type decoder struct {
	document
	level      Level
	convention string
	observes   bool // every hook of the file observes
	once       bool // a refusal offers a code to pass once
	traceAll   bool
	again      bool // the patterns of rules are known to be valid
	hooks      []*Hook
	named      map[string]int // ids as written, and their lines
}

func (d *decoder) root(n node) {
	members, ok := n.object()
	if !ok {
		return
	}
	r := d.reading(nil, n, members)
	for _, m := range fileMembers { // these affect the others, wherever they are
		if v, there := r.set[m.name]; there && m.read != nil {
			m.read(r, v)
		}
	}
	var lone []field
	for _, m := range members {
		switch {
		case m.name == "hooks":
			d.events(m.value)
		case m.name == "packs":
			d.packs(m.value)
		case slices.Contains(loneMembers, m.name):
			lone = append(lone, m)
		case !slices.Contains(namesOf(fileMembers, ""), m.name):
			m.unknown(append(namesOf(fileMembers, ""), loneMembers...))
		}
	}
	if list, there := r.set["servers"]; there {
		for _, item := range list.items() {
			if members, ok := item.object(); ok {
				d.server(item, members, serverMembers)
			}
		}
	}
	if lone != nil {
		d.server(n, lone, loneMembers)
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

// event parses an event's name. An event that the installer never registers is an error, since
// its hooks would never run.
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
	if why := wire.RulesOf(k).Never; why != "" {
		n.fail("beckon never registers this event", "no hook may answer %s: %s", name, why)
		return k, false
	}
	return k, true
}

// base returns a hook with the file's own settings.
func (d *decoder) base() Hook {
	return Hook{Enabled: true, StopBlocks: 1, Observe: d.observes, Once: d.once, Level: d.level, File: d.file}
}

// group parses one entry of an event: a matcher with its hooks.
func (d *decoder) group(kind event.Kind, n node) {
	base := d.base()
	base.Event = kind
	var hooks []node
	members, ok := n.object()
	for _, m := range members {
		switch m.name {
		case "matcher":
			base.Matcher = d.matcher(kind, m.value)
		case "if":
			base.If = d.permission(kind, m.value)
		case "hooks":
			hooks = m.value.items()
		default:
			m.unknown([]string{"hooks", "if", "matcher"})
		}
	}
	if ok && hooks == nil {
		n.fail("", "has no hooks")
	}
	for _, h := range hooks {
		d.hook(base, h)
	}
}

func (d *decoder) matcher(kind event.Kind, n node) rule.Matcher {
	s, ok := n.text()
	if !ok {
		return rule.Matcher{}
	}
	m, err := rule.NewMatcher(kind, s)
	info, _ := event.Lookup(kind)
	switch {
	case err != nil && info.Matcher == "":
		n.fail("leave the matcher out", "%s has nothing to match; the client would ignore %q", kind, s)
	case err != nil:
		n.fail("matchers are lists of names, or regular expressions without lookahead and back references", "no expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	case m.Names() != nil && len(m.Names()) == 0:
		n.fail("", "matches nothing")
	}
	return m
}

func (d *decoder) permission(kind event.Kind, n node) *rule.Permission {
	s, ok := n.filled()
	if !ok {
		return nil
	}
	if !wire.RulesOf(kind).Tool {
		n.fail("the client never runs such a hook", "%s is not a tool event, so \"if\" cannot hold", kind)
		return nil
	}
	p, err := rule.NewPermission(s)
	if err != nil {
		n.fail("like Bash(git push *) or Edit(src/**)", "%q %v", s, err)
	}
	return p
}

// ids gives the hooks without an id one that is the same every time.
func (d *decoder) ids() {
	for _, h := range d.hooks {
		if h.ID == "" {
			h.ID = string(h.Type) + "-" + h.key()[:8]
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

// subject returns the text of a payload that its event's matchers examine.
func subject(k event.Kind, payload []byte) string {
	info, _ := event.Lookup(k)
	if info.Matcher == "" {
		return ""
	}
	v := gjson.GetBytes(payload, info.Matcher).String()
	if k == event.FileChanged {
		return path.Base(strings.ReplaceAll(v, `\`, "/"))
	}
	return v
}
