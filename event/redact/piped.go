package redact

import "strings"

// readers are the programs that read a secret from a pipe, and the flag with which they do.
var readers = [...]struct{ command, flag string }{
	{"sudo ", "-S"},
	{"sudo ", "--stdin"},
	{"passwd ", "--stdin"},
	{"login ", "--password-stdin"},
	{"login ", "--with-token"},
	{"gpg ", "--passphrase-fd 0"},
	{"openssl ", "stdin"},
	{"smbpasswd ", "-s"},
	{"htpasswd ", "-i"},
	{"chpasswd", ""},
	{"cryptsetup ", ""},
}

// piped finds the secret in the words at i that a command gets on its standard input: echo
// SECRET | sudo -S, sudo -S id <<< SECRET.
func (r *redactor) piped(i int) found {
	const far = 256
	rest := r.s[i:min(len(r.s), i+far)]
	said, ok := strings.CutPrefix(rest, "echo ")
	if !ok {
		said, ok = strings.CutPrefix(rest, "printf ")
	}
	if !ok {
		return r.hereString(i, rest)
	}
	if end := strings.IndexByte(said, '\n'); end >= 0 {
		said = said[:end]
	}
	bar := strings.IndexByte(said, '|')
	if bar < 0 || bar+1 == len(said) || said[bar+1] == '|' || !readsSecret(said[bar+1:]) {
		return found{}
	}
	from := i + strings.IndexByte(rest, ' ') + 1
	return r.lastWord(from, from+bar, strings.Contains(said[bar:], "chpasswd"))
}

// hereString is piped for sudo -S id <<< SECRET; rest is the beginning of that line.
func (r *redactor) hereString(i int, rest string) found {
	if !strings.HasPrefix(rest, "sudo -") {
		return found{}
	}
	line, _, _ := strings.Cut(rest, "\n")
	at := strings.Index(line, "<<<")
	if at < 0 || !readsSecret(line[:at]) {
		return found{}
	}
	from, end := r.wordAt(r.skipSpace(i + at + len("<<<")))
	return r.passed(from, end)
}

// readsSecret reports whether a command line reads a secret from its standard
// input.
func readsSecret(line string) bool {
	if end := strings.IndexAny(line, "|;&"); end >= 0 {
		line = line[:end]
	}
	for _, p := range readers {
		_, args, ok := strings.Cut(line, p.command)
		if ok && (p.flag == "" || hasFlag(args, p.flag)) {
			return true
		}
	}
	return false
}

// hasFlag reports whether a flag is among args; a one-letter flag also after others: -kS.
func hasFlag(args, flag string) bool {
	if len(flag) != len("-S") {
		return strings.Contains(args, flag)
	}
	for a := range strings.FieldsSeq(args) {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a, flag[1]) > 0 {
			return true
		}
		if a[0] != '-' {
			return false // the command that sudo runs, and its flags
		}
	}
	return false
}

// lastWord finds the secret in the last word of s[from:to], after a user's name if there is
// one.
func (r *redactor) lastWord(from, to int, user bool) found {
	begin, end := to, to
	for at := from; ; {
		first, last, next := r.nextWord(at)
		if next == at || next > to {
			break
		}
		begin, end, at = first, last, next
	}
	if user {
		colon := strings.IndexByte(r.s[begin:end], ':')
		if colon < 0 {
			return found{}
		}
		begin += colon + 1
	}
	return r.passed(begin, end)
}

// passed returns s[from:to] as a secret, unless it is a placeholder.
func (r *redactor) passed(from, to int) found {
	const shortest = 3
	if to-from < shortest || r.s[from] == '-' || placeholder(r.s[from:to]) || markAt(r.s, from) > 0 {
		return found{}
	}
	return found{from, to, markPassword}
}

// htpasswd finds the password in a command line of htpasswd -b whose flags end before i:
// [FILE] USER PASSWORD.
func (r *redactor) htpasswd(i int) found {
	at := strings.LastIndexByte(r.s[:i], '-')
	line := r.commandBefore(at)
	if !runs(line, "htpasswd") {
		return found{}
	}
	words, shown := 0, strings.Contains(line, " -n") || strings.IndexByte(r.s[at:i], 'n') > 0
	const far = 256
	for before, at := "", i; ; {
		first, last, next := r.nextWord(at)
		if next == at || at-i > far {
			return found{}
		}
		word := r.s[first:last]
		switch {
		case strings.HasPrefix(word, "-"):
			shown = shown || strings.IndexByte(word, 'n') > 0
		case before == "-C" || before == "-r": // how much work
		default:
			words++
		}
		if words == 3 || words == 2 && shown {
			return r.passed(first, last)
		}
		before, at = word, next
	}
}

// nextWord returns the bounds of the next word of a command after at, and the start of what
// follows; at if there is no word.
func (r *redactor) nextWord(at int) (first, last, next int) {
	begin := r.skipSpace(at)
	first, last = r.wordAt(begin)
	if last == begin {
		return at, at, at
	}
	next = last
	if quote := r.s[begin:first]; strings.HasPrefix(r.s[last:], quote) {
		next += len(quote)
	}
	return first, last, next
}
