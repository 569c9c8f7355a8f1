package page

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"beckon/event"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/request/pin"
)

// asks makes an offer for a session, at which this process waits, and gives the client its
// answer as the hook would.
func (w *world) asks(record string, kind request.Kind, tool, payload string) request.Request {
	w.t.Helper()
	here := evidence.ThisMachine()
	self, ok := evidence.Process(os.Getpid(), here)
	if !ok {
		w.t.Fatal("this process cannot be read")
	}
	at := event.MillisOf(time.Now())
	o := request.Request{Kind: kind, Event: "PermissionRequest", Record: record, Session: record, Tool: tool, Host: here.Host, Cwd: "/home/you/src/shop", Branch: "orders", Project: "shop",
		Made: at, Expires: at + 600_000, Waiter: self, Client: self, Payload: []byte(payload)}
	d := request.In(w.state)
	if err := d.Make(&o, time.Now()); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			if a, ok := d.Answered(o.ID); ok {
				w.given.Store(o.ID, a)
				d.Close(o.ID, "")
				return
			}
			if _, known := d.Outcome(o.ID, 0); known {
				return
			}
		}
	}()
	return o
}

// answered waits for the answer to an offer.
func (w *world) answered(o request.Request) (a request.Answer) {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if a, ok := w.given.Load(o.ID); ok {
			return a.(request.Answer)
		}
	}
	w.t.Fatalf("the %s has no answer", o.Kind)
	return a
}

// at returns the selector of the part of the page that shows an offer.
func at(o request.Request) string {
	return fmt.Sprintf(`document.querySelector("[data-offer='%s']")`, o.ID)
}

// settled waits until an offer has been drawn long enough for its buttons to work.
func (p *tab) settled(o request.Request) {
	p.t.Helper()
	p.await("the offer is drawn", at(o))
	p.must(p.eval(`new Promise((r) => setTimeout(r, 700))`, nil))
}

// push clicks the button of that name.
func (p *tab) push(o request.Request, name string) {
	p.t.Helper()
	button := fmt.Sprintf(`[...%s.querySelectorAll("button")].find(b => b.textContent.startsWith(%q))`, at(o), name)
	p.await("the button "+name+" is there", button)
	const drawn = `new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))`
	for _, scroll := range []string{at(o) + `.scrollIntoView()`, button + `.scrollIntoView({block: "center"})`} { // as somebody who reads
		p.must(p.eval(scroll+", "+drawn, nil))
	}
	spot := get[[]float64](p, `(() => { const r = `+button+`.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
	p.click(spot[0], spot[1])
}

func (p *tab) click(x, y float64) {
	p.t.Helper()
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		p.do("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})
	}
}

// fill types words into the nth field of an offer.
func (p *tab) fill(o request.Request, field, words string) {
	p.t.Helper()
	p.must(p.eval(fmt.Sprintf(`%s.querySelector(%q).focus()`, at(o), field), nil))
	p.do("Input.insertText", map[string]any{"text": words})
}

func quote(v any) string { b, _ := json.Marshal(v); return string(b) }

const (
	suggestions = `"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"localSettings"}]`
	twoAsked    = `{"tool_name":"AskUserQuestion","tool_input":{"questions":[` +
		`{"question":"Which page size should invoices use?","header":"Size","options":[{"label":"A4","description":"210 by 297 mm"},{"label":"Letter"}]},` +
		`{"question":"Which of these go on it?","multiSelect":true,"options":[{"label":"Logo"},{"label":"VAT number"},{"label":"QR code"}]}]}}`
	planned = `{"tool_name":"ExitPlanMode","tool_input":{"plan":"# Move sessions to Redis\n\n1. Add the client\n2. Write both, read the old one\n3. Switch"}}`
	bash    = `{"tool_name":"Bash","tool_input":{"command":"set -e\nmake test\nmake install \u202e# evil","description":"Install it"},` + suggestions + `}`
)

// edit returns an offer to change an existing file.
func edit(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orders.go")
	if err := os.WriteFile(path, []byte("package orders\n\nfunc Total(lines []Line) int {\n\tsum := 0\n\tfor _, l := range lines {\n\t\tsum += l.Price\n\t}\n\treturn sum\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return `{"tool_name":"Edit","tool_input":` + quote(map[string]any{"file_path": path, "old_string": "sum += l.Price", "new_string": "sum += l.Price * l.Count"}) + `}`
}

// Every question is shown in full and answered from the page, on a phone and at a desk.
func TestAnswers(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	axe := findAxe(t)
	for _, v := range []struct {
		name, scheme  string
		width, height int
	}{{"phone", "light", 360, 740}, {"desk", "dark", 1280, 900}} {
		t.Run(v.name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			w.agent("perm_yes", "/lab/proj", "/home/you/src/shop").until("PermissionRequest")
			record := w.list()[0].SessionID
			p := c.open(t, "about:blank")
			p.size(v.width, v.height, v.width < 500)
			p.scheme(v.scheme)
			p.do("Page.navigate", map[string]any{"url": w.page("")})
			p.await("it is live", live)
			look := func(name string, o request.Request) {
				t.Helper()
				p.settled(o)
				p.must(p.eval(at(o)+`.scrollIntoView({block: "start"})`, nil))
				if wide := get[int](p, `document.documentElement.scrollWidth`); wide > v.width {
					t.Errorf("%s: the page is %d wide in a window of %d", name, wide, v.width)
				}
				if dir := shots(); dir != "" {
					p.shot(filepath.Join(dir, v.name+"-answer-"+name+".png"))
				}
				p.check(axe, v.name+" "+name)
			}
			shows := func(o request.Request, words ...string) {
				t.Helper()
				for _, s := range words {
					p.await("it shows "+s, at(o)+`.innerText.includes(`+quote(s)+`)`)
				}
			}
			gone := func(o request.Request, words string) {
				t.Helper()
				p.await("it is over", `!`+at(o))
				p.await("what became of it is said", `document.getElementById("ends").innerText.includes(`+quote(words)+`)`)
			}

			o := w.asks(record, request.Permission, "Bash", bash)
			look("permission", o)
			shows(o, "shop", "set -e\nmake test\n", "‹U+202E›# evil", "/home/you/src/shop", "branch orders", "on "+evidence.ThisMachine().Host)
			p.push(o, "Allow, and always allow Bash(make:*), in this project")
			if a := w.answered(o); a.Word != request.Allow || a.Always != 1 || a.From != request.Page {
				t.Errorf("always: %+v", a)
			}
			gone(o, "Bash allowed by")

			o = w.asks(record, request.Permission, "Edit", edit(t))
			look("diff", o)
			shows(o, "-        sum += l.Price", "+        sum += l.Price * l.Count")
			p.fill(o, "textarea", "not this one")
			p.press("Enter") // a line break in the reason, and nothing else
			p.push(o, "Deny")
			if a := w.answered(o); a.Word != request.Deny || a.Message != "not this one" {
				t.Errorf("deny: %+v", a)
			}
			gone(o, "refused by")

			o = w.asks(record, request.Permission, "Bash", `{"tool_name":"Bash","tool_input":{"command":"ls","command":"rm -r ."}}`)
			look("part", o)
			shows(o, "Not all of it can be shown", "Deny")
			if get[bool](p, at(o)+`.innerText.includes("Allow")`) {
				t.Error("what is not shown whole can be allowed")
			}
			p.push(o, "Deny")
			gone(o, "refused by")

			o = w.asks(record, request.Question, "AskUserQuestion", twoAsked)
			look("question", o)
			p.push(o, "Answer")
			p.await("an answer is missed", `document.activeElement.closest("[data-offer]") && document.activeElement.validationMessage !== ""`)
			p.must(p.eval(at(o)+`.querySelectorAll(".option")[1].click()`, nil))
			for _, i := range []int{0, 2} {
				p.must(p.eval(fmt.Sprintf(`%s.querySelectorAll(".asked")[1].querySelectorAll(".option")[%d].click()`, at(o), i), nil))
			}
			p.push(o, "Answer")
			if a := w.answered(o); a.Choices["Which page size should invoices use?"] != "Letter" || a.Choices["Which of these go on it?"] != "Logo, QR code" {
				t.Errorf("choices: %+v", a)
			}
			gone(o, "2 questions allowed by")

			o = w.asks(record, request.Question, "AskUserQuestion", twoAsked)
			p.settled(o)
			p.must(p.eval(at(o)+`.querySelectorAll(".option")[0].click()`, nil))
			p.fill(o, ".asked input[type=text]", "A5, folded")
			p.must(p.eval(at(o)+`.querySelectorAll(".asked")[1].querySelectorAll(".option")[1].click()`, nil))
			p.push(o, "Answer")
			if a := w.answered(o); a.Choices["Which page size should invoices use?"] != "A5, folded" || a.Choices["Which of these go on it?"] != "VAT number" {
				t.Errorf("own words: %+v", a)
			}

			o = w.asks(record, request.Plan, "ExitPlanMode", planned)
			look("plan", o)
			shows(o, "2. Write both, read the old one")
			p.fill(o, "textarea", "do step 3 first")
			p.push(o, "Send back")
			if a := w.answered(o); a.Word != request.Deny || a.Message != "do step 3 first" {
				t.Errorf("a plan sent back: %+v", a)
			}
			o = w.asks(record, request.Plan, "ExitPlanMode", planned)
			p.settled(o)
			p.push(o, "Approve")
			if a := w.answered(o); a.Word != request.Allow {
				t.Errorf("a plan approved: %+v", a)
			}

			// If the question is answered elsewhere, the page names where; an answer in the
			// dialog ends the offer.
			o = w.asks(record, request.Permission, "Bash", bash)
			p.await("it is drawn", at(o))
			if err := request.In(w.state).Give(request.Answer{Request: o.ID, Digest: o.Digest, Word: request.Allow, From: request.Terminal, By: "ada"}, time.Now()); err != nil {
				t.Fatal(err)
			}
			gone(o, "Bash allowed by ada, from terminal")
			o = w.asks(record, request.Permission, "Bash", bash)
			p.await("it is drawn", at(o))
			request.In(w.state).Close(o.ID, "it was answered at the session")
			gone(o, "Bash it was answered at the session")

			o = w.asks(record, request.Reply, "", `{"hook_event_name":"Stop"}`)
			p.await("there is a switch", `!document.getElementById("away").hidden`)
			for _, on := range []bool{true, false} {
				p.must(p.eval(`document.getElementById("away").click()`, nil))
				p.await("it is told", fmt.Sprintf(`document.getElementById("away").getAttribute("aria-pressed") === "%t"`, on))
				if _, away := request.In(w.state).IsAway(time.Now()); away != on {
					t.Errorf("away %t, want %t", away, on)
				}
			}
			p.do("Page.navigate", map[string]any{"url": w.page("session/" + record)})
			look("reply", o)
			p.fill(o, "textarea", "and now the tests\nplease")
			p.push(o, "Send")
			if a := w.answered(o); a.Word != request.Say || a.Message != "and now the tests\nplease" {
				t.Errorf("a reply: %+v", a)
			}
			p.must(p.eval(`document.querySelector("#session .stop").click()`, nil))
			p.await("it asks whether that is meant", `document.getElementById("aside").open && document.getElementById("aside-title").textContent === "Stop it?"`)
			if files, _ := os.ReadDir(filepath.Join(w.state, "offers", "stop")); len(files) != 0 {
				t.Errorf("it stops before that is meant: %v", files)
			}
			p.must(p.eval(`document.querySelector("#aside-choices button").click()`, nil))
			p.await("it stops", `document.getElementById("toast").textContent === "It stops at its next call"`)
			if files, _ := os.ReadDir(filepath.Join(w.state, "offers", "stop")); len(files) != 1 || !strings.HasPrefix(files[0].Name(), record) {
				t.Errorf("words to stop: %v", files)
			}
		})
	}
}

// A click acts on the offer that was drawn when the user aimed at it, never on one that has
// taken its place.
func TestAnswerRaces(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	record := w.list()[0].SessionID
	p := c.open(t, w.page(""))
	p.expectOutage() // a late answer is refused
	p.await("it is live", live)
	late := 0
	for round := range 12 {
		a := w.asks(record, request.Permission, "Bash", fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":"echo %d"}}`, round))
		p.settled(a)
		button := at(a) + `.querySelector(".yes")`
		p.must(p.eval(button+`.scrollIntoView({block: "center"}), window.meant = `+button, nil))
		spot := get[[]float64](p, `(() => { const r = meant.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`)
		swapped := make(chan request.Request)
		wait := time.Duration(rand.IntN(200)) * time.Millisecond
		go func() {
			time.Sleep(wait)
			request.In(w.state).Close(a.ID, "it was answered at the session")
			swapped <- w.asks(record, request.Permission, "Bash", fmt.Sprintf(`{"tool_name":"Bash","tool_input":{"command":"rm -r %d"}}`, round))
		}()
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		p.click(spot[0], spot[1])
		b := <-swapped
		p.await("the other is drawn", at(b))
		p.must(p.eval(`document.contains(meant) || meant.click(), document.querySelector("[data-offer] .yes").click()`, nil)) // at once, and on the offer that is gone
		if _, ok := request.In(w.state).Answered(a.ID); !ok {
			late++
		}
		p.must(p.eval(`new Promise((r) => setTimeout(r, 100))`, nil))
		if got, ok := request.In(w.state).Answered(b.ID); ok {
			t.Fatalf("round %d: %+v was meant for the offer before", round, got)
		}
		request.In(w.state).Close(b.ID, "done")
		p.await("it is gone", `!document.querySelector("[data-offer]")`)
	}
	t.Logf("%d of 12 clicks came too late", late)
}

// With a PIN the page asks for it, once until it is loaded again, and what it sends is signed.
func TestAnswerPIN(t *testing.T) {
	t.Parallel()
	c := startChrome(t)
	w := newWorld(t)
	w.start()
	w.agent("perm_yes").until("PermissionRequest")
	record := w.list()[0].SessionID
	d := request.In(w.state)
	if err := pin.Set(d, "47 11"); err != nil {
		t.Fatal(err)
	}
	p := c.open(t, w.page(""))
	p.expectOutage() // the console reports what is refused
	p.await("it is live", live)
	typed := func(words string) {
		t.Helper()
		p.await("it is asked for", `document.getElementById("pin").open && document.activeElement.id === "pin-typed"`)
		p.do("Input.insertText", map[string]any{"text": words})
		p.must(p.eval(`document.querySelector("#pin [value=give]").click()`, nil))
	}
	o := w.asks(record, request.Permission, "Bash", bash)
	p.settled(o)
	p.push(o, "Allow")
	typed("47 12")
	p.await("a wrong one is told", `document.getElementById("pin-why").textContent === "this is not your PIN"`)
	typed("47 11")
	if a := w.answered(o); a.Word != request.Allow || d.Verify(&o, &a) != nil {
		t.Errorf("given %+v", a)
	}
	o = w.asks(record, request.Permission, "Bash", bash)
	p.settled(o)
	p.push(o, "Deny")
	if a := w.answered(o); a.Word != request.Deny || d.Verify(&o, &a) != nil {
		t.Errorf("the second: %+v", a)
	}
	if get[bool](p, `document.getElementById("pin").open || document.getElementById("pin-typed").value !== ""`) {
		t.Error("the page asks again, or still shows it")
	}
}
