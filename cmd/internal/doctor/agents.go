package doctor

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/event/agents"
	"beckon/event/plainfile"
	"beckon/installer"
	"beckon/render"
	"beckon/state/evidence"

	"github.com/tailscale/hujson"
	"github.com/tidwall/gjson"
)

// agents checks the hooks of agents other than Claude Code: those that have them, had them, or
// could.
func (d *doctor) agents() {
	program, unstable := setup.HookProgram(d.App, "") // the checks of Claude Code report problems with it
	var without []string
	for _, ag := range setup.Registered() {
		t, err := setup.AgentTarget(d.App, ag)
		if err != nil {
			d.add(resultError, ag.Name, "", "%v", err)
			continue
		}
		want := installer.AgentSpec(ag, program)
		want.Answers = installer.AgentHolds(t)
		r := installer.InspectAgent(t, want)
		switch {
		case r.Err != nil && (r.Recorded || len(r.Entries) > 0):
			d.add(resultError, ag.Name, render.HintOf(r.Err), "%v", r.Err)
		case len(r.Entries) > 0:
			if off := switchedOff(t.Path); off != "" {
				d.add(resultOff, ag.Name, "", "switched off: %s, so none of its hooks run", off)
				continue
			}
			d.agent(ag, r, unstable == nil)
		case r.Recorded:
			d.add(
				resultError,
				ag.Name,
				"beckon setup --agent "+ag.Name,
				"removed later: %s had beckon's hooks, something took them out",
				r.Path,
			)
		case setup.There(d.App, ag):
			without = append(without, ag.Name)
		}
	}
	for _, ag := range event.Agents() {
		if ag.Measured == "" && setup.There(d.App, ag) {
			d.add(resultWarning, ag.Name, "",
				"known from its documentation alone: hooks that you set up yourself are read, but never tried with the real program")
		}
	}
	if len(without) > 0 {
		d.add(resultOff, "agents", "beckon setup", "without hooks: %s", strings.Join(without, ", "))
	}
}

// agent checks the entries of an agent. sure means that what this program would write is
// known.
func (d *doctor) agent(ag *agents.Agent, r installer.AgentReport, sure bool) {
	if !r.AsWant && sure {
		d.add(
			resultError,
			ag.Name,
			"beckon setup --agent "+ag.Name,
			"the hooks in %s are not as this version writes them",
			r.Path,
		)
	}
	e := r.Entries[0]
	e.Args = []string{"SessionStart", "--agent", ag.Name}
	switch took, _, err := roundTrip(e); {
	case err != nil:
		d.add(resultError, ag.Name, "run it by hand: echo '{}' | "+e.Program, "%s: %v", e.Program, err)
	default:
		d.add(resultOK, ag.Name, "", "%shooks in %s; an event reached its session in %.1f ms (median of %d); measured with %s %s", installed(ag), r.Path, millis(took), trips, ag.Name, ag.Measured)
	}
	if ag.Install.Then != "" {
		d.add(resultWarning, ag.Name, "", "%s", ag.Install.Then)
	}
}

// switchedOff returns the agent's own setting that switches all its hooks off, or "": a member of
// the settings with the hooks, or Codex's feature in the config.toml beside them.
func switchedOff(path string) string {
	read := func(path string) []byte {
		text, _ := plainfile.Head(path, make([]byte, settingsLimit), 0) // a file that is not there says nothing
		return text
	}
	plain, _ := hujson.Standardize(read(path))
	for name, off := range map[string]bool{"disableAllHooks": true, "hooksConfig.enabled": false, "hooks.enabled": false} {
		if v := gjson.GetBytes(plain, name); v.IsBool() && v.Bool() == off {
			return fmt.Sprintf("%s is %v in %s", name, off, path)
		}
	}
	path = filepath.Join(filepath.Dir(path), "config.toml")
	table := ""
	for line := range strings.Lines(string(read(path))) {
		line, _, _ = strings.Cut(strings.Join(strings.Fields(line), ""), "#")
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(line, "[]") + "."
		}
		if name := table + line; name == "features.hooks=false" ||
			strings.HasPrefix(name, "features={") && strings.Contains(name, "hooks=false") {
			return "features.hooks is false in " + path
		}
	}
	return ""
}

// settingsLimit is how much of the settings is looked at, in bytes.
const settingsLimit = 1 << 20

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
