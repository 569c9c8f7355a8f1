package rules

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"beckon/event/redact/op"
)

// Table is the compiled rules.
type Table struct {
	Rules   []Entry
	Program []byte
	Sets    []byte // 16 bytes each: a bit for each ASCII character
	Marks   []string
	Middle  int // the program of op.Middle
	// First has, by trigger byte, the rules that may match there.
	First [128][]Ref

	edge string // how the parser writes edge
	sets map[[16]byte]int
}

// Entry is one rule of the table.
type Entry struct {
	PC      int
	Back    int // how far before the trigger byte the rule begins
	Mark    int
	Entropy int // tenths of bits
	Digit   bool
	Named   bool
}

// Ref is a rule, and the lower case of the next byte; 0 for any.
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

// program appends a program for the parts of a rule, with op.Middle between, and returns its
// address.
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

// repeat emits a set with its numbers, and writes out anything else as often as it may occur.
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

// charset is a set of characters: those of ASCII, and whether it contains the rest.
type charset struct {
	ascii  [16]byte
	beyond bool
}

func (s *charset) add(r rune) {
	if r < 128 {
		s.ascii[r/8] |= 1 << (r % 8)
	}
}

// setOf returns the set for an expression of one character. Characters beyond ASCII that only
// case folding adds (the Kelvin sign is a k) are left out.
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

// lead records the trigger bytes of the rule: those that it may begin with, each with those
// that may follow, or, if these are many, one at a fixed distance from the beginning that is
// not a letter or digit and is next to another fixed one.
func (t *Table) lead(rule int, source string) (back int, err error) {
	const few, far = 12, 100
	re, err := parse(source)
	if err != nil {
		return 0, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0, err
	}
	at := &place{prog: prog}
	at.add(uint32(prog.Start))
	if first := at.chars(); !at.ends && len(first) <= few {
		for _, c := range first {
			t.refer(rule, c, at.after(c))
		}
		return 0, nil
	}
	for before := []rune(nil); back < far && !at.ends; back++ {
		here, next := at.chars(), at.after(-1)
		if len(here) == 1 && !unicode.IsLetter(here[0]) && !unicode.IsDigit(here[0]) && (len(before) == 1 || len(next.chars()) == 1) {
			t.refer(rule, here[0], next)
			return back, nil
		}
		before, at = here, next
	}
	return 0, fmt.Errorf("nothing leads to %s", re)
}

// refer adds a rule to a trigger character, with those that may follow it; if these are many,
// with any.
func (t *Table) refer(rule int, c rune, next *place) {
	const many = 16
	after := next.chars()
	if next.ends || len(after) > many {
		after = []rune{0}
	}
	for _, n := range after {
		ref := Ref{rule, byte(n)}
		if n > 0 {
			ref.Next |= 0x20
		}
		if !slices.Contains(t.First[c], ref) {
			t.First[c] = append(t.First[c], ref)
		}
	}
}

// place is where a match of an expression may be after a number of characters: at these
// instructions of its program, or at an end.
type place struct {
	prog *syntax.Prog
	pcs  []uint32
	ends bool
}

func (p *place) add(pc uint32) {
	if slices.Contains(p.pcs, pc) {
		return
	}
	p.pcs = append(p.pcs, pc)
	switch in := &p.prog.Inst[pc]; in.Op {
	case syntax.InstMatch:
		p.ends = true
	case syntax.InstAlt:
		p.add(in.Out)
		p.add(in.Arg)
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		p.add(in.Out)
	}
}

// chars returns the ASCII characters that may be there, and one for all others.
func (p *place) chars() (set []rune) {
	for c := range rune(utf8.RuneSelf + 1) {
		if slices.ContainsFunc(p.pcs, func(pc uint32) bool { return p.prog.Inst[pc].MatchRune(c) }) {
			set = append(set, c)
		}
	}
	return set
}

// after returns the place after c, or after any character if c is negative.
func (p *place) after(c rune) *place {
	next := &place{prog: p.prog}
	for _, pc := range p.pcs {
		if in := &p.prog.Inst[pc]; c < 0 && len(in.Rune) > 0 || in.MatchRune(c) {
			next.add(in.Out)
		}
	}
	return next
}
