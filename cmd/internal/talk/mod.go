package talk

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/event"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/alert"
	"beckon/state/request"
	"beckon/state/store"
)

// ModCmd is `beckon mod`, which the mod inside a client runs.
type ModCmd struct {
	Session string `arg:"" help:"The session whose client asks."`
}

// modded is what `beckon mod` prints.
type modded struct {
	Schema   int          `json:"schema"`
	Band     bool         `json:"band"` // show the line above the prompt
	Watch    []string     `json:"watch"`
	Sessions []modSession `json:"sessions"`
	Stop     bool         `json:"stop,omitempty"` // the user wants the turn to end
}

// modSession is another session, as the mod draws it.
type modSession struct {
	ID      string       `json:"id"`
	Name    string       `json:"name"`
	State   state.State  `json:"state"`
	Since   event.Millis `json:"since"`
	What    string       `json:"what,omitempty"`
	Needs   bool         `json:"needs"`
	Request string       `json:"offer,omitempty"` // the request that can be answered from elsewhere
	Popup   []string     `json:"popup,omitempty"` // the command that opens a terminal to answer in
}

// Run prints it.
func (c *ModCmd) Run(a *cli.App) error {
	rows, seen, _, err := a.Rows()
	if err != nil {
		return err
	}
	cfg := a.Configured()
	own := &state.Session{ID: c.Session}
	for i := range seen {
		if s := &seen[i].Session; s.ID == own.ID && s.Origin.Process.Pid == os.Getppid() {
			own = s
		}
	}
	record := own.Record()
	// tmux opens a popup above the pane of this process, and only the user at the terminal types in it.
	var popup []string
	socket, _, _ := strings.Cut(a.Getenv("TMUX"), ",")
	if pane := a.Getenv("TMUX_PANE"); socket != "" && pane != "" {
		popup = []string{"tmux", "-S", socket, "display-popup", "-t", pane, "-w", "80%", "-h", "60%", "-E"}
	}
	dir := request.In(a.Store.Dir)
	out := modded{Schema: 1, Band: cfg.Band == "true", Sessions: []modSession{}}
	out.Watch = []string{a.Store.NeedsFile(), dir.StopFile(store.KeyOf(record))}
	if path := alert.ConfigPath(a.Getenv); path != "" {
		out.Watch = append(out.Watch, path)
	}
	open, err := dir.List(time.Now())
	if err != nil {
		return fmt.Errorf("reading the requests: %w", err)
	}
	for i := range rows {
		r := &rows[i]
		if r.Record() == record {
			continue
		}
		s := modSession{ID: r.Record(), Name: card.Line1(cmp.Or(r.ShownName(), cli.ShortID(r.SessionID))), State: r.State,
			Since: event.MillisOf(r.Since), What: card.Line1(r.What()), Needs: r.NeedsYou}
		asks := func(o request.Request) bool { return o.Record == r.Record() && o.Kind == request.Permission }
		if j := slices.IndexFunc(open, asks); j >= 0 {
			s.Request = open[j].ID[:5]
			s.Popup = popup
		}
		if r.NeedsYou && r.Process != nil { // an answer shows in the client's registry first
			out.Watch = append(out.Watch, filepath.Join(a.ClaudeDir(), "sessions", fmt.Sprintf("%d.json", r.Process.Pid)))
		}
		out.Sessions = append(out.Sessions, s)
	}
	_, out.Stop = dir.StopOf(store.KeyOf(record), own.Began(""))
	return cli.WriteJSON(a.Stdout, out)
}
