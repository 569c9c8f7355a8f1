package transcript

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"beckon/event"

	"github.com/tidwall/gjson"
)

const (
	look    = "Let me look at the files first."
	listed  = "The list is there. Next I read the notes; this may take a moment."
	running = "Running it."
)

// Transcripts of the real client (testdata) give the turns that a person who watched the
// client would write down.
func TestRealTranscripts(t *testing.T) {
	for _, tt := range []struct {
		name     string
		prompt   string // the newest
		progress []string
	}{
		{"hi", "lab:hi", nil},
		{"progress", "lab:progress", []string{look, listed}},
		{"print", "lab:progress", []string{look, listed}},
		{"slash", "/look around here", []string{look, listed}},
		{"queued", "lab:hi now", nil},
		{"local", "lab:bash ls", []string{running}},
		{"compact", "lab:bash ls", []string{look, listed, running}},
		{"compact_mid", "lab:huge", nil},
		{"overload", "lab:overload", nil},
		{"esc_tool", "lab:long 30", nil},
		{"sub", "lab:sub", nil},
		{"subbg", "lab:subbg", nil}, // a note that the client writes begins the second turn
		{"sub_agent", "", nil},      // no prompt of the user, and no progress of the main conversation
	} {
		for _, v := range []string{"2.1.197", "2.1.329"} {
			entries, c, err := Read(filepath.Join("testdata", v+"_"+tt.name+".jsonl"), 0, MaxText)
			if err != nil || c == 0 {
				t.Errorf("%s %s: %+v, %v", v, tt.name, c, err)
			}
			var prompt Entry
			for _, e := range entries {
				if e.Prompt && e.At >= prompt.At {
					prompt = e
				}
			}
			if prompt.Text != tt.prompt {
				t.Errorf("%s %s: prompt %+v", v, tt.name, prompt)
			}
			if got := progress(entries); !slices.Equal(got, tt.progress) {
				t.Errorf("%s %s: progress %q", v, tt.name, got)
			}
		}
	}
}

// progress returns what the agent said during the turn.
func progress(entries []Entry) (texts []string) {
	var p Progress
	p.Add(entries)
	for _, i := range p.Take() {
		texts = append(texts, i.Text)
	}
	return texts
}

// The text that Esc interrupted is kept, since no hook reports it. The two versions mark it
// differently.
func TestEscText(t *testing.T) {
	for _, v := range []string{"2.1.197", "2.1.329"} {
		entries, _, err := Read(filepath.Join("testdata", v+"_esc_text.jsonl"), 0, MaxText)
		if err != nil {
			t.Fatal(err)
		}
		if got := progress(entries); len(got) != 1 || !strings.HasPrefix(got[0], "Word after word") {
			t.Errorf("%s: %q", v, got)
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
		"queued":               {`{"type":"attachment","attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt"},"timestamp":"2026-11-20T13:55:48Z"}` + "\n", "and this", false},
		"queued, with blocks":  {`{"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"and this"}],"commandMode":"prompt"},"timestamp":"2026-11-20T13:55:48Z"}` + "\n", "and this", false},
		"queued by the client": {`{"type":"attachment","attachment":{"type":"queued_command","prompt":"x","commandMode":"task-notification"},"timestamp":"2026-11-20T13:55:48Z"}` + "\n", "", false},
	} {
		e := parse([]byte(tt.line), MaxText)
		if e.Prompt != (tt.prompt != "") || e.Prompt && e.Text != tt.prompt || e.Note != tt.note {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// A prompt keeps its head, an answer its tail.
func TestTextLimits(t *testing.T) {
	long := strings.Repeat("é", 100)
	e := parse([]byte(user(1, strconv.Quote(long+"end"))), 21)
	if e.Text != strings.Repeat("é", 10) {
		t.Errorf("prompt: %q", e.Text)
	}
	e = parse([]byte(assistant(1, "begin"+long)), 21)
	if e.Text != strings.Repeat("é", 10) {
		t.Errorf("answer: %q", e.Text)
	}
}

func TestStamp(t *testing.T) {
	for text, want := range map[string]event.Millis{
		`"2026-11-20T13:55:48.088Z"`: 1795182948088, `"2026-11-20T13:55:48Z"`: 1795182948000, `"2026-11-20T15:55:48.088+02:00"`: 1795182948088,
		`"2026-11-20T13:55:48.088123456Z"`: 1795182948088,
		`0`:                                0, `-1`: 0, `1e300`: 0, `""`: 0, `"yesterday"`: 0, `null`: 0, `true`: 0, `{}`: 0, `"1950-01-01T00:00:00Z"`: 0, `"999999999999999999999999"`: 0,
	} {
		if got := millisOf(gjson.Parse(text)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
	at := millisOf(gjson.Parse(`"2026-11-20T13:55:48.088Z"`))
	if want := time.Date(2026, 11, 20, 13, 55, 48, 88e6, time.UTC).UnixMilli(); int64(at) != want {
		t.Errorf("got %d, want %d", at, want)
	}
}

func TestSameText(t *testing.T) {
	const one, two = "The tests of the parser pass now.", "The reader was changed in two places."
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"", "", false},
		{"", "x", false},
		{"Done.", "  done.\n", true},
		{"Done.", "All is done.", false}, // so short that the match may be chance
		{"I look at  the\nfiles.", "i look at the files.", true},
		{one, one + "\n\n" + two, true},                                 // joined
		{two[5:], one + " " + two, true},                                // cut
		{one + " And more of it.", one + " But this is not so.", false}, // one
		{one + " " + one, one + " Something else was said.", false},     // one, twice
		{"Yes. No. Well. Fine.", "Fine! Well. Yes. No.", false},         // short ones
	} {
		if SameText(tt.a, tt.b) != tt.same || SameText(tt.b, tt.a) != tt.same {
			t.Errorf("%q and %q: want %v", tt.a, tt.b, tt.same)
		}
	}
	if Normal("A  b\nC") != "a b c" {
		t.Error("Normal")
	}
}

// entriesOf parses lines one by one.
func entriesOf(lines ...string) (all []Entry) {
	for _, l := range lines {
		e := parse([]byte(l), MaxText)
		all = append(all, e)
	}
	return all
}

func TestProgress(t *testing.T) {
	apiError := strings.Replace(assistant(6, "API Error: 529, try again."), `"model":"m"`, `"model":"<synthetic>"`, 1)
	side := strings.Replace(assistant(7, "A subagent's own words."), "false", "true", 1)
	queued := `{"type":"attachment","timestamp":` + stamp(4) + `,"attachment":{"type":"queued_command","prompt":"and this","commandMode":"prompt"}}` + "\n"
	for name, tt := range map[string]struct {
		lines []string
		want  []string
	}{
		"by time":                     {[]string{assistant(5, "The second thing."), assistant(3, "The first thing."), result(9)}, []string{"The first thing.", "The second thing."}},
		"too short":                   {[]string{assistant(1, "Too short"), assistant(2, "0123456789"), result(3)}, []string{"0123456789"}},
		"the newest words":            {[]string{assistant(1, "The first thing."), assistant(2, "The second thing.")}, []string{"The first thing."}},
		"a prompt ends a turn":        {[]string{user(1, `"go"`), assistant(2, "The final text."), user(3, `"go on"`), assistant(4, "And another.")}, nil},
		"one that stands elsewhere":   {[]string{user(3, `"go on"`), assistant(2, "The final text."), assistant(4, "And another.")}, nil},
		"one taken into the turn":     {[]string{assistant(3, "The first thing."), queued, result(5)}, []string{"The first thing."}},
		"notes end none":              {[]string{assistant(1, "The first thing."), user(2, `"<local-command-stdout>ok</local-command-stdout>"`), result(3)}, []string{"The first thing."}},
		"an API error is not said":    {[]string{assistant(5, "The first thing."), apiError, result(7)}, []string{"The first thing."}},
		"a call says that it goes on": {[]string{strings.Replace(assistant(1, "The first thing."), `"model"`, `"stop_reason":"tool_use","model"`, 1)}, []string{"The first thing."}},
		"nor what is marked as final": {[]string{strings.Replace(assistant(1, "The first thing."), `"model"`, `"stop_reason":"end_turn","model"`, 1), result(2)}, nil},
		"nor a subagent's words":      {[]string{side, result(8)}, nil},
		"nor what has no time":        {[]string{strings.Replace(assistant(1, "The first thing."), "timestamp", "x", 1), result(2)}, nil},
		"two in the same millisecond": {[]string{assistant(1, "The first thing."), assistant(1, "The second thing."), result(2)}, []string{"The first thing.", "The second thing."}},
	} {
		if got := progress(entriesOf(tt.lines...)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// Reading in pieces, with Take in between, gives the same progress.
func TestProgressInPieces(t *testing.T) {
	for name, data := range samples(t) {
		entries := plain(data, MaxText)
		for i := range entries {
			var p Progress
			var got []string
			for _, piece := range [][]Entry{entries[:i], entries[i:]} {
				p.Add(piece)
				for _, item := range p.Take() {
					got = append(got, item.Text)
				}
			}
			if want := progress(entries); !slices.Equal(got, want) {
				t.Errorf("%s, %d: got %q, want %q", name, i, got, want)
			}
		}
	}
}

// The progress that waits to be taken is bounded.
func TestProgressWaits(t *testing.T) {
	var p Progress
	same := strings.Replace(assistant(1, "Word 0 of many."), `"uuid"`, `"x"`, 1)
	for i := range 2 * maxMoments {
		p.Add(entriesOf(strings.Replace(same, "Word 0", "Word "+strconv.Itoa(i), 1)))
		if items := p.Take(); items != nil || len(p.moments) > maxMoments {
			t.Fatalf("%d items, %d moments", len(items), len(p.moments))
		}
	}
	p.Add(entriesOf(result(2)))
	if items := p.Take(); len(items) != maxMoments-1 && len(items) != maxMoments || items[len(items)-1].Text != "Word 511 of many." || p.Take() != nil {
		t.Errorf("%+v", items)
	}
}
