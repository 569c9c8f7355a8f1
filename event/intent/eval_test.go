package intent

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the evaluation to testdata/intent/RESULTS.md")

const evaluation = "../../testdata/intent"

// halves: rules are written by looking at the first only.
var halves = []string{"dev", "held"}

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

// score counts one class: right, given by the rules, in the set.
type score struct{ hit, got, want int }

func (s score) precision() float64 { return ratio(s.hit, s.got) }
func (s score) recall() float64    { return ratio(s.hit, s.want) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// evaluate returns the scores of one half and what was got wrong.
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

// TestEvaluation prints the table of RESULTS.md and fails if a number in it
// got worse.
func TestEvaluation(t *testing.T) {
	if *update {
		if err := os.WriteFile(filepath.Join(evaluation, "RESULTS.md"), []byte(report(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := os.ReadFile(filepath.Join(evaluation, "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range halves {
		scores, _ := evaluate(load(t, half))
		for _, i := range intents {
			s := scores[i]
			t.Logf("%-5s%-12s%4d messages, precision %.3f, recall %.3f", half, i, s.want, s.precision(), s.recall())
			p, r := floor(t, string(recorded), half, i)
			if s.precision() < p-0.0005 || s.recall() < r-0.0005 {
				t.Errorf("%s %s: precision %.3f, recall %.3f; recorded were %.3f and %.3f", half, i, s.precision(), s.recall(), p, r)
			}
		}
	}
	if want := report(t); want != string(recorded) && !t.Failed() {
		t.Error("RESULTS.md is out of date: run go test ./event/intent -run Evaluation -update")
	}
}

// floor returns precision and recall as recorded for a class of a half.
func floor(t *testing.T, recorded, half string, i Intent) (precision, recall float64) {
	t.Helper()
	_, table, _ := strings.Cut(recorded, "## "+half)
	for line := range strings.Lines(table) {
		f := strings.Split(line, "|")
		if len(f) < 6 || strings.TrimSpace(f[1]) != string(i) {
			continue
		}
		p, err1 := strconv.ParseFloat(strings.TrimSpace(f[3]), 64)
		r, err2 := strconv.ParseFloat(strings.TrimSpace(f[4]), 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("RESULTS.md: bad line %q", line)
		}
		return p, r
	}
	t.Fatalf("RESULTS.md has no line for %s in %s", i, half)
	return 0, 0
}

// report returns what RESULTS.md should hold.
func report(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(reportHead)
	why := reasons(t)
	var wrong strings.Builder
	for _, half := range halves {
		all := load(t, half)
		scores, missed := evaluate(all)
		fmt.Fprintf(&b, "\n## %s\n\n%d messages, %d of them wrong (%.1f %% right).\n\n", half, len(all), len(missed), 100*ratio(len(all)-len(missed), len(all)))
		b.WriteString("| intent | messages | precision | recall |\n|---|---|---|---|\n")
		for _, i := range intents {
			fmt.Fprintf(&b, "| %s | %d | %.3f | %.3f |\n", i, scores[i].want, scores[i].precision(), scores[i].recall())
		}
		b.WriteString("\n" + byLanguage(all))
		fmt.Fprintf(&wrong, "\n### %s\n\n", half)
		for _, m := range missed {
			r := m.result()
			fmt.Fprintf(&wrong, "- `%s`: %s, taken for %s by rule %s: %s\n", m.ID, m.Want, r.Intent, r.Rule, why[m.ID])
			if why[m.ID] == "" {
				t.Errorf("wrong.tsv says nothing about %s", m.ID)
			}
			delete(why, m.ID)
		}
	}
	for id := range why {
		t.Errorf("wrong.tsv has %s, which is got right", id)
	}
	return b.String() + "\n## What it gets wrong\n" + wrong.String()
}

// byLanguage returns a table with the messages of each language.
func byLanguage(all []labelled) string {
	var b strings.Builder
	b.WriteString("| language | messages | right | questions | found | false |\n|---|---|---|---|---|---|\n")
	for _, lang := range languages {
		var of []labelled
		for _, m := range all {
			if m.language() == lang.code {
				of = append(of, m)
			}
		}
		scores, missed := evaluate(of)
		q := scores[IntentQuestion]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", lang.code, len(of), len(of)-len(missed), q.want, q.hit, q.got-q.hit)
	}
	return b.String()
}

// reasons reads why messages are got wrong: lines of id, tab, reason.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(evaluation, "wrong.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if id, reason, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			why[id] = reason
		}
	}
	return why
}

// TestSet: the evaluation set is what its README says.
func TestSet(t *testing.T) {
	ids, total := map[string]bool{}, 0
	for _, half := range halves {
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

const reportHead = `# How well intents are told apart

Written by ` + "`go test ./event/intent -run Evaluation -update`" + `; the same test fails when a number below gets worse. What the
messages are and how they were labelled: README.md beside this file.

Read the numbers with these in mind:

- Messages and rules have the same author, and an author's turns of phrase repeat, though the messages came first. Expect less on real
  sessions.
- The held half was not read while rules were written, but its totals were seen. It then had 0.974 precision and 0.934 recall on
  questions, 335 of 360 messages right. Only after that were its errors read, for the list at the end. Some pointed at defects of the
  machinery: brackets and headings behind a question, "I'm going", negated verbs, things that others did taken for the agent's own
  work. These were fixed with variations of dev messages and with sentences made for it (robust_test.go), not with phrases for the messages
  that showed them; that is the difference to the numbers below.
- Whoever changes rules from here on should add new messages to both halves first: the held half has now been read.
- How it does on phrasing it has not met is better seen in the English messages that came in batches, each written to be unlike the
  ones before it and run once before any rule was changed for it. One half of each batch then went to either half.

| batch | messages | right | questions: precision | recall |
|---|---|---|---|---|
| 1, its held half | 224 | 217 | 0.986 | 0.958 |
| 2 | 74 | 56 | 0.952 | 0.833 |
| 3 | 59 | 34 | 0.929 | 0.722 |
| 4 | 51 | 38 | 0.938 | 0.750 |
| 5, after the fixes | 29 | 27 | 1.000 | 1.000 |

Batches 2 to 4 are mostly hard cases: requests without a question mark, offers, work that is half done; batch 5 is what agents say most
of the time. A question is seldom claimed falsely; those that are missed mostly ask without a question mark, or go on talking after
it. Most of the other errors are at the border between completion and end_of_task, where nobody has to do anything, and progress that no word gives away.
`
