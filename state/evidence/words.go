package evidence

import (
	"beckon/event"
	"beckon/event/agents/beside"
	"beckon/event/transcript"
)

// Words returns the agent's last message in the transcript at path, and when it was written.
// It returns nothing if the agent has gone on since, or if o is another machine, whose files
// are not this one's.
func Words(o *event.Origin, path string) (text string, at event.Millis) {
	return LastWords(o, path, transcript.MaxText)
}

// Local reports whether o's files are on this machine.
func Local(o *event.Origin) bool { return o.Host == "" || o.Host == ThisMachine().Host }

// LastWords is Words cut to the last most bytes of the text.
func LastWords(o *event.Origin, path string, most int) (text string, at event.Millis) {
	if path == "" || !Local(o) {
		return "", 0
	}
	if beside.IsEvents(path) {
		return beside.LastWords(path)
	}
	last, _ := transcript.LastWords(path, transcript.Limits{Text: most}) // one that cannot be read has nothing
	return last.Text, last.At
}
