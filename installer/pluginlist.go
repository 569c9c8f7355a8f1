package installer

import (
	"cmp"
	"context"
	"encoding/json"
	"os/exec"
	"slices"

	"beckon/event/bounded"
)

// pluginOutput bounds, in bytes, what is read of the client's list of plugins.
const pluginOutput = 1 << 20

// PluginDirs asks the client for the directories that it loads enabled plugins from,
// by `claude plugin list --json` (measured on 2.1.197 and 2.1.329: 0.3 s, no dialog). A
// client that is missing, too old or slower than 10 s has none. Plugins of one session
// (--plugin-dir) are in no list.
func (c Client) PluginDirs(ctx context.Context) (dirs []string) {
	if c.Path == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, clientDeadline)
	defer cancel()
	out := bounded.Buffer{Max: pluginOutput}
	cmd := exec.CommandContext(ctx, c.Path, "plugin", "list", "--json")
	// Asking must not make the client use the network.
	cmd.Env = append(cmd.Environ(), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	cmd.Stdout = &out
	cmd.WaitDelay = clientGrace
	_ = cmd.Run() // what it printed counts
	return pluginDirs(out.Kept)
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
