package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"beckon/render/run"
	"beckon/state/alert"
)

// Limits of the user's own program and of a sound.
const (
	commandLimit = 10 * time.Second
	soundLimit   = 20 * time.Second
)

// Command is the channel of a program of the user's choice. It gets the note as
// JSON on stdin and its main members in the environment.
type Command struct{ Argv []string }

// Name returns the channel's name in the configuration.
func (Command) Name() string { return alert.Command }

// Send runs the program, for at most ten seconds.
func (c Command) Send(ctx context.Context, n Note) error {
	if len(c.Argv) == 0 {
		return errors.New("notify_command is not set")
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	p := run.Program{Argv: c.Argv, Env: n.env(), Stdin: bytes.NewReader(append(data, '\n')), Limit: commandLimit}
	_, err = p.Output(ctx)
	return err
}

func (n Note) env() []string {
	return []string{
		"BECKON_KIND=" + string(n.Kind), "BECKON_TITLE=" + n.Title, "BECKON_BODY=" + n.Body,
		"BECKON_SESSION_ID=" + n.record(), "BECKON_PROJECT=" + n.Project, "BECKON_CWD=" + n.Cwd,
	}
}

// Player is the channel of a sound: a file, played by one of the system's programs.
type Player struct{ File string }

// Name returns the channel's name in the configuration.
func (Player) Name() string { return alert.Sound }

// Send plays the file.
func (p Player) Send(ctx context.Context, _ Note) error {
	if p.File == "" {
		return errors.New("notify_sound is not set")
	}
	file, err := filepath.Abs(p.File)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); err != nil {
		return err
	}
	for _, argv := range players(runtime.GOOS, file) {
		if argv[0], err = exec.LookPath(argv[0]); err == nil {
			_, err = run.Program{Argv: argv, Env: []string{"BECKON_SOUND=" + file}, Limit: soundLimit}.Output(ctx)
			return err
		}
	}
	return errors.New("no player is installed: pw-play, paplay, aplay or ffplay")
}

// players lists the commands that play a file, the best first. PowerShell reads the file name
// from the environment, where it needs no quoting.
func players(goos, file string) [][]string {
	switch goos {
	case "darwin":
		return [][]string{{"afplay", file}}
	case "windows":
		return [][]string{{"powershell.exe", "-NoProfile", "-NonInteractive", "-Command",
			"(New-Object Media.SoundPlayer $env:BECKON_SOUND).PlaySync()"}}
	}
	return [][]string{{"pw-play", file}, {"paplay", file}, {"aplay", "-q", file},
		{"ffplay", "-nodisp", "-autoexit", "-loglevel", "quiet", file}}
}
