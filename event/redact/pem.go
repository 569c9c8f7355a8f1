package redact

import "strings"

// pemLine is the shortest run of base64 that is a line of a key; a shorter one
// may be its last. The lines of keys have 64 to 76 characters.
const pemLine = 32

// privateKey finds a private key block whose first or last line begins at i.
// The block may be cut at either end.
func (r *redactor) privateKey(i int) found {
	if body := pemBoundary(r.s, i, "-----BEGIN "); body > 0 {
		if end := r.pemEnd(body); end > 0 {
			return found{i, end, markPEM}
		}
	}
	if end := pemBoundary(r.s, i, "-----END "); end > 0 {
		if from := r.pemStart(i); from < i {
			return found{from, end, markPEM}
		}
	}
	return found{}
}

// pemBoundary returns the end of the boundary line of a private key at i that starts with
// prefix, or 0.
func pemBoundary(s string, i int, prefix string) int {
	const dashes, longest = "-----", 40
	if !strings.HasPrefix(s[i:], prefix) {
		return 0
	}
	label := s[i+len(prefix):]
	n := strings.Index(label[:min(len(label), longest)], dashes)
	if n < 0 {
		return 0
	}
	if l := strings.TrimSuffix(label[:n], " BLOCK"); !strings.HasSuffix(l, "PRIVATE KEY") {
		return 0
	}
	return i + len(prefix) + n + len(dashes)
}

// pemEnd returns the end of the block whose inside begins at i: after its last line, else
// after the last line of base64. It is 0 without one.
func (r *redactor) pemEnd(i int) (end int) {
	const maxHeaders = 8
	for short, headers := false, 0; ; {
		i = skipPEMSpace(r.s, i)
		if pemBoundary(r.s, i, "-----END ") == 0 {
			i += deleted(r.s, i)
		}
		if e := pemBoundary(r.s, i, "-----END "); e > 0 {
			return e
		}
		if next := pemHeader(r.s, i); next > i && headers < maxHeaders {
			i, headers = next, headers+1
			continue
		}
		from := i
		for i < len(r.s) && isBase64(r.s[i]) {
			i++
		}
		n := i - from
		tail := end > 0 && n > 0 && (i == len(r.s) || n >= pemLine/2 && hasDigit(r.s[from:i])) // of a line that was cut
		switch {
		case n >= pemLine || tail:
			end = i
		case n > 0 && n <= 6 && strings.Trim(r.s[from:i], "0123456789") == "":
			// the number of a line
		case n == 0 || short:
			return end
		default:
			short = true
		}
	}
}

// pemHeader skips a header line (Proc-Type: 4,ENCRYPTED) at i, of a few words.
func pemHeader(s string, i int) int {
	const longest = 256
	s = s[:min(len(s), i+longest)]
	j := i
	for j < len(s) && j-i < enough && (s[j] == '-' || alnum.has(s[j])) {
		j++
	}
	if j == i || !strings.HasPrefix(s[j:], ": ") {
		return i
	}
	for j < len(s) && s[j] != '\n' && !strings.HasPrefix(s[j:], `\n`) {
		j++
	}
	return j
}

// pemStart returns the start of the base64 that ends before the boundary at i, or i itself if
// it is too short for a key. It goes back no further than the last replacement.
func (r *redactor) pemStart(i int) int {
	start, total := i, 0
	for j, first := i-deleted(r.s, i-1), true; ; first = false {
		for j > r.last && isPEMSpace(r.s[j-1]) || j > r.last+1 && r.s[j-1] == 'n' && r.s[j-2] == '\\' {
			j--
		}
		end := j
		for j > r.last && isBase64(r.s[j-1]) {
			j--
		}
		if n := end - j; n == 0 || n < pemLine && !first {
			break
		}
		start, total = j, total+end-j
		if j > r.last {
			j -= deleted(r.s, j-1)
		}
	}
	if total < pemLine {
		return i
	}
	return start
}

// deleted returns the length of a diff's mark for a deleted line at i, 0 if there is none.
func deleted(s string, i int) int {
	if i > 0 && i < len(s) && s[i] == '-' && (s[i-1] == '\n' || s[i-1] == 'n' && i > 1 && s[i-2] == '\\') {
		return 1
	}
	return 0
}

// skipPEMSpace skips what is between the lines of a key: space, quotes, escapes and marks that
// quote or number lines.
func skipPEMSpace(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] == '\\' && i+1 < len(s) && strings.IndexByte(`nrt"`, s[i+1]) >= 0:
			i += 2
		case isPEMSpace(s[i]):
			i++
		default:
			return i
		}
	}
	return i
}

func isPEMSpace(c byte) bool { return c <= ' ' || strings.IndexByte("\"'`\\,>|#*;", c) >= 0 }

func isBase64(c byte) bool { return c == '+' || c == '/' || c == '=' || alnum.has(c) }
