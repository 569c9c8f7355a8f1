package doctor

import (
	"beckon/event"
	"beckon/installer"
)

func (d *doctor) client(c installer.Client) {
	switch {
	case c.Path == "":
		d.add(levelNote, "client", "", "no claude on PATH: its version is not known")
	case !c.Version.Known():
		d.add(levelNote, "client", "", "%s does not say its version", c.Path)
	case len(installer.UnknownTo(c.Version, []string{string(event.PermissionRequest)})) > 0:
		d.add(levelFault, "client", "update Claude Code", "%s is version %s: too old to report permissions", c.Path, c.Version)
	default:
		d.add(levelOK, "client", "", "%s, version %s", c.Path, c.Version)
	}
}
