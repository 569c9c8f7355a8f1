//go:build unix

package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/cmd/internal/lab"
	"beckon/state/offer"
)

// answering is a real client whose questions are answered from elsewhere.
type answering struct {
	*shown
	pane *lab.Pane
	n    int
}

// answerLab starts a client in a home where beckon was installed with answers.
func answerLab(t *testing.T, version string, more ...string) *answering {
	t.Helper()
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	l := lab.Start(t, version)
	if err := put(l, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := beckon(l, nil, append([]string{"install", "--answers"}, more...)...); err != nil {
		t.Fatal(err)
	}
	a := &answering{shown: &shown{TB: t, l: l}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("screens:\n%s\njournal:\n%s\nlog: %s", l.Tmux.Screens(), a.journal(), a.read(filepath.Join(l.Home.State, "log", "beckon.log")))
		}
	})
	return a
}

func (a *answering) read(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}

// begin starts the client and says something to it.
func (a *answering) begin(prompt string, args ...string) {
	a.Helper()
	pane, err := a.l.Tmux.StartClient("client", args...)
	if err != nil {
		a.Fatal(err)
	}
	a.pane = pane
	if err := pane.Ready(); err != nil {
		a.Fatal(err)
	}
	if prompt != "" {
		a.say(prompt)
	}
}

func (a *answering) say(prompt string) {
	a.Helper()
	if err := a.pane.Say(prompt); err != nil {
		a.Fatal(err)
	}
}

// command runs beckon in a terminal of the user's own and returns what it
// printed and its exit code.
func (a *answering) command(args ...string) (out string, code int) {
	a.Helper()
	a.n++
	path := filepath.Join(a.l.Home.Root, fmt.Sprintf("out%d", a.n))
	script := `out=$1; shift; "$@" >"$out" 2>&1; echo "exit $?" >"$out.code"`
	if _, err := a.l.Tmux.Start(fmt.Sprintf("c%d", a.n), a.l.Home.Project, append([]string{"sh", "-c", script, "sh", path, filepath.Join(bin(a.l), "beckon")}, args...)...); err != nil {
		a.Fatal(err)
	}
	a.until("the command to end", func() bool { return strings.HasSuffix(a.read(path+".code"), "\n") })
	if _, err := fmt.Sscanf(a.read(path+".code"), "exit %d", &code); err != nil {
		a.Fatal(err)
	}
	return a.read(path), code
}

// answer shows what is open and answers it.
func (a *answering) answer(words ...string) string {
	a.Helper()
	a.command("answer")
	out, code := a.command(append([]string{"answer"}, words...)...)
	if code != 0 {
		a.Errorf("beckon answer %q: exit code %d: %s", words, code, out)
	}
	return out
}

// open waits for n open offers that are no replies, or are if reply is set.
func (a *answering) open(n int, kinds ...offer.Kind) (list []offer.Offer) {
	a.Helper()
	a.until(fmt.Sprintf("%d offers", n), func() bool {
		all, err := offer.In(a.l.Home.State).List(time.Now())
		if err != nil {
			a.Fatal(err)
		}
		list = nil
		for _, o := range all {
			if o.Kind != offer.Reply || len(kinds) > 0 && kinds[0] == offer.Reply {
				list = append(list, o)
			}
		}
		return len(list) == n
	})
	return list
}

func (a *answering) until(what string, is func() bool) {
	a.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			a.Fatalf("waited for %s", what)
		}
	}
}

// screen waits for a text on the client's screen.
func (a *answering) screen(pattern string) {
	a.Helper()
	if err := a.pane.WaitFor(pattern, patience); err != nil {
		a.Fatal(err)
	}
}

func (a *answering) file(name string) bool {
	_, err := os.Stat(filepath.Join(a.l.Home.Project, name))
	return err == nil
}

// answers are what a person does from elsewhere, and what comes of it.
var answers = []struct {
	name string
	do   func(*answering)
}{
	{"allow", func(a *answering) {
		a.begin("lab:write a.txt")
		a.screen("Do you want to")
		o := a.open(1)[0]
		if o.Kind != offer.Permission || o.Tool != "Write" || o.UseID == "" || o.Branch != "main" {
			a.Errorf("offered %+v", o)
		}
		list, _ := a.command("answer")
		a.want("the list", list, "+hello")
		a.want("the answer", a.answer("yes"), "allowed: Write a.txt")
		a.screen("Wrote the note")
		if !a.file("a.txt") {
			a.Error("the file was not written")
		}
		a.want("the journal", a.journal(), `"word":"allowed"`)
		a.want("the journal", a.journal(), `"by":"lab","from":"terminal"`)
		trace, _ := a.command("policy", "trace")
		a.want("the trace", trace, "answer")
	}},
	{"deny", func(a *answering) {
		a.begin("lab:write a.txt")
		a.open(1)
		a.answer("no", "--message", "not-that-file")
		a.screen("Wrote the note") // the script goes on
		a.want("the model's results", a.results(), "not-that-file")
		if a.file("a.txt") {
			a.Error("the file was written")
		}
	}},
}

func TestAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes a minute")
	}
	for _, version := range lab.Bounds {
		for _, c := range answers {
			t.Run(version+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.do(answerLab(t, version))
			})
		}
	}
}
