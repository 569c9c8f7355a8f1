package intent

import "slices"

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
	// naming addresses the reader beyond doubt.
	naming
	// waiting says that the agent waits for something.
	waiting
	// offering offers more work.
	offering
	// preferring names a wish that the reader may have: after finished work it asks nothing.
	preferring
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
	// stating begins one that describes: no answer to a question that the reader has to decide.
	stating
	// reasoning begins a sentence that gives the reason for the question before it.
	reasoning
	// musing begins a question that people mostly ask themselves: a why, a how.
	musing
	// wondering begins one that they ask themselves as often as the reader: a what, a who. All
	// others, yes or no and choices, are hardly ever rhetorical.
	wondering
	// optional names one of several ways.
	optional
	// listing introduces a list of questions that want an answer.
	listing
	// made introduces a list of questions that are themselves the result.
	made
	// quoting says whose question it was.
	quoting
	// granting says by whose leave: for work done, one that was given.
	granting
	// affirming is a bare affirmation, as a whole prompt.
	affirming

	families
)

// tags is a set of families.
type tags uint64

func (t tags) has(f family) bool { return t&(1<<f) != 0 }

// names are the names of the families in the languages' tables.
var names = [families]string{
	"asking", "insisting", "continuing", "addressing", "naming", "waiting", "offering", "preferring", "closing", "opining", "handing", "pleading",
	"blocking", "blockedOnce", "finishing", "going", "hinging", "lacking", "summing", "answering", "stating", "reasoning", "musing", "wondering",
	"optional", "listing", "made", "quoting", "granting", "affirming",
}

func familyOf(name string) (f family, ok bool) {
	i := slices.Index(names[:], name)
	return family(i), i >= 0
}
