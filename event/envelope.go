package event

import (
	"strconv"
	"strings"

	"beckon/event/jsonenc"

	"github.com/tidwall/gjson"
)

// ParseEnvelope parses the unified envelope, which HTTP clients post:
//
//	{"agent", "event", "hookInput": {the agent's own payload},
//	 "terminal": {"sessionId", "cwd", "terminalType", "kittyListenOn", "kittyPid"},
//	 "git": {"branch", "repo"},
//	 "tmux": {"pane", "sessionName"}, "remoteHost"}
//
// All but event may be absent. hookInput is read as Parse reads it; the rest becomes the
// Origin, whose Process stays empty because it cannot be verified.
func ParseEnvelope(payload []byte) (Event, error) {
	d := documentOf(payload)
	if err := d.check(); err != nil {
		return Event{}, err
	}
	v, err := d.object()
	if err != nil {
		return Event{}, err
	}
	input := v.Get("hookInput")
	if !input.IsObject() {
		input = gjson.Parse("{}")
	}
	e := parse(member(v, "agent", MaxID), member(v, "event", MaxID), input)
	if e.Cwd == "" {
		e.Cwd = member(v, "terminal.cwd", MaxPath)
	}
	e.Origin = envelopeOrigin(v)
	return e, nil
}

func member(v gjson.Result, path string, max int) string {
	return jsonenc.Unquote(v.Get(path).Raw, max)
}

func envelopeOrigin(v gjson.Result) *Origin {
	o := &Origin{
		Host: member(v, "remoteHost", MaxID),
		Git:  Git{Branch: member(v, "git.branch", MaxID), Repo: member(v, "git.repo", MaxID)},
		Terminal: Terminal{
			Kind: member(v, "terminal.terminalType", MaxID),
			ID:   member(v, "terminal.sessionId", MaxID),
			Tmux: Tmux{Pane: member(v, "tmux.pane", MaxID), Session: member(v, "tmux.sessionName", MaxID)},
		},
	}
	t := &o.Terminal
	t.SSH = o.Host != ""
	if t.Kind == "" && itermSession(t.ID) {
		t.Kind = "iterm2"
	}
	switch pid := v.Get("terminal.kittyPid").Int(); {
	case t.Tmux.Pane != "":
		t.Kind, t.ID, t.Outer = "tmux", t.Tmux.Pane, t.Kind
	case t.Kind == "kitty" && t.ID != "" && pid > 0:
		t.ID = strconv.FormatInt(pid, 10) + "," + t.ID // as the hook reads it: window ids count from 1 in each kitty
		t.Listen = member(v, "terminal.kittyListenOn", MaxPath)
	}
	if *o == (Origin{}) {
		return nil
	}
	return o
}

// itermSession recognises ITERM_SESSION_ID, "w0t0p0:UUID", which the first version of the
// envelope had without a terminalType.
func itermSession(id string) bool {
	window, _, ok := strings.Cut(id, ":")
	return ok && strings.HasPrefix(window, "w") && strings.Contains(window, "t") && strings.Contains(window, "p")
}
