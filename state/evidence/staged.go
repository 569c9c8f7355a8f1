package evidence

import (
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
)

// StagedFile is the name, in a scratch state directory, of the evidence that
// replay and demo put in the place of the machine: the recording's time, its
// registry and its processes. Every view honours it.
const StagedFile = "staged.json"

// Staged is evidence from a recording.
type Staged struct {
	Now      event.Millis
	Registry []Reading
}

// presence says of every process in the registry that it lives. A process
// that has left it is not known to be gone: the client removes its record
// just before it exits.
func (s *Staged) presence(p event.Process) state.Presence {
	if p.Pid == 0 {
		return state.Unread
	}
	return state.Alive
}

func readStaged(dir string) *Staged {
	b, err := os.ReadFile(filepath.Join(dir, StagedFile))
	if err != nil || !gjson.ValidBytes(b) {
		return nil
	}
	v := gjson.ParseBytes(b)
	s := &Staged{Now: event.Millis(v.Get("now").Int())}
	v.Get("registry").ForEach(func(_, r gjson.Result) bool {
		s.Registry = append(s.Registry, ParseRegistry([]byte(r.Raw), int(r.Get("pid").Int())))
		return true
	})
	return s
}

// AppendStaged appends the content of a StagedFile: the time, and the
// registry's records as the client writes them.
func AppendStaged(dst []byte, now event.Millis, records [][]byte) []byte {
	dst = jsonenc.Int(append(dst, '{'), "now", int64(now))
	dst = append(jsonenc.Key(dst, "registry"), '[')
	for _, r := range records {
		dst = append(jsonenc.Comma(dst), r...)
	}
	return append(dst, "]}\n"...)
}
