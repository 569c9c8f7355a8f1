package main

import (
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"beckon/cmd/internal/answer"
	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/doctor"
	"beckon/cmd/internal/fleets"
	"beckon/cmd/internal/noblock"
	"beckon/cmd/internal/policies"
	"beckon/cmd/internal/setup"
	"beckon/cmd/internal/talk"
	"beckon/event/nearest"
	handlers "beckon/event/policy/run"

	"github.com/alecthomas/kong"
)

// commands is the command line; each command has a file.
type commands struct {
	List       listCmd            `cmd:"" default:"withargs" help:"List the sessions, the ones that need you first."`
	Watch      watchCmd           `cmd:"" help:"Show the sessions on a screen that follows them."`
	Show       showCmd            `cmd:"" help:"Show everything known of one session."`
	Explain    explainCmd         `cmd:"" help:"Tell why a session is in its state."`
	History    historyCmd         `cmd:"" help:"Search what was said, in all sessions."`
	Stats      statsCmd           `cmd:"" help:"Show time at work and time spent waiting for you, turns, tools and cost, by day and project."`
	Digest     digestCmd          `cmd:"" help:"Show what ended, asked and failed while you were away."`
	Answer     talk.AnswerCmd     `cmd:"" help:"Answer what a session asks: yes, no, always, an option or your own words."`
	Reply      talk.ReplyCmd      `cmd:"" help:"Say something to a session whose turn is over."`
	Stop       talk.StopCmd       `cmd:"" help:"Make a session end its turn at its next tool call."`
	Away       talk.AwayCmd       `cmd:"" help:"Say that you are away: what subagents ask is then held for your answer, too."`
	Back       talk.BackCmd       `cmd:"" help:"Say that you are back."`
	Jump       jumpCmd            `cmd:"" help:"Bring the pane of a session to the front."`
	Pick       pickCmd            `cmd:"" help:"Choose a session by typing parts of its line, then jump to it, show it or list what it asks."`
	Seen       seenCmd            `cmd:"" help:"Mark a session as seen: it is no longer (new)."`
	Aside      asideCmd           `cmd:"" aliases:"backburner" help:"Set a session aside until your own next prompt to it."`
	Remove     removeCmd          `cmd:"" help:"Take a session off the list until it is heard of again."`
	Statusline statuslineCmd      `cmd:"" help:"Print Claude Code's status line: this session, and the others that need you."`
	Prompt     promptCmd          `cmd:"" help:"Print a short segment for shell prompts and bars; nothing when no session needs you."`
	Init       initCmd            `cmd:"" help:"Print the lines that make a shell, tmux or starship show that segment."`
	Notify     notifyCmd          `cmd:"" help:"Test notifications, or tell why there was one or none."`
	Serve      serveCmd           `cmd:"" help:"Serve a web page that follows the sessions, an HTTP API and live events."`
	Link       fleets.LinkCmd     `cmd:"" hidden:"" help:"Publish this machine's sessions to a fleet: beckon fleet link."`
	Fleet      fleets.Cmd         `cmd:"" help:"Show the sessions of many machines in one list, through a NATS server."`
	Policy     policies.Cmd       `cmd:"" help:"Check, test and trust policies: the rules that answer the hooks."`
	Setup      setup.Cmd          `cmd:"" help:"Set beckon up on this machine, step by step: hooks, PATH, status line, notifications and more."`
	Install    setup.InstallCmd   `cmd:"" help:"Add the hooks to the settings of Claude Code, or of other agents."`
	Uninstall  setup.UninstallCmd `cmd:"" help:"Remove the hooks again."`
	Plugin     setup.PluginCmd    `cmd:"" help:"Make a Claude Code plugin that runs the hooks, to use instead of install."`
	Doctor     doctor.Cmd         `cmd:"" help:"Check the installation with a real event, and measure what a hook costs here."`
	Config     configCmd          `cmd:"" help:"Print the configuration in force, and where each value comes from."`
	Demo       demoCmd            `cmd:"" help:"Show beckon with recorded sessions; nothing has to be set up."`
	Replay     replayCmd          `cmd:"" help:"Play your own recordings, and list the sessions as they change."`
	Fsck       doctor.RepairCmd   `cmd:"" hidden:"" help:"List the state files that could not be read."`
	Mod        talk.ModCmd        `cmd:"" hidden:"" help:"Print what beckon's mod inside the client shows, as JSON."`
	Hook       hookCmd            `cmd:"" help:"Process one hook event from stdin, as beckon-hook does."`
	Completion completionCmd      `cmd:"" help:"Print the completion script for a shell."`
	Help       helpCmd            `cmd:"" help:"Print a page of the manual or the usage of a command; without either, list both."`
	Man        manCmd             `cmd:"" help:"Print the manual as a man page; to read it: beckon man | man -l -"`
	Version    versionCmd         `cmd:"" help:"Print the version."`

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
		code := answer.Main(args[1:], stdin, stdout, stderr, getenv, handlers.Starter{}, nil) // before kong, which costs time
		if code != cli.ExitOK {
			noblock.Off() // exit code 2 is the answer itself where the contract has no other way
		}
		return code
	}
	noblock.Off()
	if pane, ok := seenPane(args); ok {
		return runSeenPane(pane, stderr, getenv) // a tmux focus hook, run whenever the user changes panes
	}
	a := &app{&cli.App{Stdin: stdin, Stdout: stdout, Stderr: stderr, Getenv: getenv}}
	if code, ok := a.quick(args); ok {
		return code
	}
	code := -1
	line := &commands{}
	parser, err := kong.New(line, kong.Name("beckon"),
		kong.Description("Tell which of your coding-agent sessions needs you. Without a command, list them."),
		kong.Writers(stdout, stderr), kong.Exit(func(c int) { code = c }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Vars{"session": sessionHelp, "version": versionLine()}, kong.Bind(a, a.App))
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
	if err := a.Open(); err != nil && !slices.Contains(stateless, a.Command) {
		return a.Fail(err)
	}
	if err := a.mayRun(ctx); err != nil {
		return a.Fail(err)
	}
	return a.Fail(ctx.Run(a))
}

// mayRun returns an error for what acts for the user, if an agent runs it.
func (a *app) mayRun(ctx *kong.Context) error {
	flag := func(name string) bool {
		return slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == name })
	}
	what := cli.ForUser(a.Command, flag, ctx.Args)
	if what == "" {
		return nil
	}
	return a.InAgent(what)
}

// stateless are the commands that read no file of the user's, and so need no home.
var stateless = []string{"beckon help", "beckon man", "beckon version", "beckon completion", "beckon init", "beckon policy schema", "beckon policy example"}

// commandOf returns the command that was parsed, as far as kong understood it.
func commandOf(ctx *kong.Context, err error) string {
	var bad *kong.ParseError
	if errors.As(err, &bad) {
		ctx = bad.Context
	}
	if ctx == nil || ctx.Selected() == nil {
		return ""
	}
	words := []string{}
	for n := ctx.Selected(); n.Parent != nil; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return strings.Join(append([]string{"beckon"}, words...), " ")
}

// misspelt returns err, or a better error when the first argument is not a command: list,
// which runs without a command, takes no words.
func (a *app) misspelt(root *kong.Node, args []string, err error) error {
	if a.Command != "beckon list" || strings.HasPrefix(args[0], "-") || args[0] == "list" {
		return err
	}
	a.Command = ""
	var names []string
	for _, n := range root.Children {
		names = append(names, n.Name)
	}
	advice := ""
	if near := nearest.Word(args[0], names); near != "" {
		advice = "did you mean beckon " + near + "?"
	}
	return cli.Hint(advice, "no command %q", args[0])
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
