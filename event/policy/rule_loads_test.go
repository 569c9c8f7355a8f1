package policy

import (
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/wire"

	"github.com/tidwall/gjson"
)

// A rule that an event cannot express keeps its file from loading. Any other rule is
// expressed.
func TestRuleLoadsOrIsSaid(t *testing.T) {
	for _, info := range event.Kinds {
		for _, d := range []wire.Decision{wire.Allow, wire.Deny, wire.Ask} {
			c, err := config.Decode("p", config.Global, []byte(hooks(string(info.Kind), `{"hooks":[{"type":"rule","decision":"`+string(d)+`","reason":"why"}]}`)), false)
			if err != nil {
				continue
			}
			r := NewEngine(c).Trigger(t.Context(), Event{Kind: info.Kind, Payload: []byte(`{"tool_name":"Bash","tool_input":{}}`)})
			said := string(r.Answer.Stdout) + string(r.Answer.Stderr)
			if info.Kind == event.PermissionRequest && d == wire.Allow {
				said += "why" // an approval has no field for a reason there
			}
			action := gjson.Get(said, "hookSpecificOutput.action").Str == "decline" // this has no field for a reason
			if !strings.Contains(said, "why") && !action || len(r.Answer.Dropped) > 0 {
				t.Errorf("%s %s loads, and is said as %q, dropped %v", info.Kind, d, said, r.Answer.Dropped)
			}
		}
	}
}
