//go:build unix

package suite

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"beckon/state/request"
	"beckon/testdata/ntfytest"

	"github.com/tidwall/gjson"
)

// answering is a real client whose questions are answered from elsewhere.
type answering struct {
	*shown
	pane   *Pane
	server *exec.Cmd
	n      int
}

// answerLab starts a client in a home where beckon was installed with answers.
func answerLab(t testing.TB, version string, more ...string) *answering {
	t.Helper()
	l := equipped(t, version)
	if _, err := beckon(l, nil, append([]string{"install", "--answers"}, more...)...); err != nil {
		t.Fatal(err)
	}
	return answeringOf(t, l)
}

func answeringOf(t testing.TB, l *Lab) *answering {
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

// begin starts the client and sends it a prompt.
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

// command runs beckon in the user's own terminal and returns its output and its exit code.
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

// open waits for n open offers. Replies do not count unless kinds begins with request.Reply.
func (a *answering) open(n int, kinds ...request.Kind) (list []request.Request) {
	a.Helper()
	a.until(fmt.Sprintf("%d offers", n), func() bool {
		all, err := request.In(a.l.Home.State).List(time.Now())
		if err != nil {
			a.Fatal(err)
		}
		list = nil
		for _, o := range all {
			if o.Kind != request.Reply || len(kinds) > 0 && kinds[0] == request.Reply {
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

// phoneOf adds a phone that is notified.
func phoneOf(a *answering) *ntfytest.Server {
	a.Helper()
	server := ntfytest.Start(a)
	config := filepath.Join(a.l.Home.Root, "home", ".config", "beckon", "config.json")
	text := fmt.Sprintf(`{"notify": ["ntfy"], "notify_texts": "full", "ntfy_topic": "%s/asks", "ntfy_answers": "answers"}`, server.URL)
	if err := errors.Join(os.MkdirAll(filepath.Dir(config), 0o700), os.WriteFile(config, []byte(text), 0o600)); err != nil {
		a.Fatal(err)
	}
	return server
}

// answers lists what a person does from elsewhere, and the result.
var answers = []struct {
	name string
	do   func(*answering)
}{
	{"allow", func(a *answering) {
		a.begin("lab:write a.txt")
		a.screen("Do you want to")
		o := a.open(1)[0]
		if o.Kind != request.Permission || o.Tool != "Write" || o.UseID == "" || o.Branch != "main" {
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
	{"always", func(a *answering) {
		a.begin("lab:perms")
		o := a.open(1)[0]
		list, _ := a.command("answer")
		a.want("the list", list, "always: accept all edits, in this session")
		a.answer(o.ID[:6], "always")
		a.until("all to be done", func() bool {
			for _, next := range a.openNow() {
				if next.Tool == "Write" && next.ID != o.ID {
					a.Fatal("edits are still asked for")
				}
				a.answer(next.ID, "yes")
			}
			return strings.Contains(a.pane.Capture(), "All three are written")
		})
	}},
	{"question, one", func(a *answering) {
		a.begin("lab:ask")
		list, _ := a.shownList()
		a.want("the list", list, "2  Blue  cool")
		a.answer("2")
		a.screen("You chose")
		a.want("the model's results", a.results(), "Blue")
	}},
	{"question, several", func(a *answering) {
		a.begin("lab:askmulti")
		a.open(1)
		a.answer("1,3")
		a.screen("You chose some")
		a.want("the model's results", a.results(), "Apple, Plum")
	}},
	{"question, two and free words", func(a *answering) {
		a.begin("lab:asktwo")
		o := a.open(1)[0]
		a.answer(o.ID, "something like teal", "2")
		a.screen("You chose twice")
		a.want("the model's results", a.results(), "something like teal")
		a.want("the model's results", a.results(), "Pear")
	}},
	{"question, refused", func(a *answering) {
		a.begin("lab:ask")
		a.open(1)
		a.answer("no", "--message", "ask-me-later")
		a.screen("You chose")
		a.want("the model's results", a.results(), "ask-me-later")
	}},
	{"plan, yes", func(a *answering) {
		a.begin("lab:plan", "--permission-mode", "plan")
		list, _ := a.shownList()
		a.want("the list", list, "Write it down.")
		a.answer("yes")
		a.screen("The plan is under way")
		if a.l.Client.Version != V197 { // it says so for every plan that a hook approves
			a.wantNot("the model's results", a.results(), "edited")
		}
	}},
	{"plan, sent back", func(a *answering) {
		a.begin("lab:plan", "--permission-mode", "plan")
		o := a.open(1)[0]
		a.answer(o.ID, "look-twice please")
		a.screen("The plan is under way") // the script goes on
		a.want("the model's results", a.results(), "look-twice please")
	}},
	{"two dialogs", func(a *answering) {
		a.begin("lab:perms")
		a.until("all to be done", func() bool {
			for _, o := range a.openNow() {
				a.answer(o.ID, "yes")
			}
			return strings.Contains(a.pane.Capture(), "All three are written")
		})
		for _, name := range []string{"one.txt", "two.txt", "three.txt"} {
			if !a.file(name) {
				a.Errorf("%s is not written", name)
			}
		}
	}},
	{"three at once", func(a *answering) {
		a.begin("lab:permreads")
		for n := 3; n > 0; n-- {
			a.answer(a.open(n)[0].ID, "yes")
		}
		a.screen("Read all three")
		for _, text := range []string{"a", "b", "c"} {
			a.want("the model's results", a.results(), "\t"+text)
		}
	}},
	{"subagent", func(a *answering) {
		a.command("away", "1h")
		a.begin("lab:subperm")
		o := a.open(1)[0]
		if o.Actor == "" {
			a.Errorf("offered %+v", o)
		}
		a.answer("yes")
		a.until("the file", func() bool { return a.file("from-subagent.txt") })
	}},
	{"subagent while somebody is there", func(a *answering) {
		a.begin("lab:subperm")
		a.screen("Do you want to|from-subagent.txt")
		time.Sleep(time.Second)
		if list := a.openNow(); len(list) > 0 {
			a.Errorf("held: %+v", list)
		}
		a.screen("Do you want to")
	}},
	{"form", func(a *answering) {
		a.begin("lab:form", "--mcp-config", a.formServer())
		o := a.open(1)[0]
		a.answer(o.ID, "yes") // the call itself
		a.screen("Who is it")
		list, _ := a.command("answer")
		a.want("the list", list, "no request can be answered here")
		why, code := a.command("answer", o.Session, "yes")
		a.want("why not", why, "waits with a form")
		if code != 3 {
			a.Errorf("exit code %d", code)
		}
		shown, _ := a.command("show", o.Session)
		a.want("what it asks", shown, "Who is it?")
		a.want("its fields", shown, "name*: string")
		rows, _ := a.command("list", "--json")
		a.want("the list", rows, `"state": "question"`)
		a.key("Escape")
		a.screen("The form came back")
		a.want("the model's results", a.results(), "cancel")
	}},
	{"headless", func(a *answering) {
		if a.l.Client.Version == V197 {
			return // it does not wait
		}
		said := make(chan string, 1)
		go func() {
			out, err := a.l.Home.Print("lab:write a.txt")
			said <- fmt.Sprint(out, err)
		}()
		o := a.open(1)[0]
		if !o.Headless {
			a.Errorf("offered %+v", o)
		}
		a.answer("yes")
		a.want("what it says", <-said, "Wrote the note")
		if !a.file("a.txt") {
			a.Error("the file was not written")
		}
	}},
	{"phone", func(a *answering) {
		server := phoneOf(a)
		a.begin("lab:write a.txt")
		m := server.Await(a, "asks", 1)[0]
		a.want("the phone", m.Message, "+hello")
		server.Lose() // the dialog stays
		a.screen("Do you want to")
		server.Back()
		m.Press(a, "Allow")
		a.screen("Wrote the note")
		if !a.file("a.txt") {
			a.Error("the file was not written")
		}
		a.want("the journal", a.journal(), `"by":"lab","from":"phone"`)
		a.want("the phone", server.Await(a, "asks", 2)[1].Message, "allowed")
	}},
	{"phone, headless", func(a *answering) {
		if a.l.Client.Version == V197 {
			return // it does not wait
		}
		server := phoneOf(a)
		said := make(chan string, 1)
		go func() {
			out, err := a.l.Home.Print("lab:write a.txt")
			said <- fmt.Sprint(out, err)
		}()
		server.Await(a, "asks", 1)[0].Press(a, "Deny")
		a.want("what it says", <-said, "Wrote the note") // the script goes on
		if a.file("a.txt") {
			a.Error("the file was written")
		}
	}},
	{"reply", func(a *answering) {
		a.begin("lab:hi")
		a.screen("Everything is done")
		o := a.open(1, request.Reply)[0]
		if err := a.pane.Type("half a line"); err != nil {
			a.Fatal(err)
		}
		out, code := a.command("reply", o.Session[:8], "and-now", "the-tests")
		if code != 0 {
			a.Fatalf("exit code %d: %s", code, out)
		}
		a.until("the model to be woken", func() bool { return strings.Contains(strings.Join(a.asked(), ""), "and-now the-tests") })
		a.screen("half a line")
		a.screen("the background work ended") // what the script says to it
		a.want("the journal", a.journal(), `"word":"replied"`)
		a.until("an offer of the next end", func() bool { list := a.open(1, request.Reply); return list[0].ID != o.ID })
	}},
	{"reply to one that is at work", func(a *answering) {
		a.begin("lab:hi")
		o := a.open(1, request.Reply)[0]
		a.say("lab:long 4")
		a.until("the offer to go", func() bool { _, err := request.In(a.l.Home.State).Load(o.ID); return err != nil })
		if out, code := a.command("reply", o.Session[:8], "x"); code == 0 {
			a.Errorf("it was said: %s", out)
		}
		a.screen("The nap is over")
		a.open(1, request.Reply)
	}},
	{"stop", func(a *answering) {
		a.begin("lab:hi")
		o := a.open(1, request.Reply)[0]
		a.say("lab:long 3")
		a.until("the call", func() bool { return strings.Contains(a.journal(), "nap 3") })
		if out, code := a.command("stop", o.Session[:8]); code != 0 {
			a.Fatalf("exit code %d: %s", code, out)
		}
		a.screen("stopped by lab")
		a.until("it to be idle", func() bool {
			list := a.l.Home.Registry()
			return len(list) == 1 && list[0].Status == "idle"
		})
		a.wantNot("the screen", a.pane.Capture(), "The nap is over")
		a.until("beckon to say so", func() bool { out, _ := beckon(a.l, nil, "list"); return !strings.Contains(string(out), "working") })
		a.say("lab:long 1") // the word was for that turn
		a.screen("The nap is over")
	}},
	{"stop, subagents", func(a *answering) {
		a.begin("lab:subhalt")
		a.until("their calls", func() bool { return strings.Count(a.journal(), "Bash: ./nap") == 2 })
		list, _ := a.command("list", "--json")
		if out, code := a.command("stop", gjson.Get(list, "sessions.0.session_id").Str[:8]); code != 0 {
			a.Fatalf("exit code %d: %s", code, out)
		}
		a.until("both to be stopped", func() bool { return strings.Count(a.journal(), `"word":"halted"`) >= 2 })
		a.until("beckon to say so", func() bool { out, _ := beckon(a.l, nil, "list"); return !strings.Contains(string(out), "working") })
		if a.file("one.txt") || a.file("two.txt") {
			a.Error("they went on")
		}
	}},
	{"answered at the session", func(a *answering) {
		a.begin("lab:permlong 12")
		o := a.open(1)[0]
		a.screen("Do you want to")
		a.key("Enter")
		a.gone(o, 4*time.Second) // while the call runs
		out, code := a.command("answer", o.ID, "no")
		if code == 0 {
			a.Errorf("answered all the same: %s", out)
		}
		a.screen("The long one ended")
	}},
	{"refused at the session", func(a *answering) {
		a.begin("lab:write a.txt")
		o := a.open(1)[0]
		a.screen("Do you want to")
		a.key("Escape")
		a.gone(o, 2*time.Second)
	}},
	{"client killed", func(a *answering) {
		a.begin("lab:write a.txt")
		o := a.open(1)[0]
		if err := a.pane.Kill9(); err != nil {
			a.Fatal(err)
		}
		a.gone(o, 2*time.Second)
		a.until("its waiter to end", func() bool { _, err := os.Stat(fmt.Sprintf("/proc/%d/exe", o.Waiter.Pid)); return err != nil })
	}},
	{"waiter killed", func(a *answering) {
		a.begin("lab:write a.txt")
		o := a.open(1)[0]
		if err := syscall.Kill(o.Waiter.Pid, syscall.SIGKILL); err != nil {
			a.Fatal(err)
		}
		a.open(0)
		a.screen("Do you want to")
		a.key("Enter")
		a.screen("Wrote the note")
	}},
	{"server killed", func(a *answering) {
		a.serves()
		a.begin("lab:write a.txt")
		a.open(1)
		if err := a.server.Process.Kill(); err != nil {
			a.Fatal(err)
		}
		a.answer("yes")
		a.screen("Wrote the note")
		if !a.file("a.txt") {
			a.Error("the file was not written")
		}
	}},
	{"in the background", func(a *answering) {
		if a.l.Client.Version == V197 {
			return // in the lab its turn ends with a server error before it asks
		}
		out, err := a.l.Home.Command(a.l.Client.Path, append(a.l.Home.Args(), "--permission-mode", "default", "--bg", "lab:bash touch bg.txt")...).CombinedOutput()
		if err != nil {
			a.Fatalf("claude --bg: %v\n%s", err, out)
		}
		o := a.open(1)[0]
		a.answer("yes")
		a.until("the file", func() bool { return a.file("bg.txt") })
		a.until("the end of the turn", func() bool { return len(a.open(1, request.Reply)) == 1 })
		if out, code := a.command("reply", o.Session[:8], "and-now", "the-tests"); code != 0 {
			a.Fatalf("exit code %d: %s", code, out)
		}
		a.until("the model to be woken", func() bool { return strings.Contains(strings.Join(a.asked(), ""), "and-now the-tests") })
	}},
	{"two processes of one session", func(a *answering) {
		a.begin("lab:hi")
		a.screen("Hi there")
		other, err := a.l.Tmux.StartClient("other", "--continue")
		if err == nil {
			err = other.Ready()
		}
		if err != nil {
			a.Fatal(err)
		}
		a.say("lab:write a.txt")
		one := a.open(1)[0]
		a.screen("Do you want to")
		if err := other.Say("lab:write b.txt"); err != nil {
			a.Fatal(err)
		}
		two := a.open(2)[1]
		if one.Session != two.Session || one.Record == two.Record {
			a.Errorf("offered %+v and %+v", one, two)
		}
		a.answer(two.ID, "yes")
		a.until("the second's file", func() bool { return a.file("b.txt") })
		time.Sleep(2 * time.Second) // what the second does does not end the first's
		if left := a.open(1)[0]; left.ID != one.ID || a.file("a.txt") {
			a.Errorf("of the first is left %+v, written %t", left, a.file("a.txt"))
		}
		a.answer(one.ID, "no")
		a.screen("Wrote the note")
		if a.file("a.txt") {
			a.Error("the first's file was written")
		}
	}},
	{"uninstalled meanwhile", func(a *answering) {
		a.begin("lab:write a.txt")
		a.open(1)
		if _, err := beckon(a.l, nil, "setup", "--undo"); err != nil {
			a.Fatal(err)
		}
		time.Sleep(5 * time.Second) // the client takes it up
		a.answer("yes")
		a.screen("Wrote the note")
	}},
	{"policy turned to deny meanwhile", func(a *answering) {
		a.begin("lab:write a.txt")
		o := a.open(1)[0]
		a.command("answer")
		path := filepath.Join(a.l.Home.Dir, ".config", "beckon", "policy.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(of("PermissionRequest", "", `{"type":"rule","id":"no","decision":"deny","reason":"not-any-more"}`)), 0o600)); err != nil {
			a.Fatal(err)
		}
		out, code := a.command("answer", o.ID, "yes")
		if code != 4 || !strings.Contains(out, "not-any-more") {
			a.Errorf("exit code %d: %s", code, out)
		}
		a.screen("Wrote the note")
		if a.file("a.txt") {
			a.Error("the file was written")
		}
	}},
	{"the agent itself", func(a *answering) {
		a.begin("lab:bash " + filepath.Join(bin(a.l), "beckon") + " answer yes; " + filepath.Join(bin(a.l), "beckon") + " away")
		o := a.open(1)[0]
		a.answer(o.ID, "yes") // its question is to run this
		a.screen("It ran")
		a.want("the model's results", a.results(), "is yours to do")
	}},
}

// rounds is how often both answer at once, and how many answers are measured.
var rounds = flag.Int("rounds", 3, "how often TestAnswerBoth has the session and beckon answer at once")

// If a dialog is answered at the session and from elsewhere at the same moment, one answer
// counts, and the other user learns that theirs was late.
func TestAnswerBoth(t *testing.T) {
	t.Parallel()
	list := Bounds
	if !*matrix {
		list = list[len(list)-1:]
	}
	for _, version := range list {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tried(t, func(t testing.TB) {
				a := answerLab(t, version)
				a.begin("")
				won := 0
				for i := range *rounds {
					name := fmt.Sprintf("n%d.txt", i)
					a.say("lab:write " + name)
					o := a.open(1)[0]
					a.screen("Do you want to")
					time.Sleep(300 * time.Millisecond) // the dialog ignores keys in its first moments
					dir := request.In(a.l.Home.State)
					var both sync.WaitGroup
					var given error
					both.Go(func() {
						time.Sleep(time.Duration(i%7-2) * 5 * time.Millisecond)
						_ = a.pane.Key("Enter") // the dialog may be gone
					})
					both.Go(func() {
						given = dir.Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Deny, From: request.Terminal}, time.Now())
					})
					both.Wait()
					out, _ := dir.Outcome(o.ID, 5*time.Second)
					told := given == nil && out.Taken && !o.DialogWon(5*time.Second)
					a.until("the end of the turn", func() bool { return len(a.open(1, request.Reply)) == 1 })
					if told == a.file(name) {
						t.Errorf("round %d: told that it was refused: %v (%v, %+v); written: %v", i, told, given, out, a.file(name))
					}
					if told {
						won++
					}
				}
				t.Logf("of %d, beckon was first in %d", *rounds, won)
			})
		})
	}
}

var measureAnswers = flag.Int("measure-answers", 0, "how many answers TestAnswerLatency measures, none unless it is set")

// TestAnswerLatency measures the time from an answer to the client's reaction.
func TestAnswerLatency(t *testing.T) {
	if *measureAnswers == 0 {
		t.Skip("it measures, with -measure-answers N")
	}
	a := answerLab(t, V330)
	a.begin("")
	var took, passed []time.Duration
	for i := range *measureAnswers {
		name := fmt.Sprintf("n%d.txt", i)
		a.say("lab:write " + name)
		o := a.open(1)[0]
		a.screen("Do you want to")
		dir, begin := request.In(a.l.Home.State), time.Now()
		if err := dir.Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal}, begin); err != nil {
			t.Fatal(err)
		}
		for !a.file(name) {
			time.Sleep(time.Millisecond)
		}
		took = append(took, time.Since(begin))
		out, _ := dir.Outcome(o.ID, time.Second)
		passed = append(passed, out.At.Time().Sub(begin))
		a.until("the end of the turn", func() bool { return len(a.open(1, request.Reply)) == 1 })
	}
	for what, all := range map[string][]time.Duration{"to the client": passed, "to the file": took} {
		slices.Sort(all)
		t.Logf("from the answer %s: median %s, p99 %s, longest %s", what, all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	}
}

// key presses a key in the client.
func (a *answering) key(name string) {
	a.Helper()
	time.Sleep(time.Second) // the dialog ignores keys in its first moments
	if err := a.pane.Key(name); err != nil {
		a.Fatal(err)
	}
}

// openNow lists the open offers that are not replies.
func (a *answering) openNow() []request.Request {
	all, err := request.In(a.l.Home.State).List(time.Now())
	if err != nil {
		a.Fatal(err)
	}
	return slices.DeleteFunc(all, func(o request.Request) bool { return o.Kind == request.Reply })
}

// shownList waits for an offer and shows it.
func (a *answering) shownList() (string, int) {
	a.open(1)
	return a.command("answer")
}

// gone waits until an offer is withdrawn; during the rest of the suite that may take five
// times as long.
func (a *answering) gone(o request.Request, within time.Duration) {
	a.Helper()
	if !*matrix {
		within *= 5
	}
	out, known := request.In(a.l.Home.State).Outcome(o.ID, within)
	if !known || out.Taken || out.Why == "" {
		a.Errorf("after %s: %+v, %v", within, out, known)
	}
}

// formServer returns the configuration of an MCP server with one tool, which asks the user to
// fill in a form.
func (a *answering) formServer() string {
	self, err := os.Executable()
	if err != nil {
		a.Fatal(err)
	}
	path := filepath.Join(a.l.Home.Root, "mcp.json")
	config := fmt.Sprintf(`{"mcpServers":{"form":{"command":%q,"args":[],"env":{%q:"1"}}}}`, self, formEnv)
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		a.Fatal(err)
	}
	return path
}

// formEnv makes this program an MCP server.
const formEnv = "BECKON_SUITE_FORM"

// serveForm speaks MCP on stdin and stdout. Its tool returns what the user did
// with the form.
func serveForm() {
	say := func(format string, args ...any) { fmt.Printf(`{"jsonrpc":"2.0",`+format+"}\n", args...) }
	calls := ""
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		m := gjson.ParseBytes(lines.Bytes())
		switch id := m.Get("id").Raw; m.Get("method").Str {
		case "initialize":
			say(`"id":%s,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"form","version":"1"}}`, id, m.Get("params.protocolVersion").Str)
		case "tools/list":
			say(`"id":%s,"result":{"tools":[{"name":"ask","description":"asks who it is","inputSchema":{"type":"object","properties":{}}}]}`, id)
		case "tools/call":
			calls = id
			say(`"id":"form","method":"elicitation/create","params":{"message":"Who is it?","requestedSchema":{"type":"object",` +
				`"properties":{"name":{"type":"string","title":"Name"},"age":{"type":"integer","default":7}},"required":["name"]}}`)
		case "ping":
			say(`"id":%s,"result":{}`, id)
		case "":
			if m.Get("id").Str == "form" {
				say(`"id":%s,"result":{"content":[{"type":"text","text":%q}]}`, calls, m.Get("result").Raw+m.Get("error").Raw)
			}
		default:
			if id != "" {
				say(`"id":%s,"error":{"code":-32601,"message":"no such method"}`, id)
			}
		}
	}
	os.Exit(0)
}

// briefAnswers are played with the oldest client on every landing, one for each kind of offer;
// with -matrix it plays all.
var briefAnswers = []string{"allow", "deny", "always", "question, one", "plan, yes", "answered at the session", "stop"}

func TestAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("the real client takes a minute")
	}
	t.Parallel()
	list := Bounds
	if *matrix {
		list = Pinned
	}
	for _, version := range list {
		for _, c := range answers {
			t.Run(version+"/"+c.name, func(t *testing.T) {
				if !*matrix && version != V330 && !slices.Contains(briefAnswers, c.name) {
					t.Skip("part of the matrix: -matrix")
				}
				t.Parallel()
				tried(t, func(t testing.TB) { c.do(answerLab(t, version)) })
			})
		}
	}
}
