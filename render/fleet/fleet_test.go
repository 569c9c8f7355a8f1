package fleet

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
)

var t0 = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func session(id string, st state.State, since time.Time) render.Row {
	return render.Row{SessionID: id, SeatID: "seat-" + id, State: st, NeedsYou: st.NeedsYou(), Since: since, Project: "shop", Agent: "claude-code"}
}

func publisher(t testing.TB, host string, epoch uint64) *Link {
	t.Helper()
	p, err := NewLink(ID{"ann", host, "n1"}, epoch, "i-"+host+fmt.Sprint(epoch), "1.0", Short)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What a session says, reads and runs does not leave the host, whatever members a row may get
// later: only wire's members do.
func TestOnlyTheListLeaves(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
	r := fill(reflect.New(reflect.TypeFor[render.Row]()).Elem()).Interface().(render.Row)
	r.State, r.Name, r.Title = state.Permission, "called-so", "deploy with "+secret+strings.Repeat(" ä", 200)
	for _, level := range []Level{Off, Short, Full, ""} {
		w := wireOf(&r, level)
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, leaks := range []string{secret, "text-of-Cwd", "text-of-Socket", "text-of-Plan", "text-of-Options", "text-of-Label", "text-of-Host", "text-of-Mode", "text-of-AgentID", "text-of-ProjectID"} {
			if strings.Contains(text, leaks+`"`) || leaks == secret && strings.Contains(text, secret) {
				t.Errorf("texts %q: %s leaves the host in %s", level, leaks, text)
			}
		}
		said := strings.Contains(text, "text-of-Text") || strings.Contains(text, "text-of-Summary") || strings.Contains(text, "called-so") || strings.Contains(text, "deploy")
		if may := level == Short || level == Full; said && !may {
			t.Errorf("texts %q: %s", level, text)
		} else if may && !strings.Contains(text, "deploy with") {
			t.Errorf("texts %q: no title in %s", level, text)
		}
		if len(data) > MaxMessage {
			t.Errorf("a row has %d bytes", len(data))
		}
	}
	var members map[string]any
	data, _ := json.Marshal(wireOf(&r, Full))
	_ = json.Unmarshal(data, &members)
	known := strings.Fields("v epoch seq session part seat agent project branch worktree state reason since_age_ms unread source confidence ctx_pct cost model terminal tool subagents background texts_level texts")
	for m := range members {
		if !contains(known, m) {
			t.Errorf("member %q is not on the list of what may leave a host", m)
		}
	}
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// fill sets every text in v to the name of its field.
func fill(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(t0))
			return v
		}
		for i := range v.NumField() {
			f := v.Field(i)
			if !f.CanSet() {
				continue
			}
			if f.Kind() == reflect.String {
				f.SetString("text-of-" + v.Type().Field(i).Name)
				continue
			}
			fill(f)
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if e := v.Index(0); e.Kind() == reflect.String {
			e.SetString("text-of-list")
		} else {
			fill(e)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Bool:
		v.SetBool(true)
	}
	return v
}

// What comes from the network cannot draw on the screen, invent states, or grow without limit.
func TestStrangersAreCleaned(t *testing.T) {
	v := NewView()
	row := wire{Schema: 1, stamp: stamp{1, 1}, Session: "one\x1b[2J", Seat: "s", State: "celebrating", Age: -5, Agent: strings.Repeat("ä", 5000),
		Texts: &texts{Title: "a\x1b]0;x\x07b\u009b31mc\u202ed"}}
	row.Agent = row.Agent[:4000]
	put := func(key string, value any) {
		data, _ := json.Marshal(value)
		v.Apply(Message{Key: key, Data: data}, t0, t0)
	}
	put("ann.box.n1.r.s", row)
	put("ann.box.n1.p", Presence{Schema: 1, stamp: stamp{1, 2}, Host: "bo\x1bx", User: "ann"})
	rows, hosts := v.Snapshot(t0)
	if len(rows) != 1 || len(hosts) != 1 {
		t.Fatalf("%+v, %+v", rows, hosts)
	}
	text := fmt.Sprintf("%q %q %q %q %q", rows[0].SessionID, rows[0].Title, rows[0].Agent, hosts[0].Name, rows[0].Reason)
	if strings.ContainsAny(text, "\x1b\x07\u009b\u202e") || strings.Contains(text, `\x1b`) || strings.Contains(text, `\u202e`) || rows[0].State != state.Unknown || len(rows[0].Agent) > maxWord {
		t.Errorf("shown: %s", text)
	}
	for key, data := range map[string]string{
		"a.b.c": "{}", "a.b.c.q": "{}", "a.b.c.r.": "{}", "a..c.p": "{}", "a.b.c.p": `{"v":1}`, "a.b.c.r.x": `{"v":1}`, "a.b.c.r.y": "{", "a.b.c.r.z": "[]",
		"a.b.c.r.w": `{"v":1,"session":"` + strings.Repeat("x", MaxMessage) + `"}`, "a.b.c.r.u": "{\"v\":1,\"session\":\"\xff\"}", "a.b.c.r.t": `{"v":0,"session":"x"}`,
	} {
		if _, ok := v.Apply(Message{Key: key, Data: []byte(data)}, t0, t0); ok {
			t.Errorf("%s = %.40s is taken", key, data)
		}
	}
	for i := range 5 * maxRows {
		put(fmt.Sprintf("eve.box.n1.r.s%d", i), wire{Schema: 1, stamp: stamp{1, 1}, Session: "x", State: state.Idle})
	}
	if n := len(v.nodes["eve.box.n1"].rows); n > 2*maxRows {
		t.Errorf("%d rows of one host are kept", n)
	}
}

// A host is shown by the name of its key, under which the server lets it publish, not by one
// that it chooses.
func TestNobodyIsCalledAsAnother(t *testing.T) {
	v := NewView()
	for key, p := range map[string]Presence{"eve.box.n1": {User: "ann", Host: "prod"}, "ann.prod.n1": {User: "ann", Host: "prod"}} {
		p.Schema, p.stamp = 1, stamp{1, 1}
		data, _ := json.Marshal(p)
		v.Apply(Message{Key: key + ".p", Data: data}, t0, t0)
	}
	_, hosts := v.Snapshot(t0)
	if len(hosts) != 2 || hosts[0].Name != "box" || hosts[0].User != "eve" || hosts[1].Name != "prod" || hosts[1].Error != "" {
		t.Errorf("%+v", hosts)
	}
}

// A member that this version does not know belongs to a newer one.
func TestNewerRows(t *testing.T) {
	w, ok := readWire([]byte(`{"v":9,"epoch":1,"seq":1,"session":"a","state":"idle","mood":{"x":[1]}}`))
	if !ok || w.State != state.Idle {
		t.Errorf("%+v", w)
	}
}

// Changes are published by their value: important ones at once, the rest a second later,
// context and cost every quarter of a minute, and nothing if nothing changed.
func TestPaceOfChanges(t *testing.T) {
	p := publisher(t, "box", 1)
	r := session("a", state.Working, t0)
	now := t0
	look := func(after time.Duration) int {
		now = now.Add(after)
		return len(p.changes([]render.Row{r}, now))
	}
	if look(0) != 1 || look(time.Hour) != 0 {
		t.Error("a row is published once")
	}
	r.State, r.NeedsYou, r.Since = state.Permission, true, now
	if look(0) != 1 {
		t.Error("a permission waits")
	}
	r.Question = &render.Question{Text: "may I?"}
	if look(0) != 1 {
		t.Error("what it asks waits")
	}
	r.Model = "opus"
	if look(time.Millisecond) != 0 || !p.HeldBack() || look(soon) != 1 || p.HeldBack() {
		t.Error("a model is told after a second")
	}
	r.CostUSD = 3
	if look(2*soon) != 0 || !p.HeldBack() || look(late) != 1 {
		t.Error("cost is told after a quarter of a minute")
	}
	if got := p.changes(nil, now); len(got) != 1 || !got[0].Gone || p.changes(nil, now) != nil {
		t.Errorf("a session that ended: %v", got)
	}
}

// A host's clock affects no other: only ages are sent.
func TestClocks(t *testing.T) {
	year := 366 * 24 * time.Hour
	for _, skew := range []time.Duration{0, year, -year} {
		p := publisher(t, "box", 1)
		v := NewView()
		v.Begin(t0, t0.Add(-3*time.Hour)) // the viewer's own clock is behind
		there := t0.Add(skew)
		for _, m := range append(p.changes([]render.Row{session("a", state.Permission, there.Add(-time.Minute))}, there), p.Presence()) {
			v.Apply(m, t0, t0.Add(-3*time.Hour))
		}
		rows, hosts := v.Snapshot(t0.Add(-3 * time.Hour).Add(time.Second))
		if len(rows) != 1 || !rows[0].Since.Equal(t0.Add(-3*time.Hour-time.Minute)) || hosts[0].Stale {
			t.Errorf("skew %s: %+v, %+v", skew, rows, hosts)
		}
	}
}

// A host that is not heard keeps its rows, but only for a day.
func TestNotHeard(t *testing.T) {
	p := publisher(t, "box", 1)
	v := NewView()
	for _, m := range append(p.changes([]render.Row{session("a", state.Permission, t0)}, t0), p.Presence()) {
		v.Apply(m, t0, t0)
	}
	if rows, hosts := v.Snapshot(t0.Add(Lost)); hosts[0].Stale || rows[0].Remote.Stale {
		t.Error("stale too soon")
	}
	rows, hosts := v.Snapshot(t0.Add(Lost + time.Second))
	if !hosts[0].Stale || !rows[0].Remote.Stale || rows[0].State != state.Permission || !hosts[0].AsOf.Equal(t0) {
		t.Errorf("%+v %+v", rows, hosts)
	}
	if rows, hosts := v.Snapshot(t0.Add(Keep + time.Second)); len(rows)+len(hosts) != 0 {
		t.Errorf("after a day: %v %v", rows, hosts)
	}
	v.Apply(p.Bye(), t0.Add(time.Minute), t0.Add(time.Minute))
	for _, m := range append(p.all(t0), p.Bye()) {
		v.Apply(m, t0, t0)
	}
	if _, hosts := v.Snapshot(t0.Add(time.Second)); len(hosts) != 1 || !hosts[0].Stale || !hosts[0].Left {
		t.Errorf("after its bye: %+v", hosts)
	}
	for _, m := range p.Forget() {
		v.Apply(m, t0, t0)
	}
	if rows, hosts := v.Snapshot(t0); len(rows)+len(hosts) != 0 {
		t.Errorf("forgotten: %v %v", rows, hosts)
	}
}

// Two hosts with one name get different names.
func TestNames(t *testing.T) {
	v := NewView()
	for i, id := range []ID{{"ann", "box", "n1"}, {"ann", "box", "n2"}, {"bob", "box", "n1"}, {"ann", "big box!", "n1"}} {
		p, err := NewLink(id, 1, fmt.Sprint(i), "", Off)
		if err != nil {
			t.Fatal(err)
		}
		v.Apply(p.Presence(), t0, t0)
	}
	_, hosts := v.Snapshot(t0)
	var got []string
	for _, h := range hosts {
		got = append(got, fmt.Sprint(h.Name, h.Error != ""))
	}
	if s := strings.Join(got, " "); s != "ann/box~n1true ann/box~n2true big box!false bob/boxfalse" {
		t.Error(s)
	}
	if _, err := NewLink(ID{"ann", "", "n"}, 1, "", "", Off); err == nil {
		t.Error("a host without a name is taken")
	}
	tokens := map[string]string{}
	for _, s := range []string{"a.b", "a b", "a*b", "a>b", "a_b", "ä", strings.Repeat("x", 300), strings.Repeat("x", 301)} {
		tok := Token(s)
		if strings.ContainsAny(tok, ".*> \t") || tokens[tok] != "" || len(tok) > 80 || tok == "" {
			t.Errorf("token of %q: %q", s, tok)
		}
		tokens[tok] = s + "!"
	}
}

// FuzzMessages: no message breaks a view.
func FuzzMessages(f *testing.F) {
	f.Add("a.b.c.r.x", []byte(`{"v":1,"epoch":1,"seq":1,"session":"a","state":"idle","ctx_pct":1e300,"background":null}`), false)
	f.Add("a.b.c.p", []byte(`{"v":1,"epoch":1,"seq":1,"host":"a","digest":""}`), true)
	f.Fuzz(func(t *testing.T, key string, data []byte, gone bool) {
		v := NewView()
		v.Apply(Message{"a.b.c.p", []byte(`{"v":1,"epoch":1,"seq":1,"host":"a"}`), false}, t0, t0)
		v.Apply(Message{key, data, gone}, t0, t0)
		rows, _ := v.Snapshot(t0)
		for _, r := range rows {
			if r.Title != render.OneLine(r.Title) || len(r.Title) > fullText || r.SessionID != render.OneLine(r.SessionID) {
				t.Errorf("%q", r.Title)
			}
		}
	})
}
