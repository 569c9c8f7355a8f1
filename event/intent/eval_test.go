package intent

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the evaluation to testdata/intent/RESULTS.md")

const evaluation = "../../testdata/intent"

// labelled is one line of the evaluation set.
type labelled struct {
	ID         string `json:"id"`
	Actor      string `json:"actor"`
	Text       string `json:"text"`
	Want       Intent `json:"want"`
	Note       string `json:"note"`
	Awaiting   bool   `json:"awaiting"`
	Processing bool   `json:"processing"`
}

func (m *labelled) result() Result {
	if m.Actor == "user" {
		return OfPrompt(m.Text, m.Awaiting, m.Processing)
	}
	return OfMessage(m.Text)
}

// language returns the first part of the id: "en", "de", ...
func (m *labelled) language() string {
	lang, _, _ := strings.Cut(m.ID, "-")
	return lang
}

func load(t testing.TB, half string) []labelled {
	t.Helper()
	f, err := os.Open(filepath.Join(evaluation, half+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []labelled
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var m labelled
		if err := json.Unmarshal(sc.Bytes(), &m); err != nil {
			t.Fatalf("%s: line %d: %v", half, len(all)+1, err)
		}
		all = append(all, m)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// intents is the order of the tables.
var intents = []Intent{IntentQuestion, IntentCompletion, IntentEndOfTask, IntentProgress, IntentCommand, IntentAnswer}

// score counts one class.
type score struct{ hit, got, want int }

func (s score) precision() float64 { return ratio(s.hit, s.got) }
func (s score) recall() float64    { return ratio(s.hit, s.want) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

func evaluate(all []labelled) (map[Intent]score, []labelled) {
	scores := map[Intent]score{}
	var wrong []labelled
	for _, m := range all {
		got := m.result().Intent
		w := scores[m.Want]
		w.want++
		scores[m.Want] = w
		g := scores[got]
		g.got++
		if got == m.Want {
			g.hit++
		} else {
			wrong = append(wrong, m)
		}
		scores[got] = g
	}
	return scores, wrong
}
