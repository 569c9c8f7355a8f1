//go:build unix

package suite

import "testing"

func TestScreenState(t *testing.T) {
	const prompt = "\n────\n❯\u00a0\n────\n  ? for shortcuts"
	for _, c := range []struct{ screen, want string }{
		{prompt, "idle"},
		{"❯ lab:hi\n\n● Hi there.\n\n✻ Worked for 0s" + prompt, "idle"},
		{"x\n● Which one, a or b?\n\n✻ Worked for 0s" + prompt, "question"},
		{"x\n● Bash(ls)\n\n✢ Churning… (2s · 5 tokens)" + prompt, "working"},
		{"x\n· Churning…" + prompt, "working"},
		{"x\n✻ Waiting for 1 background agent to finish" + prompt, "working"},
		{"x\n✻ Waiting for 1 background agent to finish\n\n● Agent finished\n" + prompt, "idle"},
		{"x" + prompt + " · esc to interrupt", "working"},
		{"x\n  Waiting for permission…\n" + prompt, ""},
		{"x\n● Write(a)\n Do you want to create a?\n ❯ 1. Yes", "permission"},
		{"Which colour?\n❯ 1. Red\nEnter to select", "question"},
		{"x\n● API Error: 529 overloaded\n" + prompt, "failed"},
		{"✻ Compacting conversation…" + prompt, "compacting"},
		{"", ""},
	} {
		if got := ScreenState(c.screen); got != c.want {
			t.Errorf("%q shows %q; want %q", c.screen, got, c.want)
		}
	}
}

// A client that was told once to stop has the footer of one at work.
func TestCopilotScreen(t *testing.T) {
	const prompt = "\n/you/proj [main]\n────\n❯\n────\n"
	for _, c := range []struct{ screen, want string }{
		{"x" + prompt + " ● Working esc esc edit prompt", "working"},
		{"x" + prompt + " ◎ Working · 49 B esc esc interrupt", "working"},
		{"x" + prompt + " ○ Working · 49 B esc again to interrupt", "working"},
		{"x" + prompt + " ○ Working", "working"},
		{"● Working on it is what it said" + prompt + " Interactive · @ files", "idle"},
		{"x" + prompt + " Interactive · Manual Approval · @ files · # issues", "idle"},
		{"Do you want to run this command?\n❯ 1. Yes", "permission"},
	} {
		if got := copilot.look(c.screen, "").State; got != c.want {
			t.Errorf("%q shows %q; want %q", c.screen, got, c.want)
		}
	}
}
