package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a policy file, and where.
type Problem struct {
	File   string
	Line   int    // from 1; 0 when the file as a whole is meant
	Path   string // JSON path: $.hooks.PreToolUse[0].matcher
	What   string
	Advice string // what to do about it, empty when there is nothing to say
	// Warning marks what loads and is probably not meant (Check alone gives
	// those).
	Warning bool
}

func (p Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if p.Path != "" {
		at += ": " + p.Path
	}
	return at + ": " + p.What
}

// Problems is every mistake of a file, in the order of its lines. It is an
// error when it is not empty.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
		if a := p[i].Advice; a != "" && i < len(p)-1 {
			lines[i] += "\n  hint: " + a
		}
	}
	return strings.Join(lines, "\n")
}

// Hint returns the advice of the last problem; Error has those of the others.
func (p Problems) Hint() string {
	if len(p) == 0 {
		return ""
	}
	return p[len(p)-1].Advice
}

// err returns p in order, nil when it is empty.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return p
}
