package doctor

import (
	"os/exec"
	"strings"

	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/event/agents"
	"beckon/installer"
	"beckon/render"
	"beckon/state/evidence"
)

// agents checks the hooks of agents other than Claude Code: those that have them, had them, or
// could.
func (d *doctor) agents() {
	program, unstable := setup.HookProgram(d.App, "") // the checks of Claude Code report problems with it
	var without []string
	for _, ag := range setup.Registered() {
		t, err := setup.AgentTarget(d.App, ag)
		if err != nil {
			d.add(levelFault, ag.Name, "", "%v", err)
			continue
		}
		want := installer.AgentSpec(ag, program)
		want.Answers = installer.AgentHolds(t)
		r := installer.InspectAgent(t, want)
		switch {
		case r.Err != nil && (r.Recorded || len(r.Entries) > 0):
			d.add(levelFault, ag.Name, render.HintOf(r.Err), "%v", r.Err)
		case len(r.Entries) > 0:
			d.agent(ag, r, unstable == nil)
		case r.Recorded:
			d.add(levelFault, ag.Name, "beckon install --agent "+ag.Name+" puts them back", "removed later: %s had beckon's hooks, something took them out", r.Path)
		case setup.There(d.App, ag):
			without = append(without, ag.Name)
		}
	}
	for _, ag := range event.Agents() {
		if ag.Measured == "" && setup.There(d.App, ag) {
			d.add(levelNote, ag.Name, "", "known from its documentation alone: hooks that you set up yourself are read, but never tried with the real program")
		}
	}
	if len(without) > 0 {
		d.add(levelNote, "agents", "beckon install --agent NAME", "without hooks: %s", strings.Join(without, ", "))
	}
}

// agent checks the entries of an agent. sure means that what this program would write is
// known.
func (d *doctor) agent(ag *agents.Agent, r installer.AgentReport, sure bool) {
	if !r.AsWant && sure {
		d.add(levelFault, ag.Name, "beckon install --agent "+ag.Name, "the hooks in %s are not as this version writes them", r.Path)
	}
	e := r.Entries[0]
	e.Args = []string{"SessionStart", "--agent", ag.Name}
	switch took, _, err := roundTrip(e); {
	case err != nil:
		d.add(levelFault, ag.Name, "run it by hand: echo '{}' | "+e.Program, "%s: %v", e.Program, err)
	default:
		d.add(levelOK, ag.Name, "", "%shooks in %s; an event reached its session in %.1f ms (median of %d); measured with %s %s", installed(ag), r.Path, millis(took), trips, ag.Name, ag.Measured)
	}
	if ag.Install.Then != "" {
		d.add(levelNote, ag.Name, "", "%s", ag.Install.Then)
	}
}

// installed returns which version of an agent is installed, if known.
func installed(ag *agents.Agent) string {
	program, err := exec.LookPath(ag.Install.Program)
	if err != nil {
		return ""
	}
	if v := evidence.ProgramVersion(ag, program); v != "" {
		return "version " + v + ", "
	}
	return ""
}
