package offer

import (
	"testing"
	"time"
)

// What is said is taken once, and only while it is of use.
func TestSaidIsTakenOnce(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	if _, ok := d.Take("s1", now); ok {
		t.Error("something was taken of nothing")
	}
	if err := d.Leave("s1", Said{Reply: "go on"}, now); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Take("s2", now); ok {
		t.Error("another session took it")
	}
	if s, ok := d.Take("s1", now.Add(time.Second)); !ok || s.Reply != "go on" {
		t.Errorf("%+v, %v", s, ok)
	}
	if _, ok := d.Take("s1", now); ok {
		t.Error("it was taken twice")
	}
	if err := d.Leave("s1", Said{Stop: true}, now); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Take("s1", now.Add(saidFor)); ok {
		t.Error("it was done when nobody waited for it any more")
	}
}

// Who waits is told whether it was taken; what nobody took is taken back.
func TestSaidIsTakenBack(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	if err := d.Leave("s1", Said{Stop: true}, now); err != nil {
		t.Fatal(err)
	}
	if d.Taken("s1", 0) {
		t.Error("nobody took it")
	}
	if _, ok := d.Take("s1", now); ok {
		t.Error("it was left behind")
	}
	if err := d.Leave("s1", Said{Stop: true}, now); err != nil {
		t.Fatal(err)
	}
	go d.Take("s1", now)
	if !d.Taken("s1", time.Minute) {
		t.Error("it was taken")
	}
}
