package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// sizes returns a table of the programs: how large each is, and whose code that is.
func sizes(dir string) (string, error) {
	var b strings.Builder
	b.WriteString("\n| program, stripped | MB | its code is of |\n|---|---|---|\n")
	for _, name := range []string{"beckon-hook", "beckon-judge", "beckon-line", "beckon", "beckon-fleet"} {
		path, err := build(dir, name, "beckon/cmd/"+name)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		whose, err := shares(dir, "beckon/cmd/"+name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| %s | %.1f | %s |\n", name, float64(info.Size())/1e6, whose)
	}
	return b.String(), nil
}

// shares returns the modules to which a program's symbols belong, largest first, each with at
// least 2 %.
func shares(dir, pkg string) (string, error) {
	path := filepath.Join(dir, "symbols")
	run := func(args ...string) (string, error) {
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
		}
		return string(out), nil
	}
	if _, err := run("build", "-trimpath", "-o", path, pkg); err != nil {
		return "", err
	}
	list, err := run("list", "-deps", "-f", `{{.ImportPath}} {{with .Module}}{{.Path}}{{else}}Go{{end}}`, pkg)
	if err != nil {
		return "", err
	}
	module := map[string]string{}
	for line := range strings.Lines(list) {
		name, of, _ := strings.Cut(strings.TrimSpace(line), " ")
		module[name] = of
	}
	symbols, err := run("tool", "nm", "-size", path)
	if err != nil {
		return "", err
	}
	total, of := 0, map[string]int{}
	for line := range strings.Lines(symbols) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.EqualFold(f[2], "T") { // data symbols are tables of several packages in one
			continue
		}
		n, _ := strconv.Atoi(f[1])
		total += n
		of[cmp.Or(module[packageOf(f[3])], "Go")] += n
	}
	names := slices.SortedFunc(maps.Keys(of), func(x, y string) int { return cmp.Compare(of[y], of[x]) })
	var text []string
	for _, name := range names {
		if share := 100 * of[name] / total; share >= 2 {
			text = append(text, fmt.Sprintf("%s %d %%", name, share))
		}
	}
	return strings.Join(text, ", "), nil
}

// packageOf returns the import path in the name of a symbol.
func packageOf(symbol string) string {
	if i := strings.IndexAny(symbol, "(["); i >= 0 {
		symbol = symbol[:i]
	}
	dir, base := "", symbol
	if i := strings.LastIndexByte(symbol, '/'); i >= 0 {
		dir, base = symbol[:i+1], symbol[i+1:]
	}
	base, _, _ = strings.Cut(base, ".")
	return strings.ReplaceAll(dir+base, "%2e", ".")
}
