package redact

import "strings"

// arguments are the flags whose value is a secret in the command lines of some programs only.
var arguments = [...]struct {
	programs, flags string
	// before is the character between a user's name and the secret; 0 if the whole value is
	// secret; joined if the secret always follows without a space: -pSECRET.
	before byte
}{
	{"curl", "-u -U --user --proxy-user", ':'},
	{"http,https,xh", "-a --auth", ':'},
	{"mysql,mysqldump,mysqladmin,mysqlimport,mariadb,mariadb-dump,7z,7za", "-p", joined},
	{"sshpass,login,mongo,mongosh,mongodump,mongorestore", "-p", 0},
	{"redis-cli", "-a --pass", 0},
	{"ldapsearch,ldapmodify,ldapadd,ldapwhoami", "-w", 0},
	{"zip,unzip,sqlcmd,bcp,mosquitto_pub,mosquitto_sub", "-P", 0},
	{"smbclient,rpcclient", "-U", '%'},
	{"lftp", "-u", ','},
	{"skopeo,buildah,podman", "--creds", ':'},
	{"keytool,jarsigner", "-storepass -keypass", 0},
	{"openssl enc", "-k -K", 0},
	{"htpasswd", "-b", last},
}

const (
	joined = '+'
	last   = '$' // the flag says that the command's last word is the secret
)

// argument finds the secret after a flag at i of a program that takes one there.
func (r *redactor) argument(i int) found {
	if i > 0 && strings.IndexByte(" \t\n\"'", r.s[i-1]) < 0 {
		return found{}
	}
	line := ""
	for _, a := range arguments {
		for flag, rest := nextField(a.flags); flag != ""; flag, rest = nextField(rest) {
			end := flagEnd(r.s, i, flag, a.before)
			if end == 0 {
				continue
			}
			if line == "" {
				line = r.commandBefore(i)
			}
			for program := range strings.SplitSeq(a.programs, ",") {
				if !runs(line, program) {
					continue
				}
				if f := r.valueOf(end, len(flag) > len("-p"), a.before); f.mark != "" {
					return f
				}
			}
		}
	}
	return found{}
}

// flagEnd returns the end of a flag at i, 0 if another one is there. Flags of one letter may
// be among others that take no value: curl -sSu.
func flagEnd(s string, i int, flag string, before byte) int {
	const most = 6
	if before != last && strings.HasPrefix(s[i:], flag) {
		return i + len(flag)
	}
	if len(flag) > len("-u") || before == joined {
		return 0
	}
	end := i + 1
	for end < len(s) && end-i <= most && alnum.has(s[end]) && !isDigit(s[end]) {
		end++
	}
	letter := strings.IndexByte(s[i:end], flag[1])
	if !strings.HasPrefix(s[end:], " ") || letter < 0 || before != last && i+letter+1 != end {
		return 0
	}
	return end
}

// commandBefore returns the command line around i, up to i, without parsing the shell's
// language.
func (r *redactor) commandBefore(i int) string {
	from := i
	for from > max(0, i-far) && !r.endsCommandAt(from-1) {
		from--
	}
	return r.s[from:i]
}

// endsCommandAt reports whether a command ends at i: not at the & in a URL, nor at an escaped
// line break.
func (r *redactor) endsCommandAt(i int) bool {
	near := r.s[max(0, i-1):min(len(r.s), i+2)]
	switch r.s[i] {
	case ';', '|', '`', '(':
		return true
	case '&':
		return strings.Contains(near, " &") || strings.Contains(near, "& ") || strings.Contains(near, "&&")
	case '\n':
		return near[0] != '\\'
	}
	return false
}

// runs reports whether a command line names a program, by looking for the word.
func runs(line, program string) bool {
	at := strings.LastIndex(line, program+" ")
	return at >= 0 && (at == 0 || !dotted.has(line[at-1]))
}

// valueOf finds the secret in the value of a flag that ends at v.
func (r *redactor) valueOf(v int, long bool, before byte) found {
	value := r.skipSpace(v)
	switch {
	case before == last:
		end := v
		for end < len(r.s) && end-v < far && !r.endsCommandAt(end) {
			end++
		}
		return r.lastWord(v, end, false)
	case value == len(r.s), before == joined && value > v:
		return found{}
	case long && r.s[v] == '=':
		value = v + 1
	case long && value == v:
		return found{}
	}
	from, end := r.wordAt(value)
	if before == 0 || before == joined {
		return r.passed(from, end)
	}
	at := strings.IndexByte(r.s[from:end], before)
	if at < 0 && from > value && end+1 < len(r.s) && r.s[end+1] == before { // "user":password
		at = end + 1 - from
		_, end = r.wordAt(from + at + 1)
	}
	if at < 0 {
		return found{}
	}
	if from += at + 1; from == end || quoteAt(r.s, from) != "" { // user:"password"
		from, end = r.wordAt(from)
	}
	return r.passed(from, end)
}

// passed returns the argument s[from:to] as a secret, unless it cannot be one.
func (r *redactor) passed(from, to int) found {
	if s := r.s[from:]; to-from < 3 || s[0] == '-' || placeholder(s) || strings.HasPrefix(s, "//") {
		return found{}
	}
	return found{from, to, markPassword}
}

// wordAt returns the bounds of the word of a command line that begins at v, without its
// quotes.
func (r *redactor) wordAt(v int) (from, end int) {
	q := quoteAt(r.s, v)
	from = v + len(q)
	for end = from; end < len(r.s) && r.s[end] != '\n'; end++ {
		if q == "" && endsWord(r.s[end]) || q != "" && strings.HasPrefix(r.s[end:], q) {
			break
		}
	}
	return from, end
}

// endsWord reports whether a word of a command line ends before c.
func endsWord(c byte) bool { return c <= ' ' || strings.IndexByte("\"'`;|&<>()", c) >= 0 }

// readers are the programs that read a secret from a pipe, each with the flag with which they
// do.
var readers = [...]struct{ command, flag string }{
	{"sudo ", "-S"},
	{"sudo ", "--stdin"},
	{"passwd ", "--stdin"},
	{"login ", "--password-stdin"},
	{"login ", "--with-token"},
	{"gpg ", "--passphrase-fd 0"},
	{"openssl ", "stdin"},
	{"smbpasswd ", "-s"},
	{"chpasswd", ""},
	{"cryptsetup ", ""},
}

// piped finds the secret in the words at i that a command gets on its standard input: echo
// SECRET | sudo -S, sudo -S id <<< SECRET.
func (r *redactor) piped(i int) found {
	switch r.s[i] {
	case 'e', 'p', 's':
	default:
		return found{}
	}
	if !beginsWith(r.s[i:], "echo printf sudo") {
		return found{}
	}
	line, _, _ := strings.Cut(r.s[i:min(len(r.s), i+far)], "\n")
	program, _, _ := strings.Cut(line, " ")
	if program == "sudo" {
		command, _, ok := strings.Cut(line, "<<<")
		if !ok || !readsSecret(command) {
			return found{}
		}
		return r.passed(r.wordAt(r.skipSpace(i + len(command) + len("<<<"))))
	}
	said, command, ok := strings.Cut(line, "|")
	if !ok || program != "echo" && program != "printf" || !readsSecret(command) {
		return found{}
	}
	return r.lastWord(i+len(program), i+len(said), strings.Contains(command, "chpasswd"))
}

// readsSecret reports whether a command line reads a secret from its standard
// input.
func readsSecret(line string) bool {
	line = line[:indexAny(line, "|;&")]
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
	for at := r.skipSpace(from); at < to; at = r.skipSpace(at) {
		first, last := r.wordAt(at)
		if last == at || last > to {
			break
		}
		begin, end = first, last
		at = last + len(quoteAt(r.s, last))
	}
	if user {
		name, _, ok := strings.Cut(r.s[begin:end], ":")
		if !ok {
			return found{}
		}
		begin += len(name) + len(":")
	}
	return r.passed(begin, end)
}
