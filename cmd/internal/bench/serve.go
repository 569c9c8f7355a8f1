package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"beckon/event"
	"beckon/state/store"
)

// load is the load on the server.
type load struct {
	clients int
	rate    int // events a second
	span    time.Duration
	hooks   int // whole hook processes, to measure the time until a client hears of them
}

// site is `beckon serve` in its own process.
type site struct {
	dir, url string
	st       *store.Store
	cmd      *exec.Cmd
}

// serveReport measures the server: how long after a hook's exit a client hears of it, and what
// many clients cost.
func serveReport(dir string, l load, w io.Writer) error {
	if err := buildOurs(dir, "beckon", "beckon-hook"); err != nil {
		return err
	}
	beckon, hook := filepath.Join(dir, "beckon"), filepath.Join(dir, "beckon-hook")
	fmt.Fprintf(w, "\nfrom a hook's exit to an event stream, %d hooks, in ms\n", l.hooks)
	for _, args := range [][]string{nil, {"--poll"}} {
		if err := serveLatency(filepath.Join(dir, "serve"+strings.Join(args, "")), beckon, hook, args, l.hooks, w); err != nil {
			return err
		}
	}
	return serveLoad(filepath.Join(dir, "serve-load"), beckon, l, w)
}

func startServe(dir, beckon string, args []string) (*site, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	_ = l.Close()
	x := &site{dir: dir, url: "http://" + addr, st: store.Open(filepath.Join(dir, "state"))}
	x.cmd = exec.Command(beckon, append([]string{"serve", "--addr", addr}, args...)...)
	x.cmd.Env = []string{"HOME=" + dir, "BECKON_STATE_DIR=" + x.st.Dir, "PATH=" + os.Getenv("PATH")}
	x.cmd.Stderr = os.Stderr
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	for range 500 {
		if res, err := http.Get(x.url + "/readyz"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return x, nil
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	x.stop()
	return nil, fmt.Errorf("%s does not serve", beckon)
}

func (x *site) stop() {
	_ = x.cmd.Process.Signal(os.Interrupt)
	_ = x.cmd.Wait()
}

// listen opens an event stream and calls each with the data of every event.
func (x *site) listen(ctx context.Context, each func(name, data []byte)) error {
	req, err := http.NewRequestWithContext(ctx, "GET", x.url+"/events", nil)
	if err != nil {
		return err
	}
	res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		_ = res.Body.Close()
		return fmt.Errorf("events: %s", res.Status)
	}
	go func() {
		defer res.Body.Close()
		in := bufio.NewReaderSize(res.Body, 4096)
		var name []byte
		for {
			line, err := in.ReadSlice('\n')
			head := bytes.Clone(line[:min(len(line), 600)])
			for err == bufio.ErrBufferFull {
				_, err = in.ReadSlice('\n')
			}
			if err != nil {
				return
			}
			if rest, ok := bytes.CutPrefix(head, []byte("event: ")); ok {
				name = bytes.TrimSpace(rest)
			} else if rest, ok := bytes.CutPrefix(head, []byte("data: ")); ok {
				each(name, rest)
			}
		}
	}()
	return nil
}

// count opens an event stream and counts its prompts.
func (x *site) count(ctx context.Context, n *atomic.Int64) error {
	c, err := x.stall()
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = c.Close() })
	go func() {
		mark := []byte("event: turn_created\n")
		buf, kept := make([]byte, 16<<10), 0
		for {
			got, err := c.Read(buf[kept:])
			if err != nil {
				return
			}
			text := buf[:kept+got]
			n.Add(int64(bytes.Count(text, mark)))
			kept = copy(buf, text[max(0, len(text)-len(mark)+1):]) // a mark may be half read
		}
	}()
	return nil
}

// stall opens an event stream that nobody reads.
func (x *site) stall() (net.Conn, error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(x.url, "http://"))
	if err == nil {
		_, err = fmt.Fprint(c, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	return c, err
}

// serveLatency runs whole hooks, one after the other, and measures when a client hears of
// each.
func serveLatency(dir, beckon, hook string, args []string, n int, w io.Writer) error {
	x, err := startServe(dir, beckon, args)
	if err != nil {
		return err
	}
	defer x.stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	heard := make(chan time.Time, 1024)
	if err := x.listen(ctx, func(name, _ []byte) {
		if string(name) == "turn_created" {
			heard <- time.Now()
		}
	}); err != nil {
		return err
	}
	var took []time.Duration
	for i := range n {
		cmd := exec.Command(hook)
		cmd.Env = x.cmd.Env
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"s%d","cwd":"/","prompt":"number %d"}`, i%10, i))
		if err := cmd.Run(); err != nil {
			return err
		}
		exit := time.Now()
		select {
		case at := <-heard:
			took = append(took, max(at.Sub(exit), 0))
		case <-time.After(10 * time.Second):
			return fmt.Errorf("hook %d was never heard", i)
		}
		time.Sleep(rand.N(250 * time.Millisecond)) // not in step with any interval
	}
	fmt.Fprintf(w, "  %-14s p50 %.1f  p99 %.1f\n", cmp.Or(strings.Join(args, " "), "told by system"), ms(percentile(took, 50)), ms(percentile(took, 99)))
	return nil
}

// serveLoad opens many streams, one of which reads nothing, and folds events.
func serveLoad(dir, beckon string, l load, w io.Writer) error {
	x, err := startServe(dir, beckon, nil)
	if err != nil {
		return err
	}
	defer x.stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	counts := make([]atomic.Int64, l.clients)
	late := delays{}
	for i := range counts {
		if i%50 != 0 { // most only count, so that reading the streams does not take the whole machine
			if err := x.count(ctx, &counts[i]); err != nil {
				return err
			}
			continue
		}
		if err := x.listen(ctx, func(name, data []byte) {
			if string(name) == "turn_created" {
				counts[i].Add(1)
				late.add(data)
			}
		}); err != nil {
			return err
		}
	}
	stalled, err := x.stall()
	if err != nil {
		return err
	}
	defer stalled.Close()
	sent, err := x.happen(l)
	if err != nil {
		return err
	}
	time.Sleep(3 * time.Second)
	least, most := counts[0].Load(), int64(0)
	for i := range counts {
		least, most = min(least, counts[i].Load()), max(most, counts[i].Load())
	}
	fmt.Fprintf(w, "\n%d event streams, %d turns in %v (%.0f/s), one stream stalled\n", l.clients, sent, l.span, float64(sent)/l.span.Seconds())
	fmt.Fprintf(w, "  heard by each stream: %d to %d\n  from just before a turn is folded to a stream, in ms: p50 %.0f  p99 %.0f\n", least, most, ms(late.at(50)), ms(late.at(99)))
	used, err := cpuTime(x.cmd.Process.Pid)
	fmt.Fprintf(w, "  processor time of the server: %.0f%% of one\n", 100*used.Seconds()/l.span.Seconds())
	fmt.Fprintf(w, "  memory of the server: %s now, %s at most\n", mb(status(x.cmd.Process.Pid, "VmRSS")), mb(status(x.cmd.Process.Pid, "VmHWM")))
	return err
}

// happen folds prompts at the wanted rate into 50 sessions.
func (x *site) happen(l load) (sent int, err error) {
	start := time.Now()
	for time.Since(start) < l.span {
		if due := int(time.Since(start).Seconds() * float64(l.rate)); sent >= due {
			time.Sleep(time.Millisecond)
			continue
		}
		e := event.Event{Agent: event.ClaudeCode, Kind: event.UserPromptSubmit, Name: "UserPromptSubmit", SessionID: "load-" + strconv.Itoa(sent%50),
			Prompt: fmt.Sprintf("@%d@ do the thing number %d", time.Now().UnixMicro(), sent)}
		if err := foldEvent(x.st, string(e.SessionID), e); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, nil
}

// delays records how late events came, for one stream in fifty.
type delays struct {
	mu   sync.Mutex
	took []time.Duration
}

func (d *delays) add(data []byte) {
	now := time.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, rest, ok := bytes.Cut(data, []byte(`"text":"@`)); ok {
		sent, _, _ := bytes.Cut(rest, []byte("@"))
		if us, err := strconv.ParseInt(string(sent), 10, 64); err == nil {
			d.took = append(d.took, now.Sub(time.UnixMicro(us)))
		}
	}
}

func (d *delays) at(percent int) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.took) == 0 {
		return 0
	}
	return percentile(d.took, percent)
}
