package redact

import "strings"

// argument is a flag whose value is a secret in the command lines of some
// programs only.
type argument struct {
	programs, flag string
	// before is the character between a user's name and the secret; 0 if the whole value is
	// secret; joined if the secret always follows without a space: -pSECRET.
	before byte
}

const joined = '+'

var arguments = [...]argument{
	{"curl", "-u", ':'},
	{"curl", "-U", ':'},
	{"curl", "--user", ':'},
	{"curl", "--proxy-user", ':'},
	{"http https xh", "-a", ':'},
	{"http", "--auth", ':'},
	{"mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump 7z 7za", "-p", joined},
	{"sshpass login mongo mongosh mongodump mongorestore", "-p", 0},
	{"redis-cli", "-a", 0},
	{"redis-cli", "--pass", 0},
	{"ldapsearch ldapmodify ldapadd ldapwhoami", "-w", 0},
	{"zip unzip sqlcmd bcp mosquitto_pub mosquitto_sub", "-P", 0},
	{"smbclient rpcclient", "-U", '%'},
	{"lftp", "-u", ','},
	{"skopeo buildah podman", "--creds", ':'},
	{"keytool jarsigner", "-storepass", 0},
	{"keytool", "-keypass", 0},
	{"openssl", "-k", 0},
	{"openssl", "-K", 0},
}

// argument finds the secret after a flag at i of a program that takes one there.
func (r *redactor) argument(i int) found {
	if i > 0 && strings.IndexByte(" \t\n\"'", r.s[i-1]) < 0 {
		return found{}
	}
	line := ""
	for k := range arguments {
		a := &arguments[k]
		end := a.ends(r.s, i)
		if end == 0 {
			continue
		}
		if line == "" {
			line = r.commandBefore(i)
		}
		for name, rest := nextField(a.programs); name != ""; name, rest = nextField(rest) {
			if name == "openssl" {
				name = "openssl enc" // -k is something else elsewhere
			}
			if runs(line, name) {
				if f := r.valueOf(a, end); f.mark != "" {
					return f
				}
			}
		}
	}
	if end := flagOf('b', r.s, i); end > 0 {
		return r.htpasswd(end)
	}
	return found{}
}

// ends returns the end of the flag at i, 0 if another flag is there. Flags of one letter may
// follow others that take no value: curl -sSu.
func (a *argument) ends(s string, i int) int {
	if strings.HasPrefix(s[i:], a.flag) {
		return i + len(a.flag)
	}
	if a.before == 0 || a.before == joined || len(a.flag) != len("-u") {
		return 0
	}
	end := flagOf(a.flag[1], s, i)
	if end > 0 && s[end-1] != a.flag[1] {
		return 0
	}
	return end
}

// flagOf returns the end of the one-letter flags at i if that letter is among them; else 0.
func flagOf(letter byte, s string, i int) int {
	const most = 6
	end := i + 1
	for end < len(s) && end-i <= most && alnum.has(s[end]) && !isDigit(s[end]) {
		end++
	}
	if end == len(s) || s[end] != ' ' || strings.IndexByte(s[i:end], letter) < 0 {
		return 0
	}
	return end
}

// commandBefore returns the command line around i, up to i, without parsing the shell's
// language.
func (r *redactor) commandBefore(i int) string {
	const far = 256
	line := r.s[max(0, i-far):i]
	from := len(line)
	for from > 0 && !r.endsCommandAt(i-len(line)+from-1) {
		from--
	}
	return line[from:]
}

// endsCommandAt reports whether a command ends at i: not at the & in a URL, nor at an escaped
// line break.
func (r *redactor) endsCommandAt(i int) bool {
	switch r.s[i] {
	case ';', '|', '`', '(':
		return true
	case '&':
		return i > 0 && (r.s[i-1] == ' ' || r.s[i-1] == '&') || i+1 < len(r.s) && (r.s[i+1] == ' ' || r.s[i+1] == '&')
	case '\n':
		return i == 0 || r.s[i-1] != '\\'
	}
	return false
}

// runs reports whether a command line names a program, by looking for the word.
func runs(line, command string) bool {
	at := strings.LastIndex(line, command+" ")
	return at >= 0 && (at == 0 || !token.has(line[at-1]) && line[at-1] != '.')
}

// valueOf finds the secret in the value of a flag that ends at v.
func (r *redactor) valueOf(a *argument, v int) found {
	long := len(a.flag) > len("-p")
	value := r.skipSpace(v)
	switch {
	case value == len(r.s):
		return found{}
	case long && r.s[v] == '=':
		value = v + 1
	case (a.before == joined) == (value > v), long && value == v:
		if a.before == joined || long {
			return found{}
		}
	}
	from, end := r.wordAt(value)
	shortest := 3
	user := a.before != 0 && a.before != joined
	if user {
		at := strings.IndexByte(r.s[from:end], a.before)
		if at < 0 && from > value && end+1 < len(r.s) && r.s[end+1] == a.before { // "user":password
			at = end + 1 - from
			_, end = r.wordAt(from + at + 1)
		}
		if at < 0 {
			return found{}
		}
		if from += at + 1; from == end || quoteAt(r.s, from) != "" { // user:"password"
			from, end = r.wordAt(from)
		}
		shortest = 2
	}
	rest := r.s[from:]
	if end-from < shortest || r.s[from] == '-' && !user || placeholder(rest) || strings.HasPrefix(rest, "//") {
		return found{}
	}
	return found{from, end, markPassword}
}

// wordAt returns the bounds of the word of a command line that begins at v, without its
// quotes.
func (r *redactor) wordAt(v int) (from, end int) {
	if v == len(r.s) {
		return v, v
	}
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
