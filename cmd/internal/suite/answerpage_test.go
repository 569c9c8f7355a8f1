//go:build unix

package suite

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/state/request"
)

// serves starts `beckon serve` and returns the address that opens its page.
func (a *answering) serves() (page string) {
	a.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	cmd := exec.Command(filepath.Join(bin(a.l), "beckon"), "serve", "--addr", addr)
	cmd.Env = a.l.Home.Env()
	if err := cmd.Start(); err != nil {
		a.Fatal(err)
	}
	a.server = cmd
	a.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	a.until("the server", func() bool {
		r, err := http.Get("http://" + addr + "/healthz")
		if err != nil {
			return false
		}
		_ = r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	link := exec.Command(filepath.Join(bin(a.l), "beckon"), "serve", "url", "--addr", addr)
	link.Env = cmd.Env
	out, err := link.Output()
	if err != nil {
		a.Fatal(err)
	}
	page, _, _ = strings.Cut(string(out), "\n")
	return page
}

// A script's `claude -p` waits, and is approved on a phone's page.
func TestAnswerFromThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser and the real client are slow")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		a := answerLab(t, Bounds[len(Bounds)-1])
		page := a.serves()
		type ended struct {
			out string
			err error
		}
		done := make(chan ended, 1)
		go func() {
			out, err := a.l.Home.Print("lab:write a.txt")
			done <- ended{out, err}
		}()
		o := a.open(1)[0]
		if !o.Headless {
			t.Errorf("offered %+v", o)
		}
		select {
		case e := <-done:
			t.Fatalf("it did not wait: %v %s", e.err, e.out)
		default:
		}
		a.drive(page)
		select {
		case e := <-done:
			if e.err != nil || !a.file("a.txt") {
				t.Errorf("the script: %v, wrote %t\n%s", e.err, a.file("a.txt"), e.out)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the script still waits")
		}
		if by, ok := request.In(a.l.Home.State).Answered(o.ID); !ok || by.From != request.Page || by.Word != request.Allow {
			t.Errorf("answered %+v", by)
		}
		a.want("the journal", a.journal(), `"from":"page"`)
	})
}

// drive allows the open offer on a phone's page.
func (a *answering) drive(page string) {
	a.Helper()
	cmd := exec.Command("go", "test", "beckon/render/web/page", "-run", "^TestDrive$", "-count=1", "-v")
	cmd.Env = append(os.Environ(), "BECKON_PAGE_TEST_DRIVE="+page)
	if out, err := cmd.CombinedOutput(); err != nil {
		a.Fatalf("%v\n%s", err, out)
	}
}

// Three clients ask at once, and are answered from elsewhere: one by the command, one in
// beckon watch, one on the page.
func TestAnswerThreePanes(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser and the real client are slow")
	}
	t.Parallel()
	tried(t, func(t testing.TB) {
		a := answerLab(t, Bounds[len(Bounds)-1])
		page := a.serves()
		names := []string{"one.txt", "two.txt", "three.txt"}
		for _, name := range names {
			client, err := a.l.Tmux.StartClient(name)
			if err == nil {
				err = client.Ready()
			}
			if err == nil {
				err = client.Say("lab:write " + name)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		list := a.open(len(names))
		written := func() (n int) {
			for _, name := range names {
				if a.file(name) {
					n++
				}
			}
			return n
		}
		a.answer(list[0].ID, "yes")
		a.until("the first file", func() bool { return written() == 1 })
		watch, err := a.l.Tmux.Start("watch", a.l.Home.Project, filepath.Join(bin(a.l), "beckon"), "watch")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"Tab", "Space", "y"} {
			time.Sleep(time.Second) // a key answers only what the user has had time to read
			if err := watch.Key(key); err != nil {
				t.Fatal(err)
			}
		}
		a.until("the second file", func() bool { return written() == 2 })
		a.drive(page)
		a.until("the third file", func() bool { return written() == 3 })
		from := map[request.From]int{}
		for _, o := range list {
			by, _ := request.In(a.l.Home.State).Answered(o.ID)
			from[by.From]++
		}
		if from[request.Terminal] != 1 || from[request.Watch] != 1 || from[request.Page] != 1 {
			t.Errorf("answered from %v\n%s", from, watch.Capture())
		}
	})
}
