package redact

import (
	"strings"
	"unicode/utf8"

	"beckon/event"
)

// Event redacts every text of e that a person or an agent wrote, in place. Ids,
// names, paths and hashes stay as they are.
//
// Texts were cut when they were read, maybe through a secret: what is left of a
// long word at the cut goes too.
func Event(e *event.Event) {
	if cut(e.Message, event.MaxMessage) {
		e.Message = sansFirst(e.Message)
	}
	if cut(e.Prompt, event.MaxPrompt) {
		e.Prompt = sansLast(e.Prompt)
	}
	for _, p := range [...]*string{&e.Prompt, &e.Message, &e.Details, &e.Tool.Summary, &e.TaskN.Subject, &e.Answer} {
		*p = Text(*p)
	}
	for i := range e.Background {
		e.Background[i].Description = Text(e.Background[i].Description)
	}
	if e.Ask != nil {
		ask(e.Ask)
	}
	if e.Meaning != nil {
		e.Meaning.Question = Text(e.Meaning.Question)
	}
}

// cut reports whether s is so long that it was probably cut to max bytes, on the
// boundary of a character.
func cut(s string, max int) bool { return len(s) > max-utf8.UTFMax }

// longWord is how long a word is, in bytes, of which half may be a secret.
const longWord = 16

const white = " \t\r\n"

func sansFirst(s string) string {
	if i := strings.IndexAny(s, white); i >= longWord {
		return "…" + s[i:]
	}
	return s
}

func sansLast(s string) string {
	if i := strings.LastIndexAny(s, white) + 1; i > 0 && len(s)-i >= longWord {
		return s[:i] + "…"
	}
	return s
}

func ask(a *event.Ask) {
	a.Plan = Text(a.Plan)
	for i := range a.Suggestions {
		a.Suggestions[i] = Text(a.Suggestions[i])
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		q.Text = Text(q.Text)
		for j := range q.Options {
			q.Options[j].Label, q.Options[j].Description = Text(q.Options[j].Label), Text(q.Options[j].Description)
		}
	}
}
