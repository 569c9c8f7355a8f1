package installer

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"beckon/event/run"
)

func TestOwn(t *testing.T) {
	for entry, want := range map[string]bool{
		`{"type":"command","command":"/a/beckon-hook","args":["Stop"]}`:                             true,
		`{"type":"command","command":"/a b/beckon-hook","args":["Stop"]}`:                           true,
		`{"type":"command","command":"beckon-hook","args":[]}`:                                      true,
		`{"type":"command","command":"C:/Program Files/beckon/beckon-hook.exe","args":["Stop"]}`:    true,
		`{"type":"command","command":"C:\\Program Files\\beckon\\Beckon-Hook.EXE","args":["Stop"]}`: true,
		`{"type":"command","command":"/a/beckon","args":["hook","Stop"]}`:                           true,
		`{"type":"command","command":"/a/beckon","args":["list"]}`:                                  false,
		`{"type":"command","command":"/a/beckon","args":[]}`:                                        false,
		`{"command":"/a/beckon-hook Stop"}`:                                                         true,
		`{"type":"command","command":"/a/beckon-hook Stop"}`:                                        true,
		`{"type":"command","command":"'/a b/beckon-hook' Stop"}`:                                    true,
		`{"type":"command","command":"\"/a b/beckon-hook\" Stop"}`:                                  true,
		`{"type":"command","command":"/a\\ b/beckon-hook Stop"}`:                                    true,
		`{"type":"command","command":"'/it'\\''s/beckon-hook' Stop"}`:                               true,
		`{"type":"command","command":"\"C:\\Program Files\\b\\beckon-hook.exe\" Stop"}`:             true,
		`{"type":"command","command":"C:\\bin\\beckon-hook.exe Stop"}`:                              true,
		`{"type":"command","command":"& 'C:\\bin\\beckon-hook.exe' Stop","shell":"powershell"}`:     true,
		`{"type":"command","command":"\\\\server\\share\\beckon-hook.exe Stop"}`:                    true,
		`{"type":"command","command":"~/.local/bin/beckon-hook Stop"}`:                              true,
		`{"type":"command","command":"\"$HOME/.local/bin/beckon-hook\" Stop"}`:                      true,
		`{"type":"command","command":"/a/beckon hook Stop"}`:                                        true,
		`{"type":"command","command":"beckon 'hook' Stop"}`:                                         true,
		`{"type":"command","command":"BECKON_STATE_DIR=/x exec /a/beckon-hook Stop"}`:               true,
		`{"type":"command","command":"/a/beckon-hook Stop 2>/dev/null || true"}`:                    true,
		`{"type":"command","command":"/a/beckon-hook Stop >> '/var/log/a b' 2>&1 &"}`:               true,
		`{"type":"command","command":"/a/beckon-hook Stop # beckon"}`:                               true,
		`{"type":"command","command":"/a/beckon list"}`:                                             false,
		`{"type":"command","command":"/a/beckon --hook"}`:                                           false,
		`{"type":"command","command":"/a/beckon-hooks Stop"}`:                                       false,
		`{"type":"command","command":"/a/my-beckon-hook Stop"}`:                                     false,
		`{"type":"command","command":"echo /a/beckon-hook"}`:                                        false,
		`{"type":"command","command":"tee <beckon-hook"}`:                                           false,
		`{"type":"command","command":"'/a/x beckon-hook'"}`:                                         false,
		`{"type":"command","command":"'/opt/beckon-hook/run' Stop"}`:                                false,
		`{"type":"command","command":"/a/beckon-hook Stop; rm -rf /tmp/x"}`:                         false,
		`{"type":"command","command":"test -x /a/beckon-hook && /a/beckon-hook Stop"}`:              false,
		`{"type":"command","command":"/a/beckon-hook <(date)"}`:                                     false,
		`{"type":"command","command":"/a/beckon-hook {1..1000000000000}"}`:                          true,
		`{"type":"command","command":"/a/beckon-hook $(date)"}`:                                     false,
		`{"type":"command","command":"if true; then /a/beckon-hook Stop; fi"}`:                      false,
		`{"type":"command","command":"/a/beckon-hook 'Stop"}`:                                       false,
		`{"type":"command","command":"# beckon-hook"}`:                                              false,
		`{"type":"command","command":"/a/beckon-hook Stop","args":["x"]}`:                           false,
		`{"type":"prompt","prompt":"beckon-hook"}`:                                                  false,
		`{"type":"http","url":"http://localhost/beckon-hook"}`:                                      false,
		`{"type":"command"}`:                                           false,
		`{"type":"command","command":{"beckon-hook":1}}`:               false,
		`{"type":"command","command":"other","command":"beckon-hook"}`: true,
		`{}`: false,
	} {
		if got := readHandler([]byte(entry)).own(); got != want {
			t.Errorf("%s: own is %v", entry, got)
		}
	}
}

// Whatever the path, the written entry is recognised as ours, and sh would run that path.
func TestWrittenIsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir := rapid.StringOf(rapid.RuneFrom([]rune(`ab /'"\$;&|<>()#*~=éß.`))).Draw(t, "dir")
		s := Spec{Command: "/" + dir + "/beckon-hook", Events: []string{"Stop"}}
		if s.check() != nil {
			t.Fatalf("refused: %q", s.Command)
		}
		want := []string{slashed(s.Command), "Stop"}
		for _, h := range []handler{s.handler("Stop"), {"command": run.CommandLine(want...)}} {
			if !reflect.DeepEqual(h.words(), want) {
				t.Fatalf("%q: words %q", s.Command, h.words())
			}
		}
	})
}

func TestEntry(t *testing.T) {
	for _, c := range []struct {
		spec  Spec
		event string
		want  string
	}{
		{Spec{Command: "/a/beckon-hook"}, "PreToolUse", `{"type": "command", "command": "/a/beckon-hook", "args": ["PreToolUse"], "timeout": 60}`},
		{Spec{Command: "/a/beckon-hook"}, "SessionEnd", `{"type": "command", "command": "/a/beckon-hook", "args": ["SessionEnd"]}`},
		{Spec{Command: `C:\bin\beckon-hook.exe`}, "Stop", `{"type": "command", "command": "C:/bin/beckon-hook.exe", "args": ["Stop"], "timeout": 60}`},
	} {
		got := oneLine(c.spec.entry(c.event))
		if got != c.want || !json.Valid([]byte(got)) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
