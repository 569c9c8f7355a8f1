package intent

import "slices"

// rule is an index into the table of rules.
type rule uint8

const (
	promptCommands rule = iota
	promptAnswers
	promptAffirms

	empty
	marker
	asksLast
	asksBefore
	asksInList
	asksByPhrase
	asksToContinue
	blocked
	goingOn
	unfinished
	offers
	closes
	handsOver
	closesOnly
	handsOverOnly
	summarizes
	done
	states

	ruleCount
)

// Rule is one way to reach a verdict, and the verdict.
type Rule struct {
	Name       string // stable, for logs and explanations
	Intent     Intent
	Confidence float64 // how far to trust it, 0 to 1
	Says       string  // when it fires
}

// rules is indexed by rule. The confidences are judgements, not measured.
var rules = [ruleCount]Rule{
	promptCommands: {"prompt", IntentCommand, 1.0, "a prompt, while nothing waits for an answer"},
	promptAnswers:  {"prompt-awaiting", IntentAnswer, 1.0, "a prompt, while the agent waits for an answer"},
	promptAffirms:  {"prompt-affirms", IntentAnswer, 0.9, "a bare affirmation, while the agent works"},

	empty: {"empty", IntentProgress, 0.5, "no text"},
	marker: {
		"marker",
		IntentCompletion,
		1.0,
		"a line TASK COMPLETE - or COMMAND COMPLETE -, and nothing asked after it",
	},
	asksLast:       {"asks-last", IntentQuestion, 0.95, "the last thing said is a question"},
	asksBefore:     {"asks-before", IntentQuestion, 0.8, "a question to the reader, followed by options, code or reasons"},
	asksInList:     {"asks-in-list", IntentQuestion, 0.85, "a list of questions that is introduced as one"},
	asksByPhrase:   {"asks-by-phrase", IntentQuestion, 0.85, "asks for an answer without a question mark"},
	asksToContinue: {"asks-to-continue", IntentQuestion, 0.95, "asks whether to go on"},
	blocked:        {"blocked", IntentQuestion, 0.75, "cannot go on without access, rights or help"},
	goingOn:        {"going-on", IntentProgress, 0.8, "the end says what comes next"},
	unfinished:     {"unfinished", IntentProgress, 0.7, "says that something is not finished or still fails"},
	offers:         {"offers", IntentCompletion, 0.85, "offers more, after the work was reported done"},
	closes:         {"done-closes", IntentEndOfTask, 0.95, "reports the work done and closes politely"},
	handsOver:      {"done-hands-over", IntentEndOfTask, 0.9, "reports the work done and says how to use or check it"},
	closesOnly:     {"closes", IntentEndOfTask, 0.7, "closes politely"},
	handsOverOnly:  {"hands-over", IntentEndOfTask, 0.7, "says how to use or check the result"},
	summarizes:     {"summary", IntentEndOfTask, 0.7, "ends in a summary of the changes"},
	done:           {"done", IntentCompletion, 0.9, "reports the work done"},
	states:         {"states", IntentCompletion, 0.5, "none of the above: a statement, such as the answer to a question"},
}

// Says returns a phrase for when the rule of that name fires; "" for an unknown name.
func Says(name string) string {
	i := slices.IndexFunc(rules[:], func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return ""
	}
	return rules[i].Says
}
