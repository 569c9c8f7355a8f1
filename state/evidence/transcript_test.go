package evidence

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
)

func at(s string) event.Millis {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return event.Millis(t.UnixMilli())
}

func tail(t testing.TB, name string) Transcript {
	t.Helper()
	tr, err := Tail(filepath.Join("testdata", "transcript", name+".jsonl"), 0)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Transcripts of the real client, cut after the thing that their name says.
func TestTailOfRealTranscripts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		halted  bool
		halt    string
		refused int
		goes    bool
	}{
		{"2.1.197_esc_text", true, "2026-11-20T14:06:45.340Z", 0, false},
		{"2.1.329_esc_text", true, "2026-11-20T13:55:48.088Z", 0, false},
		{"2.1.197_esc_tool", true, "2026-11-20T14:06:50.282Z", 1, false},
		{"2.1.329_esc_tool", true, "2026-11-20T13:55:53.027Z", 1, false},
		{"2.1.197_refused", true, "2026-11-20T14:06:55.636Z", 1, false},
		{"2.1.329_refused", true, "2026-11-20T13:55:58.360Z", 1, false},
		{"2.1.197_esc_agent", true, "2026-11-20T14:07:23.807Z", 1, false},
		{"2.1.197_esc_then_bang", false, "2026-11-20T14:07:23.807Z", 1, false},
		{"2.1.197_esc_queued", false, "2026-11-20T14:07:34.434Z", 0, false},
		{"2.1.197_refused_feedback", false, "", 1, true},
		{"2.1.329_refused_feedback", false, "", 1, true},
		{"2.1.329_typed_marker", false, "", 0, false},
		{"2.1.197_subagent_refused_main", false, "", 0, false},
		{"2.1.329_subagent_refused_main", false, "", 0, false},
	} {
		tr := tail(t, tt.name)
		e := tr.Main()
		want := event.Millis(0)
		if tt.halt != "" {
			want = at(tt.halt)
		}
		if e.Halted != tt.halted || e.Halt != want || len(e.Refused) != tt.refused || e.Activity == 0 || e.Prompt == 0 || !tr.Whole {
			t.Errorf("%s: got %+v", tt.name, e)
		}
		for _, r := range e.Refused {
			if r.Goes != tt.goes || !strings.HasPrefix(r.UseID, "toolu_") || r.At == 0 {
				t.Errorf("%s: got %+v", tt.name, r)
			}
		}
	}
}

// A subagent's refused call stands in its own transcript, and its agent goes
// on; Esc stops it with the main conversation.
func TestTailOfSubagents(t *testing.T) {
	for name, id := range map[string]string{"2.1.197_subagent_refused": "a7e6f2d1a17d848d6", "2.1.329_subagent_refused": "a031c7760180fb1b4"} {
		tr := tail(t, name)
		e := tr.Of(id)
		if e.Halted || e.Halt != 0 || len(e.Refused) != 1 || !e.Refused[0].Goes || e.Activity < e.Refused[0].At {
			t.Errorf("%s: got %+v", name, tr)
		}
		if tr.Main().Activity != 0 {
			t.Errorf("%s: nothing of it is the main conversation's", name)
		}
	}
	tr := tail(t, "2.1.197_subagent_esc")
	if e := tr.Of("adbbe7a1476ca6d86"); !e.Halted || !e.Sidechain || e.Halt != at("2026-11-20T14:07:23.806Z") {
		t.Errorf("got %+v", tr)
	}
	if got := SubagentTranscript("/p/s.jsonl", "a7e6"); got != filepath.FromSlash("/p/s/subagents/agent-a7e6.jsonl") {
		t.Errorf("got %q", got)
	}
	for _, bad := range [][2]string{{"/p/s.jsonl", ""}, {"/p/s.jsonl", "../x"}, {"/p/s", "a7"}, {"", "a"}} {
		if got := SubagentTranscript(bad[0], bad[1]); got != "" {
			t.Errorf("%v: got %q", bad, got)
		}
	}
}

// user, agent and marker make lines of a transcript.
func line(kind string, ms int, content string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += "," + m
	}
	return `{"type":"` + kind + `","isSidechain":false,"message":{"role":"` + kind + `","content":` + content + `},"timestamp":"` +
		time.UnixMilli(int64(1795182940000+ms)).UTC().Format("2006-01-02T15:04:05.000Z") + `"` + extra + "}\n"
}

const (
	words    = `[{"type":"text","text":"Done."}]`
	marker   = `[{"type":"text","text":"[Request interrupted by user]"}]`
	forTool  = `[{"type":"text","text":"[Request interrupted by user for tool use]"}]`
	refusal  = `[{"type":"tool_result","is_error":true,"tool_use_id":"t1","content":"The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait."}]`
	inBlocks = `[{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"The user doesn't want to proceed with this tool use. STOP what you are doing"}]}]`
	tool     = `[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]`
)

func TestTailForms(t *testing.T) {
	prompt := line("user", 0, `"do it"`, `"promptSource":"typed"`)
	work := line("assistant", 10, words)
	for _, tt := range []struct {
		name   string
		text   string
		halted bool
	}{
		{"nothing", "", false},
		{"a turn", prompt + work, false},
		{"Esc", prompt + work + line("user", 20, marker), true},
		{"Esc in a tool", prompt + work + line("user", 20, forTool), true},
		{"Esc, told by the message it cut off", prompt + line("user", 20, `""`, `"interruptedMessageId":"m"`), true},
		{"refusal, its marker not written yet", prompt + work + line("user", 20, refusal), true},
		{"refusal in blocks of text", prompt + line("user", 20, inBlocks), true},
		{"Esc, then a prompt", prompt + line("user", 20, marker) + line("user", 30, `"again"`), false},
		{"Esc, then a prompt in the same millisecond", prompt + line("user", 20, marker) + line("user", 20, `"again"`), false},
		{"Esc, then a prompt with a picture", line("user", 20, marker) + line("user", 30, `[{"type":"text","text":"see"},{"type":"image"}]`), false},
		{"Esc, then the agent's words", line("user", 20, marker) + line("assistant", 30, words), false},
		{"Esc, then a tool's result", line("user", 20, marker) + line("user", 30, tool), false},
		{"Esc, and an older line written late", prompt + line("user", 20, marker) + line("user", 15, tool), true},
		{"Esc, then what was said before it", line("user", 20, marker) + line("assistant", 21, words, `"isAbortedMidStream":true`), true},
		{"Esc, then the client's own words", line("user", 20, marker) + strings.Replace(line("assistant", 30, words), `"content"`, `"model":"<synthetic>","content"`, 1), true},
		{"Esc, then bookkeeping", line("user", 20, marker) + line("system", 30, `"x"`) + line("attachment", 31, `"x"`) +
			`{"type":"last-prompt"}` + "\n" + line("user", 32, `"<command-name>/model</command-name>"`) + line("user", 33, `"<local-command-stdout>x"`), true},
		{"Esc, then a caveat of the client", line("user", 20, marker) + line("user", 30, `"Caveat"`, `"isMeta":true`), true},
		{"Esc, then a summary", line("user", 20, marker) + line("user", 30, `"This session"`, `"isCompactSummary":true`), true},
		{"Esc, other calls cancelled", line("user", 20, marker) + line("user", 30, `[{"type":"tool_result","is_error":true,"content":"x"}]`, `"toolDenialKind":"cancelled"`), true},
		{"Esc of a subagent", prompt + work + strings.Replace(line("user", 20, marker), "false", "true", 1), false},
		{"Esc, a subagent goes on", prompt + line("user", 20, marker) + strings.Replace(line("assistant", 30, words), "false", "true", 1), true},
		{"the marker, typed", prompt + line("user", 20, `"[Request interrupted by user]"`), false},
		{"the marker, typed, as blocks", prompt + line("user", 20, marker, `"promptSource":"sdk"`), false},
		{"the marker, typed, as blocks of a person", prompt + line("user", 20, marker, `"origin":{"kind":"human"}`), false},
		{"the marker and more", prompt + line("user", 20, marker[:len(marker)-1]+`,{"type":"text","text":"more"}]`), false},
		{"the marker in an agent's mouth", prompt + line("assistant", 20, marker), false},
		{"the marker in a request's copy", work + line("api-request-blob", 20, marker), false},
		{"the refusal as a tool's output", prompt + line("user", 20, strings.Replace(refusal, `"is_error":true`, `"is_error":false`, 1)), false},
		{"a marker without a time", prompt + `{"type":"user","message":{"content":` + marker + `}}` + "\n", false},
		{"a broken line between", prompt + "{\"type\":\n" + line("user", 20, marker), true},
		{"bytes that are no text", prompt + "\xff\xfe\x00\n" + line("user", 20, marker), true},
		{"carriage returns", strings.ReplaceAll(prompt+line("user", 20, marker), "\n", "\r\n"), true},
		{"half a last line", prompt + line("user", 20, marker) + line("user", 30, `"again"`)[:60], true},
		{"a last line without its line break", prompt + strings.TrimSuffix(line("user", 20, marker), "\n"), false},
		{"times in seconds", `{"type":"user","message":{"content":` + marker + `},"timestamp":1795182940}` + "\n", true},
		{"times in milliseconds", `{"type":"user","message":{"content":` + marker + `},"timestamp":1795182940000}` + "\n", true},
		{"a time with an offset", `{"type":"user","message":{"content":` + marker + `},"timestamp":"2026-11-20T15:55:48.088+02:00"}` + "\n", true},
	} {
		file := filepath.Join(t.TempDir(), "t.jsonl")
		write(t, file, tt.text)
		tr, err := Tail(file, 0)
		if err != nil || tr.Main().Halted != tt.halted {
			t.Errorf("%s: got %+v, %v", tt.name, tr, err)
		}
	}
}

func TestStamp(t *testing.T) {
	for text, want := range map[string]event.Millis{
		`"2026-11-20T13:55:48.088Z"`: 1795182948088, `"2026-11-20T13:55:48Z"`: 1795182948000, `"2026-11-20T15:55:48.088+02:00"`: 1795182948088,
		`1795182948088`: 1795182948088, `1795182948.5`: 1795182948500, `0`: 0, `-1`: 0, `1e300`: 0, `""`: 0, `"yesterday"`: 0, `null`: 0, `"1950-01-01T00:00:00Z"`: 0,
	} {
		e := parseEntry([]byte(`{"type":"assistant","timestamp":` + text + `}`))
		if e.at != want {
			t.Errorf("%s: got %d, want %d", text, e.at, want)
		}
	}
}

func TestTailRefusals(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		b.WriteString(strings.Replace(line("user", i, refusal), `"t1"`, `"t`+strings.Repeat("x", i)+`"`, 1))
	}
	tr := parseTail([]byte(b.String()))
	if r := tr.Main().Refused; len(r) != maxRefused || len(r[0].UseID) != 40 || r[0].At <= r[1].At {
		t.Errorf("newest first, bounded: got %d, %+v", len(r), r)
	}
	two := strings.Replace(refusal, `}]`, `},`+strings.Replace(refusal, "t1", "t9", 1)[1:], 1)
	if r := parseTail([]byte(line("user", 0, two))).Main().Refused; len(r) != 2 {
		t.Errorf("two in one entry: %+v", r)
	}
}

func TestTailManyActors(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		b.WriteString(strings.Replace(line("assistant", i, words, `"agentId":"a`+strings.Repeat("x", i)+`"`), "false", "true", 1))
	}
	b.WriteString(line("user", 99, marker))
	tr := parseTail([]byte(b.String()))
	if len(tr.Endings) != maxEndings || tr.Endings[0].Sidechain || !tr.Main().Halted {
		t.Errorf("got %d endings, main %+v", len(tr.Endings), tr.Main())
	}
}

func TestTailErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Tail(filepath.Join(dir, "none"), 0); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Tail(dir, 0); err == nil {
		t.Error("a directory is no transcript")
	}
	if _, err := Tail(os.DevNull, 0); err == nil {
		t.Error("a device is no transcript")
	}
}

// The end of a long file is found behind an entry larger than the first
// window, and not looked for beyond the limit.
func TestTailWindow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	big := `{"type":"attachment","timestamp":"2026-11-20T13:55:48.088Z","x":"` + strings.Repeat("é", 80<<10) + `"}` + "\n"
	write(t, file, strings.Repeat(line("assistant", 0, words), 2000)+line("user", 20, marker)+big)
	tr, err := Tail(file, 0)
	if err != nil || !tr.Main().Halted || tr.Whole {
		t.Errorf("got %+v, %v", tr, err)
	}
	tr, err = Tail(file, 100<<10)
	if err != nil || len(tr.Endings) != 0 {
		t.Errorf("beyond the limit: %+v, %v", tr, err)
	}
}

// FuzzTail: for any file and any limit, the reading is that of the whole lines
// in the window, no more and no less; half a line at the end changes nothing;
// whatever went before, a marker at the end halts and a prompt after it goes on.
func FuzzTail(f *testing.F) {
	names, _ := filepath.Glob(filepath.Join("testdata", "transcript", "*.jsonl"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, 2000, 10)
	}
	f.Add([]byte(line("user", 0, `"x"`)+line("user", 20, marker)+line("user", 20, refusal)), 100, 1)
	file := filepath.Join(f.TempDir(), "t.jsonl")
	f.Fuzz(func(t *testing.T, data []byte, limit, cut int) {
		if len(data) > 1<<20 || limit < 1 {
			return
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Tail(file, int64(limit))
		if err != nil {
			t.Fatal(err)
		}
		if want := lastLines(data, limit); !equal(got, want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		for _, e := range got.Endings {
			if e.Halted && (e.Halt == 0 || e.Halt < e.Activity) {
				t.Fatalf("got %+v", e)
			}
		}
		if n := bytes.LastIndexByte(data, '\n') + 1; cut > 0 && n+cut < len(data) {
			if a, b := parseTail(data), parseTail(data[:n+cut]); !equal(a, b) {
				t.Fatalf("half a line: %+v and %+v", a, b)
			}
		}
		esc := append(bytes.Clone(data), "\n"+last("user", marker)...)
		if e := parseTail(esc).Main(); !e.Halted && e.Activity <= at(lastTime) {
			t.Fatalf("a marker at the very end: %+v", e)
		}
		if e := parseTail(append(esc, last("user", `"go on"`)...)).Main(); e.Halted && e.Halt <= at(lastTime) {
			t.Fatalf("and a prompt after it: %+v", e)
		}
	})
}

const lastTime = "9999-12-31T23:59:59.999Z"

func last(kind, content string) string {
	return `{"type":"` + kind + `","message":{"content":` + content + `},"timestamp":"` + lastTime + "\"}\n"
}

// lastLines reads the window as it is described: growing until it says
// something, each time the lines that lie in it whole.
func lastLines(data []byte, limit int) Transcript {
	for window := min(limit, firstWindow); ; window = min(limit, 4*window) {
		from := max(0, len(data)-window-1)
		var in [][]byte
		pos := 0
		for _, l := range bytes.SplitAfter(data, []byte("\n")) {
			if pos > from || from == 0 {
				in = append(in, l)
			}
			pos += len(l)
		}
		tr := parseTail(bytes.Join(in, nil))
		tr.Whole = from == 0
		if tr.Whole || len(tr.Endings) > 0 || window == limit {
			return tr
		}
	}
}

func equal(a, b Transcript) bool {
	x, _ := json.Marshal(a.Endings)
	y, _ := json.Marshal(b.Endings)
	return bytes.Equal(x, y)
}
