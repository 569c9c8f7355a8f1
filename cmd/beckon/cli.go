package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/doctor"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/hook"
	"beckon/cmd/internal/noblock"
	"beckon/cmd/internal/policies"
	"beckon/cmd/internal/segment"
	"beckon/cmd/internal/setup"
	"beckon/cmd/internal/talk"
	handlers "beckon/event/policy/run"
	"beckon/event/typed"
	"beckon/render"
	"beckon/render/hosts"

	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// commands is the command line.
type commands struct {
	List    listCmd    `cmd:"" default:"withargs" group:"Look" brief:"sessions, who waits first" help:"List the sessions, the ones that need you first."`
	Watch   watchCmd   `cmd:"" group:"Look" brief:"a screen that follows them" help:"Show the sessions on a screen that follows them."`
	Show    showCmd    `cmd:"" group:"Look" brief:"all about one session" help:"Show everything known of one session."`
	History historyCmd `cmd:"" group:"Look" brief:"search what was said" help:"Search what was said, in all sessions."`
	Stats   statsCmd   `cmd:"" group:"Look" brief:"time, turns, tools, cost" help:"Show time at work and time spent waiting for you, turns, tools and cost, by day and project."`

	Jump   jumpCmd        `cmd:"" group:"Act" brief:"go to a session's pane" help:"Bring the pane of a session to the front."`
	Answer talk.AnswerCmd `cmd:"" group:"Act" brief:"answer what it asks" help:"Answer what a session asks: yes, no, always, an option or your own words."`
	Reply  talk.ReplyCmd  `cmd:"" group:"Act" brief:"send its next prompt" help:"Send a message to a session whose turn is over."`
	Stop   talk.StopCmd   `cmd:"" group:"Act" brief:"end its turn" help:"Stop a session before its next tool call."`
	Mark   markCmd        `cmd:"" user:"marking a session" group:"Act" brief:"seen, aside, label" help:"Mark a session as seen, set it aside, take it back, label or hide it."`
	Away   talk.AwayCmd   `cmd:"" group:"Act" brief:"hold requests for you" help:"Hold subagents' requests for you while you are away; off: you are back."`
	Wait   waitCmd        `cmd:"" group:"Act" brief:"until one needs you" help:"Wait until a session needs you, and print its row."`

	Prompt     segment.Prompt     `cmd:"" group:"Elsewhere" brief:"a segment for prompts" help:"Print a short segment for shell prompts and bars; nothing when no session needs you."`
	Statusline segment.Statusline `cmd:"" group:"Elsewhere" brief:"Claude Code's status line" help:"Print Claude Code's status line: this session, and the others that need you."`
	Notify     notifyCmd          `cmd:"" group:"Elsewhere" brief:"test notices; why, why not" help:"Test notifications, or tell why there was one or none."`
	Serve      serveCmd           `cmd:"" group:"Elsewhere" brief:"a web page, on a phone, too" help:"Serve a web page that follows the sessions, an HTTP API and live events."`
	Fleet      fleets.Cmd         `cmd:"" group:"Elsewhere" brief:"sessions of many machines" help:"Show the sessions of many machines in one list, through a NATS server."`

	Policy policies.Cmd `cmd:"" group:"Rules" brief:"rules that answer the hooks" help:"Check, test and trust policies: the rules that answer the hooks."`

	Setup  setup.Cmd  `cmd:"" group:"Set up" brief:"all that it needs, by steps" help:"Set beckon up on this machine: hooks, PATH, status line, notifications and more."`
	Init   initCmd    `cmd:"" group:"Set up" brief:"lines for shells and tmux" help:"Print the lines that show the segment of prompt in a shell, tmux or starship."`
	Doctor doctor.Cmd `cmd:"" group:"Set up" brief:"check the installation" help:"Check the installation with a real event, and measure what a hook costs here."`
	Config configCmd  `cmd:"" group:"Set up" brief:"the configuration in force" help:"Print the configuration in force, and where each value comes from."`
	Demo   demoCmd    `cmd:"" group:"Set up" brief:"play recorded sessions" help:"Play recorded sessions; nothing has to be set up."`
	Help   helpCmd    `cmd:"" group:"Set up" brief:"the manual, page by page" help:"Print a page of the manual or the usage of a command; without either, list both."`

	Mod  talk.ModCmd `cmd:"" hidden:"" help:"Print what beckon's mod inside the client shows, as JSON."`
	Hook hookCmd     `cmd:"" hidden:"" help:"Process one hook event from stdin, as beckon-hook does."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// app is what the commands share.
type app struct{ *cli.App }

// sessionHelp describes the SESSION argument (App.Find).
const sessionHelp = "A session: its id, name, project or branch, or a part of one that no other session has"

// run is the whole program without the exit.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	if len(args) > 0 && args[0] == "hook" && !(len(args) > 1 && (args[1] == "--help" || args[1] == "-h")) {
		// Before kong, which costs time.
		code := hook.Main(args[1:], stdin, stdout, stderr, getenv, handlers.Starter{})
		if code != cli.ExitOK {
			noblock.Off() // exit code 2 is the answer itself where the contract has no other way
		}
		return code
	}
	noblock.Off()
	a := &app{&cli.App{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv}}
	args = a.renew(args)
	if code, ok := a.quick(args); ok {
		return code
	}
	code := -1
	line := &commands{}
	parser, err := kong.New(line, kong.Name("beckon"),
		kong.Description("Tell which of your coding-agent sessions needs you. Without a command, list them."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(printHelp),
		kong.Vars{"session": sessionHelp, "version": versionLine()}, kong.Bind(a, a.App, segment.Fleet(a.inFleet)))
	if err != nil {
		return a.Fail(err)
	}
	parser.Model.HelpFlag.Help = "Print this help."
	if len(args) > 0 && args[0] == "__complete" {
		return a.runComplete(parser.Model.Node, args[1:])
	}
	ctx, err := parser.Parse(args)
	if code >= 0 { // --help or --version
		return code
	}
	a.Command = commandOf(ctx, err)
	if err != nil {
		return a.Fail(cli.Usage("%w", a.misspelt(parser.Model.Node, args, plainly(err))))
	}
	// help and init read no file of the user's, and so need no home.
	if err := a.Open(); err != nil && a.Command != "beckon help" && a.Command != "beckon init" {
		return a.Fail(err)
	}
	if err := a.mayRun(ctx); err != nil {
		return a.Fail(err)
	}
	return a.Fail(ctx.Run(a))
}

// mayRun returns an error if an agent runs a command, or gives a flag, that has the tag user: an
// agent that could mute, hide or undo what tells the user of it would be an agent that nobody
// watches. The tag is a noun phrase. What depends on arguments is checked by the command.
func (a *app) mayRun(ctx *kong.Context) error {
	for _, p := range ctx.Path {
		var tag *kong.Tag
		switch {
		case p.Command != nil:
			tag = p.Command.Tag
		case p.Flag != nil:
			tag = p.Flag.Tag
		}
		if tag != nil && tag.Has("user") {
			return a.InAgent(tag.Get("user"))
		}
	}
	return nil
}

// commandOf returns the command that was parsed, as far as kong understood it.
func commandOf(ctx *kong.Context, err error) string {
	if bad, ok := errors.AsType[*kong.ParseError](err); ok {
		ctx = bad.Context
	}
	if ctx == nil || ctx.Selected() == nil {
		return ""
	}
	name, _, _ := strings.Cut(ctx.Selected().FullPath(), " (") // its other names
	return name
}

// misspelt returns err, or a better error when the first argument is not a command: list,
// which runs without a command, takes no words.
func (a *app) misspelt(root *kong.Node, args []string, err error) error {
	if a.Command != "beckon list" || strings.HasPrefix(args[0], "-") || args[0] == "list" {
		return err
	}
	a.Command = ""
	return cli.Hint(didYouMean(args[0], "beckon", root, nil), "no command %q", args[0])
}

// didYouMean returns advice for a word that is neither a command of node nor one of others, ""
// if none is near.
func didYouMean(word, before string, node *kong.Node, others []string) string {
	for _, n := range node.Children {
		others = append(others, n.Name)
	}
	if near := typed.Nearest(word, others); near != "" {
		return "did you mean " + before + " " + near + "?"
	}
	return ""
}

// plainly returns kong's error without Go's types and without quotes around what the user
// types.
func plainly(err error) error {
	text := err.Error()
	for _, w := range [...][2]string{
		{`^expected one of (.*)`, "a command is missing: $1"},
		{`^expected "(<.*)"$`, "missing: $1"},
		{`expected \w+ value but got "EOL".*|missing value, expecting .*`, "a value is missing"},
		{`expected \w+ value but got (".*") \(.*\); perhaps try (.*)\?`, "$1 looks like a flag; give it as $2"},
		{`expected a valid \d+ bit int but got (".*")`, "$1 is not a whole number"},
		{`expected a float but got (".*") \(.*\)`, "$1 is not a number"},
		{`must be one of (?:"",)?"(.*)" but got`, "must be one of $1, not"},
	} {
		text = regexp.MustCompile(w[0]).ReplaceAllString(text, w[1])
	}
	return errors.New(strings.ReplaceAll(text, `","`, ", "))
}

func versionLine() string {
	return fmt.Sprintf("beckon %s %s/%s %s", cli.Version(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// hookCmd exists for its help; run handles the command before kong.
type hookCmd struct {
	Event string `arg:"" optional:"" help:"The event's name, when the payload has none."`
	Agent string `help:"Which agent sends the payload." default:"claude-code"`
	Via   string `help:"Which install the entry belongs to: plugin, or nothing." placeholder:"NAME"`
}

func (*hookCmd) Run() error { return nil }

// renamings are the command lines of earlier releases, by their first words, and what does the same
// now. They work as before.
var renamings = map[string]string{
	"aside":                "mark --aside",
	"backburner":           "mark --aside",
	"back":                 "away off",
	"completion":           "init --completion",
	"digest":               "stats --since=away",
	"explain":              "show --why",
	"fsck --rebuild":       "doctor --repair",
	"fsck":                 "doctor",
	"install --agent":      "setup --agent",
	"install --answers":    "setup hooks answers",
	"install --mod":        "setup hooks mod",
	"install --statusline": "setup hooks statusline",
	"install":              "setup hooks",
	"link":                 "fleet link",
	"man":                  "help --man",
	"pick":                 "watch",
	"remove":               "mark --remove",
	"replay":               "demo --list",
	"seen --pane":          "mark --seen --pane",
	"seen":                 "mark --seen",
	"uninstall":            "setup --undo",
	"version":              "--version",
}

// written are those whose output goes into files, or to nobody.
var written = []string{"completion", "link", "man", "seen --pane", "version"}

// renamed returns a command line in the words of today, and the earlier ones; "" if it has none.
func renamed(args []string) (now []string, was string) {
	for n := min(2, len(args)); n > 0; n-- {
		was := strings.Join(args[:n], " ")
		if is, ok := renamings[was]; ok {
			ofAgent := func(arg string) bool { return strings.HasPrefix(arg, "--agent") }
			if was == "install" && slices.ContainsFunc(args, ofAgent) { // not Claude Code's hooks, too
				is = "setup"
			}
			return append(strings.Fields(is), args[n:]...), was
		}
	}
	return args, ""
}

// renew is renamed, and says on a terminal what the words of today are.
func (a *app) renew(args []string) []string {
	now, was := renamed(args)
	f, ok := a.Stderr.(*os.File)
	if ok && was != "" && !slices.Contains(written, was) && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(f, "beckon: %s is now: beckon %s\n", was, renamings[was])
	}
	return now
}

// quick runs the commands that a status line, a prompt or a user waits for, without kong (half
// of the cost of the first two, a fifth of a list of 100 sessions), and reports whether it
// did. It leaves arguments that it does not understand to kong, to print help or an error.
func (a *app) quick(args []string) (code int, ok bool) {
	if code, ok := segment.Main(a.App, args, a.inFleet); ok || len(args) == 0 {
		return code, ok
	}
	var show func() error
	switch args[0] {
	case "mod":
		ok = len(args) == 2 && !strings.HasPrefix(args[1], "-")
		show = func() error { return (&talk.ModCmd{Session: args[1]}).Run(a.App) }
	case "list":
		c := listCmd{}
		ok, show = segment.Flags(args[1:], &c), func() error { return c.Run(a) }
	}
	if !ok {
		return 0, false
	}
	return segment.Run(a.App, args[0], show), true
}

// inFleet adds the known sessions of other machines to rows.
func (a *app) inFleet(rows []render.Row) []render.Row {
	return hosts.Merge(a.Queue(""), rows, fleets.Known(a.App))
}
