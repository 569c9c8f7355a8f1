package rules

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"beckon/event/redact/op"
)

// Table is the compiled rules.
type Table struct {
	Rules   []Entry
	Program []byte
	Sets    []byte // 16 bytes each: a bit for each ASCII character
	Marks   []string
	Middle  int // the program of op.Middle
	// First has, by the byte that leads to them, which rules may match there.
	First [128][]Ref

	edge string // how the parser writes edge
	sets map[[16]byte]int
}

// Entry is one rule of the table.
type Entry struct {
	PC      int
	Back    int // how far before the byte that leads to it the rule begins
	Mark    int
	Entropy int // tenths of bits
	Digit   bool
	Named   bool
}

// Ref is a rule, and what the next byte's lower case must be; 0 for any.
type Ref struct {
	Rule int
	Next byte
}

// Compile makes the table.
func Compile(all []Rule) (*Table, error) {
	t := &Table{sets: map[[16]byte]int{}}
	e, err := parse(edge)
	if err != nil {
		return nil, err
	}
	t.edge = e.String()
	if t.Middle, err = t.program([]part{{middle + joint, -1}}, op.Return); err != nil {
		return nil, err
	}
	for i, r := range all {
		entry := Entry{Entropy: int(r.Entropy*10 + 0.5), Digit: r.Digit, Named: r.Named, Mark: slices.Index(t.Marks, r.Mark)}
		if entry.Mark < 0 {
			entry.Mark, t.Marks = len(t.Marks), append(t.Marks, r.Mark)
		}
		entry.PC, err = t.program(r.parts, op.Match)
		if err == nil {
			entry.Back, err = t.lead(i, r.parts[0].source)
		}
		if err != nil {
			return nil, fmt.Errorf("rule %s: %w", r.ID, err)
		}
		t.Rules = append(t.Rules, entry)
	}
	return t, nil
}

func parse(source string) (*syntax.Regexp, error) { return syntax.Parse(source, syntax.Perl) }

// program appends a program for the parts of a rule, with op.Middle between, and
// returns its address.
func (t *Table) program(parts []part, last byte) (int, error) {
	pc := len(t.Program)
	for i, p := range parts {
		re, err := parse(p.source)
		if err != nil {
			return 0, err
		}
		if i > 0 {
			t.op(op.Middle)
		}
		if p.group == 0 {
			re, p.group = &syntax.Regexp{Op: syntax.OpCapture, Sub: []*syntax.Regexp{re}}, re.MaxCap()+1
			re.Cap = p.group
		}
		if err := t.emit(re, p.group); err != nil {
			return 0, err
		}
	}
	t.op(last)
	return pc, nil
}

func (t *Table) op(code byte, numbers ...int) {
	t.Program = append(t.Program, code)
	for _, n := range numbers {
		t.Program = binary.LittleEndian.AppendUint16(t.Program, uint16(n))
	}
}

// aim sets the address at pc, behind an instruction's code, to here.
func (t *Table) aim(pc int) {
	binary.LittleEndian.PutUint16(t.Program[pc+1:], uint16(len(t.Program)))
}

func (t *Table) emit(re *syntax.Regexp, group int) error {
	if re.String() == t.edge {
		t.op(op.Edge)
		return nil
	}
	if set, ok := setOf(re); ok {
		return t.run(set, 1, 1)
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
	case syntax.OpLiteral:
		return t.literal(re)
	case syntax.OpCapture:
		if re.Cap != group {
			return t.emit(re.Sub[0], group)
		}
		t.op(op.From)
		if err := t.emit(re.Sub[0], group); err != nil {
			return err
		}
		t.op(op.To)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if err := t.emit(sub, group); err != nil {
				return err
			}
		}
	case syntax.OpAlternate:
		return t.alternate(re.Sub, group)
	case syntax.OpStar:
		return t.repeat(re, 0, -1, group)
	case syntax.OpPlus:
		return t.repeat(re, 1, -1, group)
	case syntax.OpQuest:
		return t.repeat(re, 0, 1, group)
	case syntax.OpRepeat:
		return t.repeat(re, re.Min, re.Max, group)
	case syntax.OpWordBoundary:
		t.op(op.Word)
	case syntax.OpEndText:
		t.op(op.End)
	default:
		return fmt.Errorf("%s is not known to the matcher", re)
	}
	return nil
}

func (t *Table) literal(re *syntax.Regexp) error {
	text, code := string(re.Rune), byte(op.Text)
	if re.Flags&syntax.FoldCase != 0 {
		text, code = strings.ToLower(text), op.Fold
	}
	if len(text) > 255 {
		return fmt.Errorf("%q is too long", text)
	}
	t.Program = append(append(t.Program, code, byte(len(text))), text...)
	return nil
}

func (t *Table) alternate(subs []*syntax.Regexp, group int) error {
	var ends []int
	for i, sub := range subs {
		alt := len(t.Program)
		if i < len(subs)-1 {
			t.op(op.Alt, 0)
		}
		if err := t.emit(sub, group); err != nil {
			return err
		}
		if i < len(subs)-1 {
			ends = append(ends, len(t.Program))
			t.op(op.Jump, 0)
			t.aim(alt)
		}
	}
	for _, pc := range ends {
		t.aim(pc)
	}
	return nil
}

// repeat emits a set with its numbers, and writes out anything else as often as
// it may come.
func (t *Table) repeat(re *syntax.Regexp, least, most, group int) error {
	const often = 4
	if re.Flags&syntax.NonGreedy != 0 {
		return fmt.Errorf("%s is not greedy", re)
	}
	if set, ok := setOf(re.Sub[0]); ok {
		return t.run(set, least, most)
	}
	if most < 0 || most > often {
		return fmt.Errorf("%s comes too often", re)
	}
	var alts []int
	for i := range most {
		if i >= least {
			alts = append(alts, len(t.Program))
			t.op(op.Alt, 0)
		}
		if err := t.emit(re.Sub[0], group); err != nil {
			return err
		}
	}
	for _, pc := range alts {
		t.aim(pc)
	}
	return nil
}

// run emits characters of a set.
func (t *Table) run(set charset, least, most int) error {
	if most < 0 {
		most = op.Unbounded
	}
	i, ok := t.sets[set.ascii]
	if !ok {
		i = len(t.sets)
		t.sets[set.ascii] = i
		t.Sets = append(t.Sets, set.ascii[:]...)
	}
	if set.beyond {
		i |= op.Beyond
	}
	t.op(op.Set, i, least, most)
	return nil
}

// charset is a set of characters: those of ASCII, and whether it has the rest.
type charset struct {
	ascii  [16]byte
	beyond bool
}

func (s *charset) add(r rune) {
	if r < 128 {
		s.ascii[r/8] |= 1 << (r % 8)
	}
}

func (s *charset) has(c int) bool { return s.ascii[c/8]&(1<<(c%8)) != 0 }

func (s *charset) len() (n int) {
	for c := range 128 {
		if s.has(c) {
			n++
		}
	}
	return n
}

// setOf returns the set that an expression of one character is. What only the
// folding of case adds beyond ASCII (the Kelvin sign is a k) is left out.
func setOf(re *syntax.Regexp) (s charset, ok bool) {
	switch {
	case re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL:
		for c := range 128 {
			s.add(rune(c))
		}
		if re.Op == syntax.OpAnyCharNotNL {
			s.ascii['\n'/8] &^= 1 << ('\n' % 8)
		}
		s.beyond = true
		return s, true
	case re.Op == syntax.OpLiteral && len(re.Rune) == 1 && re.Rune[0] < 128:
		s.add(re.Rune[0])
		if re.Flags&syntax.FoldCase != 0 {
			s.add(unicode.ToUpper(re.Rune[0]))
			s.add(unicode.ToLower(re.Rune[0]))
		}
		return s, true
	case re.Op == syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1] && r < 128; r++ {
				s.add(r)
			}
			s.beyond = s.beyond || re.Rune[i+1] == unicode.MaxRune
		}
		return s, true
	}
	return s, false
}

// lead notes which bytes lead to the rule: those that it may begin with, or,
// where these are many, one of a text at a fixed distance from the beginning.
func (t *Table) lead(rule int, source string) (back int, err error) {
	const few = 12
	re, err := parse(source)
	if err != nil {
		return 0, err
	}
	atoms := flatten(re, nil)
	first, _, err := firstOf(re)
	if err != nil {
		return 0, err
	}
	if first.len() <= few {
		return 0, t.leadByTwo(rule, atoms)
	}
	for _, a := range atoms {
		if a.Op == syntax.OpLiteral {
			for i, r := range a.Rune {
				if r < 128 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && len(a.Rune) > 1 {
					next := byte(0)
					if i+1 < len(a.Rune) {
						next = byte(a.Rune[i+1]) | 0x20
					}
					t.First[r] = append(t.First[r], Ref{rule, next})
					return back + i, nil
				}
			}
		}
		n, err := lengthOf(a)
		if err != nil {
			return 0, err
		}
		back += n
	}
	return 0, fmt.Errorf("nothing leads to %s", re)
}

// leadByTwo notes the bytes that a rule of these parts may begin with, and those
// that may follow.
func (t *Table) leadByTwo(rule int, atoms []*syntax.Regexp) error {
	if a := atoms[0]; a.Op == syntax.OpAlternate {
		for _, sub := range a.Sub {
			if err := t.leadByTwo(rule, append(flatten(sub, nil), atoms[1:]...)); err != nil {
				return err
			}
		}
		return nil
	}
	first, empty, err := firstOf(&syntax.Regexp{Op: syntax.OpConcat, Sub: atoms})
	if err != nil || empty {
		return fmt.Errorf("nothing leads to %s (%v)", atoms[0], err)
	}
	var second charset
	switch a := atoms[0]; {
	case a.Op == syntax.OpLiteral && len(a.Rune) > 1:
		one := *a
		one.Rune = a.Rune[1:2]
		second, _ = setOf(&one)
	case a.Op == syntax.OpRepeat && a.Min > 1:
		second, _, err = firstOf(a)
	case a.Op == syntax.OpQuest: // with what is not there it is another
		rest := append([]*syntax.Regexp{a.Sub[0]}, atoms[1:]...)
		if err := t.leadByTwo(rule, append(flatten(rest[0], nil), rest[1:]...)); err != nil {
			return err
		}
		return t.leadByTwo(rule, atoms[1:])
	default:
		second, empty, err = firstOf(&syntax.Regexp{Op: syntax.OpConcat, Sub: atoms[1:]})
	}
	if err != nil {
		return err
	}
	t.refer(rule, first, second, empty)
	return nil
}

// refer notes that pairs of bytes lead to a rule; any second byte, if these are
// many.
func (t *Table) refer(rule int, first, second charset, any bool) {
	const many = 16
	any = any || second.len() > many || second.len() == 0
	for c := range 128 {
		if !first.has(c) {
			continue
		}
		for next := range 128 {
			ref := Ref{rule, byte(next) | 0x20}
			switch {
			case any:
				ref.Next = 0
			case !second.has(next):
				continue
			}
			if !slices.Contains(t.First[c], ref) {
				t.First[c] = append(t.First[c], ref)
			}
		}
	}
}

// flatten appends the parts of an expression that follow one another, texts
// joined.
func flatten(re *syntax.Regexp, out []*syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			out = flatten(sub, out)
		}
		return out
	case syntax.OpLiteral:
		if n := len(out); n > 0 && out[n-1].Op == syntax.OpLiteral {
			joined := *out[n-1]
			joined.Rune = append(slices.Clone(joined.Rune), re.Rune...)
			out[n-1] = &joined
			return out
		}
	}
	return append(out, re)
}

func lengthOf(re *syntax.Regexp) (int, error) {
	_, one := setOf(re)
	switch {
	case one:
		return 1, nil
	case re.Op == syntax.OpLiteral:
		return len(re.Rune), nil
	case re.Op == syntax.OpRepeat && re.Min == re.Max:
		n, err := lengthOf(re.Sub[0])
		return n * re.Min, err
	}
	return 0, fmt.Errorf("%s has no fixed length", re)
}

// firstOf returns the characters that re may begin with, and whether it may be
// empty.
func firstOf(re *syntax.Regexp) (s charset, empty bool, err error) {
	if set, ok := setOf(re); ok {
		return set, false, nil
	}
	switch re.Op {
	case syntax.OpLiteral:
		one := *re
		one.Rune = re.Rune[:1]
		s, _ = setOf(&one)
		return s, false, nil
	case syntax.OpCapture, syntax.OpPlus, syntax.OpStar, syntax.OpQuest, syntax.OpRepeat:
		s, empty, err = firstOf(re.Sub[0])
		return s, empty || re.Op == syntax.OpStar || re.Op == syntax.OpQuest || re.Op == syntax.OpRepeat && re.Min == 0, err
	case syntax.OpConcat, syntax.OpAlternate:
		all := re.Op == syntax.OpConcat
		empty = all
		for _, sub := range re.Sub {
			x, e, err := firstOf(sub)
			if err != nil {
				return s, false, err
			}
			for i := range s.ascii {
				s.ascii[i] |= x.ascii[i]
			}
			if all && !e {
				return s, false, nil
			}
			empty = empty || e && !all
		}
		return s, empty, nil
	case syntax.OpEmptyMatch:
		return s, true, nil
	}
	return s, false, fmt.Errorf("%s may not begin a rule", re)
}
