package hook

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"beckon/event"
	"beckon/event/policy/trust"
)

// file writes a file of a repository.
func file(t *testing.T, text string, elem ...string) string {
	t.Helper()
	path := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// repository makes a repository with a policy that the user trusts, and a worktree of it at tree.
func (u *user) repository(tree string) (root string) {
	u.Helper()
	root = filepath.Join(u.dir, "repo")
	t := u.TB.(*testing.T)
	file(t, "ref: refs/heads/main\n", root, ".git", "HEAD")
	file(t, "ref: refs/heads/side\n", root, ".git", "worktrees", "w", "HEAD")
	file(t, "../..\n", root, ".git", "worktrees", "w", "commondir")
	file(t, filepath.Join(tree, ".git")+"\n", root, ".git", "worktrees", "w", "gitdir")
	file(t, "gitdir: "+filepath.Join(root, ".git", "worktrees", "w")+"\n", tree, ".git")
	policy := file(t, on("PreToolUse", `{"type":"rule","id":"r","decision":"deny","reason":"not the sources","paths":["./src/**"]}`), root, ".beckon", "policy.json")
	if _, err := Sources(func(n string) string { return u.env[n] }, u.env["BECKON_STATE_DIR"]).Trust(policy); err != nil {
		t.Fatal(err)
	}
	return root
}

func (u *user) writes(project, path string) string {
	u.env["CLAUDE_PROJECT_DIR"] = project
	return u.fire(event.PreToolUse, `,"tool_name":"Write","tool_use_id":"`+rand.Text()+`","tool_input":{"file_path":"`+path+`"}`)
}

// A session in a subfolder of a trusted project, or in a worktree of it, has the project's policy,
// whose ./ is where the session's own files are.
func TestSubfoldersAndWorktreesHaveThePolicy(t *testing.T) {
	for name, where := range map[string][2]string{ // where the session starts, below the worktree or the repository
		"root":                   {"repo", "repo"},
		"subfolder":              {"repo/web/app", "repo"},
		"worktree":               {"tree", "tree"},
		"subfolder of worktree":  {"tree/web", "tree"},
		"worktree in repository": {"repo/.claude/worktrees/w", "repo/.claude/worktrees/w"},
	} {
		for _, tracked := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				u := newUser(t, "", "")
				tree := filepath.Join(u.dir, "tree")
				if strings.HasPrefix(name, "worktree in") {
					tree = filepath.Join(u.dir, where[1])
				}
				root := u.repository(tree)
				if text, err := os.ReadFile(trust.ProjectFile(root)); err != nil {
					t.Fatal(err)
				} else if tracked {
					file(t, string(text), trust.ProjectFile(tree))
				}
				project, top := filepath.Join(u.dir, where[0]), filepath.Join(u.dir, where[1])
				file(t, "", project, "README")
				if got := u.writes(project, filepath.Join(top, "src", "a.go")); !strings.Contains(got, "not the sources") {
					t.Errorf("in its sources it is told %q", got)
				}
				if got := u.writes(project, filepath.Join(top, "doc", "a.md")); got != "" {
					t.Errorf("elsewhere it is told %q", got)
				}
			})
		}
	}
}

// A worktree's own version of the policy needs trust of its own, as do the scripts that it names.
func TestWorktreeWithAnotherPolicy(t *testing.T) {
	u := newUser(t, "", "")
	tree := filepath.Join(u.dir, "tree")
	root := u.repository(tree)
	mine := file(t, on("PreToolUse", `{"type":"rule","id":"r","decision":"deny","reason":"mine","paths":["./doc/**"]}`), trust.ProjectFile(tree))
	if got := u.writes(tree, filepath.Join(tree, "src", "a")); !strings.Contains(got, "not the sources") || !strings.Contains(got, "has changed since you trusted it") {
		t.Errorf("the trusted version does not stay in force: %q", got)
	}
	s := Sources(func(n string) string { return u.env[n] }, u.env["BECKON_STATE_DIR"])
	if _, err := s.Trust(mine); err != nil {
		t.Fatal(err)
	}
	if got := u.writes(tree, filepath.Join(tree, "doc", "a")); !strings.Contains(got, "mine") {
		t.Errorf("its own version is not in force: %q", got)
	}
	if got := u.writes(root, filepath.Join(root, "doc", "a")); got != "" {
		t.Errorf("the worktree's version is in force in the repository: %q", got)
	}
	if err := s.Distrust(mine); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{tree, root} {
		if got := u.writes(at, filepath.Join(at, "src", "a")); strings.Contains(got, "deny") {
			t.Errorf("%s: not trusted, it says %q", at, got)
		}
	}
}

// A script that a project's command names is the trusted one in a worktree, too.
func TestScriptsOfWorktrees(t *testing.T) {
	u := newUser(t, "", "")
	tree := filepath.Join(u.dir, "tree")
	root := u.repository(tree)
	deny := "#!/bin/sh\necho no >&2; exit 2\n"
	script := file(t, deny, root, "check.sh")
	text := on("PreToolUse", `{"type":"command","id":"c","fail":"closed","command":"sh $CLAUDE_PROJECT_DIR/check.sh"},`+
		`{"type":"command","id":"d","fail":"closed","command":"sh `+script+`"}`)
	policy := file(t, text, trust.ProjectFile(root))
	if _, err := Sources(func(n string) string { return u.env[n] }, u.env["BECKON_STATE_DIR"]).Trust(policy); err != nil {
		t.Fatal(err)
	}
	file(t, "exit 0\n", tree, "check.sh")
	if got := u.writes(tree, filepath.Join(tree, "a")); !strings.Contains(got, "another script") || strings.Count(got, "policy project/") != 2 {
		t.Errorf("the worktree's script runs: %q", got)
	}
	file(t, deny, tree, "check.sh")
	file(t, "exit 0\n", script)
	if got := u.writes(tree, filepath.Join(tree, "a")); !strings.Contains(got, script+" is another script") {
		t.Errorf("the repository's script runs: %q", got)
	}
}

// A policy above the session's directory that is not in force is named once in the session.
func TestUntrustedPolicyAboveIsNamedOnce(t *testing.T) {
	u := newUser(t, "", "")
	policy := file(t, `{"packs":["git"]}`, u.dir, "repo", ".beckon", "policy.json")
	u.env["CLAUDE_PROJECT_DIR"] = filepath.Join(u.dir, "repo", "web")
	getenv := func(n string) string { return u.env[n] }
	if !Policied(Args{}.Env(getenv)) {
		t.Fatal("no policy is seen")
	}
	first := u.fire(event.SessionStart, `,"source":"startup"`)
	if !strings.Contains(first, policy) || !strings.Contains(first, "is not in force until you trust it") {
		t.Errorf("the first hook says %q", first)
	}
	if again := u.fire(event.UserPromptSubmit, `,"prompt":"x"`); again != "" {
		t.Errorf("the second hook says %q", again)
	}
}

// A folder that says by itself that it is a worktree of a trusted project has nothing of its policy.
func TestForgedWorktree(t *testing.T) {
	u := newUser(t, "", "")
	root := u.repository(filepath.Join(u.dir, "tree"))
	forged := filepath.Join(u.dir, "forged")
	file(t, "gitdir: "+filepath.Join(root, ".git", "worktrees", "w")+"\n", forged, ".git")
	if got := u.writes(forged, filepath.Join(forged, "src", "a")); got != "" {
		t.Errorf("it is told %q", got)
	}
	own := filepath.Join(forged, "own")
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/x", "commondir": filepath.Join(root, ".git"), "gitdir": filepath.Join(forged, ".git")} {
		file(t, text+"\n", own, name)
	}
	file(t, "gitdir: "+own+"\n", forged, ".git")
	if got := u.writes(forged, filepath.Join(forged, "src", "a")); got != "" {
		t.Errorf("with a git directory of its own it is told %q", got)
	}
}
