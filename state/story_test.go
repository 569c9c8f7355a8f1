package state

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"beckon/event"
)

// t0 is the time at which stories begin.
const t0 event.Millis = 1_800_000_000_000

// story plays a script of one session, one line a step:
//
//	TIME EVENT [TOOL] [KEY=VALUE..]   a hook fires
//	TIME look [STATUS@TIME [WAITING FOR]] [version=CLIENT]  the client's registry says STATUS from now on ("none": it is not there);
//	                                  the reader folds what it sees
//	TIME glance STATUS@TIME           the same, but the reader folds nothing
//	TIME process alive|gone           the process is there or not; the reader folds what it sees
//	TIME marker TIME                  the transcript's tail has an interrupt of that time
//	TIME mod WHAT                     the mod reports WHAT, a Seeing
//	TIME answer awaited|given         the transcript of a headless run shows the call so
//	TIME user ACTION [until=TIME]     the user does something through beckon
//	TIME is STATE [REASON] [KEY=VALUE..]   the session must have this state
//
// TIME is a number of milliseconds after t0; a line without one continues the
// time of the line before. See hookOf and check for the keys.
type story struct {
	t   *testing.T
	s   Session
	ev  Evidence
	now event.Millis
}

func tell(t *testing.T, script string) *story {
	t.Helper()
	st := &story{t: t, now: t0}
	for n, line := range strings.Split(script, "\n") {
		line, _, _ = strings.Cut(line, "//")
		if f := strings.Fields(line); len(f) > 0 {
			if err := st.step(f); err != nil {
				t.Fatalf("line %d: %s: %v", n, strings.TrimSpace(line), err)
			}
		}
	}
	return st
}

func (st *story) step(f []string) error {
	if at, err := millis(f[0]); err == nil {
		st.now, f = at, f[1:]
	}
	words, keys := arguments(f[1:])
	switch f[0] {
	case "is":
		return st.check(words, keys)
	case "look":
		err := st.glance(words)
		st.ev.Version = keys["version"]
		st.observe()
		return err
	case "glance":
		return st.glance(words)
	case "process":
		st.ev.Process = map[string]Presence{"alive": Alive, "gone": Gone, "unread": Unread}[words[0]]
		st.observe()
		return nil
	case "marker":
		at, err := millis(words[0])
		st.ev.Halted = at
		st.observe()
		return err
	case "mod":
		o := Observed{Source: FromMod, What: Seeing(strings.Join(words, " ")), At: st.now, Detail: "error"}
		st.apply(Change{At: st.now, Observation: &o})
		return nil
	case "answer":
		st.ev.Answer = map[string]Answer{"awaited": AnswerAwaited, "given": AnswerGiven}[words[0]]
		st.observe()
		return nil
	case "user":
		a := Action{Kind: ActionKind(words[0])}
		if u := keys["until"]; u == "needed" {
			a.Until = UntilNeeded
		} else if u != "" {
			a.Until, _ = millis(u)
		}
		st.apply(Change{At: st.now, Action: &a})
		return nil
	}
	e, err := hookOf(f[0], words, keys)
	if err != nil {
		return err
	}
	e.At = st.now
	st.apply(Change{At: e.At, Event: &e})
	return nil
}

func (st *story) apply(c Change) {
	c.Seq = st.s.Seq + 1
	st.s = Apply(st.s, c)
}

// glance sets the registry's status from now on.
func (st *story) glance(words []string) error {
	if len(words) == 0 {
		return nil
	}
	status, since, _ := strings.Cut(words[0], "@")
	if status == "none" {
		st.ev.Registry = Registry{}
		return nil
	}
	at, err := millis(since)
	st.ev.Registry = Registry{Status: status, WaitingFor: strings.Join(words[1:], " "), At: at}
	if status == "waiting" && len(words) == 1 {
		st.ev.Registry.WaitingFor = "permission prompt"
	}
	return err
}

func (st *story) observe() {
	for _, o := range Observe(st.s, st.ev, st.now) {
		st.apply(Change{At: o.At, Observation: &o})
	}
}

// check compares the verdict: state, reason, since=TIME, unseen=BOOL,
// actor=ID, source=SOURCE, asks=WORDS (blanks written as _), call=ID, turns=N,
// agents=N, shells=N, running=N, task=STATE, refused=N, alert=KIND.
func (st *story) check(words []string, keys map[string]string) error {
	got := Resolve(st.s, st.ev, st.now)
	if got.State != State(words[0]) || (len(words) > 1 && got.Reason != words[1]) {
		return fmt.Errorf("it is %s %q, by the rule %q", got.State, got.Reason, got.Rule)
	}
	agents, shells := st.s.Background()
	have := map[string]string{
		"since": strconv.FormatInt(int64(got.Since-t0), 10), "unseen": strconv.FormatBool(got.Unseen), "actor": got.Actor,
		"source": string(got.Source), "asks": strings.ReplaceAll(got.Asks, " ", "_"), "call": got.Call.UseID, "turns": strconv.FormatInt(st.s.Counts.Turns, 10),
		"agents": strconv.Itoa(agents), "shells": strconv.Itoa(shells),
		"running": strconv.Itoa(len(st.s.Subagents())), "task": string(st.s.Task.Now()),
		"refused": strconv.Itoa(st.s.Denied.Count), "edge": string(AlertStateOf(st.s, st.ev, st.now).Alert.Kind),
	}
	for k, want := range keys {
		if have[k] != want {
			return fmt.Errorf("%s is %q", k, have[k])
		}
	}
	return nil
}

func millis(s string) (event.Millis, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	return t0 + event.Millis(n), err
}

func arguments(f []string) (words []string, keys map[string]string) {
	keys = map[string]string{}
	for _, w := range f {
		if k, v, ok := strings.Cut(w, "="); ok {
			keys[k] = v
		} else {
			words = append(words, w)
		}
	}
	return words, keys
}

// hookOf makes an event. Its keys: id and hash of the tool call (the hash is the tool's
// name unless given), ms, agent and kind of the subagent, source, reason, notice, says
// (the notification's text), prompt (client: written by the client), turn (prompt_id),
// via, cwd, mode, model, entry (the client's entry point), means (intent of a Stop's
// message), tasks (snapshot: names of running subagents, $name for shells, +name for teammates, "-" for
// none).
func hookOf(name string, words []string, keys map[string]string) (event.Event, error) {
	e := event.Event{Agent: event.ClaudeCode, Name: name, Kind: event.ByName(name), SessionID: "s1"}
	if e.Kind == event.Unknown {
		return e, fmt.Errorf("no event %q", name)
	}
	if len(words) > 0 {
		e.Tool = event.Tool{Name: words[0], Hash: words[0], Summary: words[0] + ": x"}
	}
	for k, v := range keys {
		switch k {
		case "id":
			e.Tool.UseID = v
		case "hash":
			e.Tool.Hash = v
		case "ms":
			e.Tool.Ms, _ = strconv.ParseInt(v, 10, 64)
		case "agent":
			e.AgentID, e.AgentType = v, "general-purpose"
		case "kind":
			e.AgentType = v
		case "source":
			e.Source = v
		case "reason":
			e.Reason = v
		case "notice":
			e.Notification = v
		case "says":
			e.Message = v
		case "turn":
			e.PromptID = v
		case "name":
			e.Name = v
		case "pid":
			pid, _ := strconv.Atoi(v)
			e.Origin = &event.Origin{Process: event.Process{Pid: pid}}
		case "prompt":
			e.Prompt, e.FromClient = v, v == "client"
		case "sender":
			e.Agent = v
		case "entry":
			e.Origin = &event.Origin{Entry: v}
		case "via":
			e.Via = v
		case "cwd":
			e.Cwd = v
		case "mode":
			e.PermissionMode = v
		case "model":
			e.Model = v
		case "means":
			e.Meaning = &event.Meaning{Intent: v, Question: v + "?"}
		case "tasks":
			e.HasBackground, e.Background = true, tasksOf(v)
		default:
			return e, fmt.Errorf("no key %q", k)
		}
	}
	if keys["kind"] == "none" {
		e.AgentType = ""
	}
	return e, nil
}

func tasksOf(list string) (out []event.Task) {
	for _, id := range strings.Split(strings.Trim(list, "-"), ",") {
		switch name, shell := strings.CutPrefix(id, "$"); {
		case id == "":
		case shell:
			out = append(out, event.Task{ID: name, Type: "shell", Status: "running"})
		case strings.HasPrefix(id, "+"):
			out = append(out, event.Task{ID: id[1:], Type: "teammate", Status: "running"})
		default:
			out = append(out, event.Task{ID: id, Type: "subagent", Status: "running"})
		}
	}
	return out
}
