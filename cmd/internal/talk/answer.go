// Package talk is what the user says to sessions: `beckon answer`, `reply`, `stop`, `away` and
// `back`.
package talk

import (
	"bufio"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/setup"
	"beckon/event"
	"beckon/installer"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/request"
	"beckon/state/store"
)

// AnswerCmd is `beckon answer`.
type AnswerCmd struct {
	Words   []string `arg:"" optional:"" name:"session-answer" help:"A session, or the id of one request; then your answer: yes, no, always, the number of an option, or words (default: list what is open)."`
	Message string   `short:"m" help:"With no: what to tell the agent." placeholder:"TEXT"`
	JSON    bool     `name:"json" help:"Print the open requests as JSON."`
	remote
}

// Run lists the open requests, or answers one.
func (c *AnswerCmd) Run(a *cli.App) error {
	if c.Fleet {
		if len(c.Words) == 0 {
			return cli.Usage("--fleet needs a session, as beckon list --fleet shows it")
		}
		verb := []string{"answer"}
		if c.Message != "" {
			verb = append(verb, "--message="+c.Message)
		}
		return elsewhere(a, c.Words[0], verb, c.Words[1:]...)
	}
	list, err := Requests(a, "", false)
	if err != nil {
		return err
	}
	if len(c.Words) == 0 {
		return c.list(a, list)
	}
	target, words, err := c.target(a, list)
	if err != nil {
		return err
	}
	return c.one(a, target, words)
}

// target returns the requests that the first words name, or else the only one, and the other words.
func (c *AnswerCmd) target(a *cli.App, list []card.Request) (of []card.Request, words []string, err error) {
	first := c.Words[0]
	begins := strings.ToUpper(first)
	i := slices.IndexFunc(list, func(o card.Request) bool { return len(first) >= 4 && strings.HasPrefix(o.ID, begins) })
	if i >= 0 {
		return list[i : i+1], c.Words[1:], nil
	}
	// More digits than one may be the beginning of a session's id.
	answers := regexp.MustCompile(`^(yes|no|always|y|n|[1-9](,[1-9])*)$`).MatchString(first)
	if answers && len(c.Words) <= 2 {
		if len(list) == 1 {
			return list, c.Words, nil
		}
		if len(list) > 1 {
			return nil, nil, cli.Hint("beckon answer lists them; give a session or an id first",
				"%d requests are open: which one?", len(list))
		}
		return nil, nil, cli.NotFound("beckon setup answers lets you answer what sessions ask from here on",
			"no session waits for an answer")
	}
	if id, became := request.In(a.Store.Dir).Past(begins); became != nil && len(first) >= 4 {
		return nil, nil, cli.Late("request %s: %w", id[:5], became)
	}
	v, err := a.Find(first)
	if err != nil {
		return nil, nil, notHere(a, err)
	}
	of = slices.DeleteFunc(list, func(o card.Request) bool { return o.Record != v.Session.Record() })
	if len(of) == 0 {
		return nil, nil, notOffered(a, v)
	}
	return of, c.Words[1:], nil
}

// notOffered returns why a session has nothing to answer.
func notOffered(a *cli.App, v state.Seen) error {
	const there = "beckon jump brings you there"
	name := cli.ShortID(v.Session.ID)
	own := installer.InspectFile(setup.Settings(a, installer.User))
	on := slices.ContainsFunc(own.Entries, installer.Entry.Answers)
	not := func(hint, why string) error { return cli.NotFound(hint, "session %s %s", name, why) }
	switch ag := event.AgentOf(v.Session.Agent); {
	case !v.Status.State.Live():
		return not("", "is over")
	case !v.Status.State.Asks():
		return not("for sessions that ask nothing there are beckon reply and beckon stop", "asks nothing")
	case v.Status.Call.Kind == state.WaitForm:
		return not(there+"; beckon show "+name+" shows it", "waits with a form, which is filled in only where it runs")
	case ag == nil || ag.Name != event.ClaudeCode && !ag.Holds():
		return not(there+"; beckon help agents says which agents can be answered from elsewhere, and why the others cannot",
			"waits, and "+v.Session.Agent+" can be answered only where it runs")
	case ag.Name == event.ClaudeCode && !on:
		return cli.NotFound(there, "answers are off: beckon setup answers turns them on, for what is asked from then on")
	}
	return not(there+"; beckon away lets you answer subagents, too",
		"asked before beckon setup answers, or its subagent asks")
}

// one answers the only request of a list. What the user has not seen is shown before it is allowed.
func (c *AnswerCmd) one(a *cli.App, list []card.Request, words []string) error {
	o := &list[0]
	id := "beckon answer " + o.ShortID()
	switch {
	case len(words) == 0:
		return c.list(a, list)
	case len(list) > 1:
		return cli.Hint("give the id of one: "+id+" "+strings.Join(words, " "),
			"%d requests of it are open: which one?", len(list))
	}
	ans, err := c.answer(o, words)
	if err != nil {
		return err
	}
	if err := mayAnswer(a); err != nil {
		return err
	}
	if err := o.Card.May(ans.Word); err != nil {
		return cli.Hint("beckon jump brings you there; "+id+" no refuses it", "%w", err)
	}
	if ans.Word == request.Allow && !request.In(a.Store.Dir).Shown(o.ID) {
		if !a.Attended() {
			return cli.Hint(id+" shows it", "you have not been shown what this allows")
		}
		Show(a, o)
		verb := map[request.Kind]string{request.Question: "Answer", request.Plan: "Approve"}[o.Kind]
		fmt.Fprintf(a.Stdout, "%s this? [y/N] ", cmp.Or(verb, "Allow"))
		line, err := bufio.NewReader(a.Stdin).ReadString('\n')
		if err != nil && line == "" {
			fmt.Fprintln(a.Stdout)
		}
		if !slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(line))) {
			return cli.ErrSilent
		}
	}
	return give(a, o, ans)
}

// mayAnswer returns an error for anyone but the user: an agent must not answer itself.
func mayAnswer(a *cli.App) error {
	if err := a.InAgent("answering an agent"); err != nil {
		return err
	}
	if err := evidence.OwnTerminal(); err != nil {
		return cli.Hint("run it in the foreground of a terminal of your own",
			"only you may answer an agent, and this command may not be yours: %w", err)
	}
	return nil
}

// answer turns words into an answer to a request.
func (c *AnswerCmd) answer(o *card.Request, words []string) (ans request.Answer, err error) {
	ans = request.Answer{Request: o.ID, Digest: o.Digest, Message: c.Message, From: request.Terminal}
	text := strings.Join(words, " ")
	switch word := strings.ToLower(words[0]); {
	case word == "no" || word == "n":
		ans.Word = request.Deny
		if len(words) > 1 {
			ans.Message = cmp.Or(c.Message, strings.Join(words[1:], " "))
		}
	case o.Kind == request.Question:
		questions := o.Choices()
		if len(questions) == 1 {
			words = []string{text}
		}
		if len(words) != len(questions) {
			return ans, cli.Usage("there are %d questions: give as many answers, in quotes where they have blanks",
				len(questions))
		}
		ans.Word, ans.Choices = request.Allow, map[string]string{}
		for i, q := range questions {
			answer, e := q.Read(words[i])
			ans.Choices[q.Question], err = answer, cmp.Or(err, e)
		}
	case (word == "yes" || word == "y") && len(words) == 1:
		ans.Word = request.Allow
	case word == "always" && o.Kind == request.Permission:
		ans.Word, ans.Always = request.Allow, 1
		if len(words) == 2 {
			ans.Always, err = strconv.Atoi(words[1])
		}
	case o.Kind == request.Plan:
		ans.Word, ans.Message = request.Deny, text
	default:
		return ans, cli.Usage("%q: a permission takes yes, no or always; with no, --message tells the agent why", text)
	}
	if err = cmp.Or(err, o.Fits(ans)); err != nil {
		return ans, cli.Usage("%w", err)
	}
	return ans, nil
}

// Requests returns a session's open requests with their cards, or those that take a reply; without a
// record those of all.
func Requests(a *cli.App, record string, replies bool) ([]card.Request, error) {
	list, err := card.Open(request.In(a.Store.Dir))
	if err != nil {
		return nil, fmt.Errorf("reading the requests: %w", err)
	}
	list = slices.DeleteFunc(list, func(o card.Request) bool {
		return (o.Kind == request.Reply) != replies || record != "" && o.Record != record
	})
	for i := range list {
		o := &list[i]
		s, _ := a.Store.Load(store.KeyOf(o.Record)) // without it its id is its name
		o.Name = cmp.Or(s.Name, s.ProjectName(), cli.ShortID(o.Record))
	}
	return list, nil
}

// list shows requests as a whole.
func (c *AnswerCmd) list(a *cli.App, list []card.Request) error {
	if c.JSON {
		if list == nil {
			list = []card.Request{}
		}
		return cli.WriteJSON(a.Stdout, struct {
			Schema   int            `json:"schema"`
			Requests []card.Request `json:"offers"`
		}{1, list})
	}
	for i := range list {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		Show(a, &list[i])
	}
	if len(list) > 0 {
		return nil
	}
	said := "nothing waits for an answer"
	seen, _, err := a.Look(false)
	if err != nil {
		return err
	}
	waiting := slices.DeleteFunc(seen, func(v state.Seen) bool { return !v.Status.State.Asks() })
	if len(waiting) > 0 {
		said = fmt.Sprintf("no request can be answered here; waiting where they run: %d (beckon answer SESSION says why)",
			len(waiting))
	}
	return a.Printf("%s\n", said)
}

// Show prints a request whole, and records that the user has seen it.
func Show(a *cli.App, o *card.Request) {
	paint := a.Style("auto").Paint
	title := card.Line1(o.Name) + "  " + o.Card.Title
	fmt.Fprintf(a.Stdout, "%s  %s\n", paint("33", o.ShortID()), paint("1", title))
	age := time.Since(o.Made.Time()).Round(time.Second)
	fmt.Fprintf(a.Stdout, "       %s  %s\n", paint("2", o.Card.Where()), paint("2", "for "+age.String()))
	for _, l := range o.Card.Lines {
		fmt.Fprintln(a.Stdout, "    │ "+paint(card.Colors[l.Kind], l.Text))
	}
	if err := o.Card.May(request.Allow); err != nil {
		fmt.Fprintf(a.Stdout, "       %v; beckon answer %s no refuses it\n", err, o.ShortID())
		return
	}
	for i, s := range o.Card.Always {
		word := "always"
		if i > 0 {
			word += " " + strconv.Itoa(i+1)
		}
		fmt.Fprintf(a.Stdout, "       %s: %s\n", word, s)
	}
	if mayAnswer(a) != nil {
		return // a listing by an agent shows the user nothing
	}
	if err := request.In(a.Store.Dir).Show(o.ID); err != nil {
		a.Store.Log(fmt.Errorf("noting what was shown: %w", err))
	}
}
