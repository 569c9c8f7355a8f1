// Command bench measures what a hook costs the agent: it starts whole
// processes, the hook and a Go hello-world in turn, and prints medians as
// ratios to the hello-world of the same run. Machines differ and are shared;
// ratios travel, milliseconds do not.
//
//	go run ./cmd/internal/bench [-n 400] [-policy]
//
// With -manual it measures all that the manual claims of a hook, twice over,
// beside stand-ins for what people use, and writes the table there and the
// chart beside this file.
//
//	go run ./cmd/internal/bench -manual cmd/internal/manual/measurements.md [-n 200]
//
// With -soak it lets 200 sessions work for that long with every reader attached,
// and says what grew. With -o it writes that to a file.
//
//	go run ./cmd/internal/bench -soak 10m [-o testdata/bench/SOAK.md]
//
// With -policy it measures what a policy costs, and nothing else; with -serve
// the server: the time until an event stream hears of a hook, and what a
// thousand streams cost.
//
//	go run ./cmd/internal/bench -serve [-hooks 300] [-clients 999] [-rate 500] [-span 60s]
//
// With -views it measures list, prompt and status line; with -watch the screen:
// what it takes while idle, and how soon it shows what a hook said. Programs
// named behind either are measured instead of this tree's, in turn.
//
//	go run ./cmd/internal/bench -views [-n 40] [PROGRAM ...]
//	go run ./cmd/internal/bench -watch [-hooks 300] [PROGRAM ...]
//
// With -fleet it measures a fleet: links, a hub and a screen as programs on
// loopback; with -fleetmodel it plays a model of 50,000 hosts. With -page it puts the
// tables there, and the chart into testdata/bench.
//
//	go run ./cmd/internal/bench -fleet|-fleetmodel [-hooks 150] [-page cmd/internal/manual/fleet.md]
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	n := flag.Int("n", 400, "pairs of launches")
	policy := flag.Bool("policy", false, "measure policies, and nothing else")
	serve := flag.Bool("serve", false, "measure the server, and nothing else")
	views := flag.Bool("views", false, "measure list, prompt and status line, and nothing else")
	watch := flag.Bool("watch", false, "measure the screen, and nothing else")
	many := flag.Bool("fleet", false, "measure a fleet, and nothing else")
	modelled := flag.Bool("fleetmodel", false, "play the model of a large fleet, and nothing else")
	fleetPage := flag.String("page", "", "with -fleet and -fleetmodel: file to write its tables to")
	page := flag.String("manual", "", "file to write the table of hooks to, and nothing else")
	var long soak
	flag.DurationVar(&long.span, "soak", 0, "how long to soak, and nothing else")
	flag.IntVar(&long.sessions, "sessions", 200, "sessions of the soak")
	flag.IntVar(&long.rate, "hooks-a-second", 30, "hooks of the soak")
	out := flag.String("o", "", "file to write what came of the soak to")
	var l load
	flag.IntVar(&l.hooks, "hooks", 300, "hooks until a stream hears of them")
	flag.IntVar(&l.clients, "clients", 999, "event streams, beside a stalled one")
	flag.IntVar(&l.rate, "rate", 500, "turns a second")
	flag.DurationVar(&l.span, "span", time.Minute, "how long they come")
	flag.Parse()
	what := func() error { return run(*n, os.Stdout, hookSubjects, policySubjects, listSubjects) }
	switch {
	case *policy:
		what = func() error { return run(*n, os.Stdout, policySubjects) }
	case *views:
		what = func() error { return run(*n, os.Stdout, listSubjects) }
	case *watch:
		what = func() error {
			return inScratch(func(dir string) error { return watchReport(dir, flag.Args(), l.hooks, os.Stdout) })
		}
	case *many:
		what = func() error {
			return inScratch(func(dir string) error { return fleetReport(dir, l.hooks, *fleetPage, os.Stdout) })
		}
	case *modelled:
		what = func() error { return modelReport(*fleetPage, os.Stdout) }
	case *page != "":
		what = func() error {
			return inScratch(func(dir string) error { return prove(dir, *n, *page, os.Stdout) })
		}
	case long.span > 0:
		what = func() error {
			return inScratch(func(dir string) error { return runSoak(&long, dir, *out, os.Stdout) })
		}
	case *serve:
		what = func() error {
			return inScratch(func(dir string) error { return serveReport(dir, l, os.Stdout) })
		}
	}
	if err := what(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// subject is a program with an input.
type subject struct {
	name    string
	path    string
	args    []string
	env     []string
	payload string
	// before prepares each launch; nil for nothing.
	before func() error

	took   []time.Duration
	cpu    []time.Duration // user and system, including its children's
	faults []int64
}

func run(n int, w io.Writer, sets ...func(tools) ([]subject, error)) error {
	fmt.Fprintf(w, "%d launches each, in turn, on %s/%s with %s\n", n, runtime.GOOS, runtime.GOARCH, runtime.Version())
	return inScratch(func(dir string) error {
		p, err := programs(dir)
		if err != nil {
			return err
		}
		for _, prepare := range sets {
			subjects, err := prepare(p)
			if err != nil {
				return err
			}
			if err := errors.Join(warm(subjects), measure(n, subjects)); err != nil {
				return err
			}
			report(w, subjects)
		}
		return nil
	})
}

// inScratch calls f with a directory of its own.
func inScratch(f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "beckon-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return f(dir)
}

// warm launches each subject once, so that what only a first run does is not measured.
func warm(subjects []subject) error {
	for i := range subjects {
		if err := subjects[i].launch(); err != nil {
			return fmt.Errorf("%s: %w", subjects[i].name, err)
		}
		subjects[i].took, subjects[i].cpu, subjects[i].faults = nil, nil, nil
	}
	return nil
}

// measure launches the subjects in turn, so that the machine's other work affects all of them.
// The order changes every round.
func measure(n int, subjects []subject) error {
	for i := range n {
		for j := range subjects {
			s := &subjects[(i+j)%len(subjects)]
			if err := s.launch(); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return nil
}

// hookSubjects returns the hook's events, of a session with some history.
func hookSubjects(p tools) ([]subject, error) {
	starts, err := p.starts("beckon-hook")
	if err != nil {
		return nil, err
	}
	subjects := []subject{p.helloWorld(starts[0].payload)}
	for _, size := range []struct {
		name string
		n    int
	}{{"0.5 KB", 8}, {"50 KB", 50 << 10}, {"1 MB", 1 << 20}, {"10 MB", 10 << 20}} {
		payload, err := p.file(fmt.Sprintf("%d.json", size.n), toolEvent("s", strings.Repeat("x", size.n)))
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, p.hooked("tool event, "+size.name, "peer", payload))
	}
	return append(subjects, starts...), nil
}

func removeAll(paths ...string) error {
	for _, p := range paths {
		if err := os.RemoveAll(p); err != nil {
			return err
		}
	}
	return nil
}

// build builds a program and leaves a copy of it in dir, whose path it returns: a file that the
// linker has just written starts slower than a copy.
func build(dir, name, pkg string) (string, error) {
	fresh := filepath.Join(dir, name+".fresh")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", fresh, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	b, err := os.ReadFile(fresh)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, b, 0o700)
}

// buildOurs builds programs of this tree into dir.
func buildOurs(dir string, names ...string) error {
	for _, name := range names {
		if _, err := build(dir, name, "beckon/cmd/"+name); err != nil {
			return err
		}
	}
	return nil
}

// launch runs the program once, from start to end.
func (s *subject) launch() error {
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	in, err := os.Open(s.payload)
	if err != nil {
		return err
	}
	defer in.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	began := time.Now()
	p, err := os.StartProcess(s.path, append([]string{s.path}, s.args...), &os.ProcAttr{Env: s.env, Files: []*os.File{in, null, null}})
	if err != nil {
		return err
	}
	st, err := p.Wait()
	if err != nil {
		return err
	}
	s.took = append(s.took, time.Since(began))
	s.cpu = append(s.cpu, st.UserTime()+st.SystemTime())
	s.faults = append(s.faults, minorFaults(st))
	if !st.Success() {
		return fmt.Errorf("it ended with %v", st)
	}
	return nil
}

func report(w io.Writer, subjects []subject) {
	base := subjects[0].medians()
	fmt.Fprintf(w, "\n%-46s %8s %8s %10s %8s\n", "", "time", "CPU", "p99/median", "faults")
	for i := range subjects {
		m := subjects[i].medians()
		fmt.Fprintf(w, "%-46s %7.2fx %7.2fx %10.2f %8.0f\n", subjects[i].name, m.time/base.time, m.cpu/base.cpu, m.p99/m.time, m.faults)
	}
	fmt.Fprintf(w, "1.00x is %.2f ms here\n", base.time)
}
