package transcript

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"beckon/event"
)

const (
	hi      = "Hi there. Everything is done; the work is complete."
	look    = "Let me look at the files first."
	listed  = "The list is there. Next I read the notes; this may take a moment."
	both    = "Both steps are finished.\n\nThe list holds two files, README.md and nap.\n\n✅ Done — café 日本語."
	running = "Running it."
)

// Transcripts of the real client (testdata): what a person who watched it would
// write down. A final text that is empty was not reached.
func TestRealTranscripts(t *testing.T) {
	clients := []string{"2.1.197", "2.1.329"}
	for _, tt := range []struct {
		name     string
		versions []string
		prompt   string
		final    string
		progress []string // final left out
	}{
		{"hi", clients, "lab:hi", hi, nil},
		{"progress", clients, "lab:progress", both, []string{look, listed}},
		{"print", clients, "lab:progress", both, []string{look, listed}},
		{"slash", clients, "/look around here", both, []string{look, listed}},
		{"queued", clients, "lab:hi now", hi, nil},
		{"local", clients, "lab:bash ls", "It ran. Done.", []string{hi, running}},
		{"compact", clients, "lab:bash ls", "It ran. Done.", []string{look, listed, both, running}},
		{"compact_mid", clients, "lab:huge", "Survived the compaction.", []string{hi}},
		{"overload", clients, "lab:overload", "", nil},
		{"esc_tool", clients, "lab:long 30", "", nil},
		{"sub", clients[:1], "lab:sub", "The subagent is back. Done.", nil},
		{"sub", clients[1:], "lab:sub", "Noted: the background work ended.", []string{"The subagent is back. Done."}},
		{"subbg", clients, "lab:subbg", "Noted: the background work ended.", []string{"Started it in the background."}},
		{"sub_agent", clients, "", "Subagent result.", nil}, // nobody's prompt, and not the main conversation's progress
	} {
		for _, v := range tt.versions {
			file := filepath.Join("testdata", v+"_"+tt.name+".jsonl")
			prompt, at, err := LastPrompt(file, 0)
			if prompt != tt.prompt || err != nil || (at == 0) != (prompt == "") {
				t.Errorf("%s %s: prompt %q at %d, %v", v, tt.name, prompt, at, err)
			}
			final, when, err := FinalText(file, 0)
			if final != tt.final || err != nil || (when == 0) != (final == "") || final != "" && when <= at {
				t.Errorf("%s %s: final text %q at %d, %v", v, tt.name, final, when, err)
			}
			entries, c, err := Read(file, Cursor{}, Limits{})
			if err != nil || c.Malformed+c.Long+c.Restarts != 0 {
				t.Errorf("%s %s: %+v, %v", v, tt.name, c, err)
			}
			items := Progress(entries, final)
			var texts []string
			for _, i := range items {
				texts = append(texts, i.Text)
			}
			if !slices.Equal(texts, tt.progress) || !slices.IsSortedFunc(items, func(a, b Item) int { return int(a.At - b.At) }) {
				t.Errorf("%s %s: progress %+v", v, tt.name, items)
			}
		}
	}
}

// What Esc cut off is kept, and marked: no hook tells of it. The two versions
// mark it differently.
func TestEscText(t *testing.T) {
	for _, v := range []string{"2.1.197", "2.1.329"} {
		entries, _, err := Read(filepath.Join("testdata", v+"_esc_text.jsonl"), Cursor{}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		items := Progress(entries, hi)
		if len(items) != 1 || !items[0].Aborted || !strings.HasPrefix(items[0].Text, "Word after word") {
			t.Errorf("%s: %+v", v, items)
		}
		interrupts := 0
		for _, e := range entries {
			if e.Interrupt {
				interrupts++
			}
			if e.Interrupt && (e.Prompt || e.Note) {
				t.Errorf("%s: %+v", v, e)
			}
		}
		if interrupts != 1 {
			t.Errorf("%s: %d interrupts", v, interrupts)
		}
	}
}

// A line that 2.1.329 writes behind the answer fills the first window: the
// prompt it sent, 64 KB of it.
func TestFinalTextBehindALargeLine(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "2.1.329_hi.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	i := bytes.LastIndex(data, []byte(`{"type":"prompt_snapshot"`))
	grown := slices.Concat(data[:i], []byte(`{"content":"`+strings.Repeat("z", 64_000)+`",`), data[i+1:])
	file := filepath.Join(t.TempDir(), "t.jsonl")
	write(t, file, string(grown))
	if text, _, err := FinalText(file, 0); text != hi || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if text, _, err := FinalText(file, 32<<10); text != "" || err != nil {
		t.Errorf("beyond the bound: %q, %v", text, err)
	}
	if text, at, err := LastPrompt(file, 32<<10); text != "lab:hi" || at != 0 || err != nil {
		t.Errorf("the client's own record: %q, %d, %v", text, at, err)
	}
}

// The answer may stand in front of the prompt in the file.
func TestFinalTextIsByTime(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"the prompt was written late":         {result(1) + assistant(5, "the answer") + user(4, `"the prompt"`), "the answer"},
		"not written yet":                     {assistant(1, "of the turn before") + user(4, `"the prompt"`), ""},
		"nothing since the result":            {assistant(1, "I look.") + result(2), ""},
		"two texts":                           {assistant(1, "I look.") + result(2) + assistant(3, "One.") + assistant(4, "Two."), "One.\n\nTwo."},
		"out of order":                        {assistant(4, "Two.") + assistant(3, "One.") + result(2), "One.\n\nTwo."},
		"an empty user entry":                 {assistant(3, "One.") + user(4, `""`) + user(4, `[]`), "One."},
		"a note behind it":                    {assistant(3, "One.") + user(4, `"<local-command-stdout>ok</local-command-stdout>"`), "One."},
		"a hook's feedback, then more":        {assistant(3, "One.") + strings.Replace(user(4, `"Stop hook feedback"`), `{`, `{"isMeta":true,`, 1) + assistant(5, "Two."), "Two."},
		"an API error is not the agent's":     {assistant(3, "One.") + strings.Replace(assistant(4, "API Error"), `"model":"m"`, `"model":"<synthetic>"`, 1), "One."},
		"a subagent's, in older clients":      {assistant(3, "One.") + strings.Replace(result(4), "false", "true", 1) + strings.Replace(assistant(5, "Sub."), "false", "true", 1), "One."},
		"thinking and calls are no text":      {user(1, `"x"`) + strings.Replace(assistant(2, "One."), `[{`, `[{"type":"thinking","thinking":"hm"},{"type":"tool_use","id":"t1","name":"Bash","input":{}},{`, 1), "One."},
		"a text that is a string":             {user(1, `"x"`) + `{"type":"assistant","message":{"content":"One."},"timestamp":1795000002}` + "\n", "One."},
		"no file's beginning, no prompt seen": {assistant(3, "One."), "One."},
		"an empty file":                       {"", ""},
	} {
		got, _, err := finalText(strings.NewReader(tt.text), int64(len(tt.text)), 0)
		if got != tt.want || err != nil {
			t.Errorf("%s: got %q, want %q (%v)", name, got, tt.want, err)
		}
	}
}

// The tail of a long final text is kept, on a rune boundary.
func TestFinalTextKeepsTheTail(t *testing.T) {
	text := user(1, `"x"`) + assistant(2, strings.Repeat("é", 3000)) + assistant(3, strings.Repeat("ü", 500)+" Which one?")
	got, _, _ := finalText(strings.NewReader(text), int64(len(text)), 0)
	if len(got) > MaxText || len(got) < MaxText-1 || !strings.HasSuffix(got, "Which one?") || !strings.HasPrefix(got, "é") {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
}

func TestPrompts(t *testing.T) {
	for name, tt := range map[string]struct {
		line   string
		prompt string // empty: none
		note   bool
	}{
		"typed":                {user(1, `"fix it"`), "fix it", false},
		"older, with a block":  {user(1, `[{"type":"text","text":"fix it"}]`), "fix it", false},
		"with an image":        {user(1, `[{"type":"image","source":{}},{"type":"text","text":"what is this"}]`), "what is this", false},
		"beside a reminder":    {user(1, `[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"fix it"}]`), "fix it", false},
		"beside the editor's":  {user(1, `[{"type":"text","text":"<ide_opened_file>x</ide_opened_file>"},{"type":"text","text":"fix it"}]`), "fix it", false},
		"two blocks":           {user(1, `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`), "a\n\nb", false},
		"the marker, typed":    {user(1, `"[Request interrupted by user]"`), "", true},
		"the marker":           {user(1, `[{"type":"text","text":"[Request interrupted by user]"}]`), "", false},
		"a result":             {result(1), "", false},
		"of a task that ended": {user(1, `"<task-notification>\n<task-id>x</task-id>"`), "", true},
		"a reminder":           {user(1, `"<system-reminder>x</system-reminder>"`), "", true},
		"a command it ran":     {user(1, `"<command-name>/clear</command-name>"`), "", true},
		"a command for the agent": {
			user(1, `"<command-message>look</command-message>\n<command-name>/look</command-name>\n<command-args>here</command-args>"`), "/look here", false,
		},
		"without arguments":    {user(1, `"<command-message>look</command-message>\n<command-name>/look</command-name>"`), "/look", false},
		"a shell line":         {user(1, `"<bash-input>ls</bash-input>"`), "", true},
		"of the system":        {strings.Replace(user(1, `"go on"`), "{", `{"promptSource":"system",`, 1), "", false},
		"of another origin":    {strings.Replace(user(1, `"go on"`), "{", `{"origin":{"kind":"peer"},`, 1), "", false},
		"by a program":         {strings.Replace(user(1, `"go on"`), "{", `{"promptSource":"sdk","origin":null,`, 1), "go on", false},
		"a summary":            {strings.Replace(user(1, `"continued"`), "{", `{"isCompactSummary":true,`, 1), "", true},
		"to a subagent":        {strings.Replace(user(1, `"do it"`), "false", "true", 1), "", false},
		"queued":               {`{"type":"attachment","attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt"},"timestamp":1}` + "\n", "and this", false},
		"queued, with blocks":  {`{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"and this"}],"commandMode":"prompt"},"timestamp":1}` + "\n", "and this", false},
		"queued by the client": {`{"type":"attachment","attachment":{"type":"queued_command","prompt":"x","commandMode":"task-notification"},"timestamp":1}` + "\n", "", false},
	} {
		e, v := parse([]byte(tt.line), MaxText)
		if v == malformed || e.Prompt != (tt.prompt != "") || e.Prompt && e.Text != tt.prompt || e.Note != tt.note {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// Of a prompt the head is kept, of an answer the tail.
func TestTextLimits(t *testing.T) {
	long := strings.Repeat("é", 100)
	e, _ := parse([]byte(user(1, strconv.Quote(long+"end"))), 21)
	if e.Text != strings.Repeat("é", 10) {
		t.Errorf("prompt: %q", e.Text)
	}
	e, _ = parse([]byte(assistant(1, "begin"+long)), 21)
	if e.Text != strings.Repeat("é", 10) {
		t.Errorf("answer: %q", e.Text)
	}
}

func TestStamp(t *testing.T) {
	for text, want := range map[string]event.Millis{
		`"2026-11-20T13:55:48.088Z"`: 1795182948088, `"2026-11-20T13:55:48Z"`: 1795182948000, `"2026-11-20T15:55:48.088+02:00"`: 1795182948088,
		`"2026-11-20T13:55:48.088123456Z"`: 1795182948088, `1795182948088`: 1795182948088, `1795182948.5`: 1795182948500, `1795182948`: 1795182948000,
		`"1795182948088"`: 1795182948088, `"1795182948"`: 1795182948000,
		`0`: 0, `-1`: 0, `1e300`: 0, `""`: 0, `"yesterday"`: 0, `null`: 0, `true`: 0, `{}`: 0, `"1950-01-01T00:00:00Z"`: 0, `"999999999999999999999999"`: 0,
	} {
		if got := stamp(gjson.Parse(text)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
	at := stamp(gjson.Parse(`"2026-11-20T13:55:48.088Z"`))
	if want := time.Date(2026, 11, 20, 13, 55, 48, 88e6, time.UTC).UnixMilli(); int64(at) != want {
		t.Errorf("got %d, want %d", at, want)
	}
}

func TestSameText(t *testing.T) {
	const one, two, three = "The tests of the parser pass now.", "The reader was changed in two places.", "I also looked at the writer again."
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"", "", false},
		{"", "x", false},
		{"Done.", "  done.\n", true},
		{"Done.", "All is done.", false}, // too short to be more than chance
		{"I look at  the\nfiles.", "i look at the files.", true},
		{one, one + "\n\n" + two, true},                                 // joined
		{two[5:], one + " " + two, true},                                // cut
		{one + " " + two + " " + three, three + "\n" + one, true},       // two sentences
		{one + " And more of it.", one + " But this is not so.", false}, // one
		{one + " " + one, one + " Something else was said.", false},     // one, twice
		{"Yes. No. Well. Fine.", "Fine! Well. Yes. No.", false},         // short ones
		{"これは二十文字を超える長い文章であることを示しています。そしてもう一つの長い文章がここに続いているのです。", "そしてもう一つの長い文章がここに続いているのです。これは二十文字を超える長い文章であることを示しています。終わり。", true},
	} {
		if SameText(tt.a, tt.b) != tt.same || SameText(tt.b, tt.a) != tt.same {
			t.Errorf("%q and %q: want %v", tt.a, tt.b, tt.same)
		}
	}
	if Key("A  b\nC") != Key("a b c") || Key("a") == Key("b") || len(Key("")) != 16 {
		t.Error("Key")
	}
}

func TestProgress(t *testing.T) {
	entries := func(lines ...string) (all []Entry) {
		for _, l := range lines {
			e, _ := parse([]byte(l), MaxText)
			all = append(all, e)
		}
		return all
	}
	synthetic := strings.Replace(assistant(6, "API Error: 529, try again."), `"model":"m"`, `"model":"<synthetic>"`, 1)
	side := strings.Replace(assistant(7, "A subagent's own words."), "false", "true", 1)
	got := Progress(entries(
		assistant(5, "The second thing I say."), assistant(3, "The first thing I say."), assistant(4, "Too short"), assistant(8, "the FIRST thing  I say."),
		user(1, `"A prompt is no progress."`), synthetic, side, assistant(9, "All of it is done now."), assistant(9, "0123456789"),
	), "Well. All of it is done now.")
	var texts []string
	for _, i := range got {
		texts = append(texts, i.Text)
		if i.At == 0 || i.UUID == "" || i.Key != Key(i.Text) || i.Aborted {
			t.Errorf("%+v", i)
		}
	}
	if want := []string{"The first thing I say.", "The second thing I say.", "0123456789"}; !slices.Equal(texts, want) {
		t.Errorf("got %q", texts)
	}
}

func BenchmarkFinalText(b *testing.B) {
	file := filepath.Join(b.TempDir(), "t.jsonl")
	var text strings.Builder
	for i := range 400 {
		text.WriteString(result(i) + assistant(i, strings.Repeat("Some words. ", 20)))
	}
	write(b, file, text.String())
	b.ReportAllocs()
	for b.Loop() {
		if s, _, err := FinalText(file, firstWindow); s == "" || err != nil {
			b.Fatal(s, err)
		}
	}
}
