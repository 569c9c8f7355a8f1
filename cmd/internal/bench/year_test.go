package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

// A year of somebody who works with many agents.
const (
	yearSessions = 8000
	yearTurns    = 2  // of a session
	turnCalls    = 5  // of a turn
	yearArchived = 14 // days that archived sessions are kept
	yearLive     = 20
)

// BenchmarkYear measures what reads the past, after a year: 8,000 sessions, 80 MB of history.
func BenchmarkYear(b *testing.B) {
	if testing.Short() {
		b.Skip("writes 80 MB")
	}
	h := newHome(b)
	h.year(b)
	for i := range yearLive {
		h.busy(b, fmt.Sprintf("live-%02d", i))
	}
	var subjects []subject
	for name, args := range map[string][]string{
		"stats-7-days":  {"stats"},
		"stats-a-year":  {"stats", "--days", "365"},
		"digest":        {"stats", "--since", "8h"},
		"history-word":  {"history", "lighthouse"},
		"list":          {"list"},
		"list-archived": {"list", "--all"},
	} {
		subjects = append(subjects, subject{name: name, path: program(b, "beckon"), args: args, env: h.env(), stdin: os.DevNull})
	}
	compare(b, subjects...)
}

// moment matches a time in a line of history or a session file.
var moment = regexp.MustCompile(`:1[0-9]{12}\b`)

// year writes the history of a year: copies of one session's, moved in time.
func (h home) year(tb testing.TB) {
	const id = "model-0000"
	a := h.agent(tb)
	a.send(tb, payload(id, "SessionStart", `"source":"startup"`))
	for turn := range yearTurns {
		a.send(tb, payload(id, "UserPromptSubmit", fmt.Sprintf(`"prompt":"please look at part %d of the lighthouse and mend what is wrong with it"`, turn)))
		for call := range turnCalls {
			use := fmt.Sprintf("toolu_%d_%d", turn, call)
			members := fmt.Sprintf(`"tool_name":"Bash","tool_input":{"command":"npm test -- --filter %s","description":"runs the tests"},"tool_use_id":%q`, use, use)
			a.send(tb, payload(id, "PreToolUse", members))
			a.send(tb, payload(id, "PostToolUse", members+`,"tool_response":{"stdout":"ok"},"duration_ms":812`))
		}
		a.send(tb, payload(id, "Stop", `"last_assistant_message":"The tests pass now. Two of them were wrong about the time zone, which I have changed."`))
	}
	a.send(tb, payload(id, "SessionEnd", `"reason":"other"`))
	days, err := filepath.Glob(filepath.Join(h.state(), "history", "*.jsonl"))
	if err != nil || len(days) == 0 {
		tb.Fatalf("no history: %v", err)
	}
	lines, err := os.ReadFile(days[0])
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(h.state(), "sessions", id+".json")
	session, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	session = append(session[:bytes.LastIndex(session, []byte(`,"sum":`))], "}\n"...) // a copy has another sum
	if err := os.Remove(file); err != nil {
		tb.Fatal(err)
	}
	copyOf := func(text []byte, n int, ago time.Duration) []byte {
		text = bytes.ReplaceAll(text, []byte(id), fmt.Appendf(nil, "past-%05d", n))
		return moment.ReplaceAllFunc(text, func(at []byte) []byte {
			ms, _ := strconv.ParseInt(string(at[1:]), 10, 64)
			return strconv.AppendInt([]byte(":"), ms-ago.Milliseconds(), 10)
		})
	}
	perDay, now, size := yearSessions/365+1, time.Now(), 0
	for n := 0; n < yearSessions; {
		day := n/perDay + 1
		ago := time.Duration(day) * 24 * time.Hour
		var text []byte
		for end := min(n+perDay, yearSessions); n < end; n++ {
			text = append(text, copyOf(lines, n, ago)...)
			if day < yearArchived {
				h.file(tb, fmt.Sprintf("state/archive/past-%05d.json", n), string(copyOf(session, n, ago)))
			}
		}
		h.file(tb, "state/history/"+now.Add(-ago).UTC().Format(time.DateOnly)+".jsonl", string(text))
		size += len(text)
	}
	tb.Logf("%d sessions, %d MB of history", yearSessions, size>>20)
}
