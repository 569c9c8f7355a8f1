package state

import (
	"cmp"
	"slices"
)

// Subagents returns the subagents that still run, in the order they started.
func (s *Session) Subagents() []Actor {
	var out []Actor
	for _, a := range s.Actors {
		if a.ID != "" && a.running() {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b Actor) int { return cmp.Compare(a.Started, b.Started) })
	return out
}

// State returns the state of one actor: permission, question, working or idle.
func (a Actor) State() State {
	st := Idle
	if a.running() {
		st = Working
	}
	for _, c := range a.Calls {
		switch {
		case !c.waiting():
		case c.Kind == WaitPermission:
			return Permission
		default:
			st = Question
		}
	}
	return st
}

// BackgroundAgents counts the agents that the newest snapshot lists as running and that have
// not stopped since.
func (s *Session) BackgroundAgents() (n int) {
	for _, t := range s.Stop.Background {
		if agentTask(t) && taskRuns(t) && !s.stopped(t.ID) {
			n++
		}
	}
	return n
}

// BackgroundShells counts the other running background tasks: shells, monitors.
func (s *Session) BackgroundShells() (n int) {
	for _, t := range s.Stop.Background {
		if !agentTask(t) && taskRuns(t) {
			n++
		}
	}
	return n
}
