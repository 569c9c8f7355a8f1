//go:build unix

// Package suite drives the real client through the scenarios of
// testdata/lab/scenarios.txtar, with beckon's hooks installed the way a user
// installs them, and compares what `beckon list` says with what the scenario
// expects and with the client's own registry.
//
// Without flags it drives the newest pinned client through the scenarios in
// brief, and the oldest through those in everywhere. The whole matrix, with its table, which is made of all the rows in a file:
//
//	go test ./cmd/internal/suite -run 'TestClient|TestMod$' -matrix -rows rows.json -timeout 120m
//
// or in pieces:
//
//	go test ./cmd/internal/suite -run TestClient -matrix -versions 2.1.197 -rows rows.json
//	go test ./cmd/internal/suite -run 'TestMod$' -matrix -versions 2.1.308 -rows rows.json
package suite

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"beckon/render"
)

var (
	matrix   = flag.Bool("matrix", false, "drive every client version through every scenario and, with -rows, write the table")
	versions = flag.String("versions", strings.Join(append(Pinned, Latest), ","), "client versions of the matrix")
	only     = flag.String("only", "", "scenarios to run, separated by commas")
	rows     = flag.String("rows", "", "a file of rows: those that are played are put into it, and the table is made of all")
	// A client uses half a processor while it starts, little later. With four at once on two
	// processors no test failed, even beside other work; a starved client is not the subject of
	// the tests.
	clients = flag.Int("clients", 4, "how many clients run at once")
)

// brief are the scenarios of every landing: one for each kind of wait and end.
var brief = []string{"hi", "bash", "perm_yes", "perm_esc", "esc_tool", "ask", "subperm", "bg", "overload", "clear", "kill9", "exit"}

// everywhere are those that differ most between clients: they are played with the oldest, too.
var everywhere = []string{"menu_idle", "headless_denied", "headless_held"}

// column is a way to run beckon with the client.
type column struct {
	name     string
	registry bool // the client's registry can be read
}

var columns = []column{{"with registry", true}, {"hooks and transcript alone", false}}

// TestClient plays the scenarios. Without tmux or a client it is skipped; in CI it fails.
func TestClient(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	table := &table{}
	list, cols := Bounds, columns[:1]
	if *matrix {
		list, cols = strings.Split(*versions, ","), columns
	}
	t.Run("run", func(t *testing.T) {
		for _, version := range list {
			if version == Latest {
				if _, err := Install(t.Context(), version); err != nil {
					t.Logf("no newest client: %v", err)
					continue
				}
			}
			client := Need(t, version)
			if version == Latest && slices.Contains(list, client.Version) {
				t.Logf("the newest client that installs is %s, which is here already", client.Version)
				continue
			}
			for _, col := range cols {
				for _, sc := range chosen(t, version) {
					t.Run(version+"/"+col.name+"/"+sc.Name, func(t *testing.T) {
						t.Parallel()
						tried(t, func(t testing.TB) {
							why := absent[version+" "+sc.Name]
							if !col.registry {
								why = cmp.Or(why, unseen[sc.Name])
							}
							if why != "" {
								table.add(row{Scenario: sc.Name, Version: version, Column: col.name, Verdict: why})
								t.Skip(why)
							}
							play(t, sc, version, col, table)
						})
					})
				}
			}
		}
	})
	table.finish(t)
}

// finish logs the table, with the rows of earlier runs, and writes that of the matrix.
func (t *table) finish(tb testing.TB) {
	tb.Helper()
	if *rows != "" {
		must(tb, t.join(*rows))
	}
	report := t.String()
	tb.Log("\n" + report)
	if *matrix && *rows != "" {
		must(tb, os.WriteFile(filepath.Join(root, "testdata", "lab", "MATRIX.md"), []byte(report), 0o644))
	}
}

const root = "../../.."

// patience is how long a test waits for what must happen.
const patience = time.Minute

// chosen returns the scenarios for a client of that version.
func chosen(t testing.TB, version string) []Scenario {
	t.Helper()
	all, err := Scenarios()
	if err != nil {
		t.Fatal(err)
	}
	names := everywhere
	if version == V330 { // its menus are tested by TestMenusNeedNobody
		names = append(brief, "headless_held")
	}
	switch {
	case *only != "":
		names = strings.Split(*only, ",")
	case *matrix:
		return all
	}
	var out []Scenario
	for _, n := range names {
		i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == n })
		if i < 0 {
			t.Fatalf("no scenario %q", n)
		}
		out = append(out, all[i])
	}
	return out
}

func play(t testing.TB, sc Scenario, version string, col column, table *table) {
	playWith(t, sc, version, col, table, install)
}

// playWith is play with its own install function.
func playWith(t testing.TB, sc Scenario, version string, col column, table *table, install func(l *Lab, programs string) error) {
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	if !*matrix {
		sc = patient(sc)
	}
	res := Run(t, sc, version,
		func(l *Lab) error { return install(l, dir) },
		func(l *Lab) Observe {
			if err := put(l, dir); err != nil {
				t.Fatal(err)
			}
			return observe(l, col)
		})
	right, all, longest, first := agreement(res)
	table.add(row{
		Scenario: sc.Name,
		Version:  res.Version,
		Column:   col.name,
		Verdict:  verdict(res),
		Right:    right,
		All:      all,
		Needs:    measure(res),
	})
	for _, c := range res.Checks {
		if !c.OK {
			t.Errorf("%s: got %q after %s", c.Step, c.Got, c.Took.Round(time.Millisecond))
		}
	}
	if res.Err != nil {
		t.Error(res.Err)
	}
	limit := lag
	if !*matrix {
		limit *= 5
	}
	if longest > limit && col.registry {
		t.Errorf("the registry was contradicted in %d of %d settled samples, for %s on end; first: %s", all-right, all, longest, first)
	}
}

// programs builds beckon once.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "beckon-suite-")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", dir, "beckon/cmd/beckon", "beckon/cmd/beckon-hook").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	if os.Getenv(formEnv) != "" {
		serveForm()
	}
	flag.Parse()
	pickVersions()
	*matrix = *matrix || *truth
	_ = flag.Set("test.parallel", strconv.Itoa(*clients))
	code := m.Run()
	if dir, err := programs(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// bin returns the directory of a user's programs.
func bin(l *Lab) string { return filepath.Join(l.Home.Dir, ".local", "bin") }

// unseen are the scenarios that hooks and transcript cannot show: only the client's registry
// knows.
var unseen = map[string]string{
	"before_install": "not to be seen: no hooks yet, and no registry",
	"esc_think":      "not to be seen: Esc before any output leaves no mark in the transcript",
	"stop_blocked":   "not to be seen: that the client goes on is in the registry alone",
	"perm_long":      "not to be seen: an approval is in the registry alone, until the tool ends",
}

// absent are the scenarios that a client cannot play.
var absent = map[string]string{
	V197 + " menus_busy": "not there: a menu of this client waits for the turn's end",
}

// equipped starts a lab that has the programs in a user's directory.
func equipped(t testing.TB, version string) *Lab {
	t.Helper()
	dir, err := programs()
	must(t, err)
	l := Start(t, version)
	must(t, put(l, dir))
	return l
}

// install does what the README says: the programs in ~/.local/bin, then beckon install.
func install(l *Lab, programs string) error {
	if err := put(l, programs); err != nil {
		return err
	}
	_, err := beckon(l, nil, "setup", "hooks")
	return err
}

// put copies the programs to a user's directory.
func put(l *Lab, programs string) error {
	if err := os.MkdirAll(bin(l), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"beckon", "beckon-hook"} {
		if _, err := os.Stat(filepath.Join(bin(l), name)); err == nil {
			continue // it may be running
		}
		b, err := os.ReadFile(filepath.Join(programs, name))
		if err != nil {
			return err
		}
		// If another test forked between open and close, it would inherit the descriptor, and
		// the program could not be started: text file busy.
		syscall.ForkLock.RLock()
		err = os.WriteFile(filepath.Join(bin(l), name), b, 0o755)
		syscall.ForkLock.RUnlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// beckon runs the installed program as the lab's user.
func beckon(l *Lab, more []string, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(bin(l), "beckon"), args...)
	cmd.Dir, cmd.Env = l.Home.Project, append(l.Home.Env(), more...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return out, err
}

// observe runs `beckon list`. Without the registry, beckon gets a client directory that has
// none; hooks and transcripts stay where they are.
func observe(l *Lab, col column) Observe {
	var more []string
	if !col.registry {
		more = []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(l.Home.Root, "nothing")}
	}
	return func() (map[SessionID]State, error) {
		out, err := beckon(l, more, "list", "--json", "--all")
		if err != nil {
			return nil, err
		}
		var list render.List
		if err := json.Unmarshal(out, &list); err != nil {
			return nil, err
		}
		states := map[SessionID]State{}
		for _, r := range list.Sessions {
			states[SessionID(r.SessionID)] = State{State: string(r.State), Reason: r.Reason, Source: string(r.Source), Dir: r.Cwd, Since: r.CreatedAt}
		}
		return states, nil
	}
}

// allowedStates lists the states that each status of the client's registry allows, and those for each
// word of what it waits for. Behind one of the user's menus the session keeps its state, and
// needs nobody.
var allowedStates = map[string][]string{
	"idle":                {"idle", "failed", "question"},
	"shell":               {"idle", "failed", "question"},
	"busy":                {"working", "compacting"},
	"waiting":             {"permission", "question"},
	"waiting dialog open": {"idle", "failed", "question", "working", "compacting"},
}

// headless lists the states that the status busy allows a session without a user in front of
// it: one whose call a user's hook holds is busy to the client.
var headless = append(allowedStates["busy"], "permission", "question")

func allowed(r Registered) ([]string, bool) {
	if r.Entrypoint == "sdk-cli" && r.Status == "busy" {
		return headless, true
	}
	if r.WaitingFor != nil {
		if states, ok := allowedStates[r.Status+" "+*r.WaitingFor]; ok {
			return states, true
		}
	}
	states, ok := allowedStates[r.Status]
	return states, ok
}

// A registry status is compared if it had not changed for settled before the sample and did
// not change for ahead after it: the client writes the file after the hook that reports the
// same, on a busy machine some 100 ms later.
const (
	settled = 500 * time.Millisecond
	ahead   = 500 * time.Millisecond
)

// lag is how long beckon may differ from an unchanged registry record: on a loaded machine the
// client writes it up to a second late (testdata/lab/FACTS.md). The table counts every such
// sample.
const lag = 2 * time.Second

// agreement counts the samples in which the registry did not change, and those in which
// beckon's state agrees with it. It also returns for how long, at most, a record was
// contradicted without a break, and the first sample of that.
func agreement(res Result) (right, all int, longest time.Duration, first string) {
	began := map[string]time.Time{} // a record, and since when it has been contradicted
	for i, sm := range res.Samples {
		for _, r := range sm.Registry {
			if !stands(res.Samples[i:], r) {
				continue
			}
			state, ok := sm.Observed[SessionID(r.SessionID)]
			allowed, known := allowed(r)
			since := sm.At.Sub(time.UnixMilli(int64(r.StatusUpdatedAt)))
			if !ok || !known || since < settled || state.State == "lost" || state.State == "ended" {
				continue
			}
			all++
			id := fmt.Sprint(r.PID, r.SessionID, r.StatusUpdatedAt)
			if slices.Contains(allowed, state.State) {
				right++
				delete(began, id)
				continue
			}
			if _, ok := began[id]; !ok {
				began[id] = sm.At
			}
			longest = max(longest, sm.At.Sub(began[id]))
			if first == "" {
				first = fmt.Sprintf("%s after the first input: registry %s for %s, beckon %s (%s, from %s)", sm.At.Sub(res.Start).Round(time.Millisecond), r.Status, since.Round(time.Millisecond), state.State, state.Reason, state.Source)
			}
		}
	}
	return right, all, longest, first
}

// stands reports whether the record r of the first sample is the same in all samples within
// ahead of it.
func stands(samples []Sample, r Registered) bool {
	for _, sm := range samples {
		if !slices.ContainsFunc(sm.Registry, func(x Registered) bool {
			return x.PID == r.PID && x.SessionID == r.SessionID && x.StatusUpdatedAt == r.StatusUpdatedAt
		}) {
			return false
		}
		if sm.At.Sub(samples[0].At) >= ahead {
			return true
		}
	}
	return false
}
