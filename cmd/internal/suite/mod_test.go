//go:build unix

package suite

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state"
	"beckon/state/request"
	"beckon/state/store"

	"github.com/tidwall/gjson"
)

var (
	pairs = flag.Int("pairs", 14, "how many pairs of turns TestModCost compares")

	escapes = flag.Int("escapes", 100, "how many turns TestEscLatency interrupts")
)

// modVersions are the clients in which the mod is tested: the first that runs mods, one
// between, and the newest measured.
var modVersions = []string{"2.1.287", "2.1.308", V330}

// modClients returns those that are played now: the newest, or all with -matrix.
func modClients() []string {
	if *matrix {
		return modVersions
	}
	return modVersions[len(modVersions)-1:]
}

// modBrief are the scenarios of every landing: what only the mod reports, and turns that end
// well.
var modBrief = []string{"esc_think", "perm_no"}

// modUnseen are the scenarios that even the mod cannot report, with all clients or with one.
var modUnseen = map[string]string{
	"before_install": unseen["before_install"],
	"perm_long":      unseen["perm_long"],

	"2.1.308 headless_held": heldUnseen,
	V330 + " headless_held": heldUnseen,
}

const heldUnseen = "not to be seen: that a hook holds a call of claude -p is in the transcript alone"

// blinded runs beckon where it can read neither the client's registry nor a transcript:
// scripts in place of its programs hide the one from hooks and the other from the mod's
// requests.
func blinded(l *Lab) error {
	real := filepath.Join(bin(l), "real")
	if err := os.Mkdir(real, 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"beckon":      "CLAUDE_CONFIG_DIR=" + filepath.Join(l.Home.Root, "nothing") + "\nexport CLAUDE_CONFIG_DIR\nexec " + real + "/beckon \"$@\"\n",
		"beckon-hook": "case $1 in --mod) exec " + real + "/beckon-hook \"$@\";; esac\nsed 's/\"transcript_path\":\"[^\"]*\",*//' | " + real + "/beckon-hook \"$@\"\n",
	} {
		if err := os.Rename(filepath.Join(bin(l), name), filepath.Join(real, name)); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(bin(l), name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// TestMod plays scenarios in which only hooks and the mod report the session.
func TestMod(t *testing.T) {
	if testing.Short() && !*matrix {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	col := column{name: "hooks and mod alone"}
	names, list := modBrief, modClients()
	if *matrix {
		names = nil
		if f := flag.Lookup("versions"); f.Value.String() != f.DefValue {
			list = strings.Split(*versions, ",")
		}
	}
	if *only != "" {
		names = strings.Split(*only, ",")
	}
	all, err := Scenarios()
	must(t, err)
	table := &table{}
	t.Run("run", func(t *testing.T) {
		for _, version := range list {
			Need(t, version)
			for _, sc := range all {
				if names != nil && !slices.Contains(names, sc.Name) {
					continue
				}
				t.Run(version+"/"+sc.Name, func(t *testing.T) {
					t.Parallel()
					tried(t, func(t testing.TB) {
						if why := cmp.Or(modUnseen[sc.Name], modUnseen[version+" "+sc.Name]); why != "" {
							table.add(row{Scenario: sc.Name, Version: version, Column: col.name, Verdict: why})
							t.Skip(why)
						}
						playWith(t, sc, version, col, table, func(l *Lab, programs string) error {
							if err := put(l, programs); err != nil {
								return err
							}
							if _, err := beckon(l, nil, "setup", "mod"); err != nil {
								return err
							}
							return blinded(l)
						})
					})
				})
			}
		}
	})
	table.finish(t)
}

// TestModIsValid has the client validate the mod, and run its tests.
func TestModIsValid(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes some seconds")
	}
	t.Parallel()
	tests, err := os.ReadFile(filepath.Join("testdata", "mod.test.ts"))
	must(t, err)
	for _, version := range modClients() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				p := plugged{TB: t, l: equipped(t, version)}
				dir := filepath.Join(p.l.Home.Dir, ".claude", "skills", "beckon")
				_, err := beckon(p.l, nil, "setup", "mod")
				must(t, err)
				p.client("plugin", "validate", dir)
				must(t, os.WriteFile(filepath.Join(dir, "mod.test.ts"), tests, 0o600))
				if out := p.client("plugin", "test", dir); !strings.Contains(out, " 0 fail") {
					t.Error(out)
				}
			})
		})
	}
}

// TestBand has one session ask, and looks for it above the prompt of another; a stop by
// command ends its turn.
func TestBand(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes half a minute")
	}
	t.Parallel()
	for _, version := range modClients() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				l := equipped(t, version)
				_, err := beckon(l, nil, "setup", "mod")
				must(t, err)
				start := func(name string) *Pane {
					pane, err := l.Tmux.StartClient(name, "--name", name)
					must(t, err)
					must(t, pane.Ready())
					return pane
				}
				asks, shows := start("shop"), start("docs")
				must(t, shows.Say("lab:hi"))
				must(t, shows.WaitFor("Everything is done", patience))
				band := regexp.MustCompile(`(?m)^shop: permission`)
				if band.MatchString(shows.Capture()) {
					t.Fatal("the band is there while nobody asks")
				}
				must(t, asks.Say("lab:write band.txt"))
				must(t, asks.WaitFor("Do you want to", patience))
				asked := time.Now()
				must(t, shows.WaitFor(band.String(), patience))
				came := time.Since(asked)
				if band.MatchString(asks.Capture()) {
					t.Error("a session names itself")
				}
				must(t, asks.Key("Escape"))
				answered := time.Now()
				for end := time.Now().Add(patience); band.MatchString(shows.Capture()); time.Sleep(50 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatalf("the band stays\n%s", shows.Capture())
					}
				}
				gone := time.Since(answered)
				t.Logf("the band came after %d ms and went after %d ms", came.Milliseconds(), gone.Milliseconds())
				if *matrix && (came > bandTakes || gone > bandTakes) {
					t.Errorf("that is more than %s", bandTakes)
				}

				must(t, asks.Key("C-d"))
				must(t, asks.Key("C-d"))
				must(t, asks.WaitDead(patience))
				must(t, shows.Say("lab:long 30"))
				must(t, waitState(l, "working"))
				user, err := l.Tmux.Start("user", l.Home.Project, "/bin/sh", "-c", filepath.Join(bin(l), "beckon")+" stop docs; sleep 5")
				must(t, err)
				must(t, user.WaitFor(`(?m)^session \S+ stops`, patience))
				must(t, waitState(l, "idle"))
				out, err := beckon(l, nil, "doctor")
				if !regexp.MustCompile(`ok +mod +\d+ live sessions? heard`).Match(out) {
					t.Errorf("doctor says %s %v", out, err)
				}
			})
		})
	}
}

// bandTakes is how long the band may take to appear and to disappear: two seconds, plus what a
// busy machine adds.
const bandTakes = 4 * time.Second

// TestPaneOutsideTmux answers in a pane over which no popup can open: it shows the command,
// and nothing is answered; Enter says why it cannot go there.
func TestPaneOutsideTmux(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes some seconds")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		l := equipped(t, V330)
		_, err := beckon(l, nil, "setup", "mod", "answers")
		must(t, err)
		start := func(name string) *Pane {
			argv := append([]string{"/usr/bin/env", "-u", "TMUX", "-u", "TMUX_PANE", l.Client.Path, "--name", name}, l.Home.Args()...)
			pane, err := l.Tmux.Start(name, l.Home.Project, argv...)
			must(t, err)
			must(t, pane.Ready())
			return pane
		}
		asks, shows := start("shop"), start("docs")
		must(t, asks.Say("lab:write pane.txt"))
		must(t, asks.WaitFor("Do you want to", patience))
		must(t, shows.WaitFor("shop: permission", patience))
		must(t, shows.Say("/beckon"))
		must(t, shows.WaitFor("shop asks: Write: pane.txt", patience))
		time.Sleep(time.Second) // a new pane takes no keys
		must(t, shows.Key("y"))
		must(t, shows.WaitFor("In a terminal of your own: beckon answer", patience))
		must(t, shows.Key("Tab"))
		time.Sleep(time.Second)
		must(t, shows.Key("Enter"))
		must(t, shows.WaitFor("beckon: jumping to shop", patience))
		if list, err := request.In(l.Home.State).List(time.Now()); err != nil || len(list) != 1 {
			t.Errorf("open are %v, %v", list, err)
		}
		must(t, asks.WaitFor("Do you want to", patience))
	})
}

// TestEscLatency measures how long after Esc `beckon list` shows that the turn was
// interrupted: list shows what the session's file has when it starts.
func TestEscLatency(t *testing.T) {
	if !*matrix {
		t.Skip("part of the matrix: -matrix")
	}
	l := equipped(t, V330)
	_, err := beckon(l, nil, "setup", "mod")
	must(t, err)
	pane, err := l.Tmux.StartClient("esc")
	must(t, err)
	must(t, pane.Ready())
	st := store.Open(l.Home.State)
	var took []time.Duration
	for i := range *escapes {
		must(t, pane.Key("C-u"))
		must(t, pane.Say(fmt.Sprintf("lab:hang %d", i)))
		must(t, waitState(l, "working"))
		time.Sleep(300 * time.Millisecond)
		key := store.KeyOf(l.Home.Registry()[0].SessionID)
		began := time.Now()
		must(t, pane.Key("Escape"))
		for end := began.Add(patience); ; time.Sleep(time.Millisecond) {
			s, err := st.Load(key)
			must(t, err)
			if state.Resolve(s, state.Evidence{}, event.MillisOf(time.Now())).Reason == state.Interrupted {
				break
			}
			if time.Now().After(end) {
				t.Fatal(pane.Capture())
			}
		}
		took = append(took, time.Since(began))
		out, err := beckon(l, nil, "list", "--json")
		must(t, err)
		if !strings.Contains(string(out), `"reason": "interrupted"`) {
			t.Fatalf("%s", out)
		}
	}
	t.Log(quantiles(took))
}

// quantiles returns the median, the 99th percentile and the maximum.
func quantiles(took []time.Duration) string {
	slices.Sort(took)
	at := func(q float64) time.Duration {
		return took[min(len(took)-1, int(q*float64(len(took))))].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d times: median %s, p99 %s, longest %s", len(took), at(0.5), at(0.99), at(1))
}

// TestModCost compares turns of 20 calls with hooks and mod to those with hooks alone, by the
// client's own durations.
func TestModCost(t *testing.T) {
	if !*matrix {
		t.Skip("part of the matrix: -matrix")
	}
	begin := func(args ...string) func() time.Duration {
		l := equipped(t, V330)
		_, err := beckon(l, nil, append([]string{"install"}, args...)...)
		must(t, err)
		pane, err := l.Tmux.StartClient("cost")
		must(t, err)
		must(t, pane.Ready())
		n := 0
		return func() time.Duration {
			n++
			must(t, pane.Say(fmt.Sprintf("lab:many %d", n)))
			for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if turns := durations(l); len(turns) >= n {
					return turns[n-1]
				}
			}
			t.Fatal(pane.Capture())
			return 0
		}
	}
	hooks, mod := begin(), begin("--mod")
	var ratios []float64
	for i := range *pairs + warm {
		var x, y time.Duration
		if i%2 == 0 {
			x, y = hooks(), mod()
		} else {
			y, x = mod(), hooks()
		}
		t.Logf("hooks %s, with the mod %s", x, y)
		if i >= warm {
			ratios = append(ratios, float64(y)/float64(x))
		}
	}
	slices.Sort(ratios)
	median := (ratios[len(ratios)/2] + ratios[(len(ratios)-1)/2]) / 2
	t.Logf("with the mod a turn takes %.3f times as long (median of %d pairs; %.3f to %.3f)", median, len(ratios), ratios[0], ratios[len(ratios)-1])
}

// warm is how many pairs of turns are not counted: the first turns of a process are slower.
const warm = 4

// durations returns the durations of the turns of the client's one session in its transcript,
// oldest first.
func durations(l *Lab) (list []time.Duration) {
	for _, r := range l.Home.Registry() {
		data, err := os.ReadFile(l.Home.Transcript(r.SessionID))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if gjson.Get(line, "subtype").Str == "turn_duration" {
				list = append(list, time.Duration(gjson.Get(line, "durationMs").Int())*time.Millisecond)
			}
		}
	}
	return list
}
