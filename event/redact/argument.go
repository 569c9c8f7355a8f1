package redact

import "strings"

// argument is a flag whose value is a secret in the command lines of some
// programs only.
type argument struct {
	command, flag string
	// before is the character between a user's name and the secret; 0 if the whole value is
	// secret.
	before byte
	// joined means that the secret always follows without a space: -pSECRET.
	joined bool
}

var arguments = [...]argument{
	{command: "curl", flag: "-u", before: ':'}, {command: "curl", flag: "-U", before: ':'},
	{command: "curl", flag: "--user", before: ':'}, {command: "curl", flag: "--proxy-user", before: ':'},
	{command: "http", flag: "-a", before: ':'}, {command: "https", flag: "-a", before: ':'}, {command: "xh", flag: "-a", before: ':'}, {command: "http", flag: "--auth", before: ':'},
	{command: "mysql", flag: "-p", joined: true}, {command: "mysqldump", flag: "-p", joined: true}, {command: "mysqladmin", flag: "-p", joined: true},
	{command: "mysqlimport", flag: "-p", joined: true}, {command: "mariadb", flag: "-p", joined: true}, {command: "mariadb-dump", flag: "-p", joined: true},
	{command: "sshpass", flag: "-p"}, {command: "login", flag: "-p"}, {command: "redis-cli", flag: "-a"}, {command: "redis-cli", flag: "--pass"},
	{command: "mongo", flag: "-p"}, {command: "mongosh", flag: "-p"}, {command: "mongodump", flag: "-p"}, {command: "mongorestore", flag: "-p"},
	{command: "ldapsearch", flag: "-w"}, {command: "ldapmodify", flag: "-w"}, {command: "ldapadd", flag: "-w"}, {command: "ldapwhoami", flag: "-w"},
	{command: "zip", flag: "-P"}, {command: "unzip", flag: "-P"}, {command: "7z", flag: "-p", joined: true}, {command: "7za", flag: "-p", joined: true},
	{command: "sqlcmd", flag: "-P"}, {command: "bcp", flag: "-P"}, {command: "mosquitto_pub", flag: "-P"}, {command: "mosquitto_sub", flag: "-P"},
	{command: "smbclient", flag: "-U", before: '%'}, {command: "rpcclient", flag: "-U", before: '%'}, {command: "lftp", flag: "-u", before: ','},
	{command: "skopeo", flag: "--creds", before: ':'}, {command: "buildah", flag: "--creds", before: ':'}, {command: "podman", flag: "--creds", before: ':'},
	{command: "keytool", flag: "-storepass"}, {command: "keytool", flag: "-keypass"}, {command: "jarsigner", flag: "-storepass"},
	{command: "openssl enc", flag: "-k"}, {command: "openssl enc", flag: "-K"},
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
		if runs(line, a.command) {
			if f := r.valueOf(a, end); f.mark != "" {
				return f
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
	if a.before == 0 || len(a.flag) != len("-u") {
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
	case a.joined == (value > v), long && value == v:
		if a.joined || long {
			return found{}
		}
	}
	from, end := r.wordAt(value)
	shortest := 3
	if a.before != 0 {
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
	if end-from < shortest || r.s[from] == '-' && a.before == 0 || placeholder(r.s[from:]) || strings.HasPrefix(r.s[from:], "//") {
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
