package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"beckon/render"
	"beckon/render/fleet"
	"beckon/render/fleet/bus"
	"beckon/state"

	"github.com/nats-io/nats.go/jetstream"
)

// cost is what a hub uses with that many hosts.
type cost struct {
	hosts    int
	memory   int64 // KB
	cpu      float64
	messages float64
}

// grow adds links to the hub, each with its own connection and 20 sessions, of which one
// changes every 3 s, and measures the hub.
func (l *fleetLab) grow(w io.Writer) (costs []cost, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	if err := restart(l); err != nil {
		return nil, err
	}
	add := func(i int) error {
		name := fmt.Sprintf("host%03d", i)
		a, err := l.hub.Invite(bus.Access{User: "ann", Host: name}, time.Time{})
		if err != nil {
			return err
		}
		rows := make(chan []render.Row, 1)
		all.Go(func() { _ = bus.Host{Access: a, Node: "n1", Version: "v1", Level: fleet.Short}.Run(ctx, rows) })
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 1))
			now := fleetRows(name, 20, time.Now())
			for {
				next := slices.Clone(now)
				k := r.IntN(len(next))
				if next[k].State = state.Working; r.IntN(2) == 0 {
					next[k].State = state.Idle
				}
				now = next
				select {
				case rows <- now:
				case <-ctx.Done():
					return
				}
				select {
				case <-time.After(time.Duration(2000+r.IntN(2000)) * time.Millisecond):
				case <-ctx.Done():
					return
				}
			}
		})
		return nil
	}
	nc, err := l.hub.Dial()
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	count := func() (uint64, error) {
		js, err := jetstream.New(nc)
		if err != nil {
			return 0, err
		}
		ask, stop := context.WithTimeout(ctx, 5*time.Second)
		defer stop()
		s, err := js.Stream(ask, bus.Stream)
		if err != nil {
			return 0, err
		}
		return s.CachedInfo().State.LastSeq, nil
	}
	for _, n := range []int{0, 50, 100, 200} {
		have := 0
		if len(costs) > 0 {
			have = costs[len(costs)-1].hosts
		}
		for i := have; i < n; i++ {
			if err := add(i); err != nil {
				return nil, err
			}
		}
		time.Sleep(5 * time.Second)
		before, err := count()
		if err != nil {
			return nil, err
		}
		began := time.Now()
		cpu, err := idleShare(l.server.Process.Pid, 5*time.Second)
		if err != nil {
			return nil, err
		}
		after, err := count()
		if err != nil {
			return nil, err
		}
		c := cost{n, status(l.server.Process.Pid, "VmRSS"), cpu, float64(after-before) / time.Since(began).Seconds()}
		more := ""
		if len(costs) > 0 {
			more = fmt.Sprintf("%.0f KB", float64(c.memory-costs[0].memory)/float64(n))
		}
		costs = append(costs, c)
		fmt.Fprintf(w, "| %d | %s | %.1f %% | %.0f | %s |\n", n, mb(c.memory), c.cpu*100, c.messages, more)
	}
	return costs, nil
}

// restart gives the lab a hub without any history.
func restart(l *fleetLab) error {
	end(l.server)
	if err := os.RemoveAll(filepath.Join(l.hub.Dir, "jetstream")); err != nil {
		return err
	}
	return l.start()
}

// fleetChart draws what a hub uses against its hosts.
func fleetChart(costs []cost) string {
	var b strings.Builder
	panels := []struct {
		title string
		value func(cost) float64
		label string
	}{
		{"the hub's memory, MB", func(c cost) float64 { return float64(c.memory) / 1024 }, "%.0f"},
		{"its processor, % of one", func(c cost) float64 { return c.cpu * 100 }, "%.1f"},
		{"messages a second", func(c cost) float64 { return c.messages }, "%.0f"},
	}
	text(&b, "title", "start", 0, 24, "A hub as hosts are added, 20 sessions each")
	panel := chartWidth / len(panels)
	for i, p := range panels {
		var points []point
		for _, c := range costs {
			points = append(points, point{fmt.Sprint(c.hosts), fmt.Sprintf(p.label, p.value(c)), p.value(c)})
		}
		curve(&b, p.title, points, i*panel, 40, panel-36, 130)
	}
	return svg(&b, 40+130+44, "What a fleet's hub takes against the number of hosts")
}
