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
	"strings"
	"unicode"
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

// OfPrompt classifies a person's prompt. awaiting: the agent waits for an answer; processing:
// it is at work. The caller must leave out prompts that the client wrote itself.
func OfPrompt(text string, awaiting, processing bool) Rule {
	switch {
	case awaiting:
		return rules[promptAnswers]
	case processing && affirms(text):
		return rules[promptAffirms]
	}
	return rules[promptCommands]
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
	m := Message{Rule: rules[rule]}
	if m.Intent == IntentQuestion && at >= 0 {
		s := &r.all[at]
		m.Question = oneLine(r.src[s.from:s.to])
	}
	return m
}

// oneLine returns s without emphasis, code marks and control characters, with single spaces
// between words.
func oneLine(s string) string {
	var b strings.Builder
	gap := false
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(c) || unicode.IsControl(c):
			gap = true
		case c == '`' || c == '*' && !spaced(s, i, i+1, len(s)) || c == utf8.RuneError && n == 1 || event.Unsafe(c):
		default:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(c)
		}
		i += n
	}
	return b.String()
}
