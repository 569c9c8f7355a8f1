package installer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzRoundTrip takes any bytes. A refusal names the place; what is accepted keeps the
// promises of checkRoundTrip, unless it already has entries of ours.
func FuzzRoundTrip(f *testing.F) {
	for _, data := range settingsFiles(f) {
		f.Add(data)
		f.Add(mustEdit(f, data, testSpec))
		f.Add(mustStatus(f, data, testStatus))
	}
	for _, r := range refused {
		f.Add([]byte(r.text))
	}
	for _, r := range flawed {
		f.Add([]byte(`{"hooks": {"Stop": ` + r + `}}`))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Edit(data, testSpec)
		if err != nil {
			checkRefusal(t, data, got, err)
			return
		}
		if isFlawed(got) {
			if again := mustEdit(t, got, testSpec); !bytes.Equal(again, got) || owns(mustRemove(t, got)) {
				t.Fatalf("%q with another tool's mistake: a second Edit gives %q", data, again)
			}
			return
		}
		if owns(data) {
			checkUpdate(t, data, got)
			return
		}
		checkRoundTrip(t, data)
		checkStatusRoundTrip(t, data)
	})
}

// isFlawed reports whether settings have hooks that no client can run.
func isFlawed(settings []byte) bool {
	_, text := cutBOM(settings)
	var top struct {
		Hooks map[string][]struct {
			Matcher any
			Hooks   []struct{ Type, Command any }
		}
	}
	if json.Unmarshal(text, &top) != nil {
		return true
	}
	for _, groups := range top.Hooks {
		for _, g := range groups {
			for _, h := range g.Hooks {
				_, command := h.Command.(string)
				if h.Type == nil || h.Type == "command" && !command {
					return true
				}
			}
			if _, isText := g.Matcher.(string); g.Matcher != nil && !isText || g.Hooks == nil {
				return true
			}
		}
		if groups == nil {
			return true
		}
	}
	return false
}

// checkRefusal checks that an error names a place and comes without a result, and that remove
// refuses the same text or leaves none of our entries.
func checkRefusal(t tester, data, got []byte, err error) {
	t.Helper()
	if line, column, what := placeOf(err); got != nil || line < 1 || column < 1 || what == "" {
		t.Fatalf("Edit(%q) = %q, %v", data, got, err)
	}
	if bare, err := remove(data); err == nil && (owns(bare) || !owns(data) && !bytes.Equal(bare, data)) {
		t.Fatalf("Edit refuses %q, Remove gives %q", data, bare)
	}
	_, text := cutBOM(data)
	if plainSettings(text) {
		t.Fatalf("Edit(%q) refuses what is fine: %v", data, err)
	}
}

// told reports whether an error is one of ours, with advice or a place for it.
func told(err error) bool {
	var advised interface{ Hint() string }
	return errors.As(err, &advised)
}

// placeOf returns the place that an error names, and what is wrong there.
func placeOf(err error) (line, column int, what string) {
	if told(err) {
		_, _ = fmt.Sscanf(err.Error(), "line %d, column %d:", &line, &column)
		_, what, _ = strings.Cut(err.Error(), ": ")
	}
	return line, column, what
}

// plainSettings reports whether text is an object that must be accepted: it has no hooks at
// all.
func plainSettings(text []byte) bool {
	var top map[string]json.RawMessage
	return json.Unmarshal(text, &top) == nil && top != nil && top["hooks"] == nil
}

// checkUpdate checks settings that have entries of ours, in any form.
func checkUpdate(t tester, data, got []byte) {
	t.Helper()
	checkEntries(t, got, testSpec)
	if again := mustEdit(t, got, testSpec); !bytes.Equal(again, got) {
		t.Fatalf("second Edit changed the file:\n%s", Change{Old: got, New: again}.Diff())
	}
	for _, settings := range [][]byte{data, got} {
		if bare := mustRemove(t, settings); owns(bare) {
			t.Fatalf("Remove left entries:\n%s", bare)
		}
	}
}

// TestRoundTripGenerated makes settings in every layout, with hooks in the forms that other
// tools write.
func TestRoundTripGenerated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t, rapid.SampledFrom([]string{"", " ", "\n", "\r\n", "\n  ", "\n\t", "mixed"}).Draw(t, "style"), "", false}
		checkRoundTrip(t, g.settings())
	})
}

// generator writes random settings with random white space.
type generator struct {
	t      *rapid.T
	style  string
	status string // a status line's command as it is written; empty for none
	lax    bool   // with comments
}

// ws returns white space in the file's style, or any.
func (g generator) ws() string {
	if g.style != "mixed" && rapid.IntRange(0, 9).Draw(g.t, "usual") > 0 {
		return g.style
	}
	ws := rapid.StringOfN(rapid.SampledFrom([]rune(" \t\r\n")), 0, 3, -1).Draw(g.t, "ws")
	if g.lax {
		ws += rapid.SampledFrom([]string{"", "/* a, } */", "// b, ]\n", " // \"c\r\n\t", "/**/ "}).Draw(g.t, "comment")
	}
	return ws
}

func (g generator) settings() []byte {
	var members []string
	if rapid.Bool().Draw(g.t, "hooks") {
		members = append(members, g.member(`"hooks"`, g.object(g.events())))
	}
	if g.status != "" {
		members = append(members, g.member(`"statusLine"`, g.object([]string{g.member(`"type"`, `"command"`), g.member(`"command"`, g.status)})))
	}
	for i := range rapid.IntRange(0, 2).Draw(g.t, "others") {
		m := g.member(fmt.Sprintf(`"key%d"`, i), g.value(2))
		if rapid.Bool().Draw(g.t, "before") {
			members = append([]string{m}, members...)
		} else {
			members = append(members, m)
		}
	}
	mark := rapid.SampledFrom([]string{"", "\xef\xbb\xbf"}).Draw(g.t, "bom")
	return []byte(mark + g.ws() + g.object(members) + g.ws())
}

func (g generator) events() []string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"PreToolUse", "SessionStart", "SessionEnd", "Stop", "Other"}), 0, 4, rapid.ID).Draw(g.t, "events")
	var members []string
	for _, name := range names {
		members = append(members, g.member(`"`+name+`"`, g.array(g.repeat(2, g.group))))
	}
	return members
}

func (g generator) group() string {
	var members []string
	if rapid.Bool().Draw(g.t, "matcher") {
		members = append(members, g.member(`"matcher"`, rapid.SampledFrom([]string{`""`, `"*"`, `"Bash"`}).Draw(g.t, "m")))
	}
	return g.object(append(members, g.member(`"hooks"`, g.array(g.repeat(2, g.entry)))))
}

func (g generator) entry() string {
	command := rapid.SampledFrom([]string{"say hi", "/x/beckon-hooks run", "echo beckon-hook", ""}).Draw(g.t, "command")
	return g.object([]string{g.member(`"type"`, `"command"`), g.member(`"command"`, fmt.Sprintf("%q", command))})
}

func (g generator) repeat(limit int, one func() string) []string {
	var all []string
	for range rapid.IntRange(0, limit).Draw(g.t, "n") {
		all = append(all, one())
	}
	return all
}

func (g generator) value(depth int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"1", "12345678901234567890", "-0.0e-7", "null", "true", `"\ud800\u0000é"`, `"beckon-hook"`}).Draw(g.t, "leaf")
	}
	return rapid.SampledFrom([]func() string{
		func() string { return g.array(g.repeat(2, func() string { return g.value(depth - 1) })) },
		func() string { return g.object([]string{g.member(`"hooks"`, g.value(depth-1))}) },
		func() string { return g.value(0) },
	}).Draw(g.t, "kind")()
}

func (g generator) member(name, value string) string { return name + g.gap() + ":" + g.gap() + value }

func (g generator) gap() string {
	return rapid.SampledFrom([]string{"", " ", "", " ", g.ws()}).Draw(g.t, "gap")
}

func (g generator) object(members []string) string { return "{" + g.join(members) + "}" }

func (g generator) array(elements []string) string { return "[" + g.join(elements) + "]" }

func (g generator) join(items []string) string {
	if len(items) == 0 {
		return g.ws()
	}
	var b strings.Builder
	for i, it := range items {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(g.ws() + it)
		if rapid.IntRange(0, 9).Draw(g.t, "loose") == 0 {
			b.WriteString(g.ws())
		}
	}
	return b.String() + g.ws()
}
