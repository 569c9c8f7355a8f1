package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/answer"
	"beckon/event"
	"beckon/installer"
	"beckon/state"
	"beckon/state/store"
)

type doctorCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Check is one thing that doctor looked at.
type Check struct {
	Name   string `json:"name"`
	Level  string `json:"level"` // ok, note or fault
	What   string `json:"what"`
	Advice string `json:"advice,omitempty"`

	Figures *Figures `json:"figures,omitempty"`
}

// Levels of a check. A note needs no action.
const (
	levelOK    = "ok"
	levelNote  = "note"
	levelFault = "fault"
)

func (c *doctorCmd) Run(a *app) error {
	d := &doctor{a: a}
	d.examine()
	if c.JSON {
		if err := writeJSON(a.stdout, d.checks); err != nil {
			return err
		}
	} else {
		d.print()
	}
	if slices.ContainsFunc(d.checks, func(c Check) bool { return c.Level == levelFault }) {
		return errSilent
	}
	return nil
}

// doctor gathers checks.
type doctor struct {
	a      *app
	checks []Check
}

func (d *doctor) add(level, name, advice, format string, args ...any) {
	d.checks = append(d.checks, Check{Name: name, Level: level, What: fmt.Sprintf(format, args...), Advice: advice})
}

func (d *doctor) print() {
	for _, c := range d.checks {
		mark := map[string]string{levelOK: "ok   ", levelNote: "note ", levelFault: "FAULT"}[c.Level]
		fmt.Fprintf(d.a.stdout, "%s  %-12s %s\n", mark, c.Name, c.What)
		if c.Advice != "" {
			fmt.Fprintf(d.a.stdout, "%20s hint: %s\n", "", c.Advice)
		}
	}
}

func (d *doctor) examine() {
	d.configuration()
	d.notifications()
	d.stateDir()
	client := installer.ClientVersion(context.Background(), exec.LookPath)
	d.client(client)
	report := d.inspect(client)
	d.entries(report)
	d.programs(report)
	d.policies()
	d.limits(limitsHere())
	d.latency()
	if report.Installed() {
		d.roundTrips(report)
		d.silence(report)
	}
}

func (d *doctor) configuration() {
	if _, err := d.a.configured(); err != nil {
		d.add(levelFault, "config", hintOf(err), "%v", err)
	}
}

func hintOf(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}

// stateDir checks that the state directory can be written to, and not by others.
func (d *doctor) stateDir() {
	dir := d.a.st.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.add(levelFault, "state", "set BECKON_STATE_DIR to a directory of yours", "%v", err)
		return
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.add(levelFault, "state", "set BECKON_STATE_DIR to a directory of yours", "%s cannot be written: %v", dir, err)
		return
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if answer.Shared(dir) {
		d.add(levelFault, "state", "make it yours and chmod 700, or set BECKON_STATE_DIR to a directory of yours", "%s is not yours alone: others can change what is in it", dir)
		return
	}
	d.add(levelOK, "state", "", "%s", dir)
}

func (d *doctor) client(c installer.Client) {
	switch {
	case c.Path == "":
		d.add(levelNote, "client", "", "no claude on PATH: its version is not known")
	case !c.Version.Known():
		d.add(levelNote, "client", "", "%s does not tell its version", c.Path)
	case len(installer.UnknownTo(c.Version, []string{string(event.PermissionRequest)})) > 0:
		d.add(levelFault, "client", "update Claude Code", "%s is version %s: too old to tell of permissions", c.Path, c.Version)
	default:
		d.add(levelOK, "client", "", "%s, version %s", c.Path, c.Version)
	}
}

// inspect reads the settings of all scopes, and the plugins with our hooks.
func (d *doctor) inspect(client installer.Client) installer.Report {
	v := client.Version
	in := installer.Inspection{Client: v, Plugins: client.PluginDirs(context.Background())}
	for _, s := range []installer.Scope{installer.User, installer.Project, installer.Local} {
		if t, err := d.a.settings(s); err == nil {
			in.Targets = append(in.Targets, t)
		}
	}
	for _, path := range installer.ManagedFiles(runtime.GOOS) {
		in.Targets = append(in.Targets, installer.Target{Scope: installer.Managed, Path: path})
	}
	program, _ := d.a.hookProgram("") // a path that install would refuse is told of below
	in.Want = installer.Spec{Command: program, Events: installer.Events(v, installer.CoreEvents), Form: v.Form(), Client: v}
	in.Want.Answers = installer.Inspect(in).Answers()
	r := installer.Inspect(in)
	r.Files = slices.DeleteFunc(r.Files, func(f installer.File) bool { return f.Plugin != "" && len(f.Entries) == 0 })
	return r
}

// entries tells apart: never installed, removed later, disabled, incomplete.
func (d *doctor) entries(r installer.Report) {
	installed := 0
	for _, f := range r.Files {
		switch {
		case f.Err != nil:
			d.add(levelFault, "settings", hintOf(f.Err), "%v", f.Err)
		case len(f.Entries) > 0:
			installed++
			d.add(levelOK, "hooks", "", "%d entries in %s", len(f.Entries), f.Path)
			if f.Plugin == "" {
				d.statusLine(f)
			}
		case f.Recorded:
			d.add(levelFault, "hooks", "beckon install puts them back", "removed later: %s had our hooks, something took them out", f.Path)
			installed++
		}
	}
	if installed == 0 {
		d.add(levelFault, "hooks", "beckon install", "never installed")
		return
	}
	if r.Disabled != "" {
		d.add(levelFault, "hooks", "take disableAllHooks out of it", "disabled: disableAllHooks is set in %s", r.Disabled)
	}
	if r.ManagedOnly != "" {
		d.add(levelFault, "hooks", "ask whoever manages this machine", "disabled: %s allows managed hooks only", r.ManagedOnly)
	}
	if lack := d.a.unknownClient(); lack != "" {
		d.add(levelNote, "hooks", "", "%s", lack)
	}
	if len(r.Missing) > 0 && r.Installed() {
		d.add(levelFault, "hooks", "beckon install again", "not registered: %s", strings.Join(r.Missing, ", "))
	}
	if len(r.Unknown) > 0 {
		d.add(levelFault, "hooks", "beckon install again", "the client does not know %s and warns at start", strings.Join(r.Unknown, ", "))
	}
	d.duplicates(r)
}

func (d *doctor) statusLine(f installer.File) {
	switch {
	case f.Status == nil:
		d.add(levelNote, "status line", "", "not ours: beckon install --statusline shows the other sessions in it, and gives the lists context and cost")
	case f.Status.Wraps:
		d.add(levelOK, "status line", "", "runs the one that was there, and adds a line")
	default:
		d.add(levelOK, "status line", "", "ours")
	}
}

// programs checks the files that the entries name (CASE 19).
func (d *doctor) programs(r installer.Report) {
	for _, p := range r.Programs {
		switch {
		case !p.Absolute:
			d.add(levelFault, "program", "beckon install again", "wrong path: %q is not absolute", p.Path)
		case !p.Exists:
			d.add(levelFault, "program", "beckon install again, or go install ./cmd/...", "wrong path: %s is not there, and every tool call prints an error", p.Path)
		case !p.Executable:
			d.add(levelFault, "program", "chmod +x "+p.Path, "wrong path: %s cannot be executed", p.Path)
		default:
			d.add(levelOK, "program", "", "%s", strings.TrimSpace(p.Path+" "+p.Version))
		}
	}
}

const (
	trips = 5 // runs of the round trip; the median is told
	// slowTrip is when a hook is felt: the client waits for it at every call.
	slowTrip = 100 * time.Millisecond
	tripWait = 10 * time.Second
)

// roundTrips sends a real event through every installed program, into a
// scratch directory so that no session of nobody is left behind.
func (d *doctor) roundTrips(r installer.Report) {
	var done []string
	for _, f := range r.Files {
		for _, e := range f.Entries {
			if e.Event != string(event.SessionStart) || slices.Contains(done, e.Program) {
				continue
			}
			done = append(done, e.Program)
			took, least, err := roundTrip(e)
			switch {
			case err != nil:
				d.add(levelFault, "round trip", "run it by hand: echo '{}' | "+e.Program, "%s: %v", e.Program, err)
			case least > slowTrip: // what else the machine does only adds
				d.add(levelFault, "round trip", slowAdvice, "slow: %s took at least %.1f ms", e.Program, millis(least))
			default:
				d.add(levelOK, "round trip", "", "an event reached its session in %.1f ms (median of %d)", millis(took), trips)
				d.launchCost(e.Program)
			}
		}
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// roundTrip runs an entry's command with an event of a session of its own and
// looks for what it must have left. It returns the median and the least of its times.
func roundTrip(e installer.Entry) (median, least time.Duration, err error) {
	dir, err := os.MkdirTemp("", "beckon-doctor-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	times := make([]time.Duration, trips)
	for i := range times {
		id := fmt.Sprintf("doctor-%d", i)
		if times[i], err = runEntry(e, dir, id); err != nil {
			return 0, 0, err
		}
		s, err := store.Open(dir).Load(store.KeyOf(id))
		if err != nil {
			return 0, 0, fmt.Errorf("it ran, and left no session: %w", err)
		}
		if s.Start.Reason != "startup" {
			return 0, 0, errors.New("it ran, and its session does not say what was sent")
		}
	}
	slices.Sort(times)
	return times[len(times)/2], times[0], nil
}

func runEntry(e installer.Entry, dir, id string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tripWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.Program, e.Args...)
	cmd.Env = append(os.Environ(), "BECKON_STATE_DIR="+dir)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"hook_event_name":"SessionStart","source":"startup","cwd":%q}`, id, filepath.ToSlash(dir)))
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return 0, fmt.Errorf("it did not end within %s", tripWait)
	case err != nil:
		return 0, fmt.Errorf("running it: %w", err)
	case len(out) > 0:
		return 0, fmt.Errorf("it printed %d bytes: a hook must be silent", len(out))
	}
	return took, nil
}

// silence looks for live sessions that began after the install and from which
// no hook ever came: the client has the hooks and does not run them.
func (d *doctor) silence(r installer.Report) {
	seen, _, err := d.a.look(false)
	if err != nil {
		d.add(levelFault, "sessions", "beckon fsck", "%v", err)
		return
	}
	d.newer()
	since := installedAt(r)
	heard, before, silent := 0, 0, 0
	for _, v := range seen {
		switch {
		case v.Session.Seq > 0:
			heard++
		case v.Session.Created < since:
			before++
		default:
			silent++
		}
	}
	if before > 0 {
		d.add(levelNote, "sessions", "their hooks come with what they do next; restart those that stay silent", "%d live sessions began before the install and were not heard yet", before)
	}
	if silent > 0 {
		d.add(levelFault, "sessions", "in the client, /hooks shows what it will run; a folder that is not trusted runs none",
			"present but silent: %d live sessions began after the install and no hook of theirs ever came", silent)
	}
	if heard > 0 || silent == 0 {
		d.add(levelOK, "sessions", "", "%d live sessions are heard", heard)
	}
}

// newer reports sessions that a newer beckon wrote: this one leaves them alone, and
// its hooks tell nothing of them.
func (d *doctor) newer() {
	n := 0
	for _, p := range d.a.unread {
		if errors.Is(p.Err, state.ErrNewerSchema) {
			n++
		}
	}
	if n > 0 {
		d.add(levelFault, "version", updateAdvice, "%d live sessions are written by a newer beckon than this one (%s), which leaves them alone", n, versionString())
	}
}

// installedAt is when the newest settings file with our entries was written.
func installedAt(r installer.Report) event.Millis {
	var newest time.Time
	for _, f := range r.Files {
		if info, err := os.Stat(cmp.Or(f.Real, f.Path)); err == nil && len(f.Entries) > 0 && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return event.Millis(newest.UnixMilli())
}
