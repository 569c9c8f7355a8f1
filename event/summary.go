package event

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"beckon/event/redact"

	"github.com/tidwall/gjson"
)

// toolRow says which arguments describe a call of a tool: paths in its input (CONTRACT.md 12),
// of which the first present counts; a "+" before a path appends it to what was found.
type toolRow struct {
	tool  string
	label string // shown instead of the tool's name
	args  []string
}

// tools is compared by SameName, so that one row serves agents that use another letter case.
var tools = []toolRow{
	{tool: "AskUserQuestion", args: []string{"questions.#.question"}},
	{tool: "ExitPlanMode", label: "plan", args: []string{"plan"}},
	{tool: "TodoWrite", args: []string{`todos.#(status=="in_progress").content`, "todos.0.content"}},
	{tool: "TaskUpdate", args: []string{"taskId", "+status"}},
	{tool: "Skill", args: []string{"skill", "command", "+args"}},
	{tool: "SendMessage", args: []string{"to", "recipient", "+summary"}},
	{tool: "CronCreate", args: []string{"cron", "+prompt"}},
	{tool: "apply_patch", args: []string{"command", "input", "patch", "patchText"}},
}

// revealing lists the most descriptive arguments of all other tools.
var revealing = []string{
	"command", "cmd", "pattern", "query", "file_path", "filePath", "notebook_path", "absolute_path", "path", "dir_path",
	"url", "uri", "title", "subject", "name", "question",
	"description", "message", "text", "body", "prompt", "task_id", "shell_id", "bash_id", "id",
}

// maxRevealing is the longest argument shown for an unlisted tool.
const maxRevealing = 200

// summary returns a tool call as one line for people: printable UTF-8 of at
// most MaxSummary bytes, "Bash: npm test".
func summary(tool string, input gjson.Result, cwd string) string {
	if name, ok := strings.CutPrefix(tool, "mcp__"); ok {
		server, name, _ := strings.Cut(name, "__")
		return OneLine(server+": "+name+" "+summarizeAny(input, cwd), MaxSummary)
	}
	label, text := tool, ""
	row := slices.IndexFunc(tools, func(row toolRow) bool { return SameName(row.tool, tool) })
	if row >= 0 {
		label, text = cmp.Or(tools[row].label, tool), tools[row].summarize(input, cwd)
	} else {
		text = summarizeAny(input, cwd)
	}
	return OneLine(strings.TrimSuffix(label+": "+text, ": "), MaxSummary)
}

func (row *toolRow) summarize(input gjson.Result, cwd string) string {
	text := ""
	for _, path := range row.args {
		path, also := strings.CutPrefix(path, "+")
		if text != "" && !also {
			continue
		}
		text = strings.TrimSpace(text + " " + argument(path, input.Get(path), cwd))
	}
	return text
}

// summarizeAny returns the most descriptive argument of an input that no row describes: a
// well-known one, else the first short string.
func summarizeAny(input gjson.Result, cwd string) string {
	if !input.IsObject() {
		return argument("", input, cwd)
	}
	best, rank := "", len(revealing)+1
	input.ForEach(func(key, v gjson.Result) bool {
		r := slices.Index(revealing, key.Str)
		if r < 0 {
			r = len(revealing)
		}
		short := len(v.Raw) <= maxRevealing && v.Type == gjson.String
		if r < rank && (r < len(revealing) || short) {
			if s := argument(key.Str, v, cwd); s != "" {
				best, rank = s, r
			}
		}
		return rank > 0
	})
	return best
}

// argument returns the value of an argument, redacted, formatted according to its key.
func argument(key string, v gjson.Result, cwd string) string {
	switch {
	case v.Type == gjson.Number:
		return v.Raw
	case v.IsArray():
		return list(key, v)
	case v.Type != gjson.String:
		return ""
	}
	s := strings.TrimSpace(clean(v.Raw))
	switch {
	case strings.HasSuffix(strings.ToLower(key), "path"):
		return relative(s, cwd)
	case key == "url" || key == "uri":
		return address(s)
	case key == "plan": // its first line, which is a heading nearly always
		s, _, _ = strings.Cut(strings.TrimLeft(s, "# \t\r\n"), "\n")
	}
	return s
}

// list joins strings: the words of a command, else alternatives.
func list(key string, v gjson.Result) string {
	between := " "
	if strings.Contains(key, "#") {
		between = " | "
	}
	var b strings.Builder
	v.ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			if b.Len() > 0 {
				b.WriteString(between)
			}
			b.WriteString(clean(v.Raw))
		}
		return b.Len() < MaxText
	})
	return redact.Text(b.String()) // a word may say that the next is secret: --password x
}

// relative returns path relative to cwd if it is below it. Of a long path the end is kept,
// because it names the file.
func relative(path, cwd string) string {
	const most = MaxSummary * 3 / 4
	rest, below := strings.CutPrefix(path, strings.TrimSuffix(cwd, "/"))
	if name := strings.TrimLeft(rest, `/\`); below && cwd != "" && (rest == "" || name != rest) {
		path = cmp.Or(name, ".")
	}
	if len(path) <= most {
		return path
	}
	path = CutTail(path, most)
	return "…" + path[max(0, strings.IndexAny(path, `/\`)):]
}

// address returns host and path of a URL, without scheme, user and query, whose values may be
// secrets.
func address(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		url = rest
	}
	url = url[:strings.IndexAny(url+"?", "?#")]
	host, path, _ := strings.Cut(url, "/")
	return strings.TrimSuffix(host[strings.LastIndexByte(host, '@')+1:]+"/"+path, "/")
}

// OneLine returns s in one line of at most max bytes, cut with "…". Control characters are
// removed, with the colour and cursor sequences that they start; the content of a longer
// terminal sequence stays, so that a command can hide nothing in it. Characters that reorder
// or hide text are removed too.
func OneLine(s string, max int) string {
	var out []byte
	space := false
	for len(s) > 0 && len(out) <= max {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case unicode.IsSpace(r):
			space = len(out) > 0
		case r == 0x1b || r == 0x9b:
			n += controlLen(s[n:], r == 0x9b)
		case Unsafe(r):
		default:
			if space {
				out = append(out, ' ')
				space = false
			}
			out = utf8.AppendRune(out, r)
		}
		s = s[n:]
	}
	if len(out) > max {
		return Cut(string(out), max-len("…")) + "…"
	}
	return string(out)
}

// Unsafe reports whether r must not reach a terminal or a message: control characters, marks
// of text direction, and zero-width characters except those that join emoji.
func Unsafe(r rune) bool {
	return r < ' ' || 0x7f <= r && r <= 0x9f || r == 0xad || r == '\u061c' || r == '\u200b' || r == '\u200e' ||
		r == '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2060' <= r && r <= '\u206f' || r == '\ufeff' ||
		0xe0000 <= r && r <= 0xe007f
}

// controlLen returns how many bytes after an ESC (or, if csi, after a CSI) belong to it: all
// of a CSI sequence; of longer sequences what opens or ends them.
func controlLen(s string, csi bool) int {
	i := 0
	if !csi {
		if s == "" || strings.IndexByte(`[]PX^_\`, s[0]) < 0 {
			return 0
		}
		if i = 1; s[0] != '[' {
			return i
		}
	}
	for i < len(s) && ' ' <= s[i] && s[i] <= '?' {
		i++
	}
	if i < len(s) && '@' <= s[i] && s[i] <= '~' {
		i++
	}
	return i
}
