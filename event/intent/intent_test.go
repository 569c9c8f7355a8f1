package intent

import (
	"slices"
	"strings"
	"testing"
)

// Messages that are easily misread get the right verdict.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		text string
		want Intent
	}{
		{"All tests passed. Would you like me to also add a benchmark?", IntentQuestion},
		{"All 12 tests passed.\n\nWould you like me to also update the docs?", IntentQuestion},
		{"I'm done. Should I continue?", IntentQuestion},
		{"Here's a summary of the changes:\n\n- one\n- two\n\nLet me know if you'd like any adjustments.", IntentEndOfTask},
		{"Let me know which one you prefer.", IntentQuestion},
		{"Here's a summary:\n\n- parser done\n- printer done\n\nNext I'll fix the tests.", IntentProgress},
		{"I don't have permission to write to /etc/hosts.", IntentQuestion},
		{"The script asks first:\n\n```sh\nread -p \"Delete everything?\"\n```\n\nThat is how it was meant.", IntentCompletion},
		{"The script asks first:\n\n```sh\nread -p \"Delete everything?\"\n```", IntentCompletion},
		{"The reviewer wrote:\n\n> Is this safe?", IntentCompletion},
		{`The dialog says "Are you sure?"`, IntentCompletion},
		{"The dialog says `Are you sure?`", IntentCompletion},
		{"It is at https://example.com/search?q=why?", IntentCompletion},
		{"It is at https://example.com/search?", IntentCompletion},
		{"The headline is now \"Ready to ship?\".\n\n--- TASK COMPLETE - new headline ---", IntentCompletion},
		{"COMMAND COMPLETE - new headline", IntentCompletion},

		{"Soll ich auch die Tests anpassen?", IntentQuestion},
		{"Est-ce que je mets aussi la documentation à jour ?", IntentQuestion},
		{"テストも直しましょうか？", IntentQuestion},
		{"测试也要改吗？", IntentQuestion},
		{"The plan is ready. Say 'go' and I'll start.", IntentQuestion},
		{"Confirm and I'll run the migration.", IntentQuestion},
		{"Type the code you received.", IntentQuestion},
		{"The three fixes are done. Do you want me to commit them?", IntentQuestion},
		{"修改完成。如有任何问题，请随时告诉我。", IntentEndOfTask},

		// These were once misread.
		{"```\nFailed to open x\n```\nThat message is gone.", IntentCompletion},
		{"The cache is ready to start with the server, and changes will be applied at the next restart.", IntentCompletion},
		{"Here is the joke:\n\n> Why did the server cross the road?\n\n--- TASK COMPLETE - joke ---", IntentCompletion},

		// The marker ends the task unless something is asked after it.
		{"**TASK COMPLETE** - moved the files\n\nShould I delete the old ones?", IntentQuestion},
		{"Which file?\n\nTASK COMPLETE - none moved", IntentCompletion},

		{"", IntentProgress},
		{" \n\t\n", IntentProgress},
		{"```\ncode\n```", IntentCompletion},
	} {
		if got := OfMessage(c.text, false); got.Intent != c.want {
			t.Errorf("%q\ngives %v, want %s", c.text, got, c.want)
		}
	}
}

// Sentences about the work that resemble a request, a question or unfinished work are not
// taken for one.
func TestTraps(t *testing.T) {
	for _, text := range []string{
		"Handlers now respond with 404 for unknown ids.",
		"Fixed. The banner stays until you close it.",
		"The dialog asks people to confirm. It closes on Escape.",
		"Open it in the browser of your choice; it was tested in three.",
		"Error handling is uniform now.",
		"Incomplete uploads are deleted after a day.",
		"Requests are queued in the order they arrive.",
		"You'll get a 404 for unknown ids, as specified.",
		"The parser stops in the middle of a line if the input ends there. That's fixed.",
		"The form validates your input before it is sent.",
		"The endpoint requires authentication, like the others. Tests cover both cases.",
		"Added a retry. The fallback is used when the primary isn't available.",
		"Remaining uses of the old name are all in generated code, and the build is green.",
		"It returns 404 when the id is missing.",
		"The spinner hides when it's done.",
		"Rendering was blocked by the font; it's loaded asynchronously now.",
		"Which means the cache is cold after each start. That's gone.",
		"Answered a few questions in the FAQ.",
		"Working directories are kept apart now.",
		"Windows is not yet supported by the library, so the job is skipped there. Everything else is done.",
		"The options are documented in the README.",
		"The tests explain what you can expect and why.",
	} {
		if got := OfMessage(text, false); got.Intent != IntentCompletion && got.Intent != IntentEndOfTask {
			t.Errorf("%q\ngives %v", text, got)
		}
	}
}

// Questions are found in spite of Markdown, line breaks or a cut.
func TestLayout(t *testing.T) {
	for text, want := range map[string]string{
		"**Should I delete it?**":                                     "Should I delete it?",
		"Done with the first part.\r\n\r\nWhich file is next?\r\n":    "Which file is next?",
		"I see two ways.\n\nWhich of the `A` and `B`\nshould I take?": "should I take?",
		"This is a long line that an editor has wrapped so that the question\nof which of the two variants you prefer ends here: which one?": "This is a long line that an editor has wrapped so that the question of which of the two variants you prefer ends here: which one?",
		"- Should I keep it?\n- Should I rename it?":                "Should I keep it?",
		"1. Should I keep *this*?":                                  "Should I keep this?",
		"Which one do you want?\n\n| a | b |\n|---|---|\n| 1 | 2 |": "Which one do you want?",
		"Which one do you want?\n\n```\na\nb\n```":                  "Which one do you want?",
		"Which one do you want?\n\n    a\n    b":                    "Which one do you want?",
		"what?\" }\n```\nShould I keep `x`?":                        "Should I keep x?",
		"Here is it:\n```\nreally?\n":                               "",
		"````md\n```\nwhy?\n```\n````\nShould that be the example?": "Should that be the example?",
		"Is it [this one](https://example.com/a?b=c)?":              "Is it [this one](https://example.com/a?b=c)?",
		"Soll ich weitermachen？":                                    "Soll ich weitermachen？",
		"¿Cuál prefieres?":                                          "Cuál prefieres?",
		"Delete\x1b[31m it\x00 \u202ealso?":                         "Delete it also?",
		"I can't reach the registry.":                               "I can't reach the registry.",
		"Everything is done.":                                       "",
	} {
		if got := OfMessage(text, false); got.Question != want {
			t.Errorf("question of %q: %q, want %q (%v)", text, got.Question, want, got)
		}
	}
}

func TestPrompt(t *testing.T) {
	for _, c := range []struct {
		text                 string
		awaiting, processing bool
		want                 Rule
	}{
		{"anything", true, true, Rule{"prompt-awaiting", IntentAnswer, 1, ""}},
		{"yes", false, true, Rule{"prompt-affirms", IntentAnswer, 0.9, ""}},
		{"Yes, go ahead!", false, true, Rule{"prompt-affirms", IntentAnswer, 0.9, ""}},
		{"yes", false, false, Rule{"prompt", IntentCommand, 1, ""}},
		{"yes?", false, true, Rule{"prompt", IntentCommand, 1, ""}},
		{"yes, but rename it", false, true, Rule{"prompt", IntentCommand, 1, ""}},
		{"", false, true, Rule{"prompt", IntentCommand, 1, ""}},
		{strings.Repeat("yes ", 1000), false, true, Rule{"prompt", IntentCommand, 1, ""}},
	} {
		got := OfPrompt(c.text, c.awaiting, c.processing)
		if got.Says = ""; got != c.want {
			t.Errorf("OfPrompt(%.40q, %v, %v) = %v, want %v", c.text, c.awaiting, c.processing, got, c.want)
		}
	}
}

// Every rule has its own name and a description, and applies to a message of the evaluation
// set.
func TestRules(t *testing.T) {
	fired := map[string]bool{}
	for _, half := range halves {
		for _, m := range load(t, half) {
			fired[m.result().Name] = true
		}
	}
	fired[OfMessage("", false).Name] = true
	names := map[string]bool{}
	for _, r := range rules {
		if names[r.Name] || r.Name == "" || Says(r.Name) != r.Says || r.Says == "" || r.Confidence <= 0 || r.Confidence > 1 {
			t.Errorf("bad row: %+v", r)
		}
		if names[r.Name] = true; !fired[r.Name] {
			t.Errorf("rule %s never fires", r.Name)
		}
	}
	if s := Says("no rule"); s != "" {
		t.Errorf("no rule says %q", s)
	}
}

// Tables have only lists that are read, and these have words.
func TestLists(t *testing.T) {
	known := append([]string{"common", "letters", "done", "results", "lead", "doer", "passive", "negations", "ing", "notIng", "finite", "past", "busy"}, names[:]...)
	for _, lang := range languages {
		for _, list := range strings.Split(*lang.table, "\n\n")[1:] {
			name, words, _ := strings.Cut(list, ": ")
			if !slices.Contains(known, name) || strings.ContainsAny(words, ":") || slices.Contains(strings.Split(words, ","), "") {
				t.Errorf("%s: list %q", lang.code, name)
			}
			for line := range strings.Lines(words) {
				if strings.HasSuffix(line, "\n") != strings.HasSuffix(line, ",\n") && list[len(list)-1] != '\n' {
					t.Errorf("%s: list %q has a line without comma: %q", lang.code, name, line)
				}
			}
		}
	}
}

// Phrases are written in the form of normalized sentences; otherwise they would never match.
func TestTables(t *testing.T) {
	for _, lang := range languages {
		for _, name := range names {
			for p := range lang.list(name) {
				checkPhrase(t, lang, p)
				if name == "affirming" && strings.ContainsAny(p, "^$*") {
					t.Errorf("%s: affirmation %q has an anchor", lang.code, p)
				}
			}
		}
	}
}

func checkPhrase(t *testing.T, lang language, p string) {
	t.Helper()
	for _, part := range strings.Split(strings.TrimSuffix(strings.TrimPrefix(p, "^"), "$"), " * ") {
		var r reading
		r.src = part
		r.inline(0, len(part))
		if got := strings.TrimSuffix(string(r.norm), " "); got != strings.ReplaceAll(part, "| ", "") && !strings.Contains(part, "|") && part != "_" {
			t.Errorf("%s: phrase %q can never match: a sentence has %q", lang.code, p, got)
		}
	}
}

// No phrase is redundant: none occurs only in sentences in which another phrase of its family
// also occurs.
func TestPhrasesAreNeeded(t *testing.T) {
	for _, lang := range languages {
		for _, name := range names[:len(names)-1] { // without affirming
			phrases := slices.Collect(lang.list(name))
			others := phrases
			if !lang.dense && lang.code != english.code {
				others = slices.Concat(others, slices.Collect(english.list(name)))
			}
			for i, p := range phrases {
				for j, q := range others {
					if i != j && within(q, p, lang.dense) {
						t.Errorf("%s: where %q is found, %q is", lang.code, p, q)
					}
				}
			}
		}
		for w := range lang.list("results") {
			if slices.Contains(slices.Collect(lang.list("done")), w) {
				t.Errorf("%s: %q is among done and results", lang.code, w)
			}
		}
	}
}

// within reports whether phrase q occurs in every sentence in which p occurs.
func within(q, p string, dense bool) bool {
	const other = "ƒ" // a word that no phrase has
	gap := " "
	if dense {
		gap = ""
	}
	p, atStart := strings.CutPrefix(p, "^")
	p, atEnd := strings.CutSuffix(p, "$")
	p = strings.ReplaceAll(p, " * ", gap+other+gap)
	if !atEnd {
		p += gap + other
	}
	switch {
	case atStart && atEnd:
		return finds(p, q, dense)
	case atStart:
		return finds(p, q, dense) && finds(other+" | "+p, q, dense)
	}
	return finds(other+gap+p, q, dense)
}

// TestRemarks checks what follows a question, or stands for one: a reason, an answer, a condition, an approval.
func TestRemarks(t *testing.T) {
	for text, asks := range map[string]bool{
		"Should the retry be capped? It loops forever right now.":                          true,
		"Should the retry be capped? No, the caller does that.":                            false,
		"Can it be rolled back? Yes, with `make down`.":                                    false,
		"Who approves changes to billing? The code owners' file doesn't say.":              true,
		"Who calls this? Only `cron.go`.":                                                  false,
		"Peut-on supprimer l'ancienne table ? Elle ne sert plus depuis 2020.":              true,
		"¿Qué versión usa el cliente? El ticket no lo dice.":                               true,
		"¿Por qué fallaba? Un puntero nulo. Ya está corregido.":                            false,
		"Darf ich den alten Branch löschen? Er ist seit einem Jahr unberührt.":             true,
		"旧表可以删吗？没有人用了。":                                                                    true,
		"If yes, I'll merge. If no, I'll close the PR.":                                    true,
		"Si oui, je fusionne ; sinon, je ferme la PR.":                                     true,
		"Everything is staged. Continue? [y/N]":                                            true,
		"The next step deletes the bucket. Proceed (y/n)":                                  true,
		"With your approval I deleted the old branches.":                                   false,
		"With your approval I'd delete the old branches. I need your word before I start.": true,
		"Nach deiner Freigabe habe ich den PR gemergt.":                                    false,
		"ご承認を受けてPRをマージしました。":                                                               false,
		"Over to you: the key has to be plugged in.":                                       true,
		"Over to you: the branch is pushed and CI is green.":                               false,
		"I've updated the theme. Tell me if it looks wrong on your phone.":                 false,
		"Once you've signed off, I'll begin with step 1.":                                  true,
		"I've moved the settings. Once you've pulled, run the migration.":                  false,
		"Wenn der Plan passt, lege ich los.":                                               true,
		"Ich will nicht raten, welche der beiden gilt.":                                    true,
		"Há dois caminhos: cache local ou Redis. Você escolhe.":                            true,
		"Nada foi apagado ainda. Espero seu sinal.":                                        true,
		"Não mexi em produção. Me diga se devo mexer.":                                     true,
		"Feito: sua escolha (opção B) está aplicada.":                                      false,
		"Je n'ai pas touché à la production. Dites-moi si je dois le faire.":               true,
		"Je me mets en pause jusqu'à ce que tu choisisses.":                                true,
		"C'est fait : votre choix (option B) est appliqué.":                                false,
		"A yes or a no is enough.":                                                         true,
		"Before I rewrite history on a shared branch I want an explicit yes.":              true,
		"I've listed the files I'd delete. Have a look and confirm.":                       true,
		"Je recommande B. Un mot de vous et j'ouvre la PR.":                                true,
		"Je n'ai rien changé, car la demande peut se lire de deux façons.":                 true,
		"Déployé en préproduction. Si tout vous convient, passez-le en production.":        false,
		"Recomendo a B. Se estiver bom para você, eu faço.":                                true,
		"Implantado em homologação. Se tudo estiver bom, promova para produção.":           false,
		"I would go with B, but the choice is for you to make.":                            true,
	} {
		if got := OfMessage(text, false); (got.Intent == IntentQuestion) != asks {
			t.Errorf("%q: %s by %s", text, got.Intent, got.Name)
		}
	}
	if got := OfMessage("Did the fix hold? The soak test shows it in six minutes.", true); got.Intent == IntentQuestion {
		t.Errorf("asks by %s while the test still runs", got.Name)
	}
}
