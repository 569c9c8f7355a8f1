package installer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"beckon/event/run"
)

// Client is the installed Claude Code.
type Client struct {
	Path    string // empty when there is none
	Version Version
	Config  string // its own directory, which it reads and must not change when it is asked
}

// clientDeadline is how long the client may take: a cold start on a slow disk takes seconds.
var clientDeadline = 10 * time.Second

// FindClient looks for claude on PATH and asks it for its version; config is its own directory.
// The version of a client that prints none, fails or takes longer than 10 s is unknown.
func FindClient(config string) Client {
	path, err := exec.LookPath("claude")
	if err != nil {
		return Client{}
	}
	c := Client{Path: path, Config: config}
	c.Version = ParseVersion(string(c.ask("--version")))
	return c
}

// ask runs the client with args for at most 10 s and returns its output, at most 1 MiB, whatever its exit
// code. The client works on a copy of its settings: at any start it may rewrite them in the form of its
// version.
func (c Client) ask(args ...string) []byte {
	scratch, err := c.copyConfig()
	if err != nil {
		return nil
	}
	defer os.RemoveAll(scratch)
	p := run.Program{Argv: append([]string{c.Path}, args...), Limit: clientDeadline, Max: 1 << 20,
		// Asking must not make the client use the network.
		Env: []string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CONFIG_DIR=" + scratch}}
	out, _, _ := p.Outputs(context.Background())
	return bytes.ReplaceAll(out.Kept, []byte(scratch), []byte(c.Config))
}

// copyConfig makes a directory of the client's with a copy of its settings and links to the rest.
func (c Client) copyConfig() (scratch string, err error) {
	if scratch, err = os.MkdirTemp("", "beckon-ask-"); err != nil {
		return "", err
	}
	entries, _ := os.ReadDir(c.Config) // without one the client has nothing to read
	for _, e := range entries {
		from, to := filepath.Join(c.Config, e.Name()), filepath.Join(scratch, e.Name())
		if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() {
			_ = os.Symlink(from, to)
		} else if data, err := os.ReadFile(from); err == nil && info.Size() < sizeLimit {
			_ = os.WriteFile(to, data, 0o600)
		}
	}
	return scratch, nil
}

// PluginDirs asks the client for the directories of its enabled plugins, with `claude plugin
// list --json` (measured on 2.1.197 and 2.1.329: 0.3 s, no dialog). A client that is missing,
// too old or slower than 10 s has none. The list does not include plugins of one session
// (--plugin-dir).
func (c Client) PluginDirs() (dirs []string) {
	if c.Path == "" {
		return nil
	}
	return pluginDirs(c.ask("plugin", "list", "--json"))
}

func pluginDirs(list []byte) (dirs []string) {
	var plugins []struct {
		Enabled     bool   `json:"enabled"`
		InstallPath string `json:"installPath"`
		// ReadFromFolder is the marketplace's own directory, which newer clients read
		// instead of their copy.
		ReadFromFolder string `json:"readFromFolder"`
	}
	if json.Unmarshal(list, &plugins) != nil {
		return nil
	}
	for _, p := range plugins {
		dir := cmp.Or(p.ReadFromFolder, p.InstallPath)
		if p.Enabled && dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}
