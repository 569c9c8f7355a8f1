package redact

import "beckon/event/redact/op"

//go:generate go run ./gen

// longest is the most characters that an unbounded set may match. It keeps time linear.
const longest = 512

// rule is one rule of the table.
type rule struct {
	pc      uint16
	back    uint8 // how far before the trigger byte the rule begins
	mark    uint8
	entropy uint8 // tenths of bits per character; the secret must have more
	digit   bool  // the secret has a digit
	named   bool  // it begins with a provider's name
}

// matcher runs one rule's program on a text. It tries what a backtracking
// regular expression would, in the same order.
type matcher struct {
	s        string
	from, to int // the secret
	ret      int // where op.Return continues
}

func number(pc int) int { return int(program[pc]) | int(program[pc+1])<<8 }

// run reports whether the program at pc matches at i.
func (m *matcher) run(pc, i int) bool {
	for {
		switch program[pc] {
		case op.Match:
			return true
		case op.Set:
			return m.set(pc, i)
		case op.Text, op.Fold:
			n := int(program[pc+1])
			if !m.text(program[pc+2:pc+2+n], i, program[pc] == op.Fold) {
				return false
			}
			pc, i = pc+2+n, i+n
		case op.Alt:
			if m.run(pc+3, i) {
				return true
			}
			pc = number(pc + 1)
		case op.Jump:
			pc = number(pc + 1)
		case op.From, op.To:
			return m.mark(pc, i)
		case op.Middle:
			m.ret = pc + 1
			pc = middle
		case op.Return:
			pc = m.ret
		default:
			if !m.holds(program[pc], i) {
				return false
			}
			pc++
		}
	}
}

// mark records where the secret begins or ends, unless the rest does not match.
func (m *matcher) mark(pc, i int) bool {
	at := &m.from
	if program[pc] == op.To {
		at = &m.to
	}
	was := *at
	*at = i
	if m.run(pc+1, i) {
		return true
	}
	*at = was
	return false
}

func (m *matcher) text(want string, i int, fold bool) bool {
	if len(m.s)-i < len(want) {
		return false
	}
	for k := range len(want) {
		if c := m.s[i+k]; c != want[k] && (!fold || lower(c) != want[k]) {
			return false
		}
	}
	return true
}

// set matches as many characters as it can, then fewer and fewer until the rest matches.
func (m *matcher) set(pc, i int) bool {
	set, least, most := number(pc+1), number(pc+3), number(pc+5)
	if most == op.Unbounded {
		most = longest
	}
	end := i
	for end < len(m.s) && end-i < most && inSet(set, m.s[end]) {
		end++
	}
	for ; end-i >= least; end-- {
		if m.run(pc+7, end) {
			return true
		}
	}
	return false
}

func inSet(set int, c byte) bool {
	if c >= 0x80 {
		return set&op.Beyond != 0
	}
	return sets[set&(op.Beyond-1)*16+int(c)/8]&(1<<(c%8)) != 0
}

// holds reports whether a zero-width condition holds at i.
func (m *matcher) holds(what byte, i int) bool {
	switch what {
	case op.Word:
		return (i > 0 && word.has(m.s[i-1])) != (i < len(m.s) && word.has(m.s[i]))
	case op.Edge:
		return i == len(m.s) || !token.has(m.s[i])
	}
	return i == len(m.s) // op.End
}

// byRule finds a secret by the rules for the byte at i; inside a word only those that begin
// with a provider's name.
func (r *redactor) byRule(i int, inside bool) found {
	c := r.s[i]
	if c >= 0x80 {
		return found{}
	}
	next := byte(0)
	if i+1 < len(r.s) {
		next = r.s[i+1] | 0x20
	}
	if pairs[c]>>(next%32)&1 == 0 {
		return found{}
	}
	for k := int(starts[c]); k < int(starts[c+1]); k += 3 {
		if want := refs[k+2]; want != 0 && want != next {
			continue
		}
		rule := &table[int(refs[k])|int(refs[k+1])<<8]
		if inside && !rule.named {
			continue
		}
		if f := r.try(rule, i); f.mark != "" {
			return f
		}
	}
	return found{}
}

func (r *redactor) try(rule *rule, i int) found {
	i -= int(rule.back)
	if i < r.last || rule.back > 0 && !r.boundary(i) {
		return found{}
	}
	m := matcher{s: r.s}
	if !m.run(int(rule.pc), i) {
		return found{}
	}
	for m.to > m.from && m.s[m.to-1] == '.' { // it is the sentence's
		m.to--
	}
	if secret := m.s[m.from:m.to]; rule.digit && !hasDigit(secret) || !random(secret, int(rule.entropy)) {
		return found{}
	}
	// If the text is longer than the rule says, the rest is replaced too.
	rest := token
	if m.to-m.from >= longest {
		rest = opaque
	}
	for m.to < len(m.s) && rest.has(m.s[m.to]) {
		m.to++
	}
	return found{m.from, m.to, marks[rule.mark]}
}
