package page

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"beckon/event/recording"
	"beckon/render"
	"beckon/render/web/access"
)

// agentEnv makes the test binary stand in for an agent: the parent of its hooks, which lives
// until it is killed.
const agentEnv = "BECKON_PAGE_TEST_AGENT"

func TestMain(m *testing.M) {
	if hook := os.Getenv(agentEnv); hook != "" {
		os.Exit(beAgent(hook, os.Stdin, os.Stdout))
	}
	flag.Parse()
	if runtime.GOMAXPROCS(0) < atOnce {
		_ = flag.Set("test.parallel", strconv.Itoa(atOnce))
	}
	code := m.Run()
	_ = os.RemoveAll(builtDir)
	os.Exit(code)
}

// fire is a hook that an agent runs.
type fire struct {
	Event   string
	Payload json.RawMessage
	Env     []string
}

// beAgent runs a hook for each line that it reads, and replies when the hook is over.
func beAgent(hook string, in io.Reader, out io.Writer) int {
	_ = os.Unsetenv(agentEnv)
	lines := bufio.NewReader(in)
	for {
		b, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var f fire
		if err := json.Unmarshal(b, &f); err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		cmd := exec.Command(hook, f.Event)
		cmd.Stdin = bytes.NewReader(f.Payload)
		cmd.Env = append(os.Environ(), append(f.Env, "CLAUDE_PID="+strconv.Itoa(os.Getpid()))...)
		said, err := cmd.CombinedOutput()
		fmt.Fprintf(out, "%q %v\n", said, err)
	}
}

// atOnce is how many tests run concurrently: browsers mostly wait.
const atOnce = 2

// builtDir is the directory of the built programs.
var builtDir string

// build builds the programs under test, once, for the first test that needs them.
var build = sync.OnceValue(func() (err error) {
	if builtDir, err = os.MkdirTemp("", "beckon-page-test-"); err != nil {
		return err
	}
	out, err := exec.Command("go", "build", "-o", builtDir+string(filepath.Separator), "beckon/cmd/beckon", "beckon/cmd/beckon-hook").CombinedOutput()
	if err != nil {
		return fmt.Errorf("building: %w\n%s", err, out)
	}
	return nil
})

// world is a machine that has beckon and nothing else.
type world struct {
	t           *testing.T
	bin, home   string
	state, addr string
	serve       *exec.Cmd
	panes       int
	given       sync.Map // by offer: the answer that the process which held the call took
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if err := build(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, bin: builtDir, home: home, state: filepath.Join(home, "state"), addr: l.Addr().String()}
	_ = l.Close()
	t.Cleanup(w.stop)
	return w
}

func (w *world) env() []string {
	return []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "BECKON_STATE_DIR=" + w.state, "TZ=UTC"}
}

// token opens the server.
const token = "6f1ed002ab5595859014ebf0951522d9"

func (w *world) url() string { return "http://" + w.addr + "/" }

// page returns the address that signs in and opens a part of the page.
func (w *world) page(path string) string { return w.url() + path + "#code=" + w.code() }

// code returns one that signs a browser in.
func (w *world) code() string { return codeFor(w.t, w.url()) }

func codeFor(t *testing.T, url string) string {
	t.Helper()
	health, _, ok := access.Ask(url)
	if !ok {
		t.Fatalf("no server answers at %s", url)
	}
	return access.Code(token, health.Name, true, time.Now())
}

// start runs `beckon serve` and waits until it answers.
func (w *world) start() {
	w.t.Helper()
	w.serve = exec.Command(filepath.Join(w.bin, "beckon"), "serve", "--addr", w.addr)
	w.serve.Env = w.env()
	if err := os.MkdirAll(w.state, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.state, "token"), []byte(token), 0o600); err != nil {
		w.t.Fatal(err)
	}
	var said bytes.Buffer
	w.serve.Stdout, w.serve.Stderr = &said, &said
	if err := w.serve.Start(); err != nil {
		w.t.Fatal(err)
	}
	for range 500 {
		if r, err := http.Get(w.url() + "healthz"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Fatalf("serve does not answer: %s", said.String())
}

// stop kills serve: a page sees the same when a machine sleeps or a program crashes.
func (w *world) stop() {
	if w.serve != nil {
		_ = w.serve.Process.Kill()
		_ = w.serve.Wait()
		w.serve = nil
	}
}

func (w *world) beckon(args ...string) []byte {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.bin, "beckon"), args...)
	cmd.Env = w.env()
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("beckon %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// list returns the rows of `beckon list --json`.
func (w *world) list() []render.Row {
	w.t.Helper()
	var l render.List
	if err := json.Unmarshal(w.beckon("list", "--json"), &l); err != nil {
		w.t.Fatal(err)
	}
	return l.Sessions
}

// agent is a stand-in for the client that plays a recording.
type agent struct {
	w     *world
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	steps []recording.Step
	dress *strings.Replacer
	pane  string
}

// agent starts one for the recording. dress replaces strings in its payloads, in pairs.
func (w *world) agent(name string, dress ...string) *agent {
	w.t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "testdata", "recordings", "2.1.329", name+".jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	steps, err := recording.Read(f)
	if err != nil {
		w.t.Fatal(err)
	}
	steps = slices.DeleteFunc(steps, func(s recording.Step) bool { return !s.Hook() })
	slices.SortStableFunc(steps, func(a, b recording.Step) int { return int(a.T - b.T) })
	a := &agent{w: w, steps: steps, dress: strings.NewReplacer(dress...), pane: fmt.Sprintf("%%%d", w.panes)}
	w.panes++
	a.cmd = exec.Command(os.Args[0])
	a.cmd.Env = append(w.env(), agentEnv+"="+filepath.Join(w.bin, "beckon-hook"))
	a.in, err = a.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	a.out = bufio.NewReader(out)
	if err := a.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(a.kill)
	return a
}

func (a *agent) kill() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

// step runs the next hook and waits for its end; it reports whether there was one.
func (a *agent) step() bool {
	a.w.t.Helper()
	if len(a.steps) == 0 {
		return false
	}
	s := a.steps[0]
	a.steps = a.steps[1:]
	a.run(s.Kind, a.dress.Replace(string(s.Payload)))
	return true
}

// run gives the hook a payload and waits for its end.
func (a *agent) run(kind, payload string) {
	a.w.t.Helper()
	b, err := json.Marshal(fire{kind, json.RawMessage(payload), []string{"TMUX=/run/tmux/you,100,0", "TMUX_PANE=" + a.pane}})
	if err == nil {
		_, err = a.in.Write(append(b, '\n'))
	}
	if err != nil {
		a.w.t.Fatal(err)
	}
	if said, err := a.out.ReadString('\n'); err != nil || said != "\"\" <nil>\n" {
		a.w.t.Fatalf("hook %s: %q, %v", kind, said, err)
	}
}

// report reports what the client's status line does for the agent's session.
func (w *world) report(session string, context int, cost float64) {
	w.t.Helper()
	cmd := exec.Command(filepath.Join(w.bin, "beckon"), "statusline")
	cmd.Env = w.env()
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"context_window":{"used_percentage":%d},"cost":{"total_cost_usd":%g}}`, session, context, cost))
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("statusline: %v\n%s", err, out)
	}
}

// post posts a hook to serve in the client's own form.
func (w *world) post(payload map[string]any) {
	w.t.Helper()
	b, err := json.Marshal(payload)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := http.Post(w.url()+"hook", "application/json", bytes.NewReader(b))
	if err != nil {
		w.t.Fatal(err)
	}
	_ = r.Body.Close()
	if r.StatusCode != http.StatusOK {
		w.t.Fatalf("posting a hook: %s", r.Status)
	}
}

// until runs hooks up to and including the first of that kind.
func (a *agent) until(kind string) *agent {
	a.w.t.Helper()
	for len(a.steps) > 0 {
		k := a.steps[0].Kind
		a.step()
		if k == kind {
			return a
		}
	}
	a.w.t.Fatalf("the recording has no more %s", kind)
	return a
}

// rest runs the remaining hooks.
func (a *agent) rest() {
	a.w.t.Helper()
	for a.step() {
	}
}
