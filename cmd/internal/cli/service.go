package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"beckon/event/home"
	"beckon/event/plainfile"
)

// Unit is a command of this program that runs while the user is logged in.
type Unit struct {
	Name  string // "link" makes beckon-link.service
	About string
	Args  []string
}

// WriteService writes the unit for systemd, on macOS for launchd, and prints how to start it.
func WriteService(a *App, u Unit) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path, text, begin, err := u.service(runtime.GOOS, self, a.Getenv)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := plainfile.Write(path, []byte(text), 0o644, true); err != nil {
		return err
	}
	return a.Printf("wrote %s; this starts it:\n  %s\n", path, begin)
}

// service returns a unit, its path, and the command that starts it. The unit runs with the
// directories of this program's environment.
func (u Unit) service(goos, program string, getenv func(string) string) (path, text, begin string, err error) {
	dir := home.Dir(getenv)
	if !filepath.IsAbs(dir) {
		return "", "", "", errors.New("finding where units are: HOME is not set")
	}
	env := slices.DeleteFunc([]string{"BECKON_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"},
		func(name string) bool { return getenv(name) == "" })
	var args, vars strings.Builder
	switch goos {
	case "linux":
		for _, arg := range append([]string{program}, u.Args...) {
			args.WriteString(" " + systemd(arg))
		}
		for _, name := range env {
			fmt.Fprintf(&vars, "Environment=%s\n", systemd(name+"="+getenv(name)))
		}
		base := getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(base) {
			base = filepath.Join(dir, ".config")
		}
		return filepath.Join(base, "systemd", "user", "beckon-"+u.Name+".service"), `[Unit]
Description=` + strings.ReplaceAll(u.About, "%", "%%") + `
StartLimitIntervalSec=0

[Service]
ExecStart=` + args.String()[1:] + `
` + vars.String() + `Restart=always
RestartSec=5
Nice=5
MemoryMax=256M
NoNewPrivileges=true

[Install]
WantedBy=default.target
`, "systemctl --user daemon-reload && systemctl --user enable --now beckon-" + u.Name, nil
	case "darwin":
		for _, arg := range append([]string{program}, u.Args...) {
			args.WriteString("<string>" + xml.Replace(arg) + "</string>")
		}
		for _, name := range env {
			fmt.Fprintf(&vars, "    <key>%s</key><string>%s</string>\n", name, xml.Replace(getenv(name)))
		}
		path := filepath.Join(dir, "Library", "LaunchAgents", "dev.beckon."+u.Name+".plist")
		return path, `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>Label</key><string>dev.beckon.` + u.Name + `</string>
  <key>ProgramArguments</key><array>
    ` + args.String() + `
  </array>
  <key>EnvironmentVariables</key><dict>
` + vars.String() + `  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ProcessType</key><string>Background</string>
</dict></plist>
`, "launchctl bootstrap gui/" + strconv.Itoa(os.Getuid()) + " " + path, nil
	}
	advice := "run beckon " + strings.Join(u.Args, " ") + " at login, for instance by the Task Scheduler"
	return "", "", "", Hint(advice, "there is no unit for %s", goos)
}

var xml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// systemd quotes s for a systemd unit.
func systemd(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(s) + `"`
}
