package main

import (
	"fmt"
	"io"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/segment"
	"beckon/event"
	"beckon/render/jump"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/live"
	"beckon/state/store"
)

type seenCmd struct {
	Session string `arg:"" optional:"" help:"${session} (default: the one in this pane)."`
	Pane    string `placeholder:"ID" help:"The session in this pane of the tmux server, or in the terminal with this id; none there is no error."`
	All     bool   `help:"Mark all sessions."`
}

func (c *seenCmd) Run(a *app) error {
	switch {
	case c.All && c.Session != "", c.Pane != "" && (c.All || c.Session != ""): // runSeenPane does --pane alone
		return cli.Usage("seen: give one of a session, --pane and --all")
	case c.All:
		return a.allSeen()
	case c.Session == "":
		t := evidence.Terminal(a.Getenv)
		return seenIn(a.Store, func(o event.Terminal) bool { return jump.SamePane(o, t) })
	}
	v, err := a.Find(c.Session)
	if err != nil {
		return err
	}
	return a.MarkSeen(v)
}

func (a *app) allSeen() error {
	seen, _, err := a.Look(false)
	if err != nil {
		return err
	}
	for _, v := range seen {
		if err := a.MarkSeen(v); err != nil {
			return err
		}
	}
	return nil
}

// seenPane parses `seen --pane ID`, which run handles without kong.
func seenPane(args []string) (pane string, ok bool) {
	ok = len(args) > 1 && args[0] == "seen" && segment.Flags(args[1:], map[string]*string{"--pane": &pane}, nil)
	return pane, ok
}

// runSeenPane marks the session in a pane as seen. It prints nothing but that an agent may not
// run it: it runs at every change of focus, and tmux would show its output.
func runSeenPane(pane string, stderr io.Writer, getenv func(string) string) int {
	dir, err := store.Dir(getenv)
	if err != nil {
		return cli.ExitOK
	}
	st := store.Open(dir)
	if err := (&cli.App{Getenv: getenv}).InAgent("marking a session as seen"); err != nil {
		fmt.Fprintf(stderr, "beckon: %v\n", err)
		return cli.ExitError
	}
	if err := seenIn(st, inPane(pane, getenv)); err != nil {
		st.Log(err)
	}
	return cli.ExitOK
}

// inPane returns a function that matches the terminals that pane names: a pane of the tmux
// server we are in, else the terminal with that id.
func inPane(pane string, getenv func(string) string) func(event.Terminal) bool {
	if !strings.HasPrefix(pane, "%") {
		return func(t event.Terminal) bool { return pane != "" && t.ID == pane }
	}
	here := evidence.Terminal(getenv)
	if here.Kind != "tmux" {
		return func(event.Terminal) bool { return false } // %3 of which server?
	}
	here.Tmux.Pane = pane
	return func(t event.Terminal) bool { return jump.SamePane(t, here) }
}

// seenIn marks the sessions whose terminal fits accepts as seen. It needs only the facts of
// hooks: no other source ends a turn that stays unseen.
func seenIn(st *store.Store, fits func(event.Terminal) bool) error {
	sessions, _, err := st.Live()
	now := live.NewReader(st, "").Now()
	for i := range sessions {
		s := &sessions[i]
		if !fits(s.Origin.Terminal) || cli.Looked(s, s.ByHooks(now)) {
			continue
		}
		_, e := st.Fold(store.KeyOf(s.Record()), store.Update{Change: state.Change{At: now, Action: &state.Action{Kind: state.ActSeen}}})
		if err == nil {
			err = e
		}
	}
	return err
}
