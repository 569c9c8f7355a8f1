package intent

// family is a group of phrases with one meaning.
type family uint8

const (
	// asking asks for an answer even without a question mark, unless the same sentence closes
	// politely.
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
	// extra marks an offer as one of more than was asked.
	extra
	// closing ends the conversation politely.
	closing
	// opining asks for an opinion: a question about a plan, only politeness about finished
	// work.
	opining
	// handing says how to use, check or finish the result.
	handing
	// pleading asks for an action: help while work is stuck, a hand-over when it
	// is done.
	pleading
	// blocking says that something stands in the way now.
	blocking
	// blockedOnce says so in the past: a solution may have been found since.
	blockedOnce
	// finishing reports work done.
	finishing
	// going announces what the agent does next.
	going
	// hinging begins a conditional consequence.
	hinging
	// lacking says that something is unfinished or fails.
	lacking
	// summing introduces a summary of changes.
	summing
	// answering begins a sentence that answers the question before it.
	answering
	// reasoning begins a sentence that gives the reason for the question before it.
	reasoning
	// musing begins a question that people mostly ask themselves: a why, a how.
	musing
	// wondering begins one that they ask themselves as often as the reader: a what, a who. All
	// others, yes or no and choices, are hardly ever rhetorical.
	wondering
	// stepping names a step that ends the work (commit, deploy): offering it asks.
	stepping
	// optional names one of several ways.
	optional
	// listing introduces a list of questions that want an answer.
	listing
	// made introduces a list of questions that are themselves the result.
	made
	// quoting says whose question it was.
	quoting
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
	code    string
	dense   bool     // written without spaces: phrases are found inside words
	common  []string // frequent words, by which the language is recognised
	letters string   // letters that it shares with few others
	// verbs and results are past participles of what agents do. One of them at the start of a
	// sentence, after only words of lead, or right after one of doer anywhere, is the agent's
	// work; one of results also after one of passive: "is fixed" is work done, "is created"
	// may be how the program works.
	verbs   []string
	results []string
	lead    []string
	doer    []string
	passive []string
	// negations before a verb deny that it was done.
	negations []string
	// ing ends a verb in progress ("Updating the docs"), unless the sentence starts with one
	// of notIng or has a verb of its own: one of finite or a word that ends in past. After one
	// of busy ("I'm", "still") it counts anywhere.
	ing     string
	notIng  []string
	finite  []string
	past    string
	busy    []string
	phrases [families][]string
}
