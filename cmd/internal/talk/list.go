package talk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"beckon/cmd/internal/cli"
	"beckon/render"
	"beckon/render/card"
	"beckon/state"
	"beckon/state/evidence"
	"beckon/state/request"
)

// Offers returns a session's open requests by its record, with their cards; without a record
// those of all sessions.
func Offers(a *cli.App, record string) ([]card.Request, error) {
	all, err := request.In(a.Store.Dir).List(time.Now())
	if err != nil {
		return nil, fmt.Errorf("reading the requests: %w", err)
	}
	if all = slices.DeleteFunc(all, func(o request.Request) bool { return o.Kind == request.Reply || record != "" && o.Record != record }); len(all) == 0 {
		return nil, nil
	}
	seen, _, err := a.Look(false)
	if err != nil {
		return nil, err
	}
	rows := render.Rows(seen, true)
	host := evidence.ThisMachine().Host
	var list []card.Request
	for _, o := range all {
		name := cli.ShortID(o.Record)
		if i := slices.IndexFunc(rows, func(r render.Row) bool { return r.Record() == o.Record }); i >= 0 {
			name = rows[i].Label()
		}
		list = append(list, card.Request{Request: o, Name: name, Card: card.Of(&o, host)})
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
			Schema int            `json:"schema"`
			Offers []card.Request `json:"offers"`
		}{1, list})
	}
	if len(list) == 0 {
		return c.none(a)
	}
	for i := range list {
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		Show(a, &list[i])
	}
	return nil
}

// none prints that no request is open here, and whether sessions wait for an answer elsewhere.
func (c *AnswerCmd) none(a *cli.App) error {
	said := "nothing waits for an answer"
	seen, _, err := a.Look(false)
	if err != nil {
		return err
	}
	waiting := slices.DeleteFunc(seen, func(v state.Seen) bool { return !v.Status.State.Asks() })
	if len(waiting) > 0 {
		said = fmt.Sprintf("no request can be answered here; waiting where they run: %d (beckon answer SESSION says why)", len(waiting))
	}
	_, err = fmt.Fprintln(a.Stdout, said)
	return err
}

// Show prints a request whole, and records that the user has seen it.
func Show(a *cli.App, o *card.Request) {
	show(a, o)
	if !o.Card.Whole || mayAnswer(a) != nil {
		return // a listing by an agent shows the user nothing
	}
	if err := request.In(a.Store.Dir).Show(o.ID); err != nil {
		a.Store.Log(fmt.Errorf("noting what was shown: %w", err))
	}
}

func show(a *cli.App, o *card.Request) {
	paint := a.Style("auto").Paint
	fmt.Fprintf(a.Stdout, "%s  %s  %s\n", paint("33", o.ShortID()), paint("1", card.Line1(o.Name)), paint("1", o.Card.Title))
	where := strings.Join(slices.DeleteFunc([]string{o.Card.Dir, o.Card.Branch, o.Card.Host}, func(s string) bool { return s == "" }), "  ")
	if o.Card.Agent != "" {
		where += "  (asked by its subagent " + o.Card.Agent + ")"
	}
	fmt.Fprintf(a.Stdout, "       %s  %s\n", paint("2", where), paint("2", "for "+time.Since(o.Made.Time()).Round(time.Second).String()))
	colors := map[card.Kind]string{card.Add: "32", card.Delete: "31", card.Hunk: "36", card.Note: "2", card.Head: "1"}
	for _, l := range o.Card.Lines {
		fmt.Fprintln(a.Stdout, "    │ "+paint(colors[l.Kind], l.Text))
	}
	if !o.Card.Whole {
		fmt.Fprintf(a.Stdout, "       not all of it can be shown (%s): allow it at its session; beckon answer %s no refuses it\n", o.Card.Why, o.ShortID())
		return
	}
	for i, s := range o.Card.Always {
		word := "always"
		if i > 0 {
			word += " " + strconv.Itoa(i+1)
		}
		fmt.Fprintf(a.Stdout, "       %s: %s\n", word, s)
	}
}
