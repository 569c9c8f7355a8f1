// Package match says whether a rule covers a call: its tool, its commands,
// the files that it reads or writes, its words.
//
// A rule is compiled once and judged against a Call, which reads its command
// line once for all rules. Judging asks first what is cheap: a rule for another
// tool or program costs a look-up.
//
// A rule that refuses matches when anything of the call fits it. One that approves
// (Rule.Allow) matches when all of the call fits it. What cannot be seen from the
// call is Unsure, which is never an approval.
package match

// Call is a tool call, or a prompt, as rules see it. Its fields are not changed
// after the first Judge. It is not safe for concurrent use.
type Call struct {
	Tool   string // "" for an event that is not a tool call
	Input  []byte // the tool's input, a JSON object
	Prompt string // the prompt of an event that has one
	// Cwd is where relative paths begin, Project where patterns like ./x do,
	// Home is ~; absolute.
	Cwd, Project, Home string

	facts *facts
	globs map[string][]glob
}

// Result is what Judge says.
type Result uint8

// The results.
const (
	No Result = iota
	// Unsure: it cannot be seen from the call; the rule may cover it.
	Unsure
	Yes
)

// Verdict is how well a rule, or one of its conditions, fits a call.
type Verdict struct {
	Result Result
	// Why says what cannot be seen, when Unsure: "the flags come from $OPTS".
	Why string
}

// Conditions are what a call must fulfil. Of each list that is set one entry
// must fit, all of them the same command; without any every call fits.
type Conditions struct {
	// Commands are commands by their words: "git push --force", "rm -rf /",
	// "kubectl delete * --all". Flags are meant, not letters: -rf is
	// --recursive --force. A * in a word stands for anything. "curl | sh" is a
	// command whose output another one is fed.
	Commands []string
	// Regex are regular expressions (Go's), searched in a command's words joined
	// by one blank, without quotes, and in program texts. An approval needs one
	// that fits all of it.
	Regex []string
	// Paths are patterns of files that are read or written: a name or pattern
	// without a slash fits in any directory; ./x below the project; ~/x and /x
	// where they say; a/b below the project, too. ** spans directories.
	Paths []string
	// Words are texts that are in the prompt or the tool's input, in any case of
	// their letters.
	Words []string
}

// Rule is a rule as it is written.
type Rule struct {
	Conditions
	// Tools are matchers on the tool's name; all must take it. A shell command
	// that reads or writes a file counts as a Read, Write or Edit of it for a
	// rule with Paths that refuses.
	Tools []Matcher
	// Unless excepts what all of its conditions fit as an approval's do.
	Unless *Conditions
	// Allow: the rule approves. It takes only what it names, with flags that
	// the program's table calls harmless.
	Allow bool
	// Exact: commands fit with the very words that they are written with.
	Exact bool
}

// Problem is a mistake or a doubt about one entry of a rule.
type Problem struct {
	Field string // "commands", "regex", "paths", "words"; with "unless." before it
	What  string // in the words of an error
	// Doubt: the rule works and is probably not what is meant.
	Doubt bool
}
