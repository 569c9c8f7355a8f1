package hook

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/config"
	"beckon/event/policy/run"
	"beckon/event/policy/trust"
	"beckon/event/policy/wire"
	"beckon/state/store"
)

// faulty is a starter with a fault.
type faulty struct{ run.Starter }

func (faulty) Start([]string, trust.Dir) config.Start { panic("fault") }

func TestFaultIsNoWayAround(t *testing.T) {
	u := newUser(t, on("PreToolUse", denyLs), "")
	in := strings.NewReader(`{"session_id":"s1","hook_event_name":"PreToolUse","cwd":"/","tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"ls"}}`)
	var said, errs bytes.Buffer
	if code := Main([]string{"PreToolUse"}, in, &said, &errs, func(name string) string { return u.env[name] }, faulty{}); code != 0 || !strings.Contains(said.String(), `"permissionDecision":"deny"`) {
		t.Errorf("exit code %d, %q", code, said.String())
	}
}

// A watchdog that fires after the answer does not change it.
func TestOneAnswer(t *testing.T) {
	deny := config.Spec{Rule: &config.Rule{Decision: wire.Deny}}
	rule := &config.Hook{Event: event.PreToolUse, Type: config.BuiltIn, Spec: deny}
	f := invocation{st: store.Open(t.TempDir()), loaded: policy.Loaded{Hooks: []*config.Hook{rule}}}
	f.args.Event = "PreToolUse"
	var said, errs bytes.Buffer
	f.unread(errors.New("first"), &said, &errs)
	first := said.String()
	if code := f.unread(errors.New("second"), &said, &errs); code != 0 || said.String() != first || first == "" {
		t.Errorf("exit code %d, %q", code, said.String())
	}
}
