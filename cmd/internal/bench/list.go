package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/store"
)

// statusText is what the client sends to its status line.
const statusText = `{"session_id":"session-0001","workspace":{"current_dir":"/","project_dir":"/"},"model":{"id":"m","display_name":"Opus"},"version":"2.1.329","cost":{"total_cost_usd":1.5},"context_window":{"used_percentage":40}}`

// listSubjects sets up state directories of several sizes and measures list, prompt and status
// line against reading the live files and the registry. It measures the programs that are the
// arguments, or this tree's.
func listSubjects(p tools) ([]subject, error) {
	v, err := newViewer(p)
	if err != nil {
		return nil, err
	}
	beckons := flag.Args()
	if len(beckons) == 0 {
		beckons = []string{v.beckon}
	}
	subjects := []subject{p.helloWorld(os.DevNull)}
	for _, size := range []struct{ live, archived int }{{100, 0}, {100, 10_000}, {1000, 0}} {
		for i, beckon := range beckons {
			v.beckon = beckon
			views, err := v.views(size.live, size.archived)
			if err != nil {
				return nil, err
			}
			for j := range views {
				views[j].name += fmt.Sprintf(": %d live, %d archived", size.live, size.archived)
				if len(beckons) > 1 {
					views[j].name = beckon + ", " + views[j].name
				}
			}
			subjects = append(subjects, views[min(i, 1):]...) // the files are read once
		}
	}
	return subjects, nil
}

// viewer is what views are measured with: beckon, with beckon-line next to it, a program that
// only reads files, and what the client sends to its status line.
type viewer struct{ dir, read, beckon, status string }

func newViewer(p tools) (viewer, error) {
	v := viewer{dir: p.dir, beckon: filepath.Join(p.dir, "beckon")}
	var readErr, statusErr error
	v.read, readErr = build(p.dir, "readfiles", "beckon/cmd/internal/bench/readfiles")
	v.status, statusErr = p.file("status.json", statusText)
	return v, errors.Join(readErr, statusErr, buildOurs(p.dir, "beckon", "beckon-line"))
}

// views returns the programs that show sessions, after one that only reads their files.
func (v viewer) views(live, archived int) ([]subject, error) {
	home := filepath.Join(v.dir, fmt.Sprintf("home-%d-%d", live, archived))
	if _, err := os.Stat(home); err != nil {
		if err := fill(home, live, archived, 0); err != nil {
			return nil, err
		}
	}
	state, registry := filepath.Join(home, "state"), filepath.Join(home, ".claude", "sessions")
	line := filepath.Join(filepath.Dir(v.beckon), "beckon-line")
	if _, err := os.Stat(line); err != nil {
		line = v.beckon // of before there was one
	}
	env := []string{"HOME=" + home, "BECKON_STATE_DIR=" + state}
	return []subject{
		{name: "reading the files", path: v.read, args: []string{filepath.Join(state, "sessions"), registry}, payload: os.DevNull},
		{name: "beckon list", path: v.beckon, args: []string{"list"}, env: env, payload: os.DevNull},
		{name: "beckon list, the first view", path: v.beckon, args: []string{"list"}, env: env, payload: os.DevNull,
			before: func() error { return os.RemoveAll(filepath.Join(state, "cache")) }},
		{name: filepath.Base(line) + " prompt", path: line, args: []string{"prompt"}, env: env, payload: os.DevNull},
		{name: filepath.Base(line) + " statusline", path: line, args: []string{"statusline"}, env: env, payload: v.status},
	}, nil
}

// viewsOf returns the views of that many live sessions, without archived ones and with as
// many, if any; and the hello-world, for comparison with hooks.
func viewsOf(live, archived int) func(tools) (series, error) {
	return func(p tools) (series, error) {
		s := series{title: thousands(live) + " live sessions", slow: max(live/100, 1)}
		s.note = "No session changed meanwhile: each view but the first finds in the cache what another one read."
		if s.slow > 1 {
			s.note += " Of these there were a tenth of the launches, or a few more."
		}
		v, err := newViewer(p)
		if err != nil {
			return s, err
		}
		if s.subjects, err = v.views(live, 0); err != nil {
			return s, err
		}
		s.subjects[0].name = "reading their files and the client's registry"
		if archived > 0 {
			more, err := v.views(live, archived)
			if err != nil {
				return s, err
			}
			for _, view := range more[1:] {
				view.name += fmt.Sprintf(", %s archived beside them", thousands(archived))
				s.subjects = append(s.subjects, view)
			}
		}
		s.subjects = append(s.subjects, p.helloWorld(os.DevNull))
		return s, nil
	}
}

// fill creates a home with sessions that have been live for a while, their registry records,
// and archived ones. The live ones belong to this process, so that a reader finds it alive.
func fill(home string, live, archived int, ago time.Duration) error {
	st := store.Open(filepath.Join(home, "state"))
	registry := filepath.Join(home, ".claude", "sessions")
	if err := os.MkdirAll(registry, 0o700); err != nil {
		return err
	}
	now := event.MillisOf(time.Now().Add(-ago))
	for i := range live {
		id := fmt.Sprintf("session-%04d", i)
		for j, e := range turn(id) {
			e.At = now + event.Millis(j)
			if err := foldEvent(st, id, e); err != nil {
				return err
			}
		}
		if err := st.SetMeter(store.KeyOf(id), event.Meter{At: now, Model: "claude-opus-5-5", Version: "2.1.329", Context: 4200, HasContext: true, Cost: 1_000_000}); err != nil {
			return err
		}
		record := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/","startedAt":%d,"procStart":"1","version":"2.1.329","kind":"interactive","status":"busy","updatedAt":%d,"statusUpdatedAt":%d}`,
			4_000_000+i, id, now, now, now)
		if err := os.WriteFile(filepath.Join(registry, fmt.Sprintf("%d.json", 4_000_000+i)), []byte(record), 0o600); err != nil {
			return err
		}
	}
	archive := filepath.Join(home, "state", "archive")
	if err := os.MkdirAll(archive, 0o700); err != nil {
		return err
	}
	for i := range archived {
		s := state.Session{Schema: state.Schema, ID: fmt.Sprintf("old-%05d", i), Seq: 1, Offset: 1, End: state.Mark{At: now}}
		if err := os.WriteFile(filepath.Join(archive, s.ID+".json"), state.AppendJSON(nil, &s), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// turn returns a running turn, with a tool that runs.
func turn(id string) []event.Event {
	at := func(k event.Kind) event.Event {
		return event.Event{Agent: "claude-code", Kind: k, Name: string(k), SessionID: id, Cwd: "/home/u/shop",
			TranscriptPath: "/home/u/.claude/projects/-home-u-shop/" + id + ".jsonl", PromptID: "p"}
	}
	start, prompt, tool := at(event.SessionStart), at(event.UserPromptSubmit), at(event.PreToolUse)
	start.Source = "startup"
	start.Origin = &event.Origin{Seat: "seat-" + id, Host: "here", Project: "/home/u/shop", Git: event.Git{Branch: "main", Repo: "shop"}}
	prompt.Prompt = strings.Repeat("please run the tests ", 5)
	tool.Tool = event.Tool{Name: "Bash", UseID: "t1", Hash: "0123456789abcdef", Summary: "Bash: npm test"}
	return []event.Event{start, prompt, tool}
}
