package answer

import (
	"beckon/event"
	"beckon/event/policy"
	"beckon/event/policy/wire"
	"beckon/state"
)

// decided is what the answer makes true of the session; nil when the client
// will tell it itself, or nothing has changed.
func (f *firing) decided(r policy.Result) *state.Action {
	d := &state.Decided{Event: f.e.Kind, Of: event.MillisOf(f.start), AgentID: f.e.AgentID,
		UseID: f.e.Tool.UseID, Tool: f.e.Tool.Name, Hash: f.e.Tool.Hash}
	if c := asked(&f.session, &f.e); c != nil && f.e.Kind == event.PermissionRequest && !f.dialect.Native() {
		d.UseID, d.Hash = c.UseID, c.Hash
	}
	if f.e.TaskN.ID != "" {
		d.UseID = f.e.TaskN.ID
	}
	switch {
	case f.e.SessionID == "":
		return nil
	case r.Halts:
		d.Word = state.WordHalted
	case r.GoesOn:
		d.Word = state.WordGoesOn
	case !r.Allowed:
		d.Word = state.WordRefused
	case f.e.Kind == event.PermissionRequest && r.Verdict.Decision == wire.Allow:
		d.Word = state.WordAllowed
	case f.e.Kind == event.PreToolUse && r.Verdict.Input != nil:
		if !f.rewritten(d, r.Verdict.Input) {
			return nil
		}
	default:
		return nil
	}
	return &state.Action{Kind: state.ActDecided, Decided: d}
}

// rewritten reads the call as the client will report it from now on.
func (f *firing) rewritten(d *state.Decided, input []byte) bool {
	payload, err := f.dialect.Rewritten(f.said, input)
	if err != nil {
		return false
	}
	e, err := event.Parse(f.args.Agent, f.args.Event, payload)
	if err != nil {
		return false
	}
	d.Word, d.NewHash, d.Summary = state.WordRewritten, e.Tool.Hash, e.Tool.Summary
	return true
}
