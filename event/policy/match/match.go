// Package match says whether a rule covers a call: its tool, its commands, the files that it
// reads or writes, its words.
//
// A rule is compiled once and judged against a Call, which parses its command line once for
// all rules. Judge checks first what is cheap: a rule for another tool or program costs a
// look-up.
//
// A rule that refuses matches if any part of the call matches. One that approves (Rule.Allow)
// matches if the whole call does. What the call does not show is Unsure, which is never an
// approval.
package match

// Call is a tool call, or a prompt, as rules see it. Its fields must not change after the
// first Judge. It is not safe for concurrent use.
type Call struct {
	Tool   string // "" for an event that is not a tool call
	Input  []byte // the tool's input, a JSON object
	Prompt string // the prompt of an event that has one
	// Cwd is the base of relative paths, Project that of patterns like ./x, Home is ~;
	// absolute.
	Cwd, Project, Home string

	facts *facts
	globs map[string][]glob
}

// Result is the result of Judge.
type Result uint8

// The results.
const (
	No Result = iota
	// Unsure: the call does not show it; the rule may cover it.
	Unsure
	Yes
)

// Verdict says how well a rule, or one of its conditions, matches a call.
type Verdict struct {
	Result Result
	// Why says what cannot be seen, if Unsure: "the flags come from $OPTS".
	Why string
}

// Conditions are what a call must match: one entry of each list that is set, all for the same
// command. Without any, every call matches.
type Conditions struct {
	// Commands are commands by their words: "git push --force", "rm -rf /", "kubectl delete *
	// --all". Flags are compared by meaning: -rf is --recursive --force. A * in a word matches
	// anything. "curl | sh" is a command that is fed another one's output.
	Commands []string
	// Regex are Go regular expressions, searched in a command's words joined by single blanks,
	// without quotes, and in program texts. An approval needs one that matches the whole.
	Regex []string
	// Paths are patterns of files that are read or written: a name or pattern without a slash
	// matches in any directory; ./x below the project; ~/x and /x exactly there; a/b below the
	// project, too. ** spans directories.
	Paths []string
	// Words are texts in the prompt or the tool's input, ignoring letter case.
	Words []string
}

// Rule is a rule as written.
type Rule struct {
	Conditions
	// Tools are matchers for the tool's name; all must match. For a rule with Paths that
	// refuses, a shell command that reads or writes a file counts as a Read, Write or Edit of
	// it.
	Tools []Matcher
	// Unless excepts what all of its conditions match, as strictly as an approval's.
	Unless *Conditions
	// Allow: the rule approves. It covers only what it names, with flags that the program's
	// table calls harmless.
	Allow bool
	// Exact: commands match only with exactly the words as written.
	Exact bool
}

// Problem is an error or a doubt about one entry of a rule.
type Problem struct {
	Field string // "commands", "regex", "paths", "words"; with "unless." before it
	What  string // as an error message
	// Doubt: the rule is valid but probably not what is meant.
	Doubt bool
}
