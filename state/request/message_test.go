package request

import (
	"testing"
	"time"
)

// A message is taken once, and only while it is valid.
func TestMessageIsTakenOnce(t *testing.T) {
	d, now := In(t.TempDir()), time.Now()
	if m, err := d.Take("s1", now); err != nil || m.At != 0 {
		t.Error("something was taken of nothing")
	}
	if err := d.Leave("s1", Message{Reply: "go on"}, now); err != nil {
		t.Fatal(err)
	}
	if m, err := d.Take("s2", now); err != nil || m.At != 0 {
		t.Error("another session took it")
	}
	if m, err := d.Take("s1", now.Add(time.Second)); err != nil || m.Reply != "go on" {
		t.Errorf("%+v, %v", m, err)
	}
	if m, err := d.Take("s1", now); err != nil || m.At != 0 {
		t.Error("it was taken twice")
	}
	if err := d.Leave("s1", Message{Stop: true}, now); err != nil {
		t.Fatal(err)
	}
	if m, err := d.Take("s1", now.Add(messageFor)); err != nil || m.At != 0 {
		t.Error("it was done when nobody waited for it any more")
	}
}

// The sender learns whether a message was taken; one that was not is withdrawn.
func TestMessageIsTakenBack(t *testing.T) {
	d := In(t.TempDir())
	if taken, err := d.Hand("s1", Message{Stop: true}); taken || err != nil {
		t.Errorf("nobody took it: %v, %v", taken, err)
	}
	if m, err := d.Take("s1", time.Now()); err != nil || m.At != 0 {
		t.Error("it was left behind")
	}
	go func() {
		for end := time.Now().Add(takes); time.Now().Before(end); time.Sleep(time.Millisecond) {
			if m, err := d.Take("s1", time.Now()); err == nil && m.At != 0 {
				return
			}
		}
	}()
	if taken, err := d.Hand("s1", Message{Stop: true}); !taken || err != nil {
		t.Errorf("it was taken: %v, %v", taken, err)
	}
}
