package store

import (
	"strings"

	"beckon/event"
	"beckon/state"
)

// Texts says how much is kept of the user's and the agent's texts: prompts, final messages,
// questions, the summary of a tool call, the names that somebody gave sessions, models, agents
// and MCP tools. What a text means is always kept, and so are directories, branches and counts.
type Texts string

// The values of the setting `texts`.
const (
	TextsFull  Texts = "full"  // up to the limits of package event
	TextsShort Texts = "short" // up to ShortText bytes of each
	TextsOff   Texts = "off"   // none
)

// ShortText is the limit of TextsShort, in bytes.
const ShortText = 120

// cut returns the part of s to keep: its tail, at most max bytes.
func (t Texts) cut(s string, max int) string {
	switch t {
	case TextsOff:
		return ""
	case TextsShort:
		max = min(max, ShortText)
	}
	return event.CutTail(s, max)
}

// prompt returns the part of a user's prompt to keep.
func (t Texts) prompt(s string) string {
	if t == TextsShort || t == TextsOff {
		return t.head(s)
	}
	return event.Cut(s, event.MaxPrompt)
}

// head returns the part of s to keep: its head.
func (t Texts) head(s string) string {
	if t == TextsOff {
		return ""
	}
	return event.Cut(s, ShortText)
}

// event removes from e what may not be kept. It first classifies the final message, which
// decides the session's state.
func (t Texts) event(e *event.Event) {
	if t != TextsShort && t != TextsOff {
		return
	}
	if e.Kind == event.Stop && e.Message != "" {
		e.Meaning = state.Means(e.Message, e.Background)
		e.Meaning.Question = t.head(e.Meaning.Question)
	}
	e.Message = t.cut(e.Message, event.MaxMessage)
	for _, p := range [...]*string{&e.Prompt, &e.Reason, &e.Details, &e.Tool.Summary, &e.TaskN.Subject, &e.Answer} {
		if !clientsWord(*p) {
			*p = t.head(*p)
		}
	}
	if t == TextsOff {
		t.names(e)
	}
	for i := range e.Background {
		e.Background[i].Description = t.head(e.Background[i].Description)
	}
	if t == TextsOff {
		e.Ask = nil
	} else if e.Ask != nil {
		t.ask(e.Ask)
	}
}

// names removes the names that the user, the agent or a server chose.
func (t Texts) names(e *event.Event) {
	e.Title, e.Model = "", ""
	if !clientsWord(e.AgentType) {
		e.AgentType = ""
	}
	if e.Kind == event.Elicitation || e.Kind == event.ElicitationResult || strings.HasPrefix(e.Tool.Name, "mcp__") {
		e.Tool.Name = "mcp"
	}
	if e.Meter != nil {
		e.Meter.Model = ""
	}
}

// clientsWords are the client's own words for why something ended, failed or was answered, and
// its built-in agents. Any other word may come from a person or an agent.
const clientsWords = " clear resume logout prompt_input_exit bypass_permissions_disabled other " +
	"rate_limit overloaded authentication_failed oauth_org_not_allowed billing_error invalid_request model_not_found server_error " +
	"max_output_tokens unknown account_on_hold verification_required cloud_credential_error accept decline cancel " +
	"general-purpose Explore Plan statusline-setup output-style-setup claude-code-guide "

func clientsWord(s string) bool {
	return s != "" && !strings.Contains(s, " ") && strings.Contains(clientsWords, " "+s+" ")
}

func (t Texts) ask(a *event.Ask) {
	a.Plan = t.head(a.Plan)
	for i := range a.Questions {
		q := &a.Questions[i]
		q.Text = t.head(q.Text)
		for j := range q.Options {
			q.Options[j].Description = t.head(q.Options[j].Description)
		}
	}
}
