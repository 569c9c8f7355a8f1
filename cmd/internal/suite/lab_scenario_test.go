//go:build unix

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Scenario is a story: what the user does, and what beckon must show when. See
// testdata/lab/scenarios.txtar for all of them and for the language.
type Scenario struct {
	Name  string
	About string
	Steps []Step
}

// Step is a line of a scenario.
type Step struct {
	Line     string // as written
	Versions string // the client versions it is for, like >=2.1.300 or <2.1.300, or the agents; empty means all
	Pane     int    // 1 is the first one started
	Verb     string
	Args     []string // words after the verb; for say, type, screen and exec the whole rest

	Within time.Duration // expect, rows, screen, registry, gone: how long it may take
	For    time.Duration // expect: how long it must then stay so
	Reason string        // expect: the reason that is expected, too; empty means any
}

// verbs maps each verb to whether it is an input, something that a user or the world does to
// the client. A recording's first line lists the inputs.
var verbs = map[string]bool{
	"start": true, "say": true, "type": true, "key": true, "wait": true, "signal": true, "exec": true, "env": true, "install": true,
	"do": true, "shows": false,
	"screen": false, "registry": false, "gone": false, "expect": false, "rows": false,
}

// rest lists the verbs that take the rest of the line as one argument.
var rest = []string{"say", "type", "screen", "exec"}

// Input reports whether the step does something, rather than wait or check.
func (s Step) Input() bool { return verbs[s.Verb] }

// Installs reports whether the scenario itself says when to install what is observed, rather
// than before everything.
func (sc Scenario) Installs() bool {
	return slices.ContainsFunc(sc.Steps, func(s Step) bool { return s.Verb == "install" })
}

// fits reports whether the step is for that client version.
func (s Step) fits(c Client) bool {
	version := c.Version
	if c.Agent != nil && s.Versions != "" {
		names, not := strings.CutPrefix(s.Versions, "!")
		return slices.Contains(strings.Split(names, ","), c.Agent.Name) != not
	}
	if v, ok := strings.CutPrefix(s.Versions, ">="); ok {
		return !older(version, v)
	}
	if v, ok := strings.CutPrefix(s.Versions, "<"); ok {
		return older(version, v)
	}
	return s.Versions == "" || s.Versions == version
}

// Scenarios reads testdata/lab/scenarios.txtar, found from the working
// directory upward.
func Scenarios() ([]Scenario, error) { return readScenarios("scenarios.txtar") }

// AgentScenarios reads testdata/lab/agents.txtar, the scenarios that all agents share.
func AgentScenarios() ([]Scenario, error) { return readScenarios("agents.txtar") }

func readScenarios(name string) ([]Scenario, error) {
	root, err := moduleRoot()
	if err != nil {
		return nil, err
	}
	a, err := txtar.ParseFile(filepath.Join(root, "testdata", "lab", name))
	if err != nil {
		return nil, fmt.Errorf("reading the scenarios: %w", err)
	}
	var all []Scenario
	for _, f := range a.Files {
		s, err := ParseScenario(f.Name, string(f.Data))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// moduleRoot returns the directory of go.mod, searched from the working directory upward.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
}

// ParseScenario parses one scenario. Its first comment describes it.
func ParseScenario(name, text string) (Scenario, error) {
	s := Scenario{Name: name}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if about, ok := strings.CutPrefix(line, "#"); ok {
			if s.About == "" {
				s.About = strings.TrimSpace(about)
			}
			continue
		}
		if line == "" {
			continue
		}
		step, err := parseStep(line)
		if err != nil {
			return s, fmt.Errorf("scenario %s, line %d: %w", name, i+1, err)
		}
		s.Steps = append(s.Steps, step)
	}
	first := slices.IndexFunc(s.Steps, func(s Step) bool { return s.Verb != "env" })
	if first >= 0 && s.Steps[first].Verb != "start" {
		s.Steps = slices.Insert(s.Steps, first, Step{Line: "start", Verb: "start", Pane: 1})
	}
	return s, nil
}

func parseStep(line string) (Step, error) {
	s := Step{Line: line, Pane: 1}
	text := line
	for {
		head, tail, _ := strings.Cut(text, " ")
		switch {
		case strings.HasPrefix(head, "["):
			s.Versions = strings.Trim(head, "[]")
			if strings.Trim(s.Versions, "<>=.0123456789") != "" && !agentNames(s.Versions) {
				return s, fmt.Errorf("versions %q: want [>=N], [<N], [N], or agents as [A,B] or [!A,B]", head)
			}
		case strings.HasPrefix(head, "@"):
			n, err := strconv.Atoi(head[1:])
			if err != nil {
				return s, fmt.Errorf("pane %q: %w", head, err)
			}
			s.Pane = n
		default:
			s.Verb = head
			if _, ok := verbs[head]; !ok {
				return s, fmt.Errorf("no verb %q", head)
			}
			return s, s.parseArgs(strings.TrimSpace(tail))
		}
		text = strings.TrimSpace(tail)
	}
}

// agentNames reports whether the text names agents, as A,B or !A,B.
func agentNames(text string) bool {
	for _, name := range strings.Split(strings.TrimPrefix(text, "!"), ",") {
		if AgentNamed(name) == nil {
			return false
		}
	}
	return true
}

func (s *Step) parseArgs(text string) error {
	words := strings.Fields(text)
	if !s.Input() {
		var err error
		if words, err = s.parseLimits(words); err != nil {
			return err
		}
	}
	if slices.Contains(rest, s.Verb) {
		if s.Input() {
			words = []string{text}
		} else {
			words = []string{strings.Join(words, " ")}
		}
	}
	s.Args = words
	if len(words) == 0 && !slices.Contains([]string{"start", "gone", "install"}, s.Verb) {
		return fmt.Errorf("%s needs an argument", s.Verb)
	}
	return nil
}

// parseLimits removes "within D", "for D" and "reason R" from the end.
func (s *Step) parseLimits(words []string) ([]string, error) {
	for len(words) >= 2 {
		key, value := words[len(words)-2], words[len(words)-1]
		var err error
		switch key {
		case "within":
			s.Within, err = time.ParseDuration(value)
		case "for":
			s.For, err = time.ParseDuration(value)
		case "reason":
			s.Reason = value
		default:
			return words, nil
		}
		if err != nil {
			return nil, err
		}
		words = words[:len(words)-2]
	}
	return words, nil
}
