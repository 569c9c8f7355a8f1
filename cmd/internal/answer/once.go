package answer

import (
	"beckon/event/policy"
	"beckon/event/policy/trust"

	"github.com/tidwall/gjson"
)

// once lets the user allow the call of a firing that the policy refuses.
type once struct {
	f   *firing
	dir trust.Dir
}

func (o once) call() string {
	p := gjson.ParseBytes(o.f.payload)
	return trust.CallName(o.f.e.SessionID, p.Get("cwd").Str, p.Get("tool_name").Str, []byte(p.Get("tool_input").Raw))
}

// Take reports whether the user allowed the call.
func (o once) Take() bool {
	return o.dir.Take(o.call(), gjson.GetBytes(o.f.payload, "tool_use_id").Str, o.f.start)
}

// Offer gives the call a code. Without one it is refused all the same.
func (o once) Offer(reason string) string {
	code, err := o.dir.Refuse(trust.Refused{Call: o.call(), Tool: gjson.GetBytes(o.f.payload, "tool_name").Str,
		Subject: policy.SubjectOf(o.f.payload), Reason: reason}, o.f.start)
	if err != nil {
		o.f.log(err)
		return ""
	}
	return "The user can allow this call once, in a terminal: beckon policy allow-once " + code
}
