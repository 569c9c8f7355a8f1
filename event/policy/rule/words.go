package rule

import (
	"path"
	"slices"
	"strings"

	"beckon/event/policy/shell"
)

// operands are the words behind a program, sorted.
type operands struct {
	tail   []string // all of them
	words  []string
	behind []bool // the word stands directly behind a flag, whose value it may be
	flags  []string
}

func (p *Pattern) operands(tail []string) operands {
	o := operands{tail: tail}
	add := func(w string, behind bool) { o.words, o.behind = append(o.words, w), append(o.behind, behind) }
	ended, before := false, ""
	for _, w := range tail {
		last := before
		before = w
		switch {
		case w == "--" && !ended:
			ended = true
		case !ended && shell.IsFlag(w):
			if w = strings.ReplaceAll(w, hole, ""); shell.IsFlag(w) { // a variable in a flag is mostly empty
				o.flags = append(o.flags, w)
			}
			if _, value, _ := strings.Cut(w, "="); value != "" {
				add(value, true)
			}
		case !ended && shell.In(shell.TextFlags, last), strings.HasPrefix(w, ":!"), strings.HasPrefix(w, ":(exclude"):
		default:
			kind, name, slash := strings.Cut(w, "/") // ns/prod
			slash = slash && shell.In(clusters, p.program) && isPlain(kind) && !strings.Contains(name, "/")
			if slash {
				add(kind, false)
				w = name
			}
			add(w, !slash && !ended && shell.IsFlag(last) && !strings.Contains(last, "="))
		}
	}
	return o
}

// same compares a pattern's word with a command's.
func (p *Pattern) same(want, got string) bool {
	if wild(tidy(want), tidy(got)) {
		return true
	}
	all := []string{tidy(got)}
	switch {
	case p.program == "git" && !strings.ContainsAny(want, ":*"):
		ref := strings.TrimPrefix(got[strings.LastIndexByte(got, ':')+1:], "+")
		ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
		return ref == tidy(want) && (p.first() == "push" || !strings.Contains(got, ":"))
	case shell.In(clusters, p.program):
		all = strings.Split(got, ",") // ns,pods
	}
	names := p.namesOf(want)
	return slices.ContainsFunc(all, func(one string) bool { return slices.Contains(names, one) })
}

// tidy returns a word without what does not change a path.
func tidy(w string) string {
	if !strings.Contains(w, "/") || strings.Contains(w, "://") {
		return w
	}
	return path.Clean(w)
}

// wild compares a text with a pattern in which * stands for anything.
func wild(pattern, text string) bool {
	first, rest, starred := strings.Cut(pattern, "*")
	text, begins := strings.CutPrefix(text, first)
	for starred && begins {
		first, rest, starred = strings.Cut(rest, "*")
		if !starred {
			return strings.HasSuffix(text, first)
		}
		_, text, begins = strings.Cut(text, first)
	}
	return begins && text == ""
}

// synonyms are, for programs or git's subcommands, the names of a flag or word that a rule may mean by one.
const synonyms = `
rm chmod chown chgrp cp: -r -R --recursive
rm mv ln docker podman nerdctl docker-compose podman-compose: -f --force
chmod: 777 0777 a+rwx a=rwx +rwx ugo+rwx ugo=rwx u=rwx,g=rwx,o=rwx; 666 0666 a+rw a=rw
git clean branch tag checkout switch worktree submodule: -f --force
git branch tag: -d --delete; -m --move
git push: -f --force +*; -d --delete :*; -u --set-upstream
git clean: -n --dry-run
git switch: -f --force --discard-changes
git commit: -n --no-verify; -a --all
git restore: -W --worktree; -S --staged
docker podman nerdctl docker-compose podman-compose: -v --volumes --volume; -a --all
kubectl oc k kubecolor: -n --namespace; -f --filename; -A --all-namespaces
kubectl oc k kubecolor: ns namespace namespaces; no node nodes; po pod pods; svc service services; job jobs
kubectl oc k kubecolor: deploy deployment deployments; sts statefulset statefulsets; cm configmap configmaps
kubectl oc k kubecolor: ing ingress ingresses; secret secrets
kubectl oc k kubecolor: pvc persistentvolumeclaim persistentvolumeclaims; pv persistentvolume persistentvolumes
kubectl oc k kubecolor: crd customresourcedefinition customresourcedefinitions; sa serviceaccount serviceaccounts
docker podman nerdctl: rm remove
npm pnpm yarn bun: run run-script
npm: install i add; uninstall un rm remove r; update up upgrade
pnpm bun: install i; remove rm uninstall un; update up
helm: uninstall delete del un
brew: uninstall remove rm
helm: -n --namespace
npm pnpm yarn: -g --global --location=global
pacman: -R --remove
dpkg: -r --remove; -P --purge
rpm: -e --erase
pip: -i --index-url
iptables ip6tables: -F --flush
pg_restore: -c --clean
pulumi: -y --yes
alembic: -c --config
gh: -X --method
curl: -X --request
terraform tofu: -destroy --destroy; -auto-approve --auto-approve
ansible-playbook: -i --inventory
`

// namesOf returns the names that mean a flag, itself first.
func (p *Pattern) namesOf(name string) []string {
	names := []string{name}
	for line := range strings.Lines(synonyms) {
		programs, flags, _ := strings.Cut(strings.TrimSpace(line), ":")
		sub, git := strings.CutPrefix(programs, "git ")
		if git && (p.program != "git" || !shell.In(sub, p.first())) || !git && !shell.In(programs, p.program) {
			continue
		}
		for group := range strings.SplitSeq(flags, ";") {
			if group = strings.TrimSpace(group); shell.In(group, name) {
				names = append(names, strings.Fields(group)...)
			}
		}
	}
	return names
}

// among reports whether a command has the flag under a name.
func (f flag) among(name string, o operands) bool {
	if name[0] != '-' { // +*
		return slices.ContainsFunc(o.words, func(w string) bool { return wild(name, w) })
	}
	if f.value != "" {
		return f.valued(name, o.tail)
	}
	return slices.ContainsFunc(o.flags, func(w string) bool {
		got, _, _ := strings.Cut(w, "=")
		const longest = 6 // letters joined behind one dash; what is longer is a name
		switch {
		case got == name, strings.EqualFold(got, name) && len(name) > 2 && name[1] != '-':
			return true
		case len(name) == 2 && name[1] < 'a' && strings.HasPrefix(got, name): // -XDELETE
			return true
		case len(name) == 2 && len(got) <= longest && got[1] != '-':
			return strings.Contains(got, name[1:])
		case strings.HasPrefix(name, "--"):
			return len(got) > 4 && got[1] == '-' && strings.HasPrefix(name, got)
		}
		got, _, _ = strings.Cut(got, ":") // PowerShell's
		return len(name) > 4 && (len(got) > 3 || name[1] < 'a') && strings.EqualFold(name[:min(len(got), len(name))], got)
	})
}

// valued reports whether a command has the flag with its value.
func (f flag) valued(name string, tail []string) bool {
	for i, w := range tail {
		if w == name && i+1 < len(tail) && wild(f.value, tidy(tail[i+1])) || wild(name+"="+f.value, w) ||
			len(name) == 2 && len(w) > 2 && wild(name+f.value, w) {
			return true
		}
	}
	return false
}
