package event

import (
	"strings"
	"unicode/utf8"

	"beckon/event/jsonenc"
	"beckon/event/redact"
)

// Redact removes secrets from every text of e that a person, an agent or a server chose, names
// of sessions, models, agents and tools among them. Ids, paths and hashes stay as they are. What
// Parse read is clean already: it redacts before it cuts, because half a key is not recognized.
func (e *Event) Redact() {
	for _, p := range [...]*string{&e.Prompt, &e.Message, &e.Reason, &e.Details, &e.Answer,
		&e.Tool.Summary, &e.TaskN.Subject, &e.Title, &e.Model, &e.AgentType, &e.Tool.Name} {
		*p = redact.Text(*p)
	}
	for i := range e.Background {
		e.Background[i].Description = redact.Text(e.Background[i].Description)
	}
	if e.Ask != nil {
		e.Ask.redact()
	}
	if e.Meaning != nil {
		e.Meaning.Question = redact.Text(e.Meaning.Question)
	}
}

func (a *Ask) redact() {
	a.Plan = redact.Text(a.Plan)
	for i := range a.Suggestions {
		a.Suggestions[i] = redact.Text(a.Suggestions[i])
	}
	for i := range a.Questions {
		q := &a.Questions[i]
		q.Text = redact.Text(q.Text)
		for j := range q.Options {
			q.Options[j].Label, q.Options[j].Description = redact.Text(q.Options[j].Label), redact.Text(q.Options[j].Description)
		}
	}
}

const (
	// maxClean is how much of a text is redacted, in bytes: more than an event stores of any.
	maxClean = 16 << 10
	// longWord is the length in bytes from which half of a word may be a secret.
	longWord = 16
)

const white = " \t\r\n"

// clean returns the head of a string token, redacted. A cut may have gone through a secret, so
// half of a long last word is removed, too.
func clean(raw string) string {
	s := jsonenc.Unquote(raw, maxClean+utf8.UTFMax)
	if len(s) <= maxClean {
		return redact.Text(s)
	}
	s = redact.Text(Cut(s, maxClean))
	if i := strings.LastIndexAny(s, white) + 1; len(s)-i >= longWord {
		return s[:i] + "…"
	}
	return s
}

// cleanTail returns the tail of a text, redacted, without the rest of a word that the cut went
// through.
func cleanTail(s string) string {
	if len(s) <= maxClean {
		return redact.Text(s)
	}
	const longest = 512 // of the rest of a secret
	s = redact.Text(CutTail(s, maxClean))
	i := 0
	for i < len(s) && i < longest && ' ' < s[i] && s[i] < utf8.RuneSelf {
		i++
	}
	if i >= longWord {
		return "…" + s[i:]
	}
	return s
}
