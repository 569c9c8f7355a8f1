// Command picture makes the README's pictures of watch, setup and the status line from
// a real run: it plays the demo's recordings up to a moment, runs the real program, the
// first two in a real tmux, and writes what they show, with its colours, as SVG.
//
//	go run ./cmd/internal/picture
//	go run ./cmd/internal/picture -of setup -about "..." -o testdata/picture/setup.svg
//	go run ./cmd/internal/picture -of statusline -about "..." -o testdata/picture/statusline.svg
//
// With -screen it draws a screen that was captured elsewhere: the suite writes the
// band's, with two real clients side by side.
//
//	go test ./cmd/internal/suite -run TestBand -screen /tmp/band.txt
//	go run ./cmd/internal/picture -screen /tmp/band.txt -about "..." -o testdata/picture/band.svg
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	width, height = 108, 29
	setupHeight   = 26
	moment        = "4.6" // seconds into the recordings
)

func main() {
	out := flag.String("o", "testdata/picture/watch.svg", "file to write")
	screen := flag.String("screen", "", "file with a captured screen, drawn in place of watch")
	of := flag.String("of", "watch", "what is shown: watch, setup or statusline")
	about := flag.String("about", "beckon watch", "what the picture shows, for who cannot see it")
	flag.Parse()
	show := func() ([]byte, error) { return run(*of) }
	if *screen != "" {
		show = func() ([]byte, error) { return os.ReadFile(*screen) }
	}
	text, err := show()
	if err == nil {
		err = os.WriteFile(*out, []byte(svg(string(text), *about)), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// step is a key to press, and what the screen shows afterwards.
type step struct{ key, shows string }

// run returns the screen to draw.
func run(of string) (screen []byte, err error) {
	own, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp(own, ".beckon-picture-") // setup rejects programs in temporary places
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	bin, state := filepath.Join(home, ".local", "bin"), filepath.Join(home, "state")
	beckon := filepath.Join(bin, "beckon")
	if b, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/beckon", "./cmd/beckon-hook", "./cmd/beckon-judge", "./cmd/beckon-line").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building: %w\n%s", err, b)
	}
	if b, err := exec.Command(beckon, "demo", "--list", "--speed", "0", "--until", moment, "--dir", state).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("playing: %w\n%s", err, b)
	}
	env := []string{"BECKON_STATE_DIR=" + state, "HOME=" + home, "COLORTERM=truecolor", "PATH=" + bin + string(filepath.ListSeparator) + "/usr/bin:/bin", "SHELL=/bin/bash", "TERM=xterm-256color"}
	switch of {
	case "watch": // without tmux, which would reduce the colours
		screen, err = capture(home, height, env, []step{{"", "NEEDS YOU"}, {"Down", ""}, {"Down", ""}, {"Space", "it asks"}}, beckon, "watch", "--color", "always")
	case "setup":
		if err := os.WriteFile(filepath.Join(bin, "claude"), []byte("#!/bin/sh\necho '2.1.329 (Claude Code)'\n"), 0o755); err != nil {
			return nil, err
		}
		screen, err = capture(home, setupHeight, env, []step{{"", "hooks"}, {"Down", "settings.json"}}, beckon, "setup")
	case "statusline":
		cmd := exec.Command(beckon, "statusline")
		cmd.Env = env
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":"s","cwd":%q,"model":{"display_name":"Opus 5.5"},"context_window":{"used_percentage":43},"cost":{"total_cost_usd":1.23},`+
			`"rate_limits":{"five_hour":{"used_percentage":62,"resets_at":%d}}}`, filepath.Join(home, "proj"), time.Now().Add(2*time.Hour).Unix()))
		screen, err = cmd.Output()
	default:
		err = fmt.Errorf("there is no picture of %q", of)
	}
	return bytes.ReplaceAll(screen, []byte(home), []byte("/home/you")), err
}

// capture runs a command in tmux, takes the steps and returns the pane with its colours.
func capture(dir string, height int, env []string, steps []step, command ...string) ([]byte, error) {
	tmux := func(args ...string) ([]byte, error) {
		cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "NO_COLOR=")
		b, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("tmux %s: %w: %s", args[0], err, b)
		}
		return b, nil
	}
	defer tmux("kill-server") //nolint:errcheck // it may not have come up
	args := []string{"-f", "/dev/null", "start-server", ";", "set", "-g", "default-terminal", "xterm-256color", ";",
		"set", "-g", "window-style", "bg=#0d1117,fg=#e6edf3", ";",
		"new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "env", "-u", "TMUX"}
	if _, err := tmux(append(append(args, env...), command...)...); err != nil {
		return nil, err
	}
	for _, step := range steps {
		if step.key != "" {
			if _, err := tmux("send-keys", step.key); err != nil {
				return nil, err
			}
		}
		var screen []byte
		var err error
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			if screen, err = tmux("capture-pane", "-p"); err != nil || bytes.Contains(screen, []byte(step.shows)) {
				break
			}
		}
		if err != nil || !bytes.Contains(screen, []byte(step.shows)) {
			return nil, fmt.Errorf("waiting for %q: %w\n%s", step.shows, err, screen)
		}
	}
	time.Sleep(300 * time.Millisecond)
	return tmux("capture-pane", "-p", "-e", "-N")
}
