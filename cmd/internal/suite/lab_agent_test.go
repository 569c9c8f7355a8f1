//go:build unix

package suite

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Agent is a coding agent other than Claude Code: how to install, configure, drive and read
// it.
type Agent struct {
	Name    string // as beckon calls it
	Mode    string // how it is run, if not in its default way
	Version string // the one measured
	Package string // of npm
	program string // below node_modules

	setup func(h *Home) error // answers every question of a first start
	env   func(h *Home) map[string]string
	args  []string
	// resume are the arguments that resume the last session of the directory.
	resume []string
	ready  string // what the screen shows when the agent accepts a prompt
	// review is a question that it asks when it starts after hooks have changed, and trust the
	// key that says yes to it.
	review, trust string
	screen        []sign
	// keys are what a user presses for each verb of a scenario; what begins with a slash is
	// typed.
	keys map[string][]string
	// again is what the screen shows for a moment after an Esc, if only a second Esc within
	// that time interrupts the turn. Empty: keys decides.
	again string
	tools tools
	title string // what to answer when the agent asks for a session's title; empty: JSON
	// hooks registers command for every event; the event's name is its last argument.
	hooks func(h *Home, command string) error
}

// sign is a text on the screen, or in the terminal's title, that identifies a state.
type sign struct {
	state string
	title bool
	text  *regexp.Regexp
}

func on(state, text string) sign { return sign{state: state, text: regexp.MustCompile(text)} }

func titled(state, text string) sign {
	return sign{state: state, title: true, text: regexp.MustCompile(text)}
}

// tools are the calls of an agent's tools in scripts.
type tools struct {
	run  func(command string) Tool // needs no permission
	asks func(command string) Tool // needs one; nil: it never asks
	form func() Tool               // a question with options; nil: there is none
	sub  func(prompt string) Tool  // a subagent; nil: it has none
	wait func() Tool               // waits for it; nil: sub does
}

// Agents are the agents that a lab can drive besides Claude Code.
var Agents = []*Agent{codex, codexAlone, opencode, gemini, copilot, qwen, droid, pi}

// Label returns the agent's name with its version and mode.
func (a *Agent) Label() string {
	return strings.TrimSpace(a.Name + " " + a.Version + " " + a.Mode)
}

// AgentNamed returns the first of Agents with that name, or nil.
func AgentNamed(name string) *Agent {
	i := slices.IndexFunc(Agents, func(a *Agent) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return Agents[i]
}

// scripts returns the server's answers for this agent: those that need no tool, and the others
// with its own tools.
func (a *Agent) scripts() map[string][]Reply {
	all := maps.Clone(scripts)
	t := a.tools
	if t.asks == nil {
		t.asks = t.run
	}
	if t.sub == nil {
		t.sub = t.run
	}
	maps.Copy(all, map[string][]Reply{
		"bash":     {{Text: "Running it.", Tools: []Tool{t.run("$*")}}, say("It ran. Done.")},
		"long":     {call(t.run(nap + "$*")), say("The nap is over.")},
		"fail":     {call(t.run(nap + "badly")), say("That failed; I stop here.")},
		"write":    {call(t.asks("touch $1")), say("Wrote the note.")},
		"permlong": {call(t.asks("touch long.txt && sh nap $*")), say("The long one ended.")},
		"sub":      waited(t, call(t.sub("lab:subwork")), say("The subagent is back. Done.")),
		"subperm":  waited(t, call(t.sub("lab:subwrite")), say("It is on its way.")),
		"subbg":    {call(t.sub("lab:subwrite")), say("It is on its way.")},
		"subwork":  {call(t.run(nap + "1")), say("Subagent result.")},
		"subwrite": {call(t.run(nap + "1")), call(t.asks("touch from-subagent")), say("Subagent wrote it.")},
		"flaky":    {{Status: 500, Error: "server_error"}, say("It worked the second time.")},
		"down":     {{Status: 500, Error: "server_error"}},
	})
	if a.title != "" {
		all["aside"] = []Reply{say(a.title)}
	}
	if t.form != nil {
		all["ask"] = []Reply{call(t.form()), say("You chose. Finished.")}
	}
	return all
}

// can reports whether the agent has what the scenario needs.
func (a *Agent) can(sc Scenario) bool {
	needs := func(word string) bool {
		return slices.ContainsFunc(sc.Steps, func(s Step) bool {
			return s.fits(Client{Agent: a}) && strings.Contains(s.Line, word)
		})
	}
	t := a.tools
	return (t.asks != nil || !needs("permission")) && (t.form != nil || !needs("lab:ask")) && (t.sub != nil || !needs("lab:sub"))
}

func waited(t tools, start, end Reply) []Reply {
	if t.wait == nil {
		return []Reply{start, end}
	}
	return []Reply{start, call(t.wait()), end}
}

// look returns the state that a pane shows, or "".
func (a *Agent) look(screen, title string) State {
	for _, s := range a.screen {
		text := screen
		if s.title {
			text = title
		}
		if s.text.MatchString(text) {
			return State{State: s.state}
		}
	}
	return State{}
}

// press does what a user does for verb: approve, refuse, esc, choose, compact,
// clear or quit.
func (a *Agent) press(p *Pane, verb string) error {
	if verb == "esc" && a.again != "" {
		return a.breakOff(p)
	}
	keys, ok := a.keys[verb]
	if !ok {
		return fmt.Errorf("%s has no way to %s", a.Name, verb)
	}
	for i, k := range keys {
		if i > 0 {
			time.Sleep(2 * enterDelay)
		}
		if k[0] != '/' {
			if err := p.Key(k); err != nil {
				return err
			}
			continue
		}
		if err := p.Type(k); err != nil {
			return err
		}
		if err := p.WaitFor(regexp.QuoteMeta(k), patience); err != nil {
			return err
		}
		time.Sleep(2 * enterDelay) // its menu of commands opens
	}
	return nil
}

// breakOff presses Esc twice. A busy client may miss the time for the second one, and then
// goes on working.
func (a *Agent) breakOff(p *Pane) error {
	const limit = 7 * time.Second
	for range 3 {
		if err := p.Key("Escape"); err != nil {
			return err
		}
		if p.WaitFor(a.again, limit) == nil {
			if err := p.Key("Escape"); err != nil {
				return err
			}
		}
		for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(pollEvery) {
			if a.Shows(p) != "working" {
				return nil
			}
		}
	}
	return fmt.Errorf("%s works on after Esc, pressed twice three times:\n%s", a.Name, p.Capture())
}

// Ready waits until the agent accepts a prompt, and trusts its hooks if it asks.
func (a *Agent) Ready(p *Pane) error {
	if a.review == "" {
		return p.WaitFor(a.ready, patience)
	}
	if err := p.WaitFor(a.review+"|"+a.ready, patience); err != nil {
		return err
	}
	review := regexp.MustCompile(a.review)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(500 * time.Millisecond) { // it takes no keys at first
		screen, key := p.Capture(), a.trust
		if !review.MatchString(screen) {
			break
		}
		if strings.Contains(screen, "› "+a.trust) {
			key = "Enter"
		}
		if err := p.Key(key); err != nil {
			return err
		}
	}
	return p.WaitFor(a.ready, patience)
}

// jsonHooks writes a settings file with one command per event, in the form that gemini, qwen
// and codex share; more are other members of the file.
func jsonHooks(path, command string, timeout int, events []string, more fields) error {
	hooks := fields{}
	for _, e := range events {
		hooks[e] = []any{fields{"hooks": []any{fields{"type": "command", "name": "recorder", "command": command + " " + e, "timeout": timeout}}}}
	}
	all := fields{"hooks": hooks}
	maps.Copy(all, more)
	return writeJSON(path, all)
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// Find returns the installed agent, or ErrAbsent.
func (a *Agent) Find() (Client, error) {
	dir, err := cacheDir(filepath.Join("agents", a.Name, a.Version))
	if err != nil {
		return Client{}, err
	}
	path := filepath.Join(dir, "node_modules", filepath.FromSlash(a.program))
	if _, err := os.Stat(path); err != nil {
		return Client{}, fmt.Errorf("%w: %s %s, looked for %q", ErrAbsent, a.Name, a.Version, path)
	}
	return Client{Version: a.Version, Path: path, Agent: a}, nil
}

// Install installs the agent with npm and returns it. Install scripts do not run.
func (a *Agent) Install(ctx context.Context) (Client, error) {
	dir, err := cacheDir(filepath.Join("agents", a.Name, a.Version))
	if err != nil {
		return Client{}, err
	}
	if err := npmInstall(ctx, dir, a.Package+"@"+a.Version); err != nil {
		return Client{}, err
	}
	return a.Find()
}

// Hook registers command for every event of the agent in a lab's home. The event's name is its
// last argument.
func (a *Agent) Hook(h *Home, command string) error { return a.hooks(h, command) }

// Press does what a user does for one of a scenario's verbs.
func (a *Agent) Press(p *Pane, verb string) error { return a.press(p, verb) }

// Need is the function Need for this agent.
func (a *Agent) Need(t testing.TB) Client {
	t.Helper()
	return needClient(t, a.Name+" "+a.Version, a.Find, a.Install)
}
