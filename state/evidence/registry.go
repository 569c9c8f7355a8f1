package evidence

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
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
	ProcStart string `json:"start"` // the client's word for its start time: clock ticks on Linux, a date in UTC on macOS
	NS        string `json:"ns"`    // pid namespace the client was in, when it says so
	SessionID string `json:"session"`
	Cwd       string `json:"cwd"`

	Status     string `json:"status"` // idle, busy, waiting, shell; another word is kept but not usable
	WaitingFor string `json:"for"`    // what is open: "permission prompt", "dialog open", ...
	Needs      string `json:"needs"`  // what the user is to do about it; most clients leave it out

	Name       string `json:"name"`  // the session's name for people
	NameSource string `json:"named"` // how it got it: derived, ...
	Kind       string `json:"kind"`  // interactive, bg, ...
	Job        string `json:"job"`   // of a session in the background: what `claude attach` takes
	Entrypoint string `json:"entry"` // cli, sdk-cli, ...
	Version    string `json:"version"`

	StartedAt       event.Millis `json:"started"` // when the record was made, a little after the process
	StatusUpdatedAt event.Millis `json:"at"`

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
	home := getenv("HOME")
	if home == "" {
		home = getenv("USERPROFILE")
	}
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
	f, err := plainfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { _, ok := registryPid(n); return !ok })
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // by pid
	names = names[:min(len(names), maxRegistry)]
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
		buf := registryBuffers.Get().(*[]byte)
		defer registryBuffers.Put(buf)
		pid, _ := registryPid(names[i])
		out[i], _ = readRegistry(filepath.Join(dir, names[i]), pid, *buf) // its Pid is 0 when it has vanished
		if out[i].Problem == "" {
			known.Put(names[i], &out[i], stamp)
		}
	})
	known.Close(names)
	return slices.DeleteFunc(out, func(r Reading) bool { return r.Pid == 0 }), nil
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
	return readRegistry(path, pid, make([]byte, maxRegistryFile+1))
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

func readRegistry(path string, pid int, buf []byte) (Reading, error) {
	for try := 0; ; try++ {
		b, err := plainfile.Head(path, buf, 0)
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

// fresh reports whether the file may be in the middle of a write.
func fresh(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && time.Since(fi.ModTime()).Abs() < tornFor || errors.Is(err, fs.ErrNotExist)
}

// ParseRegistry reads the content of PID.json. It is total: of any bytes it
// makes a reading, usable or not, that has at least the pid.
func ParseRegistry(b []byte, pid int) Reading {
	text := string(b)
	r := Reading{Pid: pid}
	if len(text) > maxRegistryFile {
		r.Problem = ProblemSize
		return r
	}
	if !gjson.Valid(text) {
		r.Problem = ProblemTorn
		return r
	}
	doc := gjson.Parse(text)
	if !doc.IsObject() {
		r.Problem = ProblemShape
		return r
	}
	own := -1
	doc.ForEach(func(k, v gjson.Result) bool {
		if k.Str == "pid" {
			own = int(integer(v))
		}
		r.set(k.Str, v)
		return true
	})
	r.Problem = r.problem(own)
	return r
}

// set takes one member. One of a type that does not fit is as if absent.
func (r *Reading) set(key string, v gjson.Result) {
	switch key {
	case "procStart":
		r.ProcStart = word(v)
	case "pidDomain":
		r.NS = namespaceOf(text(v))
	case "sessionId":
		r.SessionID = text(v)
	case "cwd":
		r.Cwd = event.Cut(v.Str, event.MaxPath)
	case "status":
		r.Status = text(v)
	case "waitingFor":
		r.WaitingFor = said(v, event.MaxID)
	case "needs":
		r.Needs = said(v, event.MaxQuestion)
	case "name":
		r.Name = said(v, event.MaxID)
	case "nameSource":
		r.NameSource = text(v)
	case "kind":
		r.Kind = text(v)
	case "jobId":
		r.Job = text(v)
	case "entrypoint":
		r.Entrypoint = text(v)
	case "version":
		r.Version = text(v)
	case "startedAt":
		r.StartedAt = event.Millis(integer(v))
	case "statusUpdatedAt":
		r.StatusUpdatedAt = event.Millis(integer(v))
	}
}

func (r *Reading) problem(own int) string {
	switch {
	case own != r.Pid, r.SessionID == "":
		return ProblemShape
	case r.Status != "idle" && r.Status != "busy" && r.Status != "waiting" && r.Status != "shell":
		return ProblemStatus
	case r.StatusUpdatedAt == 0:
		return ProblemShape
	}
	return ""
}

// said is what a string says to people, without secrets.
func said(v gjson.Result, max int) string {
	if v.Type != gjson.String {
		return ""
	}
	return clean(redact.Text(v.Str), max)
}

// text is the value of a string; of anything else it is empty.
func text(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return clean(v.Str, event.MaxID)
}

// word is a string, or a number as it is written.
func word(v gjson.Result) string {
	if v.Type == gjson.Number {
		return clean(v.Raw, event.MaxID)
	}
	return text(v)
}

// maxInteger is the largest whole number a JavaScript client writes exactly.
const maxInteger = 1 << 53

// integer is the value of a positive whole number; of anything else it is 0.
func integer(v gjson.Result) int64 {
	if v.Type != gjson.Number || !(v.Num >= 1 && v.Num <= maxInteger) || v.Num != float64(int64(v.Num)) {
		return 0
	}
	return int64(v.Num)
}

// namespaceOf takes the pid namespace off a pidDomain such as
// "linux:3d12...:pid:[4026531836]".
func namespaceOf(domain string) string {
	if i := strings.LastIndex(domain, "pid:["); i >= 0 && strings.HasSuffix(domain, "]") {
		return domain[i:]
	}
	return ""
}

// Fit says whether a registry record and a process are the same, and how that
// is known.
type Fit uint8

// How a record fits a process.
const (
	Misfit  Fit = iota // another process, or not to be told
	Lenient            // the forms of the start times differ: known by the order of times only
	Exact              // pid and start time are equal
)

// slack covers the second to which Linux tells its boot time, and a clock that
// is being slewed.
const slack event.Millis = 2000

// Match reports whether reading r is about process p. See FitOf.
func Match(r Reading, p event.Process) bool { return FitOf(r, p) != Misfit }

// FitOf compares a record with a process. The pids must be equal, and so must
// the start times where both are clock ticks (Linux). Elsewhere the client's
// form is not the kernel's (macOS: the date that ps prints, in UTC), and the
// fit is lenient: p must have started before the record says it was made. That
// is no weaker in practice: a pid has one owner at a time, so whoever has it
// now and had it then wrote the record. A left-over record of a killed client
// whose pid was handed out again is told from it either way.
func FitOf(r Reading, p event.Process) Fit {
	switch {
	case r.Pid <= 0 || r.Pid != p.Pid || r.ProcStart == "" || p.Start == "":
		return Misfit
	case r.NS != "" && p.NS != "" && r.NS != p.NS:
		return Misfit
	case r.ProcStart == p.Start:
		return Exact
	case p.NS != "" && digits(r.ProcStart): // Linux: same unit, another process
		return Misfit
	}
	began, ok := startWall(p.Start)
	if !ok || r.StartedAt == 0 || began > r.StartedAt+slack {
		return Misfit
	}
	return Lenient
}
