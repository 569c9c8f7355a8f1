package evidence

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"beckon/event"
	"beckon/event/home"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/event/redact"
	"beckon/state"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

// Starting is the status in the reading of a client without a record, which is not Usable.
const Starting = "starting"

const (
	maxRegistryFile = 64 << 10 // real files have under 1 KiB
	maxRegistry     = 8192     // files in one directory
)

// RegistryDir returns the client's registry, empty if its directory is not known.
func RegistryDir(getenv func(string) string) string {
	if d := claude.Dir(home.Dir(getenv), getenv); d != "" {
		return filepath.Join(d, "sessions")
	}
	return ""
}

// Registry reads all records in dir, usable or not, and adds a reading for each client that has none yet
// but asks something at its start; by name. Files that vanish meanwhile are left out.
func Registry(dir string) ([]state.Registry, error) {
	f, err := plainfile.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names) // a key is PID.HEX.key, of which the name alone is read, and comes before PID.json
	out := make([]state.Registry, min(len(names), maxRegistry))
	store.Parallel(len(out), func(i int) {
		base, rest, _ := strings.Cut(names[i], ".")
		_, recorded := slices.BinarySearch(names, base+".json")
		switch pid, ok := registryPid(base + ".json"); {
		case !ok:
		case rest == "json":
			out[i], _ = ReadRegistryFile(filepath.Join(dir, names[i])) // Pid is 0 if it has vanished
		case strings.HasSuffix(rest, ".key") && !recorded:
			out[i] = unrecorded(pid)
		}
	})
	out = slices.DeleteFunc(out, func(r state.Registry) bool { return r.Pid == 0 })
	return slices.CompactFunc(out, func(a, b state.Registry) bool { return a.Pid == b.Pid }), nil
}

// unrecorded returns a reading, with the status Starting, of a client in the foreground of a terminal that
// has no record: it writes one when the dialogs at its start are answered.
func unrecorded(pid int) (r state.Registry) {
	p, l := lookup(pid)
	inFront := p.terminal != 0 && p.front == p.group
	if l != state.Alive || p.dead || !inFront || !named(claude, p.comm) {
		return r
	}
	began, _ := startWall(p.start)
	return state.Registry{
		Pid:       pid,
		ProcStart: p.start,
		SessionID: strconv.Itoa(pid),
		Cwd:       event.Cut(procLink(pid, "cwd"), event.MaxPath),
		Status:    Starting,
		StartedAt: began,
		At:        began,
	}
}

// registryBuffers hold the content of records while they are parsed.
var registryBuffers = sync.Pool{New: func() any { b := make([]byte, maxRegistryFile+1); return &b }}

// ReadRegistryFile reads one record, PID.json. If its content is wrong, the reading is not Usable.
func ReadRegistryFile(path string) (state.Registry, error) {
	pid, ok := registryPid(filepath.Base(path))
	if !ok {
		return state.Registry{}, errors.New("reading registry: name is not PID.json")
	}
	buf := registryBuffers.Get().(*[]byte)
	defer registryBuffers.Put(buf)
	for wait := time.Millisecond; ; wait *= 4 { // a client's write looks torn for less than a millisecond
		b, err := plainfile.Head(path, *buf)
		if err != nil {
			return state.Registry{}, err
		}
		if gjson.ValidBytes(b) || wait > 4*time.Millisecond {
			return ParseRegistry(b, pid), nil
		}
		time.Sleep(wait)
	}
}

// registryPid parses the pid in a file's name. The directory also has files with secrets (PID.HEX.key),
// which are never opened.
func registryPid(name string) (int, bool) {
	base, ok := strings.CutSuffix(name, ".json")
	pid, err := strconv.Atoi(base)
	return pid, ok && err == nil && pid > 0 && digits(base) && base[0] != '0'
}

// ParseRegistry parses the content of PID.json. Any bytes give a reading that has at least the pid.
func ParseRegistry(b []byte, pid int) state.Registry {
	var r state.Registry
	text := string(b)
	if len(text) > maxRegistryFile || !jsonenc.Decode(text, &r) {
		return state.Registry{Pid: pid}
	}
	if start := gjson.Get(text, "procStart"); start.Type == gjson.Number {
		r.ProcStart = start.Raw
	}
	id, cwd := clean(r.SessionID, event.MaxID), event.Cut(r.Cwd, event.MaxPath)
	needs := clean(redact.Text(r.Needs), event.MaxQuestion)
	jsonenc.Each(&r, func(v reflect.Value) {
		if v.Kind() == reflect.String {
			v.SetString(clean(redact.Text(v.String()), event.MaxID))
		}
	})
	_, inode, ok := strings.Cut(r.NS, "pid:[") // of a domain such as "linux:3d12...:pid:[4026531836]"
	if r.NS = "pid:[" + inode; !ok || !strings.HasSuffix(inode, "]") {
		r.NS = ""
	}
	r.SessionID, r.Cwd, r.Needs = id, cwd, needs
	for _, at := range [...]*event.Millis{&r.StartedAt, &r.At} {
		if *at < 0 || *at > latest {
			*at = 0
		}
	}
	if r.Pid != pid {
		r.Pid, r.Status = pid, "" // another process's
	}
	return r
}

// latest is the largest integer that a JavaScript client writes exactly.
const latest event.Millis = 1 << 53

// slack covers the second to which Linux gives its boot time, and a slewing clock.
const slack event.Millis = 2000

// Match reports whether reading r is of process p, and not of a process that had its pid before. Their
// start times must be equal where both are clock ticks (Linux). Elsewhere the client writes another form
// (macOS: the UTC date that ps prints), so p must have started before the record was written.
func Match(r state.Registry, p event.Process) bool {
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
