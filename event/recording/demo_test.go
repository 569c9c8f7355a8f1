package recording

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"beckon/testdata"
)

// What the demo plays has the events and the times of a real client's recording, with other words.
func TestDemoIsRecorded(t *testing.T) {
	type moment struct {
		kind string
		at   int64
	}
	moments := func(path string, read func(string) ([]byte, error)) (session string, list []moment) {
		data, err := read(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range readAll(t, data) {
			if s.Kind == "start" {
				continue // the demo begins some sessions later
			}
			list = append(list, moment{s.Kind, s.T})
			for _, r := range s.Registry {
				session = r.SessionID
			}
		}
		return session, list
	}
	real := map[string][]moment{}
	paths, _ := filepath.Glob("../../testdata/recordings/2.1.329/*.jsonl")
	for _, path := range paths {
		session, list := moments(path, os.ReadFile)
		real[session] = list
	}
	played, _ := fs.Glob(testdata.Demo, "demo/*.jsonl")
	if len(played) < 8 {
		t.Fatalf("only %d recordings", len(played))
	}
	for _, path := range played {
		session, list := moments(path, testdata.Demo.ReadFile)
		if !slices.Equal(real[session], list) || len(list) == 0 {
			t.Errorf("%s: not as recorded", path)
		}
	}
}

func readAll(t *testing.T, data []byte) []Step {
	t.Helper()
	steps, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return steps
}
