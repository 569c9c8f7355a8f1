//go:build unix

// Command record plays scenarios of testdata/lab with a real client and writes what
// hooks, status line and registry gave into DIR/VERSION/NAME.jsonl. On the way
// it checks the scenario's expectations against the client's screen.
//
//	go run ./cmd/internal/lab/record [-install] [-version V,..] [-out DIR] [-screen] [-requests DIR] NAME...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"beckon/cmd/internal/lab"
)

func main() { os.Exit(run()) }

func run() int {
	versions := flag.String("version", strings.Join(lab.Pinned, ","), "client `versions`, comma-separated")
	out := flag.String("out", filepath.Join("testdata", "recordings"), "`directory` to write to")
	install := flag.Bool("install", false, "fetch a client that is missing")
	screen := flag.Bool("screen", false, "print the last screen of each scenario")
	requests := flag.String("requests", "", "`directory` for the bodies of the client's requests")
	flag.Parse()
	code := 0
	for _, v := range strings.Split(*versions, ",") {
		for _, name := range flag.Args() {
			path := filepath.Join(*out, v, name+".jsonl")
			if err := record(v, name, path, *requests, *install, *screen); err != nil {
				fmt.Fprintf(os.Stderr, "recording %s with %s: %v\n", name, v, err)
				code = 1
			} else {
				fmt.Println(path)
			}
		}
	}
	return code
}

func record(version, name, path, requests string, install, screen bool) error {
	sc, err := lab.ScenarioNamed(name)
	if err != nil {
		return err
	}
	c, err := lab.Find(version)
	if errors.Is(err, lab.ErrAbsent) && install {
		c, err = lab.Install(context.Background(), version)
	}
	if err != nil {
		return err
	}
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
	res, err := l.Record(sc, lab.ScreenObserver(l), f)
	err = errors.Join(err, f.Close())
	for _, c := range res.Checks {
		if !c.OK {
			err = errors.Join(err, fmt.Errorf("%q: the screen says %q after %v", c.Step, c.Got, c.Took))
		}
	}
	if requests != "" {
		err = errors.Join(err, dump(l.Server.Requests(), filepath.Join(requests, version, name)))
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

// printTimeline prints what screen and registry said, whenever it changed.
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
