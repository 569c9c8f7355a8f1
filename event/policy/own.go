package policy

import (
	"slices"

	"beckon/event"
	"beckon/event/policy/config"
	"beckon/event/policy/match"
	"beckon/event/policy/wire"
)

// own are the rules that are part of every policy: an agent that may write to
// beckon's files, or say what only the user may, is bound by none. They ask, since
// the user may have told the agent to; `beckon policy disable` switches them off
// like any other.
func own(paths []string) []*config.Hook {
	const reason = "This is beckon's own: it decides what an agent may do."
	if len(paths) == 0 {
		return nil
	}
	writers, err := match.NewMatcher(event.PreToolUse, "Write|Edit|MultiEdit|NotebookEdit")
	if err != nil {
		return nil // a list of names is a matcher
	}
	hook := func(id string, m match.Rule) *config.Hook {
		return &config.Hook{ID: id, Event: event.PreToolUse, Type: config.BuiltIn, Level: config.Own, Enabled: true, StopBlocks: 1,
			Spec: config.Spec{Rule: config.NewRule(wire.Ask, reason, m)}}
	}
	var commands []string
	for _, word := range []string{"trust", "accept", "disable", "allow-once"} {
		commands = append(commands, "beckon policy "+word)
	}
	for _, word := range []string{"answer", "reply", "stop", "away", "back"} {
		commands = append(commands, "beckon "+word)
	}
	return []*config.Hook{
		hook("own-files", match.Rule{Tools: []match.Matcher{writers}, Conditions: match.Conditions{Paths: slices.Clone(paths)}}),
		hook("own-commands", match.Rule{Conditions: match.Conditions{Commands: append(commands, "beckon uninstall")}}),
	}
}
