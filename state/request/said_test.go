package request

import (
	"testing"
	"time"
)

// A message is taken once, and only while it is valid.
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

// The sender learns whether a message was taken; one that was not is withdrawn.
func TestSaidIsTakenBack(t *testing.T) {
	d := In(t.TempDir())
	if taken, err := d.Hand("s1", Said{Stop: true}); taken || err != nil {
		t.Errorf("nobody took it: %v, %v", taken, err)
	}
	if _, ok := d.Take("s1", time.Now()); ok {
		t.Error("it was left behind")
	}
	go func() {
		for end := time.Now().Add(takes); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if _, ok := d.Take("s1", time.Now()); ok {
				return
			}
		}
	}()
	if taken, err := d.Hand("s1", Said{Stop: true}); !taken || err != nil {
		t.Errorf("it was taken: %v, %v", taken, err)
	}
}
