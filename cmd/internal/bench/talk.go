package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/state"
	"beckon/state/store"
)

// talk is one session's traffic, made up in the client's form.
type talk struct {
	id    string
	r     *rand.Rand
	queue []string // payloads of the current turn, without their mark
	turns int
	ended bool
	sent  []event.Event
}

// next returns the next event's name and payload and records it as sent.
func (t *talk) next() (name, payload string) {
	if len(t.queue) == 0 {
		t.turn()
	}
	payload, t.queue = t.queue[0], t.queue[1:]
	e, err := event.Parse("", "", []byte(payload))
	if err != nil {
		panic(err) // made here
	}
	t.sent = append(t.sent, e)
	return e.Name, payload
}

// turn queues a turn: a prompt, some tools, and an end.
func (t *talk) turn() {
	t.turns++
	if t.turns == 1 || t.ended || t.r.IntN(20) == 0 {
		t.add("SessionStart", `"source":"resume"`)
	}
	t.ended = false
	t.add("UserPromptSubmit", fmt.Sprintf(`"prompt":"do thing %d %s"`, t.turns, strings.Repeat("with care ", t.r.IntN(40))))
	for call := range t.r.IntN(8) {
		t.call(fmt.Sprintf("toolu_%d_%d", t.turns, call))
	}
	switch t.r.IntN(12) {
	case 0:
		t.add("StopFailure", `"error":"rate_limit"`)
	case 1:
		t.add("SessionEnd", `"reason":"other"`)
		t.ended = true
	case 2:
		t.add("Stop", `"last_assistant_message":"Shall I go on with the second part?"`)
	default:
		t.add("Stop", fmt.Sprintf(`"last_assistant_message":"Done. %s"`, strings.Repeat("All tests pass. ", t.r.IntN(100))))
	}
}

// call queues the events of one tool call.
func (t *talk) call(id string) {
	size := 100 + t.r.IntN(2000)
	switch t.r.IntN(200) {
	case 0:
		size = 1 << 20
	case 1, 2, 3, 4, 5, 6, 7, 8:
		size = 20 << 10
	}
	tool := fmt.Sprintf(`"tool_name":"Bash","tool_use_id":%q,"tool_input":{"command":%q}`, id, strings.Repeat("make test ", size/10))
	agent := ""
	if t.r.IntN(6) == 0 {
		agent = `,"agent_id":"sub1","agent_type":"Explore"`
		t.add("SubagentStart", `"agent_id":"sub1","agent_type":"Explore"`)
	}
	t.add("PreToolUse", tool+agent)
	if t.r.IntN(8) == 0 {
		t.add("PermissionRequest", tool+agent)
		t.add("Notification", `"notification_type":"permission_prompt","message":"Claude needs your permission"`)
	}
	if t.r.IntN(10) == 0 {
		t.add("PostToolUseFailure", tool+agent+`,"error":"exit code 1"`)
	} else {
		t.add("PostToolUse", tool+agent+fmt.Sprintf(`,"tool_response":{"stdout":%q}`, strings.Repeat("ok ", size/3)))
	}
	if agent != "" {
		t.add("SubagentStop", `"agent_id":"sub1","agent_type":"Explore"`)
	}
}

// add queues one event. Its mode distinguishes it from all others of the session.
func (t *talk) add(name, members string) {
	mark := fmt.Sprintf("mark-%d-%d", t.turns, len(t.queue))
	t.queue = append(t.queue, fmt.Sprintf(`{"session_id":%q,"transcript_path":"/home/u/.claude/projects/-p/%s.jsonl","cwd":"/","permission_mode":%q,"hook_event_name":%q,%s}`, t.id, t.id, mark, name, members))
}

// grow gives the session a nearly full journal.
func (t *talk) grow(dir string) error {
	st := store.Open(dir)
	for size := 0; size <= 4<<20; {
		_, _ = t.next()
		e := t.sent[len(t.sent)-1]
		e.At = event.MillisOf(time.Now())
		res, err := st.Fold(store.KeyOf(t.id), store.Update{Change: state.Change{At: e.At, Event: &e}})
		if err != nil {
			return err
		}
		size = int(res.After.Offset)
	}
	return nil
}

// check folds what the session was sent, in that order, with what readers saw between, and
// compares the result with the session's file. It returns how many events the journal lacks.
func (t *talk) check(st *store.Store) (lost int, err error) {
	if len(t.sent) == 0 {
		return 0, nil
	}
	var model state.Session
	at := 0
	e := st.Lines(store.KeyOf(t.id), 0, func(l store.Line) {
		if l.Change.Seq != model.Seq+1 && err == nil {
			err = fmt.Errorf("%s: line %d follows %d", t.id, l.Change.Seq, model.Seq)
		}
		if l.Change.Event != nil {
			for at < len(t.sent) && !t.is(t.sent[at], l.Change.Event) {
				at, lost = at+1, lost+1
			}
			if at == len(t.sent) && err == nil {
				err = fmt.Errorf("%s: event %s was not sent, or not in this order", t.id, l.Change.Event.PermissionMode)
			}
			at++
		}
		model = state.Apply(model, l.Change)
	})
	s, loadErr := st.Load(store.KeyOf(t.id))
	model.Offset = s.Offset
	if a, b := state.AppendJSON(nil, &s), state.AppendJSON(nil, &model); !bytes.Equal(a, b) && err == nil {
		err = fmt.Errorf("%s: the file has\n%s\nthe fold is\n%s", t.id, a, b)
	}
	return lost + max(len(t.sent)-at, 0), errors.Join(err, e, loadErr)
}

// is reports whether the journal's event is the one that was sent.
func (t *talk) is(sent event.Event, got *event.Event) bool {
	sent.Redact()
	sent.At, sent.Origin, sent.Meter = got.At, got.Origin, got.Meter
	return bytes.Equal(jsonenc.Append(nil, &sent), jsonenc.Append(nil, got))
}
