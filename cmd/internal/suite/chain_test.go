//go:build unix

package suite

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var (
	chains = flag.Int("chains", 0, "how many random chains to play with each client and each other agent")
	links  = flag.Int("links", 12, "how many scenarios a chain has")
	seed   = flag.Uint64("seed", 1, "of the first chain; the next ones have the numbers after it")
)

// alone are the scenarios that are no link of a chain: they end the session, need a client with
// arguments or variables of its own, or change the project for good.
var alone = []string{
	"limits", "esc_plan", "plan", "tasks", "auth", "compact_mid", "resume", "exit", "ctrl_c", "kill9", "kill9_tool", "hangup", "two", "nested",
	"stopped", "stop_blocked", "before_install", "menu_busy", "headless_denied", "headless_held", "kill9-idle", "api-auth",
}

// TestChains plays scenarios in random order in one session each: nothing that one leaves
// behind may change what beckon says in the next.
//
//	go test ./cmd/internal/suite -run TestChains -chains 6 -matrix -versions 2.1.330 -timeout 60m
func TestChains(t *testing.T) {
	if *chains == 0 {
		t.Skip("a chain takes minutes: see -chains")
	}
	scenarios, err := Scenarios()
	must(t, err)
	shared, err := AgentScenarios()
	must(t, err)
	for s := *seed; s < *seed+uint64(*chains); s++ {
		for _, version := range strings.Split(*versions, ",") {
			if version == Latest {
				continue
			}
			for _, col := range columns {
				t.Run(fmt.Sprintf("%s/%s/%d", version, col.name, s), func(t *testing.T) {
					t.Parallel()
					play(t, chain(t, s, scenarios, "registry idle", func(name string) bool {
						return absent[version+" "+name] != "" || !col.registry && unseen[name] != ""
					}), version, col, &table{})
				})
			}
		}
		for _, a := range Agents {
			if *others != "" && !slices.Contains(strings.Split(*others, ","), a.Name) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", a.Label(), s), func(t *testing.T) {
				client := a.Need(t)
				t.Parallel()
				playShared(t, chain(t, s, shared, "shows idle", func(name string) bool {
					return a.Name == "codex" && strings.HasPrefix(name, "form") // they change its mode
				}), client, row{}, &table{})
			})
		}
	}
}

// chain joins scenarios in an order that the seed determines. Between two of them it waits for
// the idle session, and removes files and the prompt that a cancelled turn gives back.
func chain(t *testing.T, seed uint64, of []Scenario, idle string, without func(name string) bool) Scenario {
	of = slices.DeleteFunc(slices.Clone(of), func(s Scenario) bool { return slices.Contains(alone, s.Name) || without(s.Name) })
	random := rand.New(rand.NewPCG(seed, 0))
	var text, names []string
	for range *links {
		link := of[random.IntN(len(of))]
		names = append(names, link.Name)
		for _, s := range link.Steps {
			if s.Verb != "start" && s.Verb != "rows" {
				text = append(text, s.Line)
			}
		}
		text = append(text, idle, fmt.Sprintf("wait %dms", random.IntN(3000)), "key C-u", "exec rm -f *.txt")
	}
	t.Log(names)
	sc, err := ParseScenario("chain", strings.Join(text, "\n"))
	must(t, err)
	return sc
}
