package policy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/rule"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
)

// Sources says where policies come from. An empty path means none.
type Sources struct {
	Global  string    // the global policy file
	Project string    // the project's policy file
	State   trust.Dir // the files stored between hooks
	Tree    trust.Tree
	Home    string
	// Own are beckon's own files and directories, and the client's settings with its hooks:
	// patterns for which an agent's writes need the user's confirmation.
	Own []string
}

// Status says which version of a policy file is in force.
type Status string

// The states of a policy file.
const (
	Absent    Status = "absent"    // there is no file, and there was none
	InForce   Status = "in force"  // as it is
	Untrusted Status = "untrusted" // none: the user has not trusted it
	Changed   Status = "changed"   // the copy that the user trusted
	Vanished  Status = "vanished"  // the copy: the file does not exist any more
	LastGood  Status = "last good" // the copy from before the error
	Broken    Status = "broken"    // none: the file is invalid, and always was
)

// File is one policy file and what is in force of it.
type File struct {
	Path   string
	Level  config.Level
	Status Status
	Hooks  []*config.Hook // nil if nothing is in force
	Err    error          // what is wrong with the present file
}

// notices tell the user about a file's status.
var notices = map[Status]string{
	Untrusted: "is not in force until you trust it: beckon policy trust",
	Changed:   "has changed since you trusted it; what you trusted stays in force: beckon policy trust",
	Vanished: "is gone; what it said stays in force: put it back, or write {} into it " +
		"(in a project: beckon policy trust --off)",
	LastGood: "cannot be read, so what it said before stays in force: beckon policy check",
	Broken:   "cannot be read and NOTHING of it is in force: beckon policy check",
}

// Notice returns what the user has to know about the file; empty if nothing.
func (f File) Notice() string {
	if text := notices[f.Status]; text != "" {
		return "the policy " + f.Path + " " + text
	}
	return ""
}

// Loaded is what is in force.
type Loaded struct {
	Files []File
	Hooks []*config.Hook
}

// Notices returns those of all files.
func (l Loaded) Notices() []string {
	var out []string
	for _, f := range l.Files {
		if n := f.Notice(); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// Events returns what each event needs.
func (l Loaded) Events() map[string]trust.Needs {
	out := map[string]trust.Needs{}
	for _, h := range l.Hooks {
		needs := trust.Rules
		if h.Runs() {
			needs = trust.Starts
		}
		out[string(h.Event)] = max(out[string(h.Event)], needs)
	}
	return out
}

// Flat returns the rules for tool calls, for beckon-hook; nil if every call must be evaluated.
func (l Loaded) Flat() []byte {
	var rules []rule.Rule
	for _, h := range l.Hooks {
		if h.Event != event.PreToolUse {
			continue
		}
		if h.Spec.Rule == nil {
			return nil
		}
		one := h.Spec.Rule.Match
		one.Only = h.If
		rules = append(rules, one)
	}
	return rule.Flatten(rules)
}

// Starts reports whether an event of that kind may start a process or request.
func (l Loaded) Starts(k event.Kind) bool {
	return slices.ContainsFunc(l.Hooks, func(h *config.Hook) bool { return h.Event == k && h.Runs() })
}

// Load reads what is in force: of a file with an error its last good version, or what was trusted.
func Load(s Sources) Loaded {
	var l Loaded
	var inForce [][]*config.Hook
	for _, f := range []File{s.file(s.Project, config.Project), s.file(s.Global, config.Global)} {
		if f.Path == "" || f.Status == Absent {
			continue
		}
		l.Files = append(l.Files, f)
		if f.Hooks != nil {
			inForce = append(inForce, f.Hooks)
		}
	}
	if len(inForce) > 0 && len(s.Own) > 0 {
		inForce = append(inForce, own(s.Own))
	}
	l.Hooks = config.Merge(inForce...)
	return l
}

// file returns what is in force of a file: the global one as it is, unless it has an error or is gone; then, and
// of a project's file always, the copy that is stored of it.
func (s Sources) file(path string, level config.Level) File {
	f := File{Path: path, Level: level, Status: Absent}
	if path == "" {
		return f
	}
	kind, name, differs := trust.Good, path, LastGood
	if level == config.Project {
		kind, name, differs = trust.Trusted, s.State.NameOf(path, s.Tree), Changed
	}
	kept := s.State.Copy(kind, name)
	data, err := trust.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && name != path {
		data, err = trust.ReadFile(name) // git does not track it
	}
	gone := errors.Is(err, fs.ErrNotExist)
	same := err == nil && kept != nil && kept.Text == string(data)
	if level == config.Global && err == nil && !same {
		if f.Hooks, err = config.Decode(path, level, data, false); err == nil {
			// Without the copy a later error disables the policy; the user is told then.
			_ = s.State.Keep(trust.Good, path, data, nil)
			f.Status = InForce
			return f
		}
	}
	if f.Err, err = err, nil; kept != nil {
		f.Hooks, err = config.Decode(path, level, []byte(kept.Text), true)
		f.Err = cmp.Or(f.Err, err) // another version of beckon accepted it
	}
	switch {
	case kept == nil && gone:
	case kept == nil && level == config.Project:
		f.Status = Untrusted
	case kept == nil, err != nil:
		f.Status = Broken
	case same:
		f.Status = InForce
	case !gone:
		f.Status = differs
	case len(f.Hooks) > 0:
		f.Status = Vanished
	}
	if kept != nil && level == config.Project {
		s.seal(f.Hooks, kept)
	}
	return f
}

// seal keeps the hooks from running scripts that differ from those that the user trusted.
func (s Sources) seal(hooks []*config.Hook, trusted *trust.Copy) {
	for _, h := range hooks {
		if h.Type != config.Command {
			continue
		}
		found := trust.Scripts(trust.ProjectOf(s.Project), h.Texts())
		for name, sum := range trust.Scripts(trust.ProjectOf(trusted.Path), h.Texts()) {
			if filepath.IsAbs(name) { // in the main worktree
				found[name] = sum
			}
		}
		for name, sum := range found {
			if trusted.Scripts[name] != sum {
				h.Fault = fmt.Errorf("%s is another script than the one that you trusted: beckon policy trust", name)
			}
		}
	}
}

// Trust puts the project's policy file, as it is now, in force with the scripts that it names, if it has no error.
func (s Sources) Trust(path string) ([]*config.Hook, error) {
	data, err := trust.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy %s: %w", path, err)
	}
	hooks, err := config.Decode(path, config.Project, data, false)
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, h := range hooks {
		texts = append(texts, h.Texts()...)
	}
	scripts := trust.Scripts(trust.ProjectOf(path), texts)
	own, twin := s.namesOf(path)
	if twin != "" && !s.State.HasCopy(trust.Trusted, twin) {
		own = append(own, twin) // for the other worktrees; what is trusted there stays
	}
	for _, name := range own {
		err = errors.Join(err, s.State.Keep(trust.Trusted, name, data, scripts))
	}
	return hooks, errors.Join(err, s.State.Uncover())
}

// Distrust takes the project's policy out of force, in worktrees that are not trusted by themselves, too.
func (s Sources) Distrust(path string) error {
	var failed error
	own, twin := s.namesOf(path)
	for _, name := range append(own, twin) {
		failed = errors.Join(failed, s.State.Drop(trust.Trusted, name))
	}
	return errors.Join(failed, s.State.Uncover())
}

// namesOf returns the names by which the client may call the project of a file (a shell's path
// contains the links it followed, a process's does not), and that of its twin.
func (s Sources) namesOf(path string) (own []string, twin string) {
	own = []string{path}
	dir, err := filepath.EvalSymlinks(trust.ProjectOf(path))
	if real := trust.ProjectFile(dir); err == nil && real != path {
		own = append(own, real)
	}
	return own, s.Tree.Twin(path)
}

// MayRefuse reports whether a hook may refuse events of kind k.
func (l Loaded) MayRefuse(k event.Kind) bool {
	c := wire.RulesOf(k)
	return c.Refuse != wire.NoWay && !c.Loops && slices.ContainsFunc(l.Hooks, func(h *config.Hook) bool {
		rule := h.Spec.Rule
		return h.Event == k && !h.Observe &&
			(h.FailClosed || rule != nil && rule.Decision.Rank() > wire.Allow.Rank())
	})
}

// own returns the rules that are part of every policy: an agent that may write beckon's files, or act
// as the user, is not bound by any policy. They ask, since the user may have told the agent to.
func own(paths []string) []*config.Hook {
	const rules = `{"hooks": {"PreToolUse": [{"hooks": [
		{"type": "rule", "id": "own-files", "decision": "ask", "reason": %[1]q,
		 "tool": "Write|Edit|MultiEdit|NotebookEdit", "paths": %[2]s},
		{"type": "rule", "id": "own-commands", "decision": "ask", "reason": %[1]q, "commands": [
			"beckon policy trust", "beckon policy allow", "beckon policy allow-once", "beckon policy init",
			"beckon answer", "beckon reply", "beckon stop", "beckon away", "beckon back", "beckon uninstall"]}]}]}}`
	list, _ := wire.Encode(paths)
	text := fmt.Sprintf(rules, "This is beckon's own: it decides what an agent may do.", list)
	hooks, _ := config.Decode("", config.Own, []byte(text), true) // a test reads it
	return hooks
}
