package live

import (
	"path/filepath"
	"slices"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/event/plainfile"
	"beckon/state/evidence"

	"github.com/tidwall/gjson"
)

// StagedFile is the name, in a scratch state directory, of the evidence that replay and demo
// use instead of the machine's: the recording's time, its registry and its processes. Every
// view uses it.
const StagedFile = "staged.json"

// staged is evidence from a recording.
type staged struct {
	now      event.Millis
	registry []evidence.Reading
}

func readStaged(dir string) *staged {
	b, err := plainfile.ReadFile(filepath.Join(dir, StagedFile))
	if err != nil || !gjson.ValidBytes(b) {
		return nil
	}
	v := gjson.ParseBytes(b)
	s := &staged{now: event.Millis(v.Get("now").Int())}
	v.Get("registry").ForEach(func(_, r gjson.Result) bool {
		s.registry = append(s.registry, evidence.ParseRegistry([]byte(r.Raw), int(r.Get("pid").Int())))
		return true
	})
	slices.SortStableFunc(s.registry, func(a, b evidence.Reading) int { return a.Pid - b.Pid })
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
