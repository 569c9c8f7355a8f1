package jump

import (
	"context"
	"errors"
	"strings"
	"testing"

	"beckon/render"
)

// A session of another machine is reached through the configured command, else by ssh, and
// what that machine reports is never more than one word of a command.
func TestFar(t *testing.T) {
	ways := func(texts ...string) (list []Way) {
		for _, s := range texts {
			w, err := ParseWay(s)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, w)
		}
		return list
	}
	configured := ways("pod-*=kubectl exec -it {host} -- beckon jump {session}", "dev=devcontainer exec --workspace-folder /w beckon jump {session}", "web=https://example.org/{user}/{session}")
	for _, c := range []struct {
		host, session string
		ways          []Way
		attended      bool
		want          string // the command, or why not and what to do
	}{
		{"build", "5ab1", nil, true, "ssh -t build beckon jump 5ab1"},
		{"build", "5ab1", nil, false, "it runs on build: ssh -t build beckon jump 5ab1"},
		{"pod-7", "5ab1", configured, true, "kubectl exec -it pod-7 -- beckon jump 5ab1"},
		{"dev", "5ab1", configured, false, "it runs on dev: devcontainer exec --workspace-folder /w beckon jump 5ab1"},
		{"web", "5ab1", configured, true, "it runs on web; open its address: https://example.org/ann/5ab1"},
		{"other", "5ab1", configured, true, "ssh -t other beckon jump 5ab1"},
		{"-oProxyCommand=x", "5ab1", nil, true, "no way there is known"},
		{"a;rm -rf ~", "5ab1", nil, false, "no way there is known"},
		{"stranger", "5ab1", nil, true, `"stranger" is not one of your machines`},
		{"stranger", "5ab1", nil, false, `"stranger" is not one of your machines`},
		{"stranger", "5ab1", configured, true, `"hosts": ["ssh:NAME"]`},
		{"ann/build", "5ab1", nil, false, "no way there is known"},
		{"build", "-x", nil, true, "no way there is known"},
		{"build", "$(x)", configured, true, "no way there is known"},
	} {
		j := &Jumper{
			Getenv: func(string) string { return "" }, Ways: c.ways, Attended: c.attended,
			Hosts: []string{"build", "other", "-oProxyCommand=x", "a;rm -rf ~", "ann/build"},
			Find:  func(name string) (string, error) { return "/bin/" + name, nil },
		}
		r := &render.Row{SessionID: c.session, Terminal: &render.Terminal{Kind: "tmux"}, Remote: &render.Remote{Name: c.host, User: "ann"}}
		res, err := j.To(context.Background(), r)
		got := ""
		var hand *ByHand
		switch {
		case errors.As(err, &hand):
			got = hand.Why + ": " + hand.Do
		case err != nil:
			got = err.Error()
		default:
			got = res.Become.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.host, c.session, got, c.want)
		}
	}
	j := &Jumper{Getenv: func(string) string { return "" }, Hosts: []string{"ci"}}
	if _, err := j.To(context.Background(), &render.Row{SessionID: "a", Remote: &render.Remote{Name: "ci"}}); err == nil || !strings.Contains(err.Error(), "no terminal") {
		t.Errorf("a session with no terminal: %v", err)
	}
	for _, bad := range []string{"", "x", "=ssh", "a=", "[=ssh"} {
		if _, err := ParseWay(bad); !errors.Is(err, ErrWay) {
			t.Errorf("%q is taken", bad)
		}
	}
}

// What is run on another machine is run only on one that the user has listed, by that name, and
// its words arrive there as they are.
func TestThere(t *testing.T) {
	way, err := ParseWay("pod=kubectl exec -it {host} -- beckon jump {session}")
	if err != nil {
		t.Fatal(err)
	}
	wide, err := ParseWay("pod-*=kubectl exec -it {host} -- beckon jump {session}")
	if err != nil {
		t.Fatal(err)
	}
	page, err := ParseWay("web=https://example.org/{session}")
	if err != nil {
		t.Fatal(err)
	}
	through, err := ParseWay("mesh=tailscale ssh me@{host} beckon jump {session}")
	if err != nil {
		t.Fatal(err)
	}
	j := &Jumper{Ways: []Way{way, wide, page, through}, Hosts: []string{"build", "gpu"}, Find: func(name string) (string, error) { return "/bin/" + name, nil }}
	for host, want := range map[string]string{
		"build":            `ssh|-t|build|beckon|reply|5ab1|'it'\''s; $(x)'`,
		"pod":              "kubectl|exec|-it|pod|--|beckon|reply|5ab1|it's; $(x)",
		"mesh":             `tailscale|ssh|me@mesh|beckon|reply|5ab1|'it'\''s; $(x)'`,
		"pod-7":            `"pod-7" is not one of your machines`,
		"other":            `"other" is not one of your machines`,
		"-oProxyCommand=x": "not one of your machines",
		"web":              "does not run beckon jump",
	} {
		c, err := j.There(&render.Row{SessionID: "5ab1", Remote: &render.Remote{Name: host}}, "reply", "5ab1", "it's; $(x)")
		got := strings.Join(c.Argv, "|")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
