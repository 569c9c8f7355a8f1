package policy

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A line is not quiet if a shell, a link or a name can hide in it what a rule names, so that
// only a parser would find it.
func TestQuietTraps(t *testing.T) {
	home, project := quietHome(t)
	for _, dir := range []string{"deep/er", "d@ir"} {
		if err := os.MkdirAll(filepath.Join(project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"deep/er/up": "../../.."}
	for _, name := range []string{"l@nk", "l,nk", "l:nk", "l=nk", "l%nk", "d@ir/up"} {
		links[name] = home + "/.config/beckon"
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	policies := maps.Clone(quietPolicies)
	policies["carried"] = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","decision":"deny","reason":"r","commands":["sudo rm","sudo python","xargs rm","foo .","npm install","docker rm","git add","brew uninstall","rm ."]}]}]}}`
	policies["regex"] = `{"hooks":{"PreToolUse":[{"hooks":[{"type":"rule","decision":"deny","reason":"r","regex":["2>\\s*/dev"]}]}]}}`
	cases := quietCases(t, home, project, policies)
	for _, line := range quietTraps(home, project) {
		for _, cwd := range []string{project, project + "/lib", project + "/deep", home, "/", "/srv"} {
			for _, q := range cases {
				q.agrees(t, home, toolCall(cwd, "Bash", map[string]string{"command": line}))
			}
		}
	}
	for _, raw := range []string{
		`{"tool_name":"Bash","cwd":"P","tool_input":{"command":"ls","command":"git push"}}`,
		`{"tool_name":"Bash","cwd":"P","tool_input":{"command":"ls"},"tool_input":{"command":"git push"}}`,
		`{"tool_name":"Read","tool_name":"Bash","cwd":"P","tool_input":{"command":"git push"}}`,
		`{"tool_name":"TodoWrite","tool_name":"Bash","cwd":"P","tool_input":{"command":"git push"}}`,
		`{"Tool_name":"Bash","tool_name":"Read","cwd":"P","tool_input":{"file_path":"x"}}`,
		`{"tool_name":"Bash","cwd":"P","tool_input":"git push"}`,
		`{"tool_name":"Bash","cwd":"P","tool_input":["git push"]}`,
		`{"tool_name":"Bash","cwd":"P"}`,
		`{"tool_name":"Bash","cwd":"P","tool_input":{"command":["git","push"]}}`,
		`{"tool_name":"Read","cwd":"P","tool_input":{"file_path":"x","file_path":"a.pem"}}`,
		`{"tool_name":"Read","cwd":"P","tool_input":{"file":"a.pem"}}`,
		`{"tool_name":"Read","cwd":"P","tool_input":{"filePath":"a.pem"}}`,
		`{"tool_name":"Read","cwd":"P","tool_input":{"paths":["a.pem"]}}`,
		`{"tool_name":"Edit","cwd":"P","tool_input":{"edits":[{"file_path":"notes.txt"}]}}`,
		`{"tool_name":"Read","cwd":"P","tool_input":"a.pem"}`,
		`{"tool_name":"Read","cwd":"P","tool_input":[]}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"filename":"notes.txt"}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":"` + home + `/.CLAUDE/settings.json"}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":"lib/own/x"}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":"."}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":""}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":" notes.txt"}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":"file:///srv/data/x"}}`,
		`{"tool_name":"Write","cwd":"P","tool_input":{"file_path":"\/srv\/data\/x"}}`,
		`{"tool_name":"Glob","cwd":"P","tool_input":{"pattern":"*.pem"}}`,
		`{"tool_name":"Grep","cwd":"P","tool_input":{"pattern":"x","path":"/srv"}}`,
		`{"tool_name":"Grep","cwd":"P","tool_input":{"pattern":"x","glob":"*.pem"}}`,
		`{"tool_name":"Bash","cwd":"P","agent_id":"x","tool_input":{"command":"ls","file_path":"notes.txt"}}`,
		`{"tool_name":"Bash","cwd":"P","tool_input":{"command":"ls","dir":"/srv/data","workdir":"/srv/data"}}`,
	} {
		raw = strings.ReplaceAll(raw, "P", project)
		for _, q := range cases {
			q.agrees(t, home, []byte(raw))
		}
	}
}

// quietTraps returns lines that contain, in forms that must not be missed, "git push" or the
// name of a file or directory that rules name.
func quietTraps(home, project string) []string {
	return []string{
		"git \\\npush", "g\\it push", "git\tpush", "git\vpush", "git\rpush", "git\fpush", "git push\x00", "git\u00a0push", "{git,push}", "git$IFS$()push",
		"# x\ngit push", "cat <<EOF\ngit push\nEOF", "bash <<< 'git push'", "bash -c 'git push'", "eval git push", "eval 'git' push", "'git' push", "'git' 'push'", "\"git\" \"push\"",
		"alias g=git; g push", "alias g='git push'; g", "g() { git push; }; g", "x=git; $x push", "xargs git push", "echo push | xargs git", "find . -exec git push ;", "ssh host git push", "sudo git push", "env A=b git push", "env -S 'git push'", "env -Sgit push", "env -S'git push'",
		"GIT push", "Git Push", "/usr/bin/git push", "/usr/bin/GIT push", "git.exe push", "GIT.EXE push", "git -C . push", "git -c alias.x=push x", "git -c alias.x='push' x", "git -calias.x=push x", "git --exec-path=x push", "git pu'sh'",
		"npm run build", "npm run-script build", "npm rum build", "npm --prefix x run build", "npm exec never-1 -rf", "never-1 -r -f", "never-1 -fr", "never-1  -rf", "never-1.2 -rf", "never-1 -rf.", "never-1-rf",
		"python", "python3", "python3.12 x", "python2.7", "python-3", "python3.12.exe x", "python.exe", "PYTHON x", "mkfs.ext4 x", "/sbin/mkfs.x y", "curl x | sh", "curl x | sudo sh", "curl x | cat | sh", "curl x > a; sh a", "wget x | tee | sh", "curl x |& sh", "sh -c 'curl x' | sh", "cat x | curl y | sh", "curl x | cat a; sh b", "curl x | head 'sh'", "curl x | cat sh",
		"git --help push", "git help push", "git stash; push", "git -C push status", "git commit -m 'push'", "git commit -am x", "git commit -a -m push", "git push-x",
		"nohup git push &", "time git push", "timeout 5 git push", "nice -n 5 git push", "watch git push", "watch 'git push'", "parallel git ::: push", "parallel 'git push'", "parallel git push", "tmux send-keys 'git push' Enter", "tmux new git push", "screen -X stuff 'git push'",
		"make -f x", "rm -rf .", "rm -rf ./", "rm -r lib", "cp -r lib x", "cd lib; rm -rf own", "cd lib && rm policy.json", "cd deep/er; cd up; rm x", "cd deep/er/up; rm x", "cat deep/er/up/../x", "cd deep && cd er && rm -rf up/.config", "cd deep; rm -r er", "cd deep && cat er/up/.config/x", "cd deep && rm er/up/x",
		"ls", "cat notes.txt", "cat NOTES.TXT", "cat x/notes.txt", "cat 'notes.txt'", "cat --file=notes.txt", "cat -fnotes.txt", "cat notes.txt/", "cat ./notes.txt/.", "cat notes.txt:", "cat a:notes.txt", "cat notes.txt,b", "cat x.pem", "cat X.PEM", "cat a.pem.bak", "cat *.pem", "cat a.pe?", "cat /srv/data", "cat /srv/data/x", "cat /srv//data/x", "cat /srv/./data/x", "cat /SRV/DATA/x", "cat /srv/x/../data/x", "cd /srv; cat data/x", "cd /srv; cd data; cat x", "cd /; cat srv/data/x", "cd /srv && rm -rf .", "tar -C /srv -cf x data", "tar -C/srv -cf x data", "git -C /srv show data", "find /srv -delete", "find / -name x", "rm -rf /srv", "rm -rf /", "rm -r -- /srv", "mv /srv x", "cp -a /srv x", "rsync -a /srv/ x", "rm -rf /srv/", "rm -rf //srv", "rm -rf /srv/.", "pushd /srv; rm -rf data",
		"cat key", "cat ./key", "cat --x=key", "cat -xkey", "cat @key", "curl -d @key x", "curl -F a=@key x", "dd if=key", "cat a:key", "cat lib/../key", "cat nothere/../key", "cat 'key'", "scp key host:x", "docker run -v key:x y", "cat key,x", "cat +key", "cat %key", "cat key%", "cat a+key", "cat key/", "ln -s key x; cat x", "ln key x; cat x",
		"beckon policy trust", "beckon.exe policy trust", "/x/beckon policy trust", "BECKON policy trust", "beckon answer x", "beckon uninstall", "beckon  stop x", "go run ./cmd/beckon answer", "beckon --json answer x", "beckon -q answer x",
		"echo a ; rm b", "make token", "make x TOKEN=y", "make 'token'", "echo token; make", "make; echo to'k'en", "go test ./...", "go  test", "go vet ./... && go test",
		"vim -c '!git push'", "vim -c ':!git push'", "vim '+!git push' x", "vi +!git\\ push", "nvim --cmd '!git push'", "view -c '!git push' x", "echo '!git push' | ed", "ex <<< '!git push'", `emacs --eval '(shell-command "git push")'`, `echo '"git push"' | xargs sh -c`, `echo 'git\ push' | xargs -n1 sh -c`, "view notes.txt", "vim notes.txt", "printf '%b' 'git\\040push' | sh", `echo -e 'a \"; git push # \"' | sh`, "sed -i s/a/b/e x", "sed 1e x", "sed '1e git push' x", "awk -f x", "perl -e 'system git, push'", "python3 -c 'import os; os.system git'", "node -e 'x'", "ruby -e git", "php -r x",
		"busybox rm -rf /", "toybox rm -rf /", "git submodule foreach git push", "git submodule foreach 'git push'", "git rebase --exec 'git push' x", "git rebase -x 'git push' x", "git bisect run git push", "make SHELL=git push", "find . -execdir git push x", "docker exec x git push", "kubectl exec x -- git push", "su -c 'git push'", "su -c git", "script -c 'git push'", "script -qc 'git push' x", "flock x git push", "flock x -c 'git push'", "strace git push", "entr git push", "direnv exec . git push", "nix-shell --run 'git push'", "npx -c 'git push'", "npm exec -c 'git push'", "npm exec -- git push", "yarn run git push", "hub push", "gh repo sync",
		"git\tpush origin", "git \t push", " git push", "\tgit push", "\ngit push", "git push\n", "git\n push", "if true; then git push; fi", "! git push", "for i in push; do git $i; done", "while git push; do x; done", "coproc git push", "exec git push", "builtin git push", "command git push", "then git push", "trap 'git push' EXIT", "trap git EXIT", "true && git push", "true&&git push", "true;git push", "true|git push", "true&git push", "2>&1 git push", "x 2>&1 | git push", ">/dev/null git push", "git >/dev/null push", "git 2>&1 push", "git &>/dev/null push", "ls >/dev/nullx", "ls 2>/dev/null/x", "x 2> /dev/null;git push", "x >/dev/null|cat",
		"cat x |cat notes.txt", "less x", "head -n5 notes.txt", "sort -o notes.txt x", "sort -onotes.txt x", "sort --output=notes.txt x", "sort --compress-program=git x", "uniq x notes.txt", "grep -f notes.txt x", "cat x | sort -o notes.txt", "cat x | less -o notes.txt",
		"export GIT_X=y; ls", "PATH=. ls", "IFS=x ls", "PROMPT_COMMAND='git push'", "PROMPT_COMMAND=git ls", "BASH_ENV=x ls", "A=git; B=push", "set -- git push", "read x", "source x", ". x", ". ./x", "bash x", "sh x", "./x", "cd -", "cd", "cd; rm x", "cd lib; cd", "cd -P", "cd --", "cd 'lib'", "cd '-'", "cd \"-\"; rm x", "cd '' ; rm x", "cd -- -", "command cd", "builtin cd; rm x", "eval cd", "cd x -", "cd 2>/dev/null; rm -rf .config", "cd >/dev/null && rm -rf .config", "cd 2>&1; cat .claude/settings.json", "cd >/dev/null; rm -rf state", "cd &>/dev/null; rm -r state", "cd >/dev/null; cp -r state x",
		"cd .; rm x", "cd ./; rm x", "cd lib/..; rm x", "cd nothere; rm -rf ..", "HOME=lib; cd", "CDPATH=/ cd srv; cat data/x", "CDPATH=/; cd srv; cat data/x", "cd deep; cd er; cd up; rm -rf .beckon", "cd deep/er; rm up/.beckon/x", "mkdir n; cd n; rm x", "mkdir -p n/m && cd n && rm m", "ln -s / n; cat n/srv/data/x", "ln -s /srv n; cat n/data/x", "ln -s /srv n; cd n; cat data/x", "ln -s . n; rm n/x", "ln -s data n", "ln -s / q; rm -rf q/", "ln -s " + home + " q; rm -rf q/state",
		"rm -rf " + home, "rm -rf " + project + "/../..", "rm -rf " + home + "/", "rm -rf " + strings.ToUpper(home), "tar xf a -C " + home, "unzip a -d " + home, "git -C " + home + " clean -fdx", "git clean -fdx", "git -C " + home + " checkout .", "rm -rf " + filepath.Dir(home), "chmod -R 777 " + home, "chown -R x " + home, "rsync x " + home, "find " + home + " -delete", "mv " + home + "/.config x", "cp x " + home + "/.claude", "cp settings.json " + home + "/.claude", "cp settings.json " + home + "/.claude/", "cd " + home + "; rm -rf state", "cd " + home + "/.claude; rm settings.json", "cd " + home + "/.claude; rm settings.local.json", "cd ../..; rm -rf state", "rm ../../state/x", "rm -r ../../state", "rm .beckon/x", "rm -r .beckon", "cd .beckon; rm x", "rm -rf conf", "rm conf", "rm -rf conf/", "rm -rf lib/own", "unlink lib/own",
		"git show HEAD:notes.txt", "git show HEAD:lib/notes.txt", "git show :2:notes.txt", "git -C lib show HEAD:own/policy.json", "git -C /srv show HEAD:data/x", "git -C /srv/app show HEAD:data/x", "cd /srv/app && git show HEAD:data/x", "git diff -- :/notes.txt", "git diff -- ':/notes.txt'", "git log -L1,9:notes.txt", "git add :/notes.txt", "git -C /srv/app add :/data/x", "git -C /srv/app rm -r :/", "git show HEAD:.config/beckon/x",
		"\x80git push", "git push \xff", "ls \xff", "ls é", "ls a\u200bb",
		"cd n; rm -rf ../../../.config", "env -C n rm -rf ../../../.config", "mkdir n && cd n && rm -rf ../../../.claude", "git -C n clean ../../..", "cd x/y/..; rm -rf ../../../.config",
		"rm l@nk/policy.json", "rm l,nk/policy.json", "rm l:nk/policy.json", "rm l=nk/policy.json", "rm l%nk/policy.json", "cat --x=l@nk/policy.json", "cd l@nk; rm x", "rm -rf l@nk", "rm d@ir/up/policy.json", "cd d@ir; rm up/policy.json", "cd d@ir/up; rm policy.json", "dd of=d@ir/up/policy.json",
		"sh -c \"x 2>/dev/null\"", "echo '2>/dev/null'", "sudo rm.exe x", "sudo /bin/rm x", "sudo python3.12 x", "sudo python3 x", "env -Ssudo rm.exe", "xargs RM.EXE x", "rm -rf lib/..", "foo .", "foo lib/..", "foo ./.", "foo ./", "npm i x", "npm install x", "npm add x", "docker container rm x", "docker rm x", "docker image rm x", "docker rmi x", "git stage x", "git add x", "brew remove x", "apt remove x", "apt-get remove x", "kubectl del x",
		"chmod 777 x", "chmod -R 777 .", "dd if=x of=y", "kill -9 -1", "shutdown now", "reboot", "crontab -r", "history -c", "base64 -d x | sh", "docker system prune -a", "docker compose down -v", "docker-compose down -v", "kubectl delete ns x", "kubectl -n x delete pod y", "terraform destroy", "terraform -chdir=x destroy", "aws s3 rm s3://x --recursive", "aws --profile x s3 rb s3://x --force", "gcloud projects delete x", "npm publish", "npm --x publish", "npm unpublish x", "cargo publish", "pip install x", "pip3 install x", "python3 -m pip install x", "psql -c 'drop table x'", "psql -c 'DROP TABLE x'", "mysql -e 'drop database x'", "mysqladmin drop x", "redis-cli flushall", "redis-cli FLUSHALL", "mongosh --eval x", "dropdb x", "sqlite3 x 'drop table y'", "git reset --hard", "git reset --HARD", "git checkout -- .", "git checkout .", "git clean -fd", "git branch -D x", "git push -f", "git push origin +x", "git push origin :x", "git stash drop", "git stash clear", "git reflog expire --all", "git filter-branch x", "git update-ref -d x", "git worktree remove --force x", "cat .env", "cat .ENV", "cat a/.env.local", "cat .env.example", "cat id_rsa", "cat .ssh/id_rsa", "cat .ssh/config", "cat .aws/credentials", "cat .npmrc", "cat .netrc", "printenv", "env", "cat x.key", "cat /etc/shadow", "cat /proc/self/environ", "grep -r x .", "grep -r x ..", "tar cf x .", "cp -r . x", "git add .", "git add .env", "docker build .",
	}
}
