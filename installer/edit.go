package installer

import (
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"beckon/event/agents"
	"beckon/event/run"

	"github.com/tailscale/hujson"
)

// timeout is the timeout of an entry, in seconds. The hook itself never takes that long; the
// client's default is 600. answerTimeout is for an entry whose hook waits for an answer.
const (
	timeout       = 60
	answerTimeout = 24 * 60 * 60
)

// Spec says which entries a settings file must hold.
type Spec struct {
	Command string   // absolute path of beckon-hook; a Windows path is written with forward slashes
	Events  []string // event names as the client spells them, in the order to write them
	Client  Version  // what Events was chosen for
	// Answers makes the entries those of an install with answers: requests to the user may
	// wait, and a reply may continue a session whose turn is over. With KeepAnswers the file's
	// present entries decide that.
	Answers, KeepAnswers bool

	agent *agents.Agent // whose entries they are; nil for Claude Code
}

// check refuses a spec whose entries the client could not run, or remove could not find.
func (s Spec) check() error {
	switch {
	case !filepath.IsAbs(s.Command) && !windowsPath(s.Command) && !strings.HasPrefix(s.Command, "/"):
		return badProgram(s.Command, "not an absolute path", "the client runs hooks in changing directories")
	case !utf8.ValidString(s.Command) || strings.ContainsFunc(s.Command, unicode.IsControl):
		return badProgram(s.Command, "not printable text", "JSON cannot hold it")
	case strings.Contains(s.Command, "${"):
		return badProgram(s.Command, "holds a placeholder", "the client replaces ${...} in commands")
	case programName(s.Command) != "beckon-hook":
		return badProgram(s.Command, "not the hook program", "the program must be called beckon-hook")
	case len(s.Events) == 0 && !ownFile(s.agent):
		return badProgram(s.Command, "no events to register", "")
	}
	return nil
}

// A slot is what the file has at most one entry of ours for: an event, or an event followed by
// replySlot: the entry that waits for a reply at the end of a turn.
const replySlot = " --reply"

// slots returns the slots of the spec, in the order to write them.
func (s Spec) slots() []string {
	slots := slices.Clone(s.Events)
	for _, event := range []string{"Stop", "StopFailure"} {
		if s.Answers && slices.Contains(s.Events, event) && !s.Client.Older(rewakeSince) {
			slots = append(slots, event+replySlot)
		}
	}
	return slots
}

// answered are the events whose hook looks for an answer of the user; the first waits for it.
var answered = []string{"PermissionRequest", "PreToolUse", "PostToolUse"}

// entryText is the content of an entry, in the order to write it.
type entryText struct {
	Type          string   `json:"type"`
	Command       string   `json:"command"`
	Args          []string `json:"args,omitempty"`
	Timeout       int      `json:"timeout,omitempty"`
	AsyncRewake   bool     `json:"asyncRewake,omitempty"`
	RewakeMessage string   `json:"rewakeMessage,omitempty"`
	RewakeSummary string   `json:"rewakeSummary,omitempty"`
}

// entry returns the content of one slot's entry. SessionEnd gets no timeout: it would raise
// the time that the client waits at exit from 1.5 s to that much.
func (s Spec) entry(slot string) entryText {
	event, reply := strings.CutSuffix(slot, replySlot)
	e := entryText{Type: "command", Command: slashed(s.Command), Args: []string{event}, Timeout: timeout}
	switch {
	case s.agent != nil:
		e.Command, e.Args = run.CommandLine(append([]string{e.Command}, s.agentArgs(event)...)...), nil
		// PowerShell exits with 1 for a missing program, which refuses nothing.
		if s.agent.Install.Denies && runtime.GOOS != "windows" {
			e.Command += endsWell
		}
		if lax(s.agent) {
			e.Timeout *= 1000
		}
	case reply:
		e.Args, e.Timeout, e.AsyncRewake = strings.Fields(slot), answerTimeout, true
		if !s.Client.Older(rewakeWordsSince) {
			e.RewakeMessage, e.RewakeSummary = "The user replies:", "Reply from beckon"
		}
	case s.Answers && slices.Contains(answered, event):
		e.Args = append(e.Args, "--answers")
		if event == answered[0] {
			e.Timeout = answerTimeout
		}
	}
	if event == "SessionEnd" {
		e.Timeout = 0
	}
	return e
}

// handler returns the entry as it reads once written.
func (s Spec) handler(slot string) handler { return readHandler(encode(s.entry(slot), "")) }

// Edit returns the settings with the entries of want: it adds missing ones, replaces ours that
// differ in place, and drops ours for other events and copies. old is nil without a file; it is not
// modified. Edit of its own result changes nothing.
func Edit(old []byte, want Spec) ([]byte, error) {
	if err := want.check(); err != nil {
		return nil, err
	}
	d, err := parse(old, lax(want.agent))
	if err != nil {
		return nil, err
	}
	if want.KeepAnswers {
		want.Answers = slices.ContainsFunc(d.own(), func(e hookEntry) bool { return Entry{Args: e.words()}.Answers() })
	}
	if err := d.settle(want); err != nil {
		return nil, err
	}
	return d.bytes(), nil
}

// remove returns the settings without beckon's entries, and without the hooks, events and
// groups that held nothing else. old is not modified.
func remove(old []byte) ([]byte, error) {
	d, err := parseTree(old)
	if err != nil || !owns(old) {
		return old, err
	}
	d.dropStatus()
	_ = d.settle(Spec{}) // adds nothing, which alone fails
	return d.bytes(), nil
}

// owns reports whether settings contain an entry of ours.
func owns(settings []byte) bool {
	d, err := parseTree(settings)
	return err == nil && (d.status() != "" || len(d.own()) > 0)
}

// isNothing reports whether a file is empty, or an empty object.
func isNothing(text []byte) bool {
	d, err := parseTree(text)
	return err == nil && len(d.members()) == 0
}

// members returns what is at the top.
func (d *document) members() []item {
	list, _ := items(&d.file)
	return list
}

// hookEntry is a handler and where it is.
type hookEntry struct {
	handler
	event string
	runs  bool // for every call: its event appears once, or last, and its group has no matcher
	value *hujson.Value
	path  []place // from the root's member to the handler
}

// place is an item of a container.
type place struct {
	container *hujson.Value
	index     int
}

func (e hookEntry) slot() string {
	if slices.Contains(e.words(), strings.TrimSpace(replySlot)) {
		return e.event + replySlot
	}
	return e.event
}

// own returns beckon's entries below any "hooks". What no client can run is passed over.
func (d *document) own() (all []hookEntry) {
	for i, hooks := range d.members() {
		if hooks.name != "hooks" {
			continue
		}
		events, _ := items(hooks.value)
		for j, event := range events {
			live := hooks.value == member(&d.file, "hooks") && event.value == member(hooks.value, event.name)
			groups, _ := items(event.value)
			for k, group := range groups {
				at, list := indexOf(group.value, "hooks")
				if at < 0 {
					continue
				}
				m := member(group.value, "matcher")
				runs := live && (m == nil || slices.Contains([]string{"", "*"}, stringValue(*m)))
				handlers, _ := items(list)
				for n, h := range handlers {
					e := hookEntry{readHandler(standard(*h.value)), event.name, runs, h.value,
						[]place{{&d.file, i}, {hooks.value, j}, {event.value, k}, {group.value, at}, {list, n}}}
					if e.own() {
						all = append(all, e)
					}
				}
			}
		}
	}
	return all
}

// settle makes one entry of ours for each slot of want, as it should be, and removes the others.
func (d *document) settle(want Spec) error {
	slots := want.slots()
	var gone []hookEntry
	for _, e := range d.own() {
		i := slices.Index(slots, e.slot())
		if i < 0 || !e.runs {
			gone = append(gone, e)
			continue
		}
		if !reflect.DeepEqual(e.handler, want.handler(slots[i])) { // in any order and layout
			e.value.Value = valueOf(want.entry(slots[i])).Value
		}
		slots = slices.Delete(slots, i, i+1)
	}
	// Adding comes first, so that hooks whose events all change keep their place.
	for _, slot := range slots {
		if err := d.add(strings.TrimSuffix(slot, replySlot), want.entry(slot)); err != nil {
			return err
		}
	}
	for _, e := range slices.Backward(gone) { // a removal moves what is behind it
		e.remove()
	}
	return nil
}

// remove removes the entry, with every container that holds nothing else. A group holds nothing else
// if it has no other list than the one of the entry.
func (e hookEntry) remove() {
	path := e.path
	at := path[len(path)-1]
	for len(path) > 1 {
		list, end := items(at.container)
		group := len(path) == 4
		if !group && len(list) > 1 || comments(*end, *list[at.index].before, list[at.index].inside) != nil {
			break
		}
		path = path[:len(path)-1]
		at = path[len(path)-1]
	}
	cut(at.container, at.index)
}

// add adds a group with the entry to an event.
func (d *document) add(event string, e entryText) error {
	hooks := member(&d.file, "hooks")
	switch {
	case hooks == nil:
		put(&d.file, "hooks", struct{}{}, 0)
		hooks = member(&d.file, "hooks")
	case hooks.Value.Kind() == 'n':
		hooks.Value = valueOf(struct{}{}).Value
	case hooks.Value.Kind() != '{':
		return d.problem(hooks.StartOffset, "hooks: not what the client reads there",
			"hooks maps event names to arrays of groups")
	}
	group := map[string]any{"hooks": []any{e}} // no matcher, so it matches all
	switch list := member(hooks, event); {
	case list == nil:
		put(hooks, event, []any{group}, 1)
	case list.Value.Kind() == 'n':
		list.Value = valueOf([]any{group}).Value
	case list.Value.Kind() == '[': // else another tool's
		put(list, "", group, 2)
	}
	return nil
}
