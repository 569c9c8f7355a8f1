package card

import (
	"beckon/state/request"
	"errors"
	"fmt"

	"github.com/tidwall/gjson"
)

func (b *builder) questions(o *request.Request) {
	for i, q := range o.Choices() {
		shown := request.Choice{Question: Line1(q.Question), Header: Line1(q.Header), Several: q.Several}
		b.text(Head, q.Question)
		if q.Several {
			b.note("several may be chosen")
		}
		for j, x := range q.Options {
			shown.Options = append(shown.Options, request.Option{Label: Line1(x.Label), Description: Line1(x.Description)})
			line := fmt.Sprintf("%d  %s", j+1, x.Label)
			if x.Description != "" {
				line += "  " + x.Description
			}
			b.add(Text, line)
		}
		if b.card.Questions = append(b.card.Questions, shown); i > 100 {
			b.lacks("it has too many questions")
			return
		}
	}
}

// plan shows the plan to approve: newer clients have it in the call, older ones in a file.
func (b *builder) plan(o *request.Request) {
	in := gjson.ParseBytes(o.Input())
	plan, path := in.Get("plan").String(), in.Get("planFilePath").String()
	if plan == "" && path != "" {
		text, there, err := b.read(path)
		if err == nil && !there {
			err = errors.New("the plan's file is not there")
		}
		if err != nil {
			b.lacks(err.Error())
		}
		plan = string(text)
	}
	if plan == "" {
		b.lacks("the call does not have the plan")
	}
	b.text(Text, plan)
	b.rest(in, []string{"plan", "planFilePath"})
}
