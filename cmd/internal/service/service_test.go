package service

import (
	stdxml "encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"beckon/testdata/need"
)

// env returns an environment with names that need quoting.
func env(home string) func(string) string {
	return func(name string) string {
		return map[string]string{"HOME": home, "BECKON_STATE_DIR": `/srv/my state/100% "new" <&>`}[name]
	}
}

var link = Unit{Name: "link", About: "beckon link: 100% of the sessions", Args: []string{"fleet", "link", "--quiet"}}

// systemd accepts the unit, and reads from it what was meant.
func TestSystemdUnit(t *testing.T) {
	analyze := need.Program(t, "systemd-analyze")
	home := t.TempDir()
	program := filepath.Join(home, "my bin", "beckon")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	path, text, begin, err := link.service("linux", program, env(home))
	if err != nil || path != filepath.Join(home, ".config", "systemd", "user", "beckon-link.service") || !strings.Contains(begin, "enable --now beckon-link") {
		t.Fatalf("%s, %q, %v", path, begin, err)
	}
	verify := func(text string) (string, error) {
		file := filepath.Join(t.TempDir(), "beckon-link.service")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(analyze, "verify", "--user", "--man=no", "--generators=no", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "HOME="+home)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(text); err != nil || strings.Contains(out, "beckon-link.service") {
		t.Errorf("%v: %s\n%s", err, out, text)
	}
	if out, err := verify(strings.Replace(text, "Restart=always", "Restart=sometimes", 1)); err == nil && !strings.Contains(out, "sometimes") {
		t.Skipf("this systemd-analyze finds no mistake: %s", out)
	}
	if out, err := verify(strings.Replace(text, "my bin", "no bin", 1)); err == nil && !strings.Contains(out, "no bin") {
		t.Errorf("a program that is not there: %s", out)
	}
}

// launchd's file is XML in its form, with the same content.
func TestLaunchdAgent(t *testing.T) {
	path, text, begin, err := link.service("darwin", "/Users/ann/my <bin>/beckon", env("/Users/ann"))
	if err != nil || path != "/Users/ann/Library/LaunchAgents/dev.beckon.link.plist" || !strings.Contains(begin, path) {
		t.Fatalf("%s, %q, %v", path, begin, err)
	}
	type value struct {
		XMLName stdxml.Name
		Text    string  `xml:",chardata"`
		Inner   []value `xml:",any"`
	}
	var list struct {
		XMLName stdxml.Name `xml:"plist"`
		Dict    value       `xml:"dict"`
	}
	if err := stdxml.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	have := map[string]value{}
	for pair := range slices.Chunk(list.Dict.Inner, 2) {
		if len(pair) != 2 || pair[0].XMLName.Local != "key" {
			t.Fatalf("%+v", pair)
		}
		have[pair[0].Text] = pair[1]
	}
	var words []string
	for _, v := range have["ProgramArguments"].Inner {
		words = append(words, v.Text)
	}
	if !slices.Equal(words, []string{"/Users/ann/my <bin>/beckon", "fleet", "link", "--quiet"}) || have["Label"].Text != "dev.beckon.link" || have["KeepAlive"].XMLName.Local != "true" {
		t.Errorf("%q, %+v", words, have)
	}
	if vars := have["EnvironmentVariables"].Inner; len(vars) != 2 || vars[0].Text != "BECKON_STATE_DIR" || vars[1].Text != `/srv/my state/100% "new" <&>` {
		t.Errorf("%+v", vars)
	}
}

// Where there is no unit, the error says what to do.
func TestNoUnit(t *testing.T) {
	if _, _, _, err := link.service("windows", `C:\beckon.exe`, env("/h")); err == nil {
		t.Error("there is one")
	}
	if _, _, _, err := link.service("linux", "/beckon", func(string) string { return "" }); err == nil {
		t.Error("there is one with no home")
	}
}

// systemd replaces variables in the arguments of a command, and in nothing else.
func TestDollar(t *testing.T) {
	u := Unit{Name: "x", Args: []string{"a $HOME 5%"}}
	_, text, _, err := u.service("linux", "/my $dir/beckon", func(name string) string {
		return map[string]string{"HOME": "/h", "BECKON_STATE_DIR": "/a $b"}[name]
	})
	for _, want := range []string{`ExecStart="/my $dir/beckon" "a $$HOME 5%%"`, `Environment="BECKON_STATE_DIR=/a $b"`} {
		if err != nil || !strings.Contains(text, want+"\n") {
			t.Errorf("%v, no %s in\n%s", err, want, text)
		}
	}
}
