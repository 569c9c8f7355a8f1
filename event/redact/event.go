package redact

import "beckon/event"

// Event redacts every text of e that a person or an agent wrote, in place. Ids,
// names, paths and hashes stay as they are.
func Event(e *event.Event) {
	for _, p := range [...]*string{&e.Prompt, &e.Message, &e.Details, &e.Tool.Summary, &e.TaskN.Subject} {
		*p = Text(*p)
	}
	for i := range e.Background {
		e.Background[i].Description = Text(e.Background[i].Description)
	}
	if e.Ask != nil {
		ask(e.Ask)
	}
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
