package evidence

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"beckon/testdata/need"
)

// TestUnrecorded has a program with the client's name in the foreground of a terminal, and keys
// of it and of others in a registry.
func TestUnrecorded(t *testing.T) {
	need.Program(t, "script")
	dir, work := t.TempDir(), t.TempDir()
	client := filepath.Join(t.TempDir(), "claude")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(sleep)
	if err == nil {
		err = os.WriteFile(client, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("script", "-qefc", "echo $$; exec "+client+" 60", "/dev/null")
	cmd.Dir, cmd.Env = work, append(os.Environ(), "TMUX=/tmp/s,1,0", "TMUX_PANE=%7")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	for { // until the shell has become the client
		if p, _ := lookup(pid); p.comm == "claude" {
			break
		}
	}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("secret"), 0o000); err != nil {
			t.Fatal(err)
		}
	}
	write(strconv.Itoa(os.Getpid()) + ".ab.key") // no client
	write(strconv.Itoa(pid) + ".ab.key.tmp.1")
	write("x.key")
	write("999999999.ab.key")
	if got, _ := Registry(dir); len(got) != 0 {
		t.Errorf("without a key: %+v", got)
	}
	write(strconv.Itoa(pid) + ".ab.key")
	got, _ := Registry(dir)
	if len(got) != 1 || got[0].Pid != pid || got[0].Cwd != work || got[0].Status != Starting || got[0].Usable() {
		t.Fatalf("with a key: %+v", got)
	}
	if p, ok := Process(pid, ThisMachine()); !ok || !Match(got[0], p) {
		t.Errorf("%+v is not %+v", got[0], p)
	}
	if term := TerminalOf(pid); term.Kind != "tmux" || term.Tmux.Pane != "%7" {
		t.Errorf("its terminal: %+v", term)
	}
	write(strconv.Itoa(pid) + ".json")
	if got, _ := Registry(dir); len(got) != 1 || got[0].Status == Starting {
		t.Errorf("with a record: %+v", got)
	}
}
