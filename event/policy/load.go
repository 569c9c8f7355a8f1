package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Sources says where policies come from. An empty path means that there is
// none.
type Sources struct {
	Global  string // the global policy file
	Project string // the project's policy file
	State   Dir    // the policy's part of the state directory
	Home    string
	Now     time.Time
}

// Status says what is in force of a policy file.
type Status string

// The states of a policy file.
const (
	Absent    Status = "absent"    // there is no file
	InForce   Status = "in force"  // as it is
	Untrusted Status = "untrusted" // nothing of it: the user has not trusted it
	Changed   Status = "changed"   // the copy that the user trusted
	LastGood  Status = "last good" // the copy of before it broke
	Broken    Status = "broken"    // nothing of it: it cannot be read, and never could
)

// File is one policy file with what is in force of it.
type File struct {
	Path   string
	Level  Level
	Status Status
	Config *Config // nil when nothing is in force
	Err    error   // what is wrong with the file as it is
}

// Notice says what the user has to know about the file; empty when all is
// well.
func (f File) Notice() string {
	switch f.Status {
	case Untrusted:
		return fmt.Sprintf("the policy %s is not in force until you trust it: beckon policy trust", f.Path)
	case Changed:
		return fmt.Sprintf("the policy %s has changed since you trusted it; what you trusted stays in force: beckon policy trust", f.Path)
	case LastGood:
		return fmt.Sprintf("the policy %s cannot be read, so what it said before stays in force: beckon policy check", f.Path)
	case Broken:
		return fmt.Sprintf("the policy %s cannot be read and NOTHING of it is in force: beckon policy check", f.Path)
	}
	return ""
}

// Loaded is what is in force.
type Loaded struct {
	Files []File
	Hooks []*Hook
}

// Notices are those of all files.
func (l Loaded) Notices() []string {
	var out []string
	for _, f := range l.Files {
		if n := f.Notice(); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// Events are the events that the hooks are for, each once, in their order.
func (l Loaded) Events() (list []string) {
	for _, h := range l.Hooks {
		if !slices.Contains(list, string(h.Event)) {
			list = append(list, string(h.Event))
		}
	}
	return list
}

// Load reads what is in force. A file with a mistake leaves in force what it
// said before (global) or what was trusted (project).
func Load(s Sources) Loaded {
	var l Loaded
	var configs []*Config
	for _, f := range []File{s.project(), s.global()} {
		if f.Path != "" && f.Status != Absent {
			l.Files = append(l.Files, f)
			configs = append(configs, f.Config)
		}
	}
	// A list that cannot be read switches nothing off. Of two hooks that do the
	// same, each is switched by its own name.
	off, _ := s.State.Disabled()
	for _, c := range configs {
		if c == nil {
			continue
		}
		for _, h := range c.Hooks {
			h.Enabled = h.Enabled && !off[h.Name()]
		}
	}
	l.Hooks = Merge(configs...)
	return l
}

func (s Sources) global() File {
	f := File{Path: s.Global, Level: Global, Status: Absent}
	if s.Global == "" {
		return f
	}
	data, err := readFile(s.Global)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	if err == nil {
		f.Config, err = Decode(s.Global, Global, data, s.Home)
	}
	if err == nil {
		f.Status = InForce
		if !s.State.hasCopy(goodDir, s.Global, data) {
			// Without the copy a later mistake switches the policy off; that
			// is told then.
			_ = s.State.keepCopy(goodDir, s.Global, data, s.Now)
		}
		return f
	}
	f.Status, f.Err = Broken, err
	if good := s.State.copyOf(goodDir, s.Global); good != nil {
		if c, err := Decode(s.Global, Global, []byte(good.Text), s.Home); err == nil {
			f.Status, f.Config = LastGood, c
		}
	}
	return f
}

func (s Sources) project() File {
	f := File{Path: s.Project, Level: Project, Status: Absent}
	if s.Project == "" {
		return f
	}
	data, err := readFile(s.Project)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	f.Status = Untrusted
	trusted := s.State.copyOf(trustDir, s.Project)
	if trusted == nil {
		return f
	}
	c, bad := Decode(s.Project, Project, []byte(trusted.Text), s.Home)
	if bad != nil {
		f.Status, f.Err = Broken, bad // trusted by another version of beckon
		return f
	}
	f.Status, f.Config, f.Err = Changed, c, err
	if err == nil && sumOf(data) == trusted.SHA256 {
		f.Status = InForce
	}
	return f
}

// Trust puts the project's policy file at path in force as it is now. A file
// with a mistake is not trusted.
func (s Sources) Trust(path string) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading policy: %w", err)
	}
	c, err := Decode(path, Project, data, s.Home)
	if err != nil {
		return nil, err
	}
	for _, name := range namesOf(path) {
		err = errors.Join(err, s.State.keepCopy(trustDir, name, data, s.Now))
	}
	return c, errors.Join(err, s.State.unspeak())
}

// Distrust takes the project's policy out of force.
func (s Sources) Distrust(path string) error {
	var failed error
	for _, name := range namesOf(path) {
		if err := os.Remove(s.State.path(trustDir, copyName(name))); !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return errors.Join(failed, s.State.unspeak())
}

// namesOf are the names by which the client may call the project of a file: a
// shell goes by the links that were followed, a process by none.
func namesOf(path string) []string {
	dir, err := filepath.EvalSymlinks(ProjectOf(path))
	if real := ProjectFile(dir); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}
