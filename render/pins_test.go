package render

import (
	"strings"
	"testing"
	"time"

	"beckon/state"
)

// What needs the user comes first, and in each group the pinned projects, in the order
// of the pins; others as ever.
func TestArrange(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(id, project string, s state.State, age time.Duration) Row {
		r := Row{SessionID: id, Project: project, State: s, NeedsYou: s.NeedsYou(), Since: now.Add(-age), FirstSeen: now.Add(-age)}
		r.Group = GroupOf(&r)
		return r
	}
	rows := []Row{
		row("w1", "docs", state.Working, time.Hour), row("w2", "shop-web", state.Working, time.Minute), row("w3", "api", state.Working, time.Second),
		row("f", "api", state.Failed, time.Hour), row("q", "docs", state.Question, 2*time.Minute), row("p", "docs", state.Permission, time.Minute), row("s", "shop", state.Question, time.Second),
	}
	for _, c := range []struct {
		mode Mode
		pins []string
		want string
	}{
		{Fair, nil, "q p s f w1 w2 w3"},
		{Fair, []string{"shop*", "api"}, "s f q p w2 w3 w1"},
		{Fair, []string{"api", "shop*"}, "f s q p w3 w2 w1"},
		{Static, []string{"api"}, "f q p s w3 w1 w2"},
	} {
		var ids []string
		for _, r := range (Queue{Mode: c.mode, PermissionFirst: true, Pins: c.pins}).Arrange(rows) {
			ids = append(ids, r.SessionID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s, pins %v: %s, want %s", c.mode, c.pins, got, c.want)
		}
	}
}
