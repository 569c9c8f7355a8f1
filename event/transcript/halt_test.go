package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"

	"pgregory.net/rapid"
)

// The halt is found in transcripts of the real client that are cut after the event in their
// name.
func TestHaltOfRealTranscripts(t *testing.T) {
	want := map[string]string{
		"2.1.197_esc_text":  "2026-11-20T14:06:45.340Z",
		"2.1.329_esc_text":  "2026-11-20T13:55:48.088Z",
		"2.1.197_esc_tool":  "2026-11-20T14:06:50.282Z",
		"2.1.329_esc_tool":  "2026-11-20T13:55:53.027Z",
		"2.1.197_refused":   "2026-11-20T14:06:55.636Z",
		"2.1.329_refused":   "2026-11-20T13:55:58.360Z",
		"2.1.197_esc_agent": "2026-11-20T14:07:23.807Z",
		// Work continued after the halt, after a refusal with the user's words, or after a
		// refused call of a subagent; or the user typed the words of a marker.
		"2.1.197_esc_then_bang": "", "2.1.197_esc_queued": "",
		"2.1.197_refused_feedback": "", "2.1.329_refused_feedback": "",
		"2.1.197_subagent_refused_main": "", "2.1.329_subagent_refused_main": "",
		"2.1.329_typed_marker": "",
		// A subagent's own transcript shows nothing about the main conversation.
		"2.1.197_subagent_esc": "", "2.1.197_subagent_refused": "", "2.1.329_subagent_refused": "",
	}
	files, _ := filepath.Glob("testdata/halt/*.jsonl")
	if len(files) != len(want) {
		t.Errorf("%d samples, %d expectations", len(files), len(want))
	}
	for name, stamp := range want {
		entries, _, err := Read(filepath.Join("testdata", "halt", name+".jsonl"), -tail, MaxText)
		if err != nil {
			t.Fatal(err)
		}
		var at event.Millis
		if stamp != "" {
			parsed, err := time.Parse(time.RFC3339Nano, stamp)
			if err != nil {
				t.Fatal(err)
			}
			at = event.MillisOf(parsed)
		}
		if halt := lastHalt(entries); halt != at {
			t.Errorf("%s: got %d", name, halt)
		}
	}
}

// lineOf returns a line of a transcript, dated ms after the first.
func lineOf(kind string, ms int, content string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += "," + m
	}
	return `{"type":"` + kind + `","isSidechain":false,"message":{"role":"` + kind + `","content":` + content + `},"timestamp":"` +
		time.UnixMilli(int64(1795182940000+ms)).UTC().Format("2006-01-02T15:04:05.000Z") + `"` + extra + "}\n"
}

const (
	words   = `[{"type":"text","text":"Done."}]`
	marker  = `[{"type":"text","text":"[Request interrupted by user]"}]`
	forTool = `[{"type":"text","text":"[Request interrupted by user for tool use]"}]`
	refusal = `[{"type":"tool_result","is_error":true,"tool_use_id":"t1","content":"The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait."}]`
	tool    = `[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]`
)

func TestHaltForms(t *testing.T) {
	prompt := lineOf("user", 0, `"do it"`, `"promptSource":"typed"`)
	work := lineOf("assistant", 10, words)
	for _, tt := range []struct {
		name   string
		text   string
		halted bool
	}{
		{"nothing", "", false},
		{"a turn", prompt + work, false},
		{"Esc", prompt + work + lineOf("user", 20, marker), true},
		{"Esc in a tool", prompt + work + lineOf("user", 20, forTool), true},
		{"Esc, told by the message it cut off", prompt + lineOf("user", 20, `""`, `"interruptedMessageId":"m"`), true},
		{"refusal", prompt + work + lineOf("user", 20, refusal) + lineOf("user", 21, forTool), true},
		{"refusal, and what to do instead", prompt + work + lineOf("user", 20, refusal) + lineOf("assistant", 21, words), false},
		{"Esc, then a prompt", prompt + lineOf("user", 20, marker) + lineOf("user", 30, `"again"`), false},
		{"Esc, then a prompt in the same millisecond", prompt + lineOf("user", 20, marker) + lineOf("user", 20, `"again"`), false},
		{"Esc, then a prompt with a picture", lineOf("user", 20, marker) + lineOf("user", 30, `[{"type":"text","text":"see"},{"type":"image"}]`), false},
		{"Esc, then the agent's words", lineOf("user", 20, marker) + lineOf("assistant", 30, words), false},
		{"Esc, then a tool's result", lineOf("user", 20, marker) + lineOf("user", 30, tool), false},
		{"Esc, and an older line written late", prompt + lineOf("user", 20, marker) + lineOf("user", 15, tool), true},
		{"Esc, then what was said before it", lineOf("user", 20, marker) + lineOf("assistant", 21, words, `"isAbortedMidStream":true`), true},
		{"Esc, then the client's own words", lineOf("user", 20, marker) + strings.Replace(lineOf("assistant", 30, words), `"content"`, `"model":"<synthetic>","content"`, 1), true},
		{"Esc, then bookkeeping", lineOf("user", 20, marker) + lineOf("system", 30, `"x"`) + lineOf("attachment", 31, `"x"`) +
			`{"type":"last-prompt"}` + "\n" + lineOf("user", 32, `"<command-name>/model</command-name>"`) + lineOf("user", 33, `"<local-command-stdout>x"`), true},
		{"Esc, then a caveat of the client", lineOf("user", 20, marker) + lineOf("user", 30, `"Caveat"`, `"isMeta":true`), true},
		{"Esc, then a summary", lineOf("user", 20, marker) + lineOf("user", 30, `"This session"`, `"isCompactSummary":true`), true},
		{"Esc, other calls cancelled", lineOf("user", 20, marker) + lineOf("user", 30, `[{"type":"tool_result","is_error":true,"content":"x"}]`, `"toolDenialKind":"cancelled"`), true},
		{"Esc of a subagent", prompt + work + strings.Replace(lineOf("user", 20, marker), "false", "true", 1), false},
		{"Esc, a subagent goes on", prompt + lineOf("user", 20, marker) + strings.Replace(lineOf("assistant", 30, words), "false", "true", 1), true},
		{"the marker, typed", prompt + lineOf("user", 20, `"[Request interrupted by user]"`), false},
		{"the marker, typed, as blocks", prompt + lineOf("user", 20, marker, `"promptSource":"sdk"`), false},
		{"the marker, typed, as blocks of a person", prompt + lineOf("user", 20, marker, `"origin":{"kind":"human"}`), false},
		{"the marker and more", prompt + lineOf("user", 20, marker[:len(marker)-1]+`,{"type":"text","text":"more"}]`), false},
		{"the marker in an agent's mouth", prompt + lineOf("assistant", 20, marker), false},
		{"the marker in a request's copy", work + lineOf("api-request-blob", 20, marker), false},
		{"a marker without a time", prompt + `{"type":"user","message":{"content":` + marker + `}}` + "\n", false},
		{"a broken line between", prompt + "{\"type\":\n" + lineOf("user", 20, marker), true},
		{"bytes that are no text", prompt + "\xff\xfe\x00\n" + lineOf("user", 20, marker), true},
		{"carriage returns", strings.ReplaceAll(prompt+lineOf("user", 20, marker), "\n", "\r\n"), true},
		{"half a last line", prompt + lineOf("user", 20, marker) + lineOf("user", 30, `"again"`)[:60], true},
		{"a last line without its line break", prompt + strings.TrimSuffix(lineOf("user", 20, marker), "\n"), false},
		{"a time with an offset", `{"type":"user","message":{"content":` + marker + `},"timestamp":"2026-11-20T15:55:48.088+02:00"}` + "\n", true},
	} {
		file := filepath.Join(t.TempDir(), "t.jsonl")
		write(t, file, tt.text)
		halt, err := LastHalt(file)
		if err != nil || (halt != 0) != tt.halted {
			t.Errorf("%s: got %d, %v", tt.name, halt, err)
		}
	}
}

// The halt at the end of a long file is found even if large entries follow it, up to 256 KiB.
func TestLastHaltLooksBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	big := func(n int) string { return `{"type":"attachment","x":"` + strings.Repeat("é", n/2) + `"}` + "\n" }
	for name, c := range map[string]struct {
		behind string
		halted bool
	}{"80 KiB": {big(80 << 10), true}, "240 KiB in lines of 60": {strings.Repeat(big(60<<10), 4), true}, "over 256 KiB": {strings.Repeat(big(60<<10), 5), false}} {
		write(t, file, strings.Repeat(lineOf("assistant", 0, words), 2000), lineOf("user", 20, marker), c.behind)
		halt, err := LastHalt(file)
		if err != nil || (halt != 0) != c.halted {
			t.Errorf("%s: got %d, %v", name, halt, err)
		}
	}
}

func TestLastHaltErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := LastHalt(filepath.Join(dir, "none")); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
	for _, name := range []string{dir, os.DevNull} {
		if _, err := LastHalt(name); err == nil {
			t.Errorf("%s is not a transcript", name)
		}
	}
}

// Whatever came before, a marker at the end means a halt and a prompt after it means the turn
// goes on.
func TestHaltIsTheNewest(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		lineOf("user", 1, `"go"`), lineOf("assistant", 2, words), lineOf("user", 3, tool), lineOf("user", 4, marker), lineOf("user", 5, forTool),
		lineOf("user", 6, `"<bash-input>ls</bash-input>"`), lineOf("assistant", 7, words, `"isAbortedMidStream":true`), strings.Replace(lineOf("assistant", 8, words), "false", "true", 1), "{}\n",
	})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(piece).Draw(t, "lines")
		halted := append(entriesOf(lines...), entriesOf(lineOf("user", 100, marker))...)
		if halt := lastHalt(halted); halt != halted[len(halted)-1].At {
			t.Fatalf("got %d", halt)
		}
		if halt := lastHalt(append(halted, entriesOf(lineOf("user", 101, `"go on"`))...)); halt != 0 {
			t.Fatalf("went on, got %d", halt)
		}
	})
}

func BenchmarkLastHalt(b *testing.B) {
	data, err := os.ReadFile(filepath.Join("testdata", "halt", "2.1.197_esc_then_bang.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "t.jsonl")
	write(b, file, strings.Repeat(string(data), 200))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := LastHalt(file); err != nil {
			b.Fatal(err)
		}
	}
}
