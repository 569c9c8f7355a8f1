package installer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The first release's record of an install restores the original.
func TestUpgradeRecord(t *testing.T) {
	sample := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("../testdata/upgrade/1/install", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	h := newHome(t)
	h.write(h.Path, string(sample("installed.json")))
	k := keptFor(h.Keep, h.Path)
	if err := os.MkdirAll(h.Keep, 0o700); err != nil {
		t.Fatal(err)
	}
	h.write(k.record, string(sample("record.json")))
	h.write(k.backup, string(sample("backup.json")))
	if r, ok := k.load(); !ok || r.Schema != 1 || r.Original == "" || r.Wrote == "" {
		t.Fatalf("%+v", r)
	}
	if _, err := Apply(h.Target, Uninstall()); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(h.Path)
	if err != nil || !bytes.Equal(got, sample("backup.json")) {
		t.Errorf("%v: %s", err, got)
	}
}

// A record of a newer version stops install and uninstall, and is not changed.
func TestNewerRecord(t *testing.T) {
	h := newHome(t)
	h.write(h.Path, `{}`)
	k := keptFor(h.Keep, h.Path)
	if err := os.MkdirAll(h.Keep, 0o700); err != nil {
		t.Fatal(err)
	}
	text := `{"schema": 2, "original": {"some": "thing"}}`
	h.write(k.record, text)
	for _, op := range []op{Install(Spec{Command: "/opt/beckon-hook", Events: []string{"Stop"}}), Uninstall()} {
		_, err := Apply(h.Target, op)
		if err == nil || !strings.Contains(err.Error(), "a newer beckon wrote it") {
			t.Errorf("%v", err)
		}
		record, _ := os.ReadFile(k.record)
		settings, _ := os.ReadFile(h.Path)
		if string(record) != text || string(settings) != `{}` {
			t.Errorf("%s, %s", record, settings)
		}
	}
}
