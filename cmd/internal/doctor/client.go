package doctor

import (
	"beckon/event"
	"beckon/installer"
)

func (d *doctor) client(c installer.Client) {
	switch {
	case c.Path == "":
		d.add(resultWarning, "client", "", "no claude on PATH: its version is not known")
	case !c.Version.Known():
		d.add(resultWarning, "client", "", "%s does not say its version", c.Path)
	case len(installer.UnknownTo(c.Version, []string{string(event.PermissionRequest)})) > 0:
		d.add(resultError, "client", "update Claude Code", "%s is version %s: too old to report permissions", c.Path, c.Version)
	default:
		d.add(resultOK, "client", "", "%s, version %s", c.Path, c.Version)
	}
}
