package installer

import (
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

// Target is one settings file and what belongs to its editing.
type Target struct {
	Scope Scope
	Path  string // the file as the client opens it; it may be a link
	Keep  string // private directory for backups, records and locks; made when needed

	agent  *agents.Agent // whose file it is, nil for Claude Code's
	shared bool          // the file, and a directory made for it, are for others to read
}

// Settings returns the settings file of a scope: config is the client's own directory, project the root
// of a project. All paths are absolute.
func Settings(s Scope, config, project, keep string) Target {
	path := map[Scope]string{
		User:    filepath.Join(config, "settings.json"),
		Project: filepath.Join(project, ".claude", "settings.json"),
		Local:   filepath.Join(project, ".claude", "settings.local.json"),
	}[s]
	return Target{Scope: s, Path: path, Keep: keep, shared: s == Project}
}

// ManagedFiles are the places of an organization's settings on a platform, named as
// in runtime.GOOS.
func ManagedFiles(goos string) []string {
	switch goos {
	case "darwin":
		return []string{"/Library/Application Support/ClaudeCode/managed-settings.json"}
	case "windows":
		return []string{`C:\Program Files\ClaudeCode\managed-settings.json`,
			`C:\ProgramData\ClaudeCode\managed-settings.json`}
	}
	return []string{"/etc/claude-code/managed-settings.json"}
}
