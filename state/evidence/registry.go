package evidence

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/event/redact"
	"beckon/state/cache"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// Reading is one file of the client's own registry, sessions/PID.json: undocumented, so
// every field may be missing and only a Usable reading says anything about state.
type Reading struct {
	Pid       int    `json:"pid"`
	ProcStart string `json:"procStart"` // the client's word for its start time: clock ticks on Linux, a date in UTC on macOS
	NS        string `json:"pidDomain"` // pid namespace the client was in, when it says so
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`

	Status     string `json:"status"`     // idle, busy, waiting, shell; another word is kept but not usable
	WaitingFor string `json:"waitingFor"` // what is open: "permission prompt", "dialog open", ...
	Needs      string `json:"needs"`      // what the user is to do about it; most clients leave it out

	Name       string `json:"name"`       // the session's name for people
	NameSource string `json:"nameSource"` // how it got it: derived, ...
	Kind       string `json:"kind"`       // interactive, bg, ...
	Job        string `json:"jobId"`      // of a session in the background: what `claude attach` takes
	Entrypoint string `json:"entrypoint"` // cli, sdk-cli, ...
	Version    string `json:"version"`

	StartedAt       event.Millis `json:"startedAt"` // when the record was made, a little after the process
	StatusUpdatedAt event.Millis `json:"statusUpdatedAt"`

	Problem string `json:"problem"` // why it is not Usable: one of the Problem constants, else empty
}

// Why a registry file gave no usable reading. None of them is evidence that
// the session is gone.
const (
	ProblemTorn   = "torn"   // not whole JSON in any of the tries: it is being written, or broken
	ProblemShape  = "shape"  // JSON, but of another form
	ProblemSize   = "size"   // over 64 KiB
	ProblemStatus = "status" // a status that is not known, or none: 2.1.197 gives `claude -p` none
)

// Usable reports whether the reading may be used as evidence of state: its
// shape is known, its status is one of the four, and it is dated.
func (r Reading) Usable() bool { return r.Problem == "" }

const (
	maxRegistryFile = 64 << 10 // real files have under 1 KiB
	maxRegistry     = 4096     // files read of one directory
	// A client's write is seen torn for less than a millisecond; a file that
	// has not changed for this long is broken and not worth another try.
	tornFor = time.Second
)

// tornPauses are the waits between tries of a file that reads torn.
var tornPauses = [...]time.Duration{time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond}

// RegistryDir returns where the client keeps its registry: sessions in
// $CLAUDE_CONFIG_DIR, else in ~/.claude. It is empty when neither is known.
func RegistryDir(getenv func(string) string) string {
	if d := getenv("CLAUDE_CONFIG_DIR"); d != "" {
		return filepath.Join(d, "sessions")
	}
	home := cmp.Or(getenv("HOME"), getenv("USERPROFILE"))
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".claude", "sessions")
}

// Registry reads all records in dir, in order of pid. Files that vanish while
// it reads are left out; files that cannot be used are kept with a Problem, so
// that a torn record is not taken for a missing one. A directory that cannot
// be read is an error: the caller goes on without the registry. cached is the file
// to keep what was read in, empty for none.
func Registry(dir, cached string) ([]Reading, error) {
	names, err := registryNames(dir)
	if err != nil {
		_ = os.Remove(cached) // what it says of is gone
		return nil, err
	}
	var known *cache.Cache[string, Reading]
	if cached != "" {
		known = cache.Open[string, Reading](cached, dir, len(names))
	}
	out := make([]Reading, len(names))
	store.Parallel(len(names), func(i int) {
		stamp, ok := known.Get(names[i], names[i], &out[i])
		if ok {
			return
		}
		out[i], _ = ReadRegistryFile(filepath.Join(dir, names[i])) // its Pid is 0 when it has vanished
		if out[i].Problem == "" {
			known.Put(names[i], &out[i], stamp)
		}
	})
	known.Close(names)
	return slices.DeleteFunc(out, func(r Reading) bool { return r.Pid == 0 }), nil
}

// Index is the registry's files as they were read last, with the size, time and
// inode of each: Registry opens only those that changed. It is for a program
// that stays, and not safe for concurrent use.
type Index struct{ records map[string]record }

type record struct {
	reading Reading
	file    cache.Stamp
}

// Registry reads what the function of that name does. A directory that cannot be read is empty.
func (x *Index) Registry(dir string) (out []Reading) {
	names, _ := registryNames(dir)
	fresh := make(map[string]record, len(names))
	for _, name := range names {
		path := filepath.Join(dir, name)
		file, ok := cache.StampOf(path)
		if !ok {
			continue
		}
		settled := !file.Young() // asked before the read: the file may change after it
		old := x.records[name]
		if old.file != file {
			var err error
			if old.reading, err = ReadRegistryFile(path); err != nil {
				continue
			}
			old.file = file
		}
		if settled && old.reading.Problem != ProblemTorn {
			fresh[name] = old
		}
		out = append(out, old.reading)
	}
	x.records = fresh
	return out
}

// registryNames lists the records in dir, in order of pid.
func registryNames(dir string) ([]string, error) {
	f, err := plainfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(n string) bool { _, ok := registryPid(n); return !ok })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
	return names[:min(len(names), maxRegistry)], err
}

// registryBuffers hold what is read of records; see the store's.
var registryBuffers = sync.Pool{New: func() any { b := make([]byte, maxRegistryFile+1); return &b }}

// ReadRegistryFile reads one record, PID.json. The error is only that of
// opening or reading the file; whatever is wrong with its content is the
// reading's Problem.
func ReadRegistryFile(path string) (Reading, error) {
	pid, ok := registryPid(filepath.Base(path))
	if !ok {
		return Reading{}, errors.New("reading registry: name is not PID.json")
	}
	buf := registryBuffers.Get().(*[]byte)
	defer registryBuffers.Put(buf)
	for try := 0; ; try++ {
		b, err := plainfile.Head(path, *buf, 0)
		if err != nil {
			return Reading{}, err
		}
		r := ParseRegistry(b, pid)
		if r.Problem != ProblemTorn || try == len(tornPauses) || !fresh(path) {
			return r, nil
		}
		time.Sleep(tornPauses[try])
	}
}

// registryPid reads the pid in a file's name. The directory also holds files
// with secrets (PID.HEX.key), which are never opened.
func registryPid(name string) (int, bool) {
	base, ok := strings.CutSuffix(name, ".json")
	if !ok || !digits(base) || base[0] == '0' {
		return 0, false
	}
	pid, err := strconv.Atoi(base)
	return pid, err == nil && pid > 0
}

// fresh reports whether the file may be in the middle of a write.
func fresh(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && time.Since(fi.ModTime()).Abs() < tornFor || errors.Is(err, fs.ErrNotExist)
}

// ParseRegistry reads the content of PID.json. It is total: of any bytes it
// makes a reading, usable or not, that has at least the pid.
func ParseRegistry(b []byte, pid int) Reading {
	var r Reading
	text := string(b)
	switch {
	case len(text) > maxRegistryFile:
		return Reading{Pid: pid, Problem: ProblemSize}
	case jsonenc.Decode(text, &r):
	case gjson.Valid(text):
		return Reading{Pid: pid, Problem: ProblemShape}
	default:
		return Reading{Pid: pid, Problem: ProblemTorn}
	}
	if start := gjson.Get(text, "procStart"); start.Type == gjson.Number {
		r.ProcStart = start.Raw
	}
	id, cwd, needs := clean(r.SessionID, event.MaxID), event.Cut(r.Cwd, event.MaxPath), clean(redact.Text(r.Needs), event.MaxQuestion)
	jsonenc.Each(&r, func(v reflect.Value) {
		if v.Kind() == reflect.String {
			v.SetString(clean(redact.Text(v.String()), event.MaxID))
		}
	})
	r.NS, r.SessionID, r.Cwd, r.Needs = namespaceOf(r.NS), id, cwd, needs
	if r.StartedAt < 0 || r.StartedAt > latest {
		r.StartedAt = 0
	}
	r.Pid, r.Problem = pid, r.problem(pid)
	return r
}

// latest is the largest whole number that a JavaScript client writes exactly.
const latest event.Millis = 1 << 53

func (r *Reading) problem(pid int) string {
	switch {
	case r.Pid != pid, r.SessionID == "":
		return ProblemShape
	case r.Status != "idle" && r.Status != "busy" && r.Status != "waiting" && r.Status != "shell":
		return ProblemStatus
	case r.StatusUpdatedAt <= 0, r.StatusUpdatedAt > latest:
		return ProblemShape
	}
	return ""
}

// namespaceOf takes the pid namespace off a pidDomain such as
// "linux:3d12...:pid:[4026531836]".
func namespaceOf(domain string) string {
	if i := strings.LastIndex(domain, "pid:["); i >= 0 && strings.HasSuffix(domain, "]") {
		return domain[i:]
	}
	return ""
}

// slack covers the second to which Linux gives its boot time, and a clock that is
// being slewed.
const slack event.Millis = 2000

// Match reports whether reading r is about process p. The pids must be equal, and so
// must the start times where both are clock ticks (Linux). Elsewhere the client's form
// is not the kernel's (macOS: the date that ps prints, in UTC), and p must have started
// before the record says it was made. That is no weaker in practice: a pid has one owner at a time, so whoever has it now and had
// it then wrote the record. Either way a record that a killed client left does not
// fit the process that got its pid.
func Match(r Reading, p event.Process) bool {
	switch {
	case r.Pid <= 0 || r.Pid != p.Pid || r.ProcStart == "" || p.Start == "":
		return false
	case r.NS != "" && p.NS != "" && r.NS != p.NS:
		return false
	case r.ProcStart == p.Start:
		return true
	case p.NS != "" && digits(r.ProcStart): // Linux: same unit, another process
		return false
	}
	began, ok := startWall(p.Start)
	return ok && r.StartedAt != 0 && began <= r.StartedAt+slack
}
