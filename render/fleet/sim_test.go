package fleet

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"beckon/render"
	"beckon/state"
)

var (
	simSeed = flag.Uint64("fleet.seed", 0, "play this seed of the simulation alone")
	simRuns = flag.Int("fleet.runs", 100, "seeds of the simulation to play")
)

// sim is a simulated fleet: a clock, a network and a server that fail by a seed.
type sim struct {
	rand  *rand.Rand
	now   time.Time // the server's
	hosts []*simHost
	views []*simView

	kept map[string]simValue // what the server holds
	seq  uint64
	up   bool
	old  map[string]simValue // a backup of it
	oldN uint64

	copied map[string]bool // hosts that were copied: both use one key for a while
}

type simValue struct {
	m   Message
	at  time.Time
	seq uint64
}

// simHost is a machine with its files, and its link.
type simHost struct {
	name, node string
	skew       time.Duration
	rows       map[string]render.Row
	epoch      uint64 // on its disk
	runs       int
	link       *Link // nil: not running
	reach      bool  // the server
	fresh      bool  // it has connected but not checked yet
	gone       bool  // it is to stay away
	beat       time.Time
}

// simView is a viewer: its messages arrive in order, or are lost with its watch.
type simView struct {
	v     *View
	queue []simValue
	deaf  bool // its watch has died without its knowledge
	away  bool // it knows that it has no connection
	skew  time.Duration
	high  map[string]held
}

func newSim(seed uint64) *sim {
	s := &sim{rand: rand.New(rand.NewPCG(seed, 7)), now: t0, kept: map[string]simValue{}, up: true, copied: map[string]bool{}}
	for i := range 2 + s.rand.IntN(4) {
		h := &simHost{name: fmt.Sprintf("h%d", i), node: "n", rows: map[string]render.Row{}, reach: true}
		if s.rand.IntN(3) == 0 {
			h.skew = time.Duration(s.rand.IntN(730)-365) * 24 * time.Hour
		}
		s.hosts = append(s.hosts, h)
	}
	for range 2 {
		w := &simView{skew: time.Duration(s.rand.IntN(7200)-3600) * time.Second, high: map[string]held{}}
		s.views = append(s.views, w)
		s.watch(w)
	}
	return s
}

// watch makes a viewer read everything anew.
func (s *sim) watch(w *simView) {
	if w.v == nil {
		w.v = NewView()
	}
	w.deaf, w.away, w.queue = false, false, nil
	w.v.Begin(s.now, s.now.Add(w.skew))
	for _, key := range slices.SortedFunc(maps.Keys(s.kept), func(a, b string) int { return int(s.kept[a].seq) - int(s.kept[b].seq) }) {
		w.queue = append(w.queue, s.kept[key])
	}
}

// put publishes a message and returns the number with which it was acknowledged.
func (s *sim) put(m Message) uint64 {
	s.seq++
	val := simValue{m, s.now, s.seq}
	s.kept[m.Key] = val
	for _, w := range s.views {
		if !w.away && !w.deaf {
			w.queue = append(w.queue, val)
			if s.rand.IntN(20) == 0 {
				w.queue = append(w.queue, val) // twice
			}
		}
	}
	return s.seq
}

func (h *simHost) list() []render.Row {
	var rows []render.Row
	for _, id := range slices.Sorted(maps.Keys(h.rows)) {
		rows = append(rows, h.rows[id])
	}
	return rows
}

// start starts a host's link, as bus does.
func (s *sim) start(h *simHost) {
	h.runs++
	h.epoch++
	l, err := NewLink(ID{"ann", h.name, h.node}, h.epoch, fmt.Sprintf("%s-%d-%d", h.name, h.runs, s.rand.Uint64()), "", Off)
	if err != nil {
		panic(err)
	}
	h.link, h.fresh, h.beat = l, true, s.now
}

// step runs a link once: check, rows, presence.
func (s *sim) step(h *simHost, rough bool) {
	if h.link == nil || !h.reach || !s.up {
		h.fresh = true
		return
	}
	beat := !s.now.Before(h.beat)
	if beat || h.fresh || h.link.Doubtful() {
		var kept *Kept
		if val, ok := s.kept[h.link.PresenceKey()]; ok && !val.m.Gone {
			kept = &Kept{val.m.Data, val.seq}
		}
		if err := h.link.Check(kept, h.fresh); err != nil {
			if rough && s.rand.IntN(25) == 0 {
				h.link.Doubt()
				return
			}
			s.put(h.link.Presence())
			h.node = fmt.Sprintf("n%d", s.rand.IntN(1<<30))
			s.start(h)
			return
		}
		h.epoch = max(h.epoch, h.link.Epoch())
		beat, h.fresh = true, false
	}
	fails := func() bool { return rough && s.rand.IntN(25) == 0 }
	for _, m := range h.link.Due(h.list(), s.now.Add(h.skew)) {
		switch {
		case fails(): // it did not arrive
			h.link.Doubt()
			return
		case fails(): // it was, but the link does not know
			s.put(m)
			h.link.Doubt()
			return
		}
		s.put(m)
	}
	if beat {
		if fails() {
			h.link.Doubt()
			return
		}
		h.link.Acked(s.put(h.link.Presence()))
		h.beat = s.now.Add(Beat)
	}
}

// read has a viewer read its messages, and checks what must hold at any moment.
func (s *sim) read(t *testing.T, w *simView, n int) {
	here := s.now.Add(w.skew)
	for range min(n, len(w.queue)) {
		val := w.queue[0]
		w.queue = w.queue[1:]
		w.v.Apply(val.m, val.at, here)
	}
	rows, _ := w.v.Snapshot(here)
	high := map[string]held{}
	for key, node := range w.v.nodes {
		for seat, h := range node.rows { // no row is dropped unless the server drops it
			if old := w.high[key+seat]; !s.copied[node.presence.Host] && h.before(old.stamp) && h.round == old.round && h.at.Sub(old.at) <= Lost {
				t.Fatalf("row %s %s fell from %v to %v", key, seat, old.stamp, h.stamp)
			}
			high[key+seat] = *h
		}
	}
	w.high = high
	for _, r := range rows { // the rows of an unheard host must not look current
		age := here.Sub(r.Remote.AsOf)
		if age > Lost+time.Second && !r.Remote.Stale {
			t.Fatalf("%s is shown as fresh, %s after it was heard", r.Remote.Name, age)
		}
	}
	if !w.away && w.v.Suspect(here) {
		s.watch(w)
	}
}

// fault breaks something, or repairs it.
func (s *sim) fault() {
	h := s.hosts[s.rand.IntN(len(s.hosts))]
	w := s.views[s.rand.IntN(len(s.views))]
	switch s.rand.IntN(16) {
	case 0:
		h.link = nil // killed
	case 1:
		if h.link == nil && !h.gone {
			s.start(h)
		}
	case 2, 3:
		h.reach = !h.reach
	case 4:
		s.up = false
	case 5, 6:
		s.up = true
	case 7: // the disk is lost
		s.kept, s.seq = map[string]simValue{}, 0
		s.drop()
	case 8:
		s.old, s.oldN = maps.Clone(s.kept), s.seq
	case 9: // the backup is put back
		if s.old != nil {
			s.kept, s.seq = maps.Clone(s.old), s.oldN
			s.drop()
		}
	case 10:
		w.deaf = true
	case 11:
		w.away, w.queue = true, nil
	case 12:
		if w.away && s.up {
			s.watch(w)
		}
	case 13: // its files are restored from a backup
		h.link, h.epoch = nil, h.epoch/2
	case 14: // its clock is set
		h.skew += time.Duration(s.rand.IntN(7200)-3600) * time.Second
	case 15: // a machine is copied from it
		if len(s.hosts) < 8 && h.epoch > 0 {
			twin := &simHost{name: h.name, node: h.node, rows: map[string]render.Row{}, epoch: h.epoch, reach: true}
			s.hosts, s.copied[h.name] = append(s.hosts, twin), true
			s.start(twin)
		}
	}
}

// drop ends every connection to the server.
func (s *sim) drop() {
	for _, h := range s.hosts {
		h.fresh = true
	}
	for _, w := range s.views {
		w.away, w.queue = true, nil
	}
}

// live changes what a session does.
func (s *sim) live() {
	h := s.hosts[s.rand.IntN(len(s.hosts))]
	id := fmt.Sprintf("s%d", s.rand.IntN(5))
	if s.rand.IntN(5) == 0 {
		delete(h.rows, id)
		return
	}
	states := []state.State{state.Working, state.Idle, state.Permission, state.Question, state.Failed}
	h.rows[id] = session(h.name+id, states[s.rand.IntN(len(states))], s.now.Add(h.skew))
}

// TestFleetComesRight plays faults of every kind. Afterwards, once the network has been quiet
// for some minutes, each view shows exactly what the files of the running hosts say.
func TestFleetComesRight(t *testing.T) {
	seed := uint64(1) // the same seeds each time; more runs find rare failures
	runs := *simRuns
	if *simSeed != 0 {
		seed, runs = *simSeed, 1
	}
	for i := range uint64(runs) {
		if ok := t.Run(fmt.Sprint(seed+i), func(t *testing.T) { playSim(t, seed+i) }); !ok {
			t.Fatalf("play it again: go test ./render/fleet -run TestFleetComesRight -fleet.seed %d", seed+i)
		}
	}
}

func playSim(t *testing.T, seed uint64) {
	s := newSim(seed)
	for _, h := range s.hosts {
		s.start(h)
	}
	tick := func(rough bool) {
		s.now = s.now.Add(time.Duration(200+s.rand.IntN(2000)) * time.Millisecond)
		for _, h := range s.hosts {
			s.step(h, rough)
		}
		for _, w := range s.views {
			n := len(w.queue)
			if rough {
				n = s.rand.IntN(n + 1)
			}
			s.read(t, w, n)
		}
	}
	for range 400 {
		if s.rand.IntN(6) == 0 {
			s.fault()
		}
		for range s.rand.IntN(3) {
			s.live()
		}
		tick(true)
	}
	s.up = true
	for _, h := range s.hosts {
		h.reach = true
		if h.link == nil {
			s.start(h)
		}
	}
	for _, w := range s.views {
		if w.away {
			s.watch(w)
		}
	}
	for until := s.now.Add(14 * Beat); s.now.Before(until); {
		tick(false)
	}
	want := map[string]int{}
	for _, h := range s.hosts {
		for _, r := range h.rows {
			want[fmt.Sprint(h.name, " ", r.SessionID, " ", r.State)]++
		}
	}
	for i, w := range s.views {
		got := map[string]int{}
		rows, hosts := w.v.Snapshot(s.now.Add(w.skew))
		for _, r := range rows {
			if !r.Remote.Stale {
				name, _, _ := strings.Cut(r.Remote.Name, "~")
				got[fmt.Sprint(name, " ", r.SessionID, " ", r.State)]++
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("view %d shows\n%v\nbut the hosts have\n%v\nhosts %+v", i, got, want, hosts)
		}
	}
}
