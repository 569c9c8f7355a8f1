package evidence

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"beckon/event"
)

var tmuxEnv = mapEnv(map[string]string{
	"TMUX": "/tmp/tmux-1000/default,2112,0", "TMUX_PANE": "%3", "TERM": "tmux-256color", "TERM_PROGRAM": "tmux",
	"CLAUDE_PID": strconv.Itoa(os.Getppid()), "CLAUDE_CODE_ENTRYPOINT": "cli",
})

func BenchmarkOrigin(b *testing.B) {
	dir := mkdir(b, repo(b, root(b), "shop"), "a", "b", "c")
	b.ReportAllocs()
	for b.Loop() {
		Origin(&event.Event{Agent: "claude-code", Cwd: dir}, tmuxEnv)
	}
}

func BenchmarkGit(b *testing.B) {
	dir := mkdir(b, repo(b, root(b), "shop"), "a", "b", "c")
	none := mkdir(b, root(b), "a", "b", "c")
	b.Run("repository", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Git(dir)
		}
	})
	b.Run("none", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Project(none, Git(none))
		}
	})
}

func BenchmarkTerminal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Terminal(tmuxEnv)
	}
}

func BenchmarkThisMachine(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ThisMachine()
	}
}

func BenchmarkAgent(b *testing.B) {
	here := ThisMachine()
	b.ReportAllocs()
	for b.Loop() {
		Agent("claude-code", here, tmuxEnv)
	}
}

func BenchmarkAlive(b *testing.B) {
	here := ThisMachine()
	p, ok := Process(os.Getpid(), here)
	if !ok {
		b.Skip("no process evidence on this platform")
	}
	b.ReportAllocs()
	for b.Loop() {
		here.Presence(p, 0)
	}
}

func BenchmarkRegistry100(b *testing.B) {
	dir := b.TempDir()
	for i := 1; i <= 100; i++ {
		data, err := os.ReadFile(filepath.Join("testdata", "registry", "5097.json"))
		if err != nil {
			b.Fatal(err)
		}
		write(b, filepath.Join(dir, strconv.Itoa(i)+".json"), strings.Replace(string(data), "5097", strconv.Itoa(i), 1))
	}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := Registry(dir); err != nil || len(got) != 100 || !got[99].Usable() {
			b.Fatal(err)
		}
	}
}
