package intent

var german = language{
	code: "de",
	common: []string{
		"der", "die", "das", "und", "ist", "nicht", "ich", "ein", "eine", "mit", "für", "auf", "es", "den", "wenn", "noch", "habe",
		"bitte", "zu", "von", "im", "dem", "du", "soll", "sind",
	},
	letters: "ßäöü",
	verbs: []string{
		"behoben", "hinzugefügt", "ergänzt", "eingebaut", "umgesetzt", "implementiert", "entfernt", "gelöscht", "umbenannt", "ersetzt",
		"aktualisiert", "angepasst", "geändert", "erstellt", "angelegt", "geschrieben", "verschoben", "korrigiert", "repariert",
		"erledigt", "fertig", "abgeschlossen", "eingecheckt", "gepusht", "zusammengeführt", "getestet", "geprüft", "bereinigt",
		"aktiviert", "installiert", "veröffentlicht", "migriert", "umgestellt", "gelöst",
	},
	lead: []string{"alles", "alle", "jetzt", "ist", "sind", "wurde", "wurden", "so", "auch", "nun", "schon", "bereits"},
	doer: []string{"ich"},
	results: []string{
		"behoben", "umgesetzt", "eingebaut", "implementiert", "erledigt", "fertig", "abgeschlossen", "gelöst", "getestet",
		"korrigiert", "angepasst", "ergänzt", "umgestellt", "eingecheckt", "gepusht",
	},
	passive:   []string{"ist", "sind", "wurde", "wurden", "worden"},
	negations: []string{"nicht", "nichts", "nie", "kein", "keine", "keiner"},
	phrases: [families][]string{
		asking: {
			"bitte bestätige", "bitte bestätigen", "bitte wähle", "bitte wählen", "bitte entscheide", "bitte sag", "bitte teile",
			"bitte gib", "bitte nenne", "bitte schick", "bitte antworte", "bitte klär", "sag mir", "sagen sie mir", "sag bescheid",
			"lass mich wissen", "lassen sie mich wissen", "gib mir", "nenn mir", "teil mir", "^bestätige", "^wähle", "^soll ich",
			"^kannst du", "^könntest du", "^können sie", "deine entscheidung", "ihre entscheidung", "deine meinung", "ich brauche",
			"ich benötige", "was meinst du", "was denkst du", "offene fragen", "ein paar fragen", "einige fragen", "^fragen",
		},
		insisting: {
			"sobald du", "sobald sie", "bis du", "bis sie", "bevor ich", "brauche deine", "brauche ihre", "benötige ihre",
			"warte auf deine", "warte auf dein", "warte auf ihre", "ich bin nicht sicher ob", "ich weiß nicht ob",
			"ich bin mir nicht sicher",
		},
		continuing: {
			"soll ich weitermachen", "soll ich fortfahren", "soll ich so weitermachen", "soll ich anfangen", "soll ich beginnen",
			"soll ich damit", "darf ich fortfahren", "fortfahren$", "weitermachen$", "soll ich loslegen",
		},
		addressing: {
			"du", "dir", "dich", "dein", "deine", "sie", "ihnen", "ihr", "ihre", "soll ich", "sollen wir", "darf ich", "kann ich",
			"möchtest", "willst", "welche", "welcher", "welches", "ist das ok", "ist das okay", "einverstanden", "passt das", "oder$",
		},
		choosing: {"oder soll", "oder lieber", "oder möchtest", "oder doch", "stattdessen", "welche"},
		offering: {
			"soll ich", "möchtest du", "willst du", "möchten sie", "wollen sie", "kann ich auch", "wenn du willst", "wenn du möchtest",
			"auf wunsch", "gern kann ich", "gerne kann ich",
		},
		extra: {"auch noch", "auch", "zusätzlich", "außerdem", "noch"},
		closing: {
			"sag bescheid wenn", "sagen sie bescheid wenn", "sag bescheid falls", "melde dich", "melden sie sich",
			"lass es mich wissen wenn", "lass mich wissen wenn", "lass mich wissen falls", "lassen sie mich wissen wenn",
			"lassen sie mich wissen falls", "sonst noch etwas", "noch etwas$", "kann ich sonst noch", "wie kann ich helfen",
			"womit kann ich", "viel spaß", "viel erfolg", "gern geschehen", "hilft das", "hilft dir das", "beantwortet das",
			"was steht als nächstes an", "was kommt als nächstes", "woran sollen wir", "bis bald", "gute nacht",
		},
		handing: {
			"du kannst jetzt", "sie können jetzt", "du kannst nun", "sie können nun", "kannst du jetzt", "können sie jetzt", "^zum testen",
			"^zum prüfen", "^zum starten", "^starte", "^starten sie", "^führe", "^öffne", "^öffnen sie", "^lade", "^probier",
			"sollte jetzt", "sollte nun", "bereit zum", "bereit für",
		},
		blocking: {
			"keine rechte", "keine berechtigung", "keinen zugriff", "keine schreibrechte", "keine leserechte", "ich kann nicht",
			"kann ich nicht", "nicht berechtigt", "nicht angemeldet", "zugriff verweigert", "führe den befehl", "führen sie",
			"melde dich an", "^fehler", "ist abgelaufen",
		},
		blockedOnce: {"ich konnte nicht", "konnte ich nicht", "fehlgeschlagen", "wurde abgelehnt", "ist gescheitert"},
		finishing: {
			"^fertig", "^erledigt", "^geschafft", "tests sind grün", "tests laufen durch", "tests bestehen", "alles grün", "ist grün",
			"sind grün", "ist fertig", "sind fertig", "funktioniert jetzt", "funktioniert wieder", "läuft wieder", "nicht mehr",
			"ich habe * ergänzt", "ich habe * hinzugefügt", "ich habe * eingebaut", "ich habe * geändert", "ich habe * umgestellt",
			"ich habe * behoben", "ich habe * angepasst", "ich habe * entfernt", "ich habe * geschrieben", "ich habe * aktualisiert",
			"ich habe * umgesetzt", "ich habe * erstellt", "ich habe * ersetzt", "ich habe * umbenannt", "ist eingebaut", "ist da",
		},
		going: {
			"als nächstes", "als nächster schritt", "jetzt werde ich", "ich werde", "ich mache weiter", "ich kümmere mich",
			"ich nehme mir", "ich schaue", "ich sehe mir", "ich prüfe", "ich starte", "ich fange", "ich beginne", "ich melde mich",
			"ich warte", "im hintergrund", "läuft noch", "laufen noch", "noch offen", "noch zu tun", "es fehlen noch", "es fehlt noch",
			"steht noch aus", "stehen noch aus", "weiter mit", "nun zu", "jetzt zu", "derzeit läuft", "wird gerade", "werden gerade",
		},
		lacking: {
			"noch nicht", "nicht fertig", "schlägt noch fehl", "schlagen noch fehl", "schlagen fehl", "unvollständig", "teilweise",
			"noch kaputt",
		},
		summing:   {"zusammenfassung der änderungen", "hier ist eine zusammenfassung", "geänderte dateien", "dateien geändert"},
		answering: {"^weil", "^ja", "^nein", "^nicht", "^es", "^sie", "^niemand", "^kaum", "^deshalb", "^so"},
		reasoning: {"^ich habe", "^ich sehe", "^wenn", "^beide", "^beides", "^ohne", "^ich würde", "^davon"},
		polar: {
			"^ist", "^sind", "^hat", "^haben", "^soll", "^sollen", "^kann", "^darf", "^wird", "^gibt", "^welche", "^welcher", "^welches",
		},
		optional: {"^option", "^variante", "^möglichkeit", "zwei möglichkeiten", "zwei varianten"},
		listing:  {"fragen", "entscheidung", "entscheiden", "klären", "bevor ich", "unklar"},
		made:     {"hier sind", "wie gewünscht", "ich habe * geschrieben", "abschnitte", "einträge"},
		quoting:  {"du hast gefragt", "du fragtest", "sie fragten", "deine frage"},
		affirming: {
			"ja", "jo", "jep", "ok", "okay", "klar", "gern", "gerne", "genau", "passt", "bitte", "mach weiter", "weiter", "mach das",
			"los", "einverstanden", "in ordnung", "leg los", "sieht gut aus", "perfekt", "danke", "mach es", "so machen",
		},
	},
}
