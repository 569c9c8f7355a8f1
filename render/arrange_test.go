package render

import (
	"strings"
	"testing"
	"time"

	"beckon/state"
)

// What needs the user comes first, and in each group the queue's order holds.
func TestArrange(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	row := func(id, project string, s state.State, age time.Duration) Row {
		at := now.Add(-age)
		r := Row{SessionID: id, Project: project, State: s, NeedsYou: s.NeedsYou(), Since: at, FirstSeen: at}
		r.Group = GroupOf(&r)
		return r
	}
	rows := []Row{
		row("w1", "docs", state.Working, time.Hour), row("w2", "shop-web", state.Working, time.Minute), row("w3", "api", state.Working, time.Second),
		row("f", "api", state.Failed, time.Hour), row("q", "docs", state.Question, 2*time.Minute), row("p", "docs", state.Permission, time.Minute), row("s", "shop", state.Question, time.Second),
	}
	for mode, want := range map[Mode]string{Fair: "q p s f w1 w2 w3", Static: "f q p s w1 w2 w3"} {
		var ids []string
		for _, r := range (Queue{Mode: mode, PermissionFirst: true}).Arrange(rows) {
			ids = append(ids, r.SessionID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
	}
}
