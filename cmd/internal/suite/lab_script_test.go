//go:build unix

package suite

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Reply is an assistant message of a script, or an API error.
type Reply struct {
	Text   string
	Tools  []Tool
	Delay  time.Duration // before anything is sent
	Pace   time.Duration // between two words of Text
	Status int           // not 0: an HTTP error with this status
	Error  string        // its error type
	Tokens int           // input tokens reported; 0 means defaultTokens
	Limits bool          // with the usage of a subscriber's two windows, $1 and $2 percent
}

func (r Reply) tokens() int { return cmp.Or(r.Tokens, defaultTokens) }

// Tool is a tool call. Input is JSON in which $* stands for the words after the script's name
// and $1, $2 ... for one of them.
type Tool struct {
	Name  string
	Input string
}

const defaultTokens = 1200

// nap sleeps without the word "sleep", which some versions of the client treat specially. Home
// puts it into the project and allows it.
const nap = "./nap "

func bash(command, description string) Tool {
	return Tool{"Bash", object("command", command, "description", description)}
}

func agent(description, prompt string) Tool {
	return Tool{"Agent", object("description", description, "prompt", prompt, "subagent_type", "general-purpose")}
}

// background is an agent that runs in the background.
func background(prompt string) Tool { return with(agent("naps", prompt), `"run_in_background":true`) }

func object(pairs ...string) string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	b, _ := json.Marshal(m) // a map of strings always marshals
	return string(b)
}

func with(t Tool, member string) Tool {
	t.Input = strings.TrimSuffix(t.Input, "}") + "," + member + "}"
	return t
}

func write(file string) Tool {
	return Tool{"Write", object("file_path", file, "content", "hello\n")}
}

func read(file string) Tool { return Tool{"Read", object("file_path", file)} }

func say(text string) Reply { return Reply{Text: text} }

func call(tools ...Tool) Reply { return Reply{Tools: tools} }

func apiError(status int, kind string) []Reply { return []Reply{{Status: status, Error: kind}} }

const colours = `{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[` +
	`{"label":"Red","description":"warm"},{"label":"Blue","description":"cool"}]}`

const fruits = `{"question":"Which fruits?","header":"Fruit","multiSelect":true,"options":[` +
	`{"label":"Apple","description":"crisp"},{"label":"Pear","description":"soft"},{"label":"Plum","description":"dark"}]}`

// scripts are the server's answers, by the word after "lab:" in the user's last prompt: one
// Reply for each request of that turn, with the last one repeated.
var scripts = map[string][]Reply{
	"hi":       {say("Hi there. Everything is done; the work is complete.")},
	"limits":   {{Text: "That took its share.", Limits: true}},
	"question": {say("I looked at both. Which one should I use, the first or the second?")},
	"slow":     {{Text: strings.Repeat("Word after word this answer goes on. ", 40), Pace: 150 * time.Millisecond}},
	"words":    {{Text: strings.Repeat("One word and another, slowly.\n\n", 6) + "That is the end of it.", Pace: 200 * time.Millisecond}},
	"hang":     {{Text: "That took a while.", Delay: 30 * time.Second}},
	"think":    {{Text: "Here is the late answer.", Delay: 5 * time.Second}},

	"bash":     {{Text: "Running it.", Tools: []Tool{bash("$*", "run it")}}, say("It ran. Done.")},
	"long":     {call(bash(nap+"$*", "nap")), say("The nap is over.")},
	"many":     append(slices.Repeat([]Reply{call(bash(nap+"0", "nap"))}, 20), say("That was many.")),
	"fail":     {call(bash(nap+"badly", "fail")), say("That failed; I stop here.")},
	"bg":       {call(with(bash(nap+"15 && echo bgdone", "bg"), `"run_in_background":true`)), say("Running in the background.")},
	"parallel": {call(bash(nap+"0.3 && echo a", "a"), bash(nap+"0.6 && echo b", "b"), bash(nap+"0.1 && echo c", "c")), say("All three ran.")},
	"reads":    {call(bash("ls", "list"), bash("pwd", "where"), Tool{"Read", `{"file_path":"$PROJ/README.md"}`}), say("Looked around.")},

	"denied":    {call(write("$PROJ/denied.txt")), {Text: "It was not to be.", Delay: 6 * time.Second}},
	"write":     {call(write("$PROJ/$1")), say("Wrote the note.")},
	"perms":     {call(write("$PROJ/one.txt"), bash("touch two.txt", "touch"), write("$PROJ/three.txt")), say("All three are written.")},
	"permreads": {call(read("$OUT/a.txt"), read("$OUT/b.txt"), read("$OUT/c.txt")), say("Read all three.")},
	"permlong":  {call(bash("touch long.txt && sh nap $*", "a long one")), say("The long one ended.")},

	"ask":      {call(Tool{"AskUserQuestion", `{"questions":[` + colours + `]}`}), say("You chose. Finished.")},
	"askmulti": {call(Tool{"AskUserQuestion", `{"questions":[` + fruits + `]}`}), say("You chose some. Finished.")},
	"asktwo":   {call(Tool{"AskUserQuestion", `{"questions":[` + colours + `,` + fruits + `]}`}), say("You chose twice. Finished.")},
	"plan": {
		call(Tool{"Write", object("file_path", "$PLAN", "content", "1. Look.\n2. Write it down.\n")}),
		call(Tool{"ExitPlanMode", `{}`}), say("The plan is under way."),
	},
	"message": {call(Tool{"SendMessage", `{"to":"$1","summary":"a greeting","message":"Please look at the build."}`}), say("The message is sent.")},
	"form":    {call(Tool{"mcp__form__ask", `{}`}), say("The form came back.")},
	"todo": {
		call(Tool{"TaskCreate", `{"subject":"First","description":"d1","activeForm":"Doing first"}`}),
		call(Tool{"TaskUpdate", `{"taskId":"1","status":"in_progress"}`}),
		call(Tool{"TaskUpdate", `{"taskId":"1","status":"completed"}`}),
		say("Tasks are done."),
	},

	"sub":         {call(with(agent("look around", "lab:subwork"), `"run_in_background":false`)), say("The subagent is back. Done.")},
	"subbg":       {call(with(agent("bg one", "lab:subslow"), `"run_in_background":true`)), say("Started it in the background.")},
	"subperm":     {call(agent("asks", "lab:subwrite")), say("It is on its way.")},
	"subpermbusy": {call(agent("asks", "lab:subwrite"), agent("keeps busy", "lab:subbusy")), say("Both are on their way.")},
	"subask":      {call(background("lab:subnap 25")), say("It is on its way. Which one should I use meanwhile, the first or the second?")},
	"subwait":     {call(background("lab:subnap 10")), say("I'll wait for the agent's completion notification before I touch any file.")},
	"subfail":     append([]Reply{call(background("lab:subnap 25"))}, apiError(400, "invalid_request_error")...),
	"subfailtwo":  append([]Reply{call(background("lab:subnap 6"), background("lab:subnap 60"))}, apiError(400, "invalid_request_error")...),
	"subnap":      {call(bash(nap+"$1", "naps")), say("The agent has napped.")},
	"subwork":     {call(bash("echo from-subagent", "echo")), say("Subagent result.")},
	"subslow":     {call(bash(nap+"4 && echo slow", "slow")), say("Slow subagent result.")},
	"subwrite":    {call(bash(nap+"1", "first")), call(write("$PROJ/from-subagent.txt")), say("Subagent wrote it.")},
	"subhalt":     {call(agent("first", "lab:subone"), agent("second", "lab:subtwo")), say("Both are on their way.")},
	"subone":      {call(bash(nap+"4", "naps")), call(bash("touch one.txt", "goes on")), say("The first went on.")},
	"subtwo":      {call(bash(nap+"6", "naps")), call(bash("touch two.txt", "goes on")), say("The second went on.")},
	"subbusy": {
		call(bash(nap+"0.7", "b1")), call(bash(nap+"0.7", "b2")), call(bash(nap+"0.7", "b3")), call(bash(nap+"0.7", "b4")),
		call(bash(nap+"0.7", "b5")), call(bash(nap+"0.7", "b6")), call(bash(nap+"0.7", "b7")), call(bash(nap+"0.7", "b8")),
		say("Busy subagent result."),
	},

	"nested": {call(bash("claude -p 'lab:bash "+nap+"3'", "nested")), say("The nested one answered.")},
	"huge":   {{Tools: []Tool{bash(nap+"1", "h1")}, Tokens: 990_000}, {Tools: []Tool{bash(nap+"1", "h2")}, Tokens: 990_000}, say("Survived.")},

	"overload": apiError(529, "overloaded_error"),
	"auth":     apiError(401, "authentication_error"),
	"badreq":   apiError(400, "invalid_request_error"),
	"flaky":    {{Status: 529, Error: "overloaded_error"}, say("It worked the second time.")},

	// A question to a judge (event/policy/run): it has no tools.
	"judgeallow":    {say("ALLOW: it only looks.")},
	"judgeblock":    {say("BLOCK: it deletes the lab.")},
	"judgecontinue": {say("CONTINUE")},
	"judgeunsure":   {say("Hard to say. ALLOW, perhaps.")},

	// Nobody types these: the client itself asks. Auto mode's check refuses what names a harmful file.
	"harmful":   {say("<severity>90</severity><category>Data Exfiltration</category>")},
	"harmless":  {say("<severity>0</severity>")},
	"continued": {say("Survived the compaction.")},
	"notified":  {say("Noted: the background work ended.")},
	"summary":   {{Text: "<summary>The user tried a few things and was content with all of them.</summary>", Pace: 150 * time.Millisecond}},
	"plain":     {say("Nothing to do.")},
	"aside":     {say(`{"title":"Lab","isNewTopic":false}`)},
}

var labWord = regexp.MustCompile(`lab:([a-z]+)[ \t]*([^\n<]*)`)

// fill replaces $*, $1.., $PROJ, $OUT (next to the project), $PLAN and $AGENT in a tool input,
// JSON-quoted.
func fill(input, args, project, plan, agent string) string {
	out := filepath.Join(filepath.Dir(project), "outside")
	pairs := []string{"$*", quoted(args), "$PROJ", quoted(project), "$OUT", quoted(out), "$PLAN", quoted(plan), "$AGENT", quoted(agent)}
	for i, w := range strings.Fields(args) {
		pairs = append(pairs, "$"+string(rune('1'+i)), quoted(w))
	}
	return strings.NewReplacer(pairs...).Replace(input)
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b[1 : len(b)-1])
}
