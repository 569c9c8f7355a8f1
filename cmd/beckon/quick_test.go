package main

import (
	"reflect"
	"strings"
	"testing"

	"beckon/cmd/internal/cli"
	"beckon/cmd/internal/segment"

	"github.com/alecthomas/kong"
)

// TestQuickAgreesWithKong: kong parses what the quick way accepts to the same result.
func TestQuickAgreesWithKong(t *testing.T) {
	for _, line := range []string{
		"prompt", "prompt --json", "prompt --fleet --json", "statusline --fleet", "prompt --format {need} --for tmux", "prompt --format={need} --json --for=zsh",
		"statusline", "statusline --wrap x", "statusline --wrap= --wrap-json=\"y\"",
		"list", "list --json", "list --all --json", "list --label x", "list --label=x", "list x", "list --json=maybe", "list --help",
		"prompt extra", "prompt --format", "prompt --json=maybe", "prompt -x", "statusline x", "statusline --wrap", "prompt --help",
	} {
		args := strings.Fields(line)
		var c commands
		parser, err := kong.New(&c, kong.Exit(func(int) {}), kong.Writers(discard{}, discard{}), kong.Vars{"session": sessionHelp}, kong.Bind(&app{}, &cli.App{}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(args)
		var quick, slow any
		switch args[0] {
		case "prompt":
			quick, slow = &segment.Prompt{For: "plain"}, &c.Prompt
		case "list":
			quick, slow = &listCmd{}, &c.List
		default:
			quick, slow = &segment.Statusline{}, &c.Statusline
		}
		fits := segment.Flags(args[1:], quick)
		if fits && (err != nil || !reflect.DeepEqual(quick, slow)) {
			t.Errorf("%q: the quick way takes it as %+v, kong as %+v, %v", line, quick, slow, err)
		}
		if !fits && err == nil && !strings.Contains(line, "--help") {
			t.Errorf("%q: kong takes it, the quick way does not", line)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
