//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/testdata/need"
)

// sshd is a real server on loopback, run by this user with its own keys. Its sessions have the
// state directory of another machine.
type sshd struct {
	t       *testing.T
	dir     string
	program string
	cmd     *exec.Cmd
	addr    string
}

func newSSHD(t *testing.T) *sshd {
	t.Helper()
	program := need.Program(t, "sshd", "/usr/sbin/sshd")
	s := &sshd{t: t, dir: t.TempDir(), program: program}
	for _, name := range []string{"host", "user"} {
		s.must(exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", s.path(name)))
	}
	pub, err := os.ReadFile(s.path("user.pub"))
	if err != nil {
		t.Fatal(err)
	}
	s.write("authorized", string(pub))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(s.addr)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s.write("sshd_config", fmt.Sprintf(`ListenAddress %s
HostKey %s
AuthorizedKeysFile %s
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
SetEnv PATH=%s:/usr/bin:/bin BECKON_STATE_DIR=%s
`, s.addr, s.path("host"), s.path("authorized"), commandDir(t), s.path("there")))
	// The user's own ssh_config names the machine. A wrapper passes it to ssh, which does not
	// look for it in $HOME.
	s.write("ssh_config", fmt.Sprintf(`Host build
  HostName 127.0.0.1
  Port %s
  User %s
  IdentityFile %s
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
Host hole
  HostName 127.0.0.1
  ProxyCommand sleep 60
`, port, me.Username, s.path("user")))
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(s.path("bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("bin/ssh", "#!/bin/sh\nexec "+ssh+" -F "+s.path("ssh_config")+` "$@"`+"\n")
	if err := os.Chmod(s.path("bin/ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

func (s *sshd) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sshd) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *sshd) must(cmd *exec.Cmd) {
	s.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%q: %v: %s", cmd.Args, err, out)
	}
}

func (s *sshd) start() {
	s.t.Helper()
	if os.Getuid() == 0 {
		_ = os.MkdirAll("/run/sshd", 0o755) // sshd insists on it for root
	}
	s.cmd = exec.Command(s.program, "-D", "-e", "-f", s.path("sshd_config"))
	log, err := os.Create(s.path("log"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd.Stderr = log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for range 2000 {
		if c, err := net.Dial("tcp", s.addr); err == nil {
			_ = c.Close()
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	said, _ := os.ReadFile(s.path("log"))
	s.t.Fatalf("sshd does not listen: %s", said)
}

func (s *sshd) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// With a real sshd: the other machine's sessions are in the list; if it cannot be reached they
// stay, marked; one that never answers delays the list no longer than the deadline.
func TestListOfAnotherHost(t *testing.T) {
	s := newSSHD(t)
	bin := commandDir(t)
	run := func(stateDir, stdin string, argv ...string) (stdout, stderr string) {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, argv[0]), argv[1:]...)
		cmd.Env = []string{"GORACE=" + noNap, "PATH=" + s.path("bin") + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "BECKON_STATE_DIR=" + s.path(stateDir)}
		cmd.Stdin = strings.NewReader(stdin)
		var out, err strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &err
		if e := cmd.Run(); e != nil {
			t.Fatalf("%q: %v: %s", argv, e, err.String())
		}
		return out.String(), err.String()
	}
	hook := func(stateDir, id, name, more string) {
		run(stateDir, fmt.Sprintf(`{"session_id":%q,"cwd":"/nowhere/%s","hook_event_name":%q%s}`, id, stateDir, name, more), "beckon-hook", name)
	}
	hook("there", "aaaa1111", "SessionStart", `,"source":"startup"`)
	hook("there", "aaaa1111", "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"make"}`)
	hook("here", "bbbb2222", "SessionStart", `,"source":"startup"`)

	s.start()
	out, said := run("here", "", "beckon", "list", "--host", "ssh:build")
	if !strings.Contains(out, "build: there  Bash: make") || !strings.Contains(out, "bbbb2222") || said != "" {
		log, _ := os.ReadFile(s.path("log"))
		t.Fatalf("list:\n%s%s%s", out, said, log)
	}
	if strings.Index(out, "aaaa1111") > strings.Index(out, "bbbb2222") {
		t.Errorf("the permission is not first:\n%s", out)
	}
	out, _ = run("here", "", "beckon", "list", "--json", "--host", "ssh:build")
	var list struct {
		render.List
		Hosts []render.Host `json:"hosts"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	if r := list.Sessions[0]; r.Remote == nil || r.Remote.Name != "build" || r.Host == "" || r.Remote.Stale || len(list.Hosts) != 1 || list.Hosts[0].Stale {
		t.Errorf("row %+v, hosts %+v", r, list.Hosts)
	}

	s.stop()
	out, said = run("here", "", "beckon", "list", "--host", "ssh:build")
	if !strings.Contains(out, "build: there  Bash: make [as of ") || !strings.Contains(said, "beckon: asking host build: ") || !strings.Contains(said, "shown is what it said") {
		t.Errorf("unreachable:\n%s%s", out, said)
	}

	start := time.Now()
	out, said = run("here", "", "beckon", "list", "--host", "ssh:hole", "--host", "ssh:build")
	if took := time.Since(start); took > 15*time.Second {
		t.Errorf("a host that swallows everything held the list up for %v", took)
	}
	if !strings.Contains(out, "bbbb2222") || !strings.Contains(said, "asking host hole: ") {
		t.Errorf("hole:\n%s%s", out, said)
	}
}
