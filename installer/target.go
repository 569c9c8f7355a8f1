package installer

import (
	"fmt"
	"path/filepath"

	"beckon/event/agents"
)

// Scope is the settings file a hook is registered in.
type Scope string

// The scopes. Managed is only inspected, never edited.
const (
	User    Scope = "user"
	Project Scope = "project"
	Local   Scope = "local"
	Managed Scope = "managed"
)

// Dirs are the directories that settings files are found from.
type Dirs struct {
	Config  string // the client's own: $CLAUDE_CONFIG_DIR, else ~/.claude
	Project string // root of the project; needed for the project and local scopes only
	Keep    string // private directory for backups, records and locks; made when needed
}

// Target is one settings file and what belongs to its editing.
type Target struct {
	Scope Scope
	Path  string // the file as the client opens it; it may be a link
	Keep  string // as in Dirs; empty to keep nothing

	agent *agents.Agent // whose file it is, nil for Claude Code's
}

// Target gives the settings file of a scope. The error names what is missing.
func (d Dirs) Target(s Scope) (Target, error) {
	path, ok := map[Scope]string{
		User:    filepath.Join(d.Config, "settings.json"),
		Project: filepath.Join(d.Project, ".claude", "settings.json"),
		Local:   filepath.Join(d.Project, ".claude", "settings.local.json"),
	}[s]
	if !ok {
		return Target{}, fmt.Errorf("scope %q: not one of user, project, local", s)
	}
	if !filepath.IsAbs(path) || !filepath.IsAbs(d.Keep) {
		return Target{}, fmt.Errorf("scope %q: directories must be absolute, not %q and %q", s, path, d.Keep)
	}
	return Target{Scope: s, Path: path, Keep: d.Keep}, nil
}

// ManagedFiles are the places of an organization's settings on a platform, named as
// in runtime.GOOS.
func ManagedFiles(goos string) []string {
	switch goos {
	case "darwin":
		return []string{"/Library/Application Support/ClaudeCode/managed-settings.json"}
	case "windows":
		return []string{
			`C:\Program Files\ClaudeCode\managed-settings.json`,
			`C:\ProgramData\ClaudeCode\managed-settings.json`,
		}
	}
	return []string{"/etc/claude-code/managed-settings.json"}
}
