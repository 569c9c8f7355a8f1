//go:build unix

// Command record plays scenarios of testdata/lab with a real client and writes what
// hooks, status line and registry gave into DIR/VERSION/NAME.jsonl. On the way
// it checks the scenario's expectations against the client's screen.
//
//	go run ./cmd/internal/lab/record [-install] [-version V,..] [-out DIR] [-screen] [-requests DIR] NAME...
//	go run ./cmd/internal/lab/record -agent NAME,.. [-install] [-out DIR] [-screen] [-requests DIR] NAME...
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"beckon/cmd/internal/lab"
)

func main() { os.Exit(run()) }

func run() int {
	versions := flag.String("version", strings.Join(lab.Pinned, ","), "client `versions`, comma-separated")
	agents := flag.String("agent", "", "other `agents`, comma-separated, in their shared scenarios; all of them without NAME")
	out := flag.String("out", "", "`directory` to write to (default: testdata/recordings, for other agents testdata/agents)")
	install := flag.Bool("install", false, "fetch a client that is missing")
	screen := flag.Bool("screen", false, "print the last screen of each scenario")
	requests := flag.String("requests", "", "`directory` for the bodies of the client's requests")
	flag.Parse()
	find, list := claude, *versions
	read, dir := lab.Scenarios, filepath.Join("testdata", "recordings")
	if *agents != "" {
		find, list = others, *agents
		read, dir = lab.AgentScenarios, filepath.Join("testdata", "agents")
	}
	clients, err := find(list, *install)
	scenarios, err2 := chosen(read, flag.Args(), *agents != "")
	if err := errors.Join(err, err2); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 0
	for _, c := range clients {
		name := c.Version
		if c.Agent != nil {
			name = c.Agent.Name + "-" + c.Version
		}
		for _, sc := range scenarios {
			path := filepath.Join(cmp.Or(*out, dir), name, sc.Name+".jsonl")
			sub := *requests
			if sub != "" {
				sub = filepath.Join(sub, name, sc.Name)
			}
			if err := record(c, sc, path, sub, *screen); err != nil {
				fmt.Fprintf(os.Stderr, "recording %s with %s: %v\n", sc.Name, name, err)
				code = 1
			} else {
				fmt.Println(path)
			}
		}
	}
	return code
}

// chosen returns the scenarios of these names; without names, all of them if all is set.
func chosen(read func() ([]lab.Scenario, error), names []string, all bool) ([]lab.Scenario, error) {
	list, err := read()
	if err != nil || all && len(names) == 0 {
		return list, err
	}
	var found []lab.Scenario
	for _, name := range names {
		i := slices.IndexFunc(list, func(s lab.Scenario) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no scenario %q", name)
		}
		found = append(found, list[i])
	}
	return found, nil
}

func claude(versions string, install bool) ([]lab.Client, error) {
	var all []lab.Client
	for _, v := range strings.Split(versions, ",") {
		c, err := lab.Find(v)
		if errors.Is(err, lab.ErrAbsent) && install {
			c, err = lab.Install(context.Background(), v)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func others(names string, install bool) ([]lab.Client, error) {
	var all []lab.Client
	for _, name := range strings.Split(names, ",") {
		a := lab.AgentNamed(name)
		if a == nil {
			return nil, fmt.Errorf("no agent %q", name)
		}
		c, err := a.Find()
		if errors.Is(err, lab.ErrAbsent) && install {
			c, err = a.Install(context.Background())
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func record(c lab.Client, sc lab.Scenario, path, requests string, screen bool) error {
	l, err := lab.New(c)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	observe := lab.ScreenObserver(l)
	if c.Agent != nil { // whose screens do not show how a turn ended
		observe = nil
	}
	res, err := l.Record(sc, observe, f)
	err = errors.Join(err, f.Close())
	for _, c := range res.Checks {
		if !c.OK {
			err = errors.Join(err, fmt.Errorf("%q: the screen says %q after %v", c.Step, c.Got, c.Took))
		}
	}
	if requests != "" {
		err = errors.Join(err, dump(l.Server.Requests(), requests))
	}
	if screen {
		printTimeline(res)
		fmt.Println(l.Tmux.Screens())
	}
	return err
}

func dump(all []lab.Request, dir string) error {
	err := os.MkdirAll(dir, 0o755)
	for i, r := range all {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d-%s-%d.json", i, r.Word, r.Step)), r.Body, 0o600))
	}
	return err
}

// printTimeline prints what screen and registry showed, at each change.
func printTimeline(r lab.Result) {
	last := ""
	for _, s := range r.Samples {
		now := ""
		for i, p := range s.Panes {
			now += fmt.Sprintf(" @%d screen=%s dead=%v registry=", i+1, p.Screen, p.Dead)
			for _, e := range s.Registry {
				if e.PID == p.Pid {
					now += e.Status
				}
			}
		}
		if now != last {
			fmt.Printf("%7d%s\n", s.At.Sub(r.Start).Milliseconds(), now)
		}
		last = now
	}
}
