//go:build unix

package suite

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	recordNames    = flag.String("record", "", "`scenarios` for TestRecord to play, comma-separated; all: every one")
	recordAgent    = flag.String("record-agent", "", "`agent` to record instead of the pinned versions of Claude Code")
	recordTo       = flag.String("record-to", "", "`directory` to write to (default: testdata/recordings, for other agents testdata/agents)")
	recordRequests = flag.String("record-requests", "", "`directory` for the bodies of the client's requests")
)

// TestRecord plays scenarios with a real client, offline, and writes what hooks, status line and
// registry gave. On the way it checks the scenario's expectations against the client's screen.
//
//	go test ./cmd/internal/suite -run TestRecord -v -record NAME,.. [-versions V,..]
//	go test ./cmd/internal/suite -run TestRecord -v -record all -record-agent codex
func TestRecord(t *testing.T) {
	if *recordNames == "" {
		return // only on request: it overwrites recordings
	}
	read, dir := Scenarios, "recordings"
	var clients []Client
	if *recordAgent != "" {
		read, dir = AgentScenarios, "agents"
		a := AgentNamed(*recordAgent)
		if a == nil {
			t.Fatalf("no agent %q", *recordAgent)
		}
		clients = append(clients, a.Need(t))
	} else {
		for _, v := range strings.Split(*versions, ",") {
			clients = append(clients, Need(t, v))
		}
	}
	all, err := read()
	must(t, err)
	if *recordNames != "all" {
		names := strings.Split(*recordNames, ",")
		all = slices.DeleteFunc(all, func(s Scenario) bool { return !slices.Contains(names, s.Name) })
		if len(all) != len(names) {
			t.Fatalf("of %v only %d are scenarios", names, len(all))
		}
	}
	for _, c := range clients {
		name := c.Version
		if c.Agent != nil {
			name = c.Agent.Name + "-" + c.Version
		}
		for _, sc := range all {
			t.Run(name+"/"+sc.Name, func(t *testing.T) {
				record(t, c, sc, filepath.Join(cmp.Or(*recordTo, filepath.Join(root, "testdata", dir)), name, sc.Name+".jsonl"))
			})
		}
	}
}

func record(t *testing.T, c Client, sc Scenario, path string) {
	l, err := New(c)
	must(t, err)
	defer l.Close()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	observe := ScreenObserver(l)
	if c.Agent != nil { // whose screens do not show how a turn ended
		observe = nil
	}
	res, err := l.Record(sc, observe, f)
	must(t, err)
	for _, check := range res.Checks {
		if !check.OK {
			t.Errorf("%q: the screen says %q after %v\n%s", check.Step, check.Got, check.Took, l.Tmux.Screens())
		}
	}
	if *recordRequests == "" {
		return
	}
	requests := filepath.Join(*recordRequests, c.Version, sc.Name)
	must(t, os.MkdirAll(requests, 0o755))
	for i, r := range l.Server.Requests() {
		must(t, os.WriteFile(filepath.Join(requests, fmt.Sprintf("%02d-%s-%d.json", i, r.Word, r.Step)), r.Body, 0o600))
	}
}
