package intent

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const fill = "ƒƒ"

func contexts(p string, dense bool) (out []string) {
	body, start := strings.CutPrefix(p, "^")
	body, end := strings.CutSuffix(body, "$")
	sp := " "
	if dense {
		sp = ""
	}
	mid := strings.ReplaceAll(body, " * ", sp+fill+sp)
	if start && end {
		return []string{mid}
	}
	tail := sp + fill
	if end {
		tail = ""
	}
	if start {
		return []string{mid + tail, fill + " | " + mid + tail}
	}
	return []string{fill + sp + mid + tail}
}

func subsumes(q, p string, dense bool) bool {
	for _, s := range contexts(p, dense) {
		if !finds(s, q, dense) {
			return false
		}
	}
	return true
}

func TestZZ(t *testing.T) {
	for _, lang := range languages {
		total, gone := 0, 0
		for f := range affirming {
			var dead []string
			list := lang.phrases[f]
			total += len(list)
			kept := slices.Clone(list)
			for i := 0; i < len(kept); i++ {
				p := kept[i]
				by := ""
				for j, q := range kept {
					if j != i && subsumes(q, p, lang.dense) {
						by = q
						break
					}
				}
				if by == "" && lang != &english && !lang.dense {
					for _, q := range english.phrases[f] {
						if subsumes(q, p, false) {
							by = "en:" + q
						}
					}
				}
				if by != "" {
					dead = append(dead, fmt.Sprintf("%q<%q", p, by))
					kept = slices.Delete(kept, i, i+1)
					i--
				}
			}
			gone += len(dead)
			if len(dead) > 0 {
				fmt.Println(lang.code, f, len(list), "dead", len(dead), dead)
			}
		}
		miss := 0
		var not []string
		for _, r := range lang.results {
			if !slices.Contains(lang.verbs, r) {
				miss++
				not = append(not, r)
			}
		}
		fmt.Println("==", lang.code, total, "dead", gone, "results", len(lang.results), "not in verbs", not)
	}
}
