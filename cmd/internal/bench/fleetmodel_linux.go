package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"beckon/render/fleet"
	"beckon/state"
)

// The model: many hosts, each with its real link in virtual time. Links are independent of
// each other, so a part of them is played and counted for all. A fifth of a host's sessions
// are at work; each of those changes its state once a minute, and the rest of its row every 15
// s.
const (
	modelHosts    = 50_000
	modelPlayed   = 500
	modelSessions = 20
	modelSpan     = 6 * time.Minute
	stateEvery    = time.Minute
	detailEvery   = 15 * time.Second
	hubGone       = 3 * time.Minute // when the hub loses its disk
	hubAway       = 20 * time.Second
)

// model is the result.
type model struct {
	messages, bytes int64
	seconds         [int(modelSpan / time.Second)]int64 // messages in each
	rows            int64
	again           []time.Duration // from the hub's return until a host's rows are there
}

// modelReport plays the model and writes its table, into page if that is set.
func modelReport(page string, stdout io.Writer) error {
	var b strings.Builder
	w := io.MultiWriter(stdout, &b)
	var m model
	for i := range modelPlayed {
		if err := m.host(i); err != nil {
			return err
		}
	}
	const each = modelHosts / modelPlayed
	m.messages, m.bytes, m.rows = m.messages*each, m.bytes*each, m.rows*each
	for s := range m.seconds {
		m.seconds[s] *= each
	}
	steady, quiet := int64(0), int64(0)
	for s := 60; s < int(hubGone/time.Second); s++ {
		steady, quiet = steady+m.seconds[s], quiet+1
	}
	back := int((hubGone + hubAway) / time.Second)
	highest := int64(0)
	for _, n := range m.seconds[back:] {
		highest = max(highest, n)
	}
	fmt.Fprintf(w, "A model of %d hosts with %d sessions each: the real links in virtual time (%d of them, counted for all), a fifth of\nthe sessions at work, each of which changes its state once a minute and what else it shows every 15 s. Then the hub is\naway for %s and has lost its disk. Hub and network are no part of it.\n\n| | |\n|---|---|\n", modelHosts, modelSessions, modelPlayed, hubAway)
	fmt.Fprintf(w, "| messages a second | %d, of %d bytes |\n", steady/quiet, m.bytes/m.messages)
	fmt.Fprintf(w, "| of all rows, once each | %d messages, %s |\n", m.rows, mb(m.rows*(m.bytes/m.messages)>>10))
	fmt.Fprintf(w, "| after the hub is back: most messages in a second | %d |\n", highest)
	fmt.Fprintf(w, "| half of the hosts have their rows there again after | %s |\n| 99 %% of them after | %s |\n", percentile(m.again, 50).Round(time.Second), percentile(m.again, 99).Round(time.Second))
	for _, hosts := range []int{500, 5000, modelHosts} {
		size, took, err := viewerOf(hosts)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| a viewer of %d sessions of %d hosts: memory, and time to read them | %s, %s |\n", hosts*modelSessions, hosts, mb(size>>10), took.Round(10*time.Millisecond))
	}
	if page == "" {
		return nil
	}
	return replaceBetween(page, "<!-- model -->\n", "<!-- model ends -->", strings.TrimSpace(b.String()))
}

// host plays one host's link.
func (m *model) host(i int) error {
	r := rand.New(rand.NewPCG(uint64(i), 50))
	start := time.Unix(1_800_000_000, 0)
	name := fmt.Sprintf("host%05d", i)
	l, err := fleet.NewLink(fleet.ID{User: "u", Host: name, Node: "n1"}, 1, fmt.Sprint(name, r.Uint64()), "v1", fleet.Short)
	if err != nil {
		return err
	}
	rows := fleetRows(name, modelSessions, start)
	var sequence uint64
	var kept *fleet.Kept
	send := func(at time.Duration, list ...fleet.Message) {
		for _, msg := range list {
			sequence++
			m.messages++
			m.bytes += int64(len(msg.Data))
			m.seconds[min(int(at/time.Second), len(m.seconds)-1)]++
		}
	}
	// The times until the next event of each kind are exponential.
	after := func(mean time.Duration) time.Duration { return time.Duration(r.ExpFloat64() * float64(mean)) }
	busy := modelSessions / 5
	change, detail := after(stateEvery/time.Duration(busy)), after(detailEvery/time.Duration(busy))
	beat := time.Duration(r.Int64N(int64(fleet.Beat))) // hosts did not start as one
	again := hubGone + hubAway + backOffSince(r, hubAway)
	lost := false
	for now := beat; now < modelSpan; {
		away := now >= hubGone && now < again
		if now >= again && !lost {
			lost, kept = true, nil
		}
		if !away {
			if now >= beat || lost && kept == nil {
				if lost && kept == nil {
					m.again = append(m.again, now-hubGone-hubAway)
				}
				if err := l.Check(kept, false); err != nil {
					return err
				}
				send(now, l.Due(rows, start.Add(now))...)
				presence := l.Presence()
				send(now, presence)
				kept = &fleet.Kept{Data: presence.Data, Sequence: sequence}
				l.Acked(sequence)
				beat = now + fleet.Beat*9/10 + time.Duration(r.Int64N(int64(fleet.Beat/10)))
			} else {
				send(now, l.Due(rows, start.Add(now))...)
			}
		}
		next := min(beat, change, detail)
		if away {
			next = min(change, detail, again)
		} else if l.HeldBack() {
			next = min(next, now+time.Second)
		}
		now = max(next, now+time.Millisecond)
		if now >= change {
			k := r.IntN(busy) * 5
			rows[k].State = [...]state.State{state.Working, state.Idle, state.Permission}[r.IntN(3)]
			rows[k].NeedsYou, rows[k].Since = rows[k].State.NeedsYou(), start.Add(now)
			change = now + after(stateEvery/time.Duration(busy))
		}
		if now >= detail {
			rows[r.IntN(busy)*5].CostUSD += 0.01
			detail = now + after(detailEvery/time.Duration(busy))
		}
	}
	m.rows += modelSessions + 1
	return nil
}

// backOffSince returns how much later than the hub a link reconnects that has tried all the
// while, as in package bus: up to half a minute between tries.
func backOffSince(r *rand.Rand, away time.Duration) time.Duration {
	at := time.Duration(0)
	for try := 0; ; try++ {
		most := min(30*time.Second, 250*time.Millisecond<<min(try, 8))
		if at += most/4 + time.Duration(r.Int64N(int64(most*3/4))); at >= away {
			return at - away
		}
	}
}

// viewerOf returns the size and the time of a view of that many hosts.
func viewerOf(hosts int) (size int64, took time.Duration, err error) {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	v := fleet.NewView()
	at := time.Unix(1_800_000_000, 0)
	v.Begin(at, at)
	for i := range hosts {
		name := fmt.Sprintf("host%05d", i)
		l, err := fleet.NewLink(fleet.ID{User: "u", Host: name, Node: "n1"}, 1, name, "v1", fleet.Short)
		if err != nil {
			return 0, 0, err
		}
		list := append(l.Due(fleetRows(name, modelSessions, at), at), l.Presence())
		began := time.Now()
		for _, m := range list {
			v.Apply(m, at, at)
		}
		took += time.Since(began)
	}
	runtime.GC()
	runtime.ReadMemStats(&now)
	size = int64(now.HeapAlloc) - int64(before.HeapAlloc)
	if rows := v.Rows(); rows != hosts*modelSessions {
		return 0, 0, fmt.Errorf("the view has %d rows of %d", rows, hosts*modelSessions)
	}
	return size, took, nil
}
