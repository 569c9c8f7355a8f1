package intent

// family is a group of phrases with one meaning.
type family uint8

const (
	// asking asks for an answer even where no question mark stands, unless the
	// same sentence closes politely.
	asking family = iota
	// insisting asks for an answer whatever else the sentence says.
	insisting
	// continuing asks whether to go on with the work.
	continuing
	// addressing turns to the reader: a question with it is meant as one.
	addressing
	// choosing shows that a question wants more than yes or no.
	choosing
	// offering offers more work.
	offering
	// closing ends the conversation politely.
	closing
	// handing says how to use, check or finish the result.
	handing
	// blocking says that something stands in the way now.
	blocking
	// blockedOnce says so in the past: something may have been found since.
	blockedOnce
	// finishing reports work done.
	finishing
	// going announces what the agent does next.
	going
	// lacking says that something is unfinished or fails.
	lacking
	// summing introduces a summary of changes.
	summing
	// answering begins a sentence that answers the question before it.
	answering
	// reasoning begins a sentence that gives the reason for the question before it.
	reasoning
	// listing introduces a list of questions that want an answer.
	listing
	// made introduces a list of questions that are the result itself.
	made
	// quoting says whose question it was.
	quoting
	// greeting begins a conversation.
	greeting
	// affirming is a bare affirmation, as a whole prompt.
	affirming

	families
)

// tags is a set of families.
type tags uint32

func (t tags) has(f family) bool { return t&(1<<f) != 0 }

// language is the data of one language. Phrases are in lower case, in the form
// that reading.read gives sentences: words divided by single spaces, without
// punctuation; "_" stands for code, a quotation or an address. A phrase may
// begin with "^" (start of the sentence, or of a part of it after a colon,
// semicolon or dash), end with "$" (end of the sentence) and hold " * " (any
// words).
type language struct {
	code   string
	dense  bool     // written without spaces: phrases are found inside words
	common []string // frequent words, by which the language is recognised
	// verbs are past participles of what agents do; with one of lead before it
	// at the start of a sentence, or one of passive anywhere, work is done.
	verbs   []string
	lead    []string
	passive []string
	phrases [families][]string
}
