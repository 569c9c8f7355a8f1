package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"beckon/event/plainfile"
)

var soakFor = flag.Duration("soak", 5*time.Second, "how long TestSoak lets sessions work")

const (
	soakSessions = 40
	soakWriters  = 4
	hooksASecond = 30
	serveMemory  = 150 << 10 // KiB
)

// TestSoak lets sessions work for a while, with a server, its event stream and every view attached.
// Afterwards each session shows the last that it was sent, and the server has kept nothing.
func TestSoak(t *testing.T) {
	h := newHome(t)
	site := h.serve(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var received atomic.Int64
	site.listen(t, ctx, func(string, []byte) { received.Add(1) })

	var talks []*talk
	for i := range soakSessions {
		talks = append(talks, &talk{
			id:    fmt.Sprintf("soak-%03d", i),
			agent: h.agent(t),
			rand:  rand.New(rand.NewPCG(uint64(i), 1)),
		})
	}
	end := time.Now().Add(*soakFor)
	var sent atomic.Int64
	var all sync.WaitGroup
	for w := range soakWriters {
		all.Go(func() {
			pick := rand.New(rand.NewPCG(uint64(w), 2))
			for time.Now().Before(end) {
				due := time.Now().Add(time.Second * soakWriters / hooksASecond)
				k := talks[w+soakWriters*pick.IntN(soakSessions/soakWriters)]
				k.agent.send(t, k.next())
				sent.Add(1)
				time.Sleep(time.Until(due))
			}
		})
	}
	var views atomic.Int64
	all.Go(func() {
		for time.Now().Before(end) {
			for _, args := range []string{"list", "list --json", "prompt"} {
				h.run(t, args)
				views.Add(1)
			}
			time.Sleep(time.Second)
		}
	})
	early := site.uses()
	all.Wait()
	late := site.uses()
	t.Logf("%d hooks, %d views, %d events on the stream; the server: %+v, at the start %+v", sent.Load(), views.Load(), received.Load(), late, early)

	if sent.Load() == 0 || received.Load() == 0 {
		t.Error("nothing happened")
	}
	if late.memory > serveMemory || late.files > early.files+10 {
		t.Errorf("the server grew from %+v to %+v", early, late)
	}
	var list struct {
		Sessions []struct {
			ID    string `json:"session_id"`
			State string `json:"state"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal(h.run(t, "list --json --all"), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range list.Sessions {
		got[r.ID] = r.State
	}
	for _, k := range talks {
		if k.want != "" && got[k.id] != k.want {
			t.Errorf("%s is %q, want %q after %.300s", k.id, got[k.id], k.want, k.last)
		}
	}
}

// talk is one session's traffic, made up in the client's form.
type talk struct {
	id    string
	agent *agent
	rand  *rand.Rand
	queue []message // of the current turn
	turns int
	last  string // the payload that was sent last
	want  string // the state after it
}

type message struct{ name, members, want string }

// next returns the next payload.
func (k *talk) next() string {
	if len(k.queue) == 0 {
		k.turn()
	}
	m := k.queue[0]
	k.queue = k.queue[1:]
	k.last, k.want = payload(k.id, m.name, m.members), m.want
	return k.last
}

// turn queues a turn: a prompt, some tools, and an end.
func (k *talk) turn() {
	k.turns++
	k.add("UserPromptSubmit", "working", `"prompt":"do thing %d %s"`, k.turns, strings.Repeat("with care ", k.rand.IntN(40)))
	for call := range k.rand.IntN(6) {
		size := 10 + k.rand.IntN(200)
		if k.rand.IntN(50) == 0 {
			size = 100 << 10
		}
		tool := fmt.Sprintf(`"tool_name":"Bash","tool_use_id":"toolu_%d_%d","tool_input":{"command":%q}`, k.turns, call, strings.Repeat("make test ", size))
		k.add("PreToolUse", "working", "%s", tool)
		if k.rand.IntN(6) == 0 {
			k.add("PermissionRequest", "permission", "%s", tool)
		}
		k.add("PostToolUse", "working", `%s,"tool_response":{"stdout":%q}`, tool, strings.Repeat("ok ", size))
	}
	switch k.rand.IntN(6) {
	case 0:
		k.add("StopFailure", "failed", `"error":"rate_limit"`)
	case 1:
		k.add("Stop", "question", `"last_assistant_message":"Shall I go on with the second part?"`)
	default:
		k.add("Stop", "idle", `"last_assistant_message":"Done. All tests pass."`)
	}
}

func (k *talk) add(name, want, members string, args ...any) {
	k.queue = append(k.queue, message{name, fmt.Sprintf(members, args...), want})
}

// run runs beckon and returns what it prints.
func (h home) run(tb testing.TB, args string) []byte {
	tb.Helper()
	cmd := exec.Command(program(tb, "beckon"), strings.Fields(args)...)
	cmd.Env = h.env()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		tb.Errorf("beckon %s: %v %s", args, err, &errs)
	}
	return out
}

// site is `beckon serve` in its own process.
type site struct {
	url string
	cmd *exec.Cmd
}

const token = "measured-measured-measured-measured"

func (h home) serve(tb testing.TB) *site {
	tb.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	x := &site{url: "http://" + addr, cmd: exec.Command(program(tb, "beckon"), "serve", "--addr", addr)}
	x.cmd.Env = h.env()
	if err := plainfile.Write(filepath.Join(h.state(), "token"), []byte(token), 0o600, false); err != nil {
		tb.Fatal(err)
	}
	var errs bytes.Buffer
	x.cmd.Stderr = &errs
	if err := x.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = x.cmd.Process.Signal(os.Interrupt)
		_ = x.cmd.Wait()
	})
	for range 1000 {
		if res, err := http.Get(x.url + "/healthz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return x
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	tb.Fatalf("the server did not start: %s", &errs)
	return nil
}

// listen opens an event stream and calls each with every event until ctx ends.
func (x *site) listen(tb testing.TB, ctx context.Context, each func(name string, data []byte)) {
	tb.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.url+"/events", nil)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		tb.Fatalf("events: %s", res.Status)
	}
	go func() {
		defer res.Body.Close()
		in, name := bufio.NewReader(res.Body), ""
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			if rest, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
				name = string(bytes.TrimSpace(rest))
			} else if rest, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				each(name, rest)
			}
		}
	}()
}

// use is what a process holds; zero where the system has no /proc.
type use struct{ memory, files int }

func (x *site) uses() (u use) {
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", x.cmd.Process.Pid))
	u.files = len(fds)
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", x.cmd.Process.Pid))
	if _, rest, ok := strings.Cut(string(b), "VmRSS:"); ok {
		_, _ = fmt.Sscan(rest, &u.memory)
	}
	return u
}
