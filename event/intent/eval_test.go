package intent

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the evaluation to testdata/intent/RESULTS.md")

const evaluation = "../../testdata/intent"

// halves lists the halves of the first and of the second set of messages. The rules are
// written from dev and dev2 only; the mistakes in held have been read since.
var halves = []string{"dev", "held", "dev2", "held2"}

// fresh lists the sets written by somebody who had not read the rules. Some are there to tune the rules on; of the
// others only the numbers count.
var fresh = []string{"fresh-a", "fresh-b", "fresh-c", "fresh-d", "fresh-e"}

// held says that nobody who writes rules reads the messages of a set.
func held(set string) bool { return set == "fresh-b" || set == "fresh-e" }

// intents is the order of the tables.
var intents = []Intent{IntentQuestion, IntentCompletion, IntentEndOfTask, IntentProgress, IntentCommand, IntentAnswer}

// labelled is one line of the evaluation set (testdata/intent/README.md).
type labelled struct {
	ID         string `json:"id"`
	Actor      string `json:"actor"`
	Text       string `json:"text"`
	Want       Intent `json:"want"`
	Note       string `json:"note"`
	Awaiting   bool   `json:"awaiting"`
	Processing bool   `json:"processing"`
	Background bool   `json:"background"` // the turn's end listed background work that the message waits for
}

func (m *labelled) result() Rule {
	if m.Actor == "user" {
		return OfPrompt(m.Text, m.Awaiting, m.Processing)
	}
	return OfMessage(m.Text, m.Background).Rule
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

// score counts one class: correct verdicts, the rules' verdicts, and the set's labels.
type score struct{ hit, got, want int }

func (s score) precision() float64 { return ratio(s.hit, s.got) }
func (s score) recall() float64    { return ratio(s.hit, s.want) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// evaluate returns the scores of one half, and its mistakes.
func evaluate(all []labelled) (map[Intent]*score, []labelled) {
	scores := map[Intent]*score{}
	for _, i := range intents {
		scores[i] = &score{}
	}
	var wrong []labelled
	for _, m := range all {
		got := m.result().Intent
		scores[m.Want].want++
		scores[got].got++
		if got == m.Want {
			scores[got].hit++
		} else {
			wrong = append(wrong, m)
		}
	}
	return scores, wrong
}

// TestEvaluation checks that RESULTS.md is up to date with the rules.
func TestEvaluation(t *testing.T) {
	file := filepath.Join(evaluation, "RESULTS.md")
	want := report(t)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want != string(recorded) {
		t.Error("RESULTS.md is out of date: run go test ./event/intent -run Evaluation -update")
	}
}

// report returns the expected content of RESULTS.md.
func report(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(reportHead)
	for _, half := range halves {
		all := load(t, half)
		scores, missed := evaluate(all)
		fmt.Fprintf(&b, "\n## %s\n\n%d messages, %d of them wrong (%.1f %% right).\n\n", half, len(all), len(missed), 100*ratio(len(all)-len(missed), len(all)))
		b.WriteString("| intent | messages | precision | recall |\n|---|---|---|---|\n")
		for _, i := range intents {
			if s := scores[i]; s.want > 0 {
				fmt.Fprintf(&b, "| %s | %d | %.3f | %.3f |\n", i, s.want, s.precision(), s.recall())
			}
		}
		b.WriteString("\nQuestions by language:\n\n" + byLanguage(all))
	}
	return b.String()
}

// byLanguage returns a table of the scores of questions in each language.
func byLanguage(all []labelled) string {
	var b strings.Builder
	b.WriteString("| language | messages | questions | precision | recall |\n|---|---|---|---|---|\n")
	for _, lang := range languages {
		of := ofLanguage(all, lang.code)
		scores, _ := evaluate(of)
		q := scores[IntentQuestion]
		fmt.Fprintf(&b, "| %s | %d | %d | %.3f | %.3f |\n", lang.code, len(of), q.want, q.precision(), q.recall())
	}
	return b.String()
}

func ofLanguage(all []labelled, code string) []labelled {
	return slices.DeleteFunc(slices.Clone(all), func(m labelled) bool { return m.language() != code })
}

// TestSet checks that the evaluation set is as its README describes it.
func TestSet(t *testing.T) {
	ids, total := map[string]bool{}, 0
	for _, half := range slices.Concat(halves, fresh) {
		for _, m := range load(t, half) {
			if total++; ids[m.ID] || m.ID == "" || m.Text == "" {
				t.Errorf("%s: bad or double id, or no text: %q", half, m.ID)
			}
			ids[m.ID] = true
			person := m.Want == IntentCommand || m.Want == IntentAnswer
			if m.Actor != "agent" && m.Actor != "user" || person != (m.Actor == "user") {
				t.Errorf("%s: %s cannot be %s's", m.ID, m.Want, m.Actor)
			}
		}
	}
	if total < 300 {
		t.Errorf("only %d messages", total)
	}
}

// least is how well questions must be told apart in the fresh sets.
var least = map[string]struct{ precision, recall float64 }{
	"fresh-a": {0.95, 0.95},
	"fresh-b": {0.95, 0.92},
	"fresh-c": {0.95, 0.95},
	"fresh-d": {0.95, 0.95},
	"fresh-e": {0.95, 0.92},
}

// TestFresh checks how well questions are told from everything else in the fresh sets. The messages taken wrongly
// are not shown of a held set: rules written by looking at it would make its figures worthless. The sets from the
// third on have more questions than a session has.
func TestFresh(t *testing.T) {
	for _, set := range fresh {
		all := load(t, set)
		scores, _ := evaluate(all)
		q := scores[IntentQuestion]
		need := least[set]
		if set < "fresh-c" && (len(all) < 190 || 100*q.want < 35*len(all) || 100*q.want > 45*len(all)) {
			t.Errorf("%s: %d questions of %d messages", set, q.want, len(all))
		}
		waits, asked := 0, 0
		for _, m := range all {
			got := m.result().Intent == IntentQuestion
			if m.Background {
				waits++
				if got {
					asked++
				}
			}
			if !held(set) && got != (m.Want == IntentQuestion) {
				t.Logf("%s: taken for a question: %v: %q", m.ID, got, m.Text)
			}
		}
		if asked > 0 || q.precision() < need.precision || q.recall() < need.recall {
			t.Errorf("%s: want a precision of %.2f, a recall of %.2f, and no wait", set, need.precision, need.recall)
		}
		t.Logf("%s: questions: precision %.3f, recall %.3f; %d of %d waits for background work taken for questions\n%s",
			set, q.precision(), q.recall(), asked, waits, byLanguage(all))
	}
}

const reportHead = `# How well intents are told apart

Written by ` + "`go test ./event/intent -run Evaluation -update`" + `. What the messages are and how they were labelled: README.md beside this file.

Messages and rules have the same author, and an author's turns of phrase repeat. Expect less on real sessions.

| held2, questions | precision | recall |
|---|---|---|
| before the rules were changed for dev2 | 1.000 | 0.636 |
| after | 1.000 | 0.961 |

Of held2 only the numbers were looked at while rules were written, not what was wrong. But whoever wrote its messages wrote the rules an
hour later. Whoever changes rules from here on should add new messages to both halves first.
`
