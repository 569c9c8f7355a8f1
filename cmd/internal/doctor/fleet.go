package doctor

import (
	"beckon/cmd/internal/fleets"
	"beckon/render"
)

// fleet checks that the hub of this machine's fleet lets it in, and that its sessions
// are published.
func (d *doctor) fleet() {
	s, err := fleets.StandingOf(d.App)
	switch {
	case err != nil && s.URL == "":
		d.add(resultError, "fleet", "beckon fleet link --join TOKEN writes the file again", "%v", err)
	case s.URL == "":
	case err != nil:
		d.add(resultError, "fleet", "if the hub runs, its access may be revoked: beckon fleet link --join TOKEN joins again", "the hub does not let this machine in: %s", render.OneLine(err.Error()))
	case s.Publishes && !s.Linked:
		d.add(resultWarning, "fleet", "beckon fleet link --service keeps one running",
			"%s is reached, and no beckon fleet link publishes this machine's sessions", s.URL)
	default:
		d.add(resultOK, "fleet", "", "%s is reached", s.URL)
	}
}
