package fleets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/event/atomicfile"
	"beckon/event/home"
)

// writeService writes the unit that runs beckon link while the user is logged in, and prints
// how to start it.
func writeService(a *cli.App) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, text, begin, err := service(runtime.GOOS, self, a.Getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(path, []byte(text), 0o644, true); err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "wrote %s; this starts it:\n  %s\n", path, begin)
	return nil
}

// service returns a unit, its path, and the command that starts it. The unit runs with the
// directories of this program's environment.
func service(goos, program string, getenv func(string) string) (path, text, begin string, err error) {
	dir := home.Dir(getenv)
	if !filepath.IsAbs(dir) {
		return "", "", "", errors.New("finding where units are: HOME is not set")
	}
	var env [][2]string
	for _, name := range []string{"BECKON_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"} {
		if v := getenv(name); v != "" {
			env = append(env, [2]string{name, v})
		}
	}
	switch goos {
	case "linux":
		var vars strings.Builder
		for _, e := range env {
			fmt.Fprintf(&vars, "Environment=%s\n", systemd(e[0]+"="+e[1]))
		}
		base := getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) {
			base = filepath.Join(dir, ".config")
		}
		return filepath.Join(base, "systemd", "user", "beckon-link.service"), `[Unit]
Description=beckon link: this machine's coding-agent sessions for the fleet
StartLimitIntervalSec=0

[Service]
ExecStart=` + systemd(program) + ` link --quiet
` + vars.String() + `Restart=always
RestartSec=5
Nice=5
MemoryMax=128M
NoNewPrivileges=true

[Install]
WantedBy=default.target
`, "systemctl --user daemon-reload && systemctl --user enable --now beckon-link", nil
	case "darwin":
		var vars strings.Builder
		for _, e := range env {
			fmt.Fprintf(&vars, "    <key>%s</key><string>%s</string>\n", xml.Replace(e[0]), xml.Replace(e[1]))
		}
		path := filepath.Join(dir, "Library", "LaunchAgents", "dev.beckon.link.plist")
		return path, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>Label</key><string>dev.beckon.link</string>
  <key>ProgramArguments</key><array>
    <string>` + xml.Replace(program) + `</string><string>link</string><string>--quiet</string>
  </array>
  <key>EnvironmentVariables</key><dict>
` + vars.String() + `  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ProcessType</key><string>Background</string>
</dict></plist>
`, "launchctl bootstrap gui/" + strconv.Itoa(os.Getuid()) + " " + path, nil
	}
	return "", "", "", cli.Hint("run beckon link at login, for instance by the Task Scheduler", "there is no unit for %s", goos)
}

var xml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// systemd quotes s for a systemd unit.
func systemd(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s) + `"`
}
