// Package intent classifies turns: what a prompt asks for, and what an agent's final message
// expects of the person who reads it.
//
// It is pure and deterministic and asks no model: a message is cut to its tail, stripped of
// what is not the agent's own voice (code, quotations, addresses), split into sentences, and
// the sentences are compared with tables of words, one table per language. Work is bounded by
// Window, however long the message is. It guarantees no more than its evaluation shows: see
// testdata/intent/RESULTS.md for how often it is wrong, and about what.
package intent

import (
	"slices"
	"strings"
	"unicode/utf8"

	"beckon/event"
)

// Intent is the meaning of a turn for its task.
type Intent string

// The intents. Command and answer are a person's, the others an agent's.
const (
	IntentCommand    Intent = "command"     // starts work, or changes what was asked
	IntentAnswer     Intent = "answer"      // replies to a question or approves what is going on
	IntentQuestion   Intent = "question"    // a person has to answer, decide or unblock before the work goes on
	IntentProgress   Intent = "progress"    // not finished, and nothing is asked
	IntentCompletion Intent = "completion"  // what was asked is done; an offer of more may follow
	IntentEndOfTask  Intent = "end_of_task" // done, and closing or handing over
)

// Window is how much of a message is examined, in bytes from its end. The tail says what is
// wanted; anything before it only costs time.
const Window = 4 << 10

// Rule is one way to reach a verdict, and the verdict.
type Rule struct {
	Name       string // stable, for logs and explanations
	Intent     Intent
	Confidence float64 // how far to trust it, 0 to 1
	Says       string  // when it fires
}

// rules are all rules. The confidences are judgements, not measured.
var rules = [...]Rule{
	{"prompt", IntentCommand, 1.0, "a prompt, while nothing waits for an answer"},
	{"prompt-awaiting", IntentAnswer, 1.0, "a prompt, while the agent waits for an answer"},
	{"prompt-affirms", IntentAnswer, 0.9, "a bare affirmation, while the agent works"},

	{"empty", IntentProgress, 0.5, "no text"},
	{"marker", IntentCompletion, 1.0, "a line TASK COMPLETE - or COMMAND COMPLETE -, and nothing asked after it"},
	{"asks-last", IntentQuestion, 0.95, "the last thing said is a question"},
	{"asks-before", IntentQuestion, 0.8, "a question to the reader, followed by options, code or reasons"},
	{"asks-in-list", IntentQuestion, 0.85, "a list of questions that is introduced as one"},
	{"asks-by-phrase", IntentQuestion, 0.85, "asks for an answer without a question mark"},
	{"asks-to-continue", IntentQuestion, 0.95, "asks whether to go on"},
	{"blocked", IntentQuestion, 0.75, "cannot go on without access, rights or help"},
	{"going-on", IntentProgress, 0.8, "the end says what comes next"},
	{"unfinished", IntentProgress, 0.7, "says that something is not finished or still fails"},
	{"offers", IntentCompletion, 0.85, "offers more, after the work was reported done"},
	{"done-closes", IntentEndOfTask, 0.95, "reports the work done and closes politely"},
	{"done-hands-over", IntentEndOfTask, 0.9, "reports the work done and says how to use or check it"},
	{"closes", IntentEndOfTask, 0.7, "closes politely"},
	{"hands-over", IntentEndOfTask, 0.7, "says how to use or check the result"},
	{"summary", IntentEndOfTask, 0.7, "ends in a summary of the changes"},
	{"done", IntentCompletion, 0.9, "reports the work done"},
	{"states", IntentCompletion, 0.5, "none of the above: a statement, such as the answer to a question"},
}

// ruleOf returns the rule of that name, the zero Rule for none.
func ruleOf(name string) Rule {
	i := slices.IndexFunc(rules[:], func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}
	}
	return rules[i]
}

// Says returns a phrase for when the rule of that name fires; "" for an unknown name.
func Says(name string) string { return ruleOf(name).Says }

// OfPrompt classifies a person's prompt. awaiting: the agent waits for an answer; processing:
// it is at work. The caller must leave out prompts that the client wrote itself.
func OfPrompt(text string, awaiting, processing bool) Rule {
	switch {
	case awaiting:
		return ruleOf("prompt-awaiting")
	case processing && affirms(text):
		return ruleOf("prompt-affirms")
	}
	return ruleOf("prompt")
}

// maxAffirmation is the longest prompt, in bytes, that can be a bare affirmation; the client's
// plan dialog sends the longest.
const maxAffirmation = 80

// affirms reports whether a prompt is only approval: one or more of the languages'
// affirmations.
func affirms(text string) bool {
	if len(text) > maxAffirmation {
		return false
	}
	r := reading{src: text, marked: -1}
	r.inline(0, len(text))
	r.endSentence(len(text), false)
	return len(r.all) > 0 && !slices.ContainsFunc(r.all, func(s sentence) bool {
		rest := string(r.norm[s.lo:s.hi])
		for n := 1; n > 0 && rest != ""; {
			n = affirmation(rest)
			rest = strings.TrimLeft(rest[n:], " ")
		}
		return s.asks || rest != ""
	})
}

// affirmation returns the length of the longest affirmation s starts with.
func affirmation(s string) int {
	best := 0
	for _, lang := range languages {
		for p := range lang.list("affirming") {
			if len(p) > best && strings.HasPrefix(s, p) && (lang.dense || bounded(s, 0, len(p))) {
				best = len(p)
			}
		}
	}
	return best
}

// Message is the verdict on a message.
type Message struct {
	Rule
	// Question is the sentence that asks, in one line for display: a piece of the message
	// without its Markdown and without control characters. It is empty unless the message asks.
	Question string
}

// OfMessage classifies an agent's final message. text may be cut at its front, even inside a
// code block. waits: work that the agent started still runs in the background, so the message
// may be about that.
func OfMessage(text string, waits bool) Message {
	r := reading{waits: waits}
	r.read(text)
	rule, at := r.decide()
	m := Message{Rule: ruleOf(rule)}
	if m.Intent == IntentQuestion && at >= 0 {
		m.Question = oneLine(r.src[r.all[at].from:r.all[at].to])
	}
	return m
}

// oneLine returns s in one line, without emphasis and code marks.
func oneLine(s string) string {
	return event.OneLine(strings.Map(func(c rune) rune {
		if c == '`' || c == '*' || c == utf8.RuneError {
			return -1
		}
		return c
	}, s), Window)
}
