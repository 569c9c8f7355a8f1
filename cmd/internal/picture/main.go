// Command picture makes the README's picture of watch from a real run: it
// plays the demo's recordings up to a moment, runs the real program in a real
// tmux, captures the pane with its colours, and writes them as SVG.
//
//	go run ./cmd/internal/picture [-o testdata/picture/watch.svg]
//
// With -screen it draws a screen that was captured elsewhere: that of the band is
// written by the suite, with two real clients side by side.
//
//	go test ./cmd/internal/suite -run TestBand -screen /tmp/band.txt
//	go run ./cmd/internal/picture -screen /tmp/band.txt -about "..." -o testdata/picture/band.svg
package main

import (
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
	moment        = "4.6" // seconds into the recordings
)

func main() {
	out := flag.String("o", "testdata/picture/watch.svg", "file to write")
	screen := flag.String("screen", "", "file with a captured screen, drawn in place of watch")
	about := flag.String("about", "beckon watch", "what the picture shows, for who cannot see it")
	flag.Parse()
	draw := func() error { return run(*out, *about) }
	if *screen != "" {
		draw = func() error { return drawn(*screen, *out, *about) }
	}
	if err := draw(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// drawn draws the screen in a file, as large as it is.
func drawn(screen, out, about string) error {
	text, err := os.ReadFile(screen)
	if err != nil {
		return err
	}
	lines, wide := parse(string(text)), 0
	for _, l := range lines {
		wide = max(wide, len(l))
	}
	return os.WriteFile(out, []byte(svg(lines, wide, len(lines), about)), 0o644)
}

func run(out, about string) error {
	dir, err := os.MkdirTemp("", "beckon-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	beckon, state := filepath.Join(dir, "beckon"), filepath.Join(dir, "state")
	if b, err := exec.Command("go", "build", "-o", beckon, "./cmd/beckon").CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w\n%s", err, b)
	}
	if b, err := exec.Command(beckon, "demo", "--list", "--speed", "0", "--until", moment, "--dir", state).CombinedOutput(); err != nil {
		return fmt.Errorf("playing: %w\n%s", err, b)
	}
	screen, err := capture(dir, beckon, state)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(svg(parse(screen), width, height, about)), 0o644)
}

// capture runs watch in tmux, opens the peek panel and returns the pane with
// its colours.
func capture(dir, beckon, state string) (string, error) {
	tmux := func(args ...string) (string, error) {
		cmd := exec.Command("tmux", append([]string{"-S", filepath.Join(dir, "s")}, args...)...)
		cmd.Env = append(os.Environ(), "TMUX=", "NO_COLOR=")
		b, err := cmd.CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, b)
		}
		return string(b), nil
	}
	defer tmux("kill-server") //nolint:errcheck // it may not have come up
	_, err := tmux("-f", "/dev/null", "start-server", ";", "set", "-g", "default-terminal", "xterm-256color", ";",
		"set", "-g", "window-style", "bg=#0d1117,fg=#e6edf3", ";",
		"new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-e", "BECKON_STATE_DIR="+state, "-e", "HOME="+dir, "-e", "COLORTERM=truecolor",
		"env", "-u", "TMUX", beckon, "watch", "--color", "always") // inside tmux fewer colours would be used
	if err != nil {
		return "", err
	}
	for _, step := range []struct{ key, shows string }{{"", "NEEDS YOU"}, {"Down", ""}, {"Down", ""}, {"Space", "it asks"}} {
		if step.key != "" {
			if _, err := tmux("send-keys", step.key); err != nil {
				return "", err
			}
		}
		var screen string
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			if screen, err = tmux("capture-pane", "-p"); err != nil || strings.Contains(screen, step.shows) {
				break
			}
		}
		if err != nil || !strings.Contains(screen, step.shows) {
			return "", fmt.Errorf("waiting for %q: %w\n%s", step.shows, err, screen)
		}
	}
	time.Sleep(300 * time.Millisecond)
	return tmux("capture-pane", "-p", "-e", "-N")
}
