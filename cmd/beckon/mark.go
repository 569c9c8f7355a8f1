package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render"
	"beckon/render/jump"
	"beckon/state"
	"beckon/state/evidence"
)

type markCmd struct {
	Session *string `arg:"" optional:"" help:"${session} (default: the one in this pane)."`
	Seen    bool    `hidden:"" xor:"mark,end" help:"Mark it as seen, as without any flag."`
	Aside   bool    `xor:"mark" help:"Set it aside until your own next prompt to it."`
	Until   string  `xor:"end" help:"Set it aside, and bring it back after 2h or 3d, at 15:30, or when needed." placeholder:"WHEN"`
	Off     bool    `xor:"end" help:"Take it back from aside."`
	Remove  bool    `xor:"mark,end" help:"Hide it until its next event."`
	Label   *string `xor:"mark,end" help:"Put these words on it; \"\" takes them off." placeholder:"WORDS"`
	Pane    string  `hidden:"" placeholder:"ID" help:"The session in this pane of the tmux server, or in the terminal with this id; none there is no error."`
	All     bool    `help:"Mark all sessions as seen."`
}

func (c *markCmd) Run(a *app) error {
	only := c.Aside || c.Until != "" || c.Off || c.Remove || c.Label != nil // what needs one session by its name
	switch {
	case only && (c.All || c.Pane != ""), c.All && c.Session != nil, c.Pane != "" && (c.All || c.Session != nil):
		return cli.Usage("mark: --all and --pane mark as seen, and go with no other flag and no session")
	case c.All:
		return a.seenIn(func(event.Terminal) bool { return true })
	case c.Pane != "": // tmux runs this at every change of focus, and would show what it prints
		a.Store.Log(a.seenIn(inPane(c.Pane, a.Getenv)))
		return nil
	case c.Session == nil && only:
		return cli.Usage("mark: which session?")
	case c.Session == nil:
		t := evidence.Terminal(a.Getenv)
		return a.seenIn(func(o event.Terminal) bool { return jump.SamePane(o, t) })
	}
	action, did, err := c.action(a.Now().Time().Local())
	if err != nil {
		return err
	}
	v, err := a.Find(*c.Session)
	if err != nil {
		return err
	}
	switch {
	case action.Kind == state.ActBackburner && !v.Status.State.Live():
		return cli.Hint("beckon mark --remove hides it", "session %q is over", v.Session.ID)
	case action.Kind == state.ActSeen:
		err = a.MarkSeen(v)
	default:
		err = a.Act(action, v)
	}
	if err != nil {
		return err
	}
	row := render.Rows([]state.Seen{v}, true)[0]
	name := strings.TrimSpace(row.ShownName() + " " + cli.ShortID(row.SessionID))
	return a.Printf("%s %s\n", render.OneLine(name), did)
}

// action returns what the flags ask for, and the words for it.
func (c *markCmd) action(now time.Time) (action state.Action, did string, err error) {
	switch {
	case c.Off:
		return state.Action{Kind: state.ActBackburnerOff}, "is back", nil
	case c.Until != "":
		until, err := render.Until(c.Until, now)
		if err != nil {
			return action, "", cli.Usage("--until %q: %w", c.Until, err)
		}
		did = "is aside until " + until.Time().Local().Format("Mon 15:04")
		if until == state.UntilNeeded {
			did = "is aside until it needs you"
		}
		return state.Action{Kind: state.ActBackburner, Until: until}, did, nil
	case c.Aside:
		return state.Action{Kind: state.ActBackburner}, "is aside until your next prompt to it", nil
	case c.Label != nil:
		did = "is labelled " + render.OneLine(*c.Label)
		if *c.Label == "" {
			did = "has no label"
		}
		return state.Action{Kind: state.ActLabel, Label: render.OneLine(*c.Label)}, did, nil
	case c.Remove:
		return state.Action{Kind: state.ActRemove}, "is hidden until its next event", nil
	}
	return state.Action{Kind: state.ActSeen}, "is seen", nil
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

// seenIn marks the sessions whose terminal fits accepts as seen. It prints nothing.
func (a *app) seenIn(fits func(event.Terminal) bool) error {
	snap, err := a.Reader().Look(false)
	there := slices.DeleteFunc(snap.Seen, func(v state.Seen) bool { return !fits(v.Session.Origin.Terminal) })
	return cmp.Or(err, a.MarkSeen(there...))
}
