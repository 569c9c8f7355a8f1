package policy

import (
	"strconv"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/wire"
)

// Rules that allow approve a line together, each of its commands by one of them; and a line of which
// one command is not named is not approved.
func TestApprovedTogether(t *testing.T) {
	policy := `{"packs":["read-only","secrets"],"hooks":{"PreToolUse":[{"hooks":[
		{"type":"rule","decision":"allow","commands":["npm test","go test [-run] [-v] [-count=*]"]}]}]}}`
	e := NewEngine(decode(t, policy))
	for line, want := range map[string]wire.Decision{
		"npm test":                             wire.Allow,
		"npm test 2>&1":                        wire.Allow,
		"npm test 2>&1 | tail -20":             wire.Allow,
		"npm test && git status --short":       wire.Allow,
		"go test -v ./... 2>&1 | grep -c FAIL": wire.Allow,
		"npm test | sh":                        wire.Silence,
		"npm test > out.txt":                   wire.Silence,
		"npm test; rm x":                       wire.Silence,
		"npm test --prefix /evil | tail":       wire.Silence,
		"X=1 npm test | tail":                  wire.Silence,
		"npm test | tail -20 $(rm x)":          wire.Silence,
		"go test -exec ./evil ./... | tail":    wire.Silence,
		"npm test | wc --files0-from=list":     wire.Silence,
		"npm test | cat .env":                  wire.Deny,
	} {
		call := strings.Replace(bash, `"ls"`, strconv.Quote(line), 1)
		if got := trigger(t, e, event.PreToolUse, call).Verdict.Decision; got != want && (want != wire.Silence || got != wire.Continue) {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
