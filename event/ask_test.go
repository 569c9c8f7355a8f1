package event

import (
	"beckon/event/jsonenc"
	"reflect"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		want    *Ask
	}{
		"one question": {
			`{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which\ncolour?","header":"Colour","options":[{"label":"Red","description":"warm"},{"label":"Blue"}],"multiSelect":true}]}}`,
			&Ask{Questions: []Question{{Header: "Colour", Text: "Which colour?", Multi: true, Options: []Option{{"Red", "warm"}, {"Blue", ""}}}}},
		},
		"a plan": {
			`{"hook_event_name":"PermissionRequest","tool_name":"ExitPlanMode","tool_input":{"plan":"\n# Plan\n1. Do it\n"}}`,
			&Ask{Plan: "# Plan\n1. Do it"},
		},
		"a permission": {
			`{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"npm test"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm test:*"}],"behavior":"allow","destination":"localSettings"},{"type":"setMode","mode":"acceptEdits"},{"type":"addDirectories","directories":["/srv"]}]}`,
			&Ask{Suggestions: []string{"always allow Bash(npm test:*)", "switch to acceptEdits", "allow the directory /srv"}},
		},
		"a form": {
			`{"hook_event_name":"Elicitation","mcp_server_name":"db","message":"Which database?","requested_schema":{"type":"object","properties":{"name":{"type":"string"},"port":{"type":"integer"}},"required":["name"]}}`,
			&Ask{Form: []string{"name*: string", "port: integer"}},
		},
		"nothing":             {`{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}`, nil},
		"an answer":           {`{"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[{"question":"Which?"}]}}`, nil},
		"questions of a type": {`{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":{"question":1}}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Parse("", "", []byte(c.payload))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(e.Ask, c.want) {
				t.Errorf("got %+v, want %+v", e.Ask, c.want)
			}
		})
	}
}

// However long a question is, the part that is kept is bounded.
func TestAnswer(t *testing.T) {
	for name, c := range map[string]struct{ payload, want string }{
		"one":     {`{"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_input":{"answers":{"Which\ncolour?":"Red\n"}}}`, "Red"},
		"several": {`{"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_input":{"answers":{"b":"Red","a":"Apple, Pear","c":1}}}`, "Red; Apple, Pear"},
		"refused": {`{"hook_event_name":"PostToolUseFailure","tool_name":"AskUserQuestion","tool_input":{"answers":{"b":"Red"}}}`, ""},
		"another": {`{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"answers":{"b":"Red"}}}`, ""},
		"a list":  {`{"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_input":{"answers":["Red"]}}`, "Red"},
		"no text": {`{"hook_event_name":"PostToolUse","tool_name":"AskUserQuestion","tool_input":7}`, ""},
	} {
		e, err := Parse("", "", []byte(c.payload))
		if err != nil || e.Answer != c.want {
			t.Errorf("%s: %q (%v), want %q", name, e.Answer, err, c.want)
		}
	}
}

func TestAskIsBounded(t *testing.T) {
	long := strings.Repeat(`\u0001é`, 5000)
	option := `{"label":"` + long + `","description":"` + long + `"}`
	question := `{"question":"` + long + `","header":"` + long + `","options":[` + strings.Repeat(option+",", 20) + option + `]}`
	e, err := Parse("", "", []byte(`{"hook_event_name":"PreToolUse","tool_name":"AskUserQuestion","tool_input":{"questions":[`+strings.Repeat(question+",", 20)+question+`]}}`))
	if err != nil {
		t.Fatal(err)
	}
	const most = MaxQuestions * (MaxQuestion + MaxLabel + MaxOptions*(MaxLabel+MaxSummary+50) + 50)
	if n := len(jsonenc.Append(nil, &e)); n > most+1000 {
		t.Errorf("%d bytes are kept, more than %d", n, most+1000)
	}
	if e.Ask == nil || len(e.Ask.Questions) == 0 {
		t.Errorf("nothing is left of the questions")
	}
}
