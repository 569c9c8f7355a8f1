package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"beckon/event"
	"beckon/event/jsonenc"
	"beckon/render"
	"beckon/state"
)

const (
	maxRows = 1000 // of one host
	maxText = 2048 // bytes of any one text
	// skewed is by how much another machine's clock may differ before its times are moved to
	// ours; the answer itself takes less than deadline.
	skewed = deadline
)

// decode parses a host's `list --json` that arrived at now. It cleans its texts and moves its
// times to this machine's clock.
func decode(data []byte, now time.Time) ([]render.Row, error) {
	start := bytes.IndexByte(data, '{') // a shell's rc file may print before it
	if start < 0 {
		return nil, errors.New("the answer is not a list")
	}
	var list render.List
	if err := json.NewDecoder(bytes.NewReader(data[start:])).Decode(&list); err != nil {
		return nil, errors.New("the answer is not a list")
	}
	if list.Schema < 1 {
		return nil, errors.New("the answer is not a list that this version reads")
	}
	rows := list.Sessions[:min(len(list.Sessions), maxRows)]
	skew := now.Sub(list.GeneratedAt)
	for i := range rows {
		jsonenc.Each(&rows[i], clean)
		settle(&rows[i])
		if skew.Abs() > skewed {
			shift(&rows[i], skew)
		}
	}
	return slices.DeleteFunc(rows, func(r render.Row) bool { return r.SessionID == "" }), nil
}

// settle gives a row from an untrusted sender the consistency that views rely on.
func settle(r *render.Row) {
	if !slices.Contains(state.States[:], r.State) {
		r.Reason = fmt.Sprintf("state %q", r.State)
		r.State = state.Unknown
	}
	r.NeedsYou = r.State.NeedsYou()
	r.Group = render.GroupOf(r) // a host of an earlier version sends none
	r.Remote = nil
}

// shift moves a row's times by d.
func shift(r *render.Row, d time.Duration) {
	for _, t := range [...]*time.Time{&r.Since, &r.CreatedAt, &r.FirstSeen, &r.UpdatedAt} {
		*t = t.Add(d)
	}
	if r.Turn != nil {
		r.Turn.StartedAt = r.Turn.StartedAt.Add(d)
	}
}

// clean makes a text one short line without control characters.
func clean(v reflect.Value) {
	if v.Kind() == reflect.String && v.CanSet() {
		v.SetString(event.Cut(render.OneLine(v.String()), maxText))
	}
}
