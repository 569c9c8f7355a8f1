package intent

var french = language{
	code: "fr",
	common: []string{
		"le", "la", "les", "et", "est", "une", "un", "des", "du", "pour", "que", "pas", "vous", "je", "dans", "sur", "avec", "ne",
		"j'ai", "c'est", "de", "en", "moi", "au", "qui", "quelle", "ce", "se",
	},
	letters: "çèêàœ",
	verbs: []string{
		"corrigé", "corrigée", "ajouté", "ajoutée", "ajoutés", "supprimé", "supprimée", "renommé", "remplacé", "mis", "mise",
		"modifié", "modifiée", "créé", "créée", "écrit", "écrite", "déplacé", "terminé", "terminée", "fini", "finie", "fait",
		"implémenté", "implémentée", "résolu", "résolue", "testé", "vérifié", "déployé", "fusionné", "poussé", "nettoyé", "publié",
		"migré", "intégré", "intégrée",
	},
	lead: []string{"j'ai", "tout", "c'est", "est", "sont", "a", "été", "ont", "bien", "et", "aussi", "maintenant", "voilà", "ça"},
	doer: []string{"j'ai"},
	results: []string{
		"corrigé", "corrigée", "terminé", "terminée", "fini", "finie", "fait", "implémenté", "implémentée", "résolu", "résolue",
		"testé", "déployé", "intégré", "intégrée",
	},
	passive:   []string{"est", "sont", "été", "j'ai", "c'est", "a", "ont"},
	negations: []string{"rien", "jamais", "aucun", "aucune", "n'ai", "n'a", "n'est"},
	phrases: [families][]string{
		asking: {
			"merci de confirmer", "merci de me", "merci de préciser", "merci d'indiquer", "veuillez confirmer", "veuillez choisir",
			"veuillez préciser", "veuillez", "confirmez", "confirme", "dites moi", "dis moi", "indiquez moi", "précisez", "choisissez",
			"choisis", "pouvez vous", "peux tu", "pourriez vous", "pourrais tu", "faites moi savoir", "fais moi savoir", "tenez moi",
			"j'ai besoin", "il me faut", "votre avis", "ton avis", "à vous de", "à toi de", "qu'en pensez vous", "qu'en penses tu",
			"quelques questions", "questions ouvertes", "donnez moi", "donne moi",
		},
		insisting: {
			"avant que je", "avant de continuer", "avant de commencer", "dès que vous", "dès que tu", "tant que vous", "j'attends votre",
			"j'attends ta", "j'attends ton", "en attente de votre", "je ne sais pas si", "je ne suis pas sûr", "besoin de votre",
			"besoin de ton", "besoin de ta",
		},
		continuing: {
			"dois je continuer", "dois je poursuivre", "dois je commencer", "est ce que je continue", "je continue$", "on continue$",
			"puis je continuer", "voulez vous que je continue", "veux tu que je continue",
		},
		addressing: {
			"vous", "votre", "vos", "tu", "te", "toi", "ton", "ta", "tes", "dois je", "puis je", "faut il", "laquelle", "lequel",
			"lesquels", "quelle", "quel", "veux tu", "d'accord", "ça vous", "ça te", "est ce que je",
		},
		choosing: {"ou plutôt", "ou bien", "ou préférez", "laquelle", "lequel", "à la place"},
		offering: {
			"voulez vous que", "veux tu que", "souhaitez vous", "souhaites tu", "je peux aussi", "si vous voulez je", "si tu veux je",
			"si vous le souhaitez", "dois je aussi",
		},
		extra: {"aussi", "également", "en plus", "en outre"},
		closing: {
			"n'hésitez pas", "n'hésite pas", "dites moi si", "dis moi si", "faites moi savoir si", "fais moi savoir si", "autre chose",
			"puis je vous aider", "comment puis je", "que puis je faire", "bonne continuation", "bon courage", "bonne journée",
			"je vous en prie", "de rien", "est ce que cela répond", "est ce que ça aide", "sur quoi voulez vous", "quelle est la suite",
			"à bientôt",
		},
		handing: {
			"vous pouvez maintenant", "tu peux maintenant", "vous pouvez désormais", "tu peux désormais", "vous pouvez", "pour tester",
			"pour vérifier", "pour lancer", "pour utiliser", "^lancez", "^lance", "^ouvrez", "^ouvre", "^exécutez", "^redémarrez",
			"^relancez", "^rechargez", "devrait maintenant", "prêt à", "prête à",
		},
		blocking: {
			"je n'ai pas les droits", "je n'ai pas accès", "je n'ai pas la permission", "je n'ai pas l'autorisation", "je ne peux pas",
			"je n'arrive pas", "accès refusé", "permission refusée", "non authentifié", "merci d'exécuter", "connectez vous",
			"connecte toi", "^erreur", "a expiré", "est expiré",
		},
		blockedOnce: {"je n'ai pas pu", "je n'ai pas réussi", "a échoué", "a été refusé", "a été refusée"},
		finishing: {
			"^fait", "^terminé", "^voilà", "^c'est fait", "tests passent", "tests sont verts", "c'est corrigé", "est en place",
			"sont en place", "est prêt", "est prête", "est en ligne", "fonctionne maintenant", "fonctionne à nouveau", "ne * plus",
		},
		going: {
			"je passe maintenant", "je passe à", "je passe aux", "je vais", "ensuite je", "maintenant je", "je continue avec",
			"je m'occupe", "je commence", "je regarde", "je vérifie", "je lance", "je vous préviendrai", "je te préviendrai",
			"je vous tiens", "je reviens", "en arrière plan", "en cours", "reste à", "il reste", "restent à", "j'attends que",
			"j'attends la", "j'attends le", "à suivre", "prochaine étape",
		},
		lacking: {
			"pas encore", "n'est pas terminé", "n'est pas fini", "échouent encore", "échoue encore", "échouent", "incomplet",
			"partiellement",
		},
		summing:   {"voici un résumé", "résumé des modifications", "fichiers modifiés"},
		answering: {"^parce", "^oui", "^non", "^c'est", "^pas", "^car", "^il", "^elle", "^personne"},
		reasoning: {"^j'ai trouvé", "^je vois", "^si", "^les deux", "^sans", "^je dirais", "^cela dépend"},
		polar:     {"^est", "^sont", "^faut", "^peut", "^dois", "^doit", "^quelle", "^quel", "^laquelle", "^lequel"},
		optional:  {"^option", "^solution", "^approche", "deux options", "deux solutions", "deux approches"},
		listing:   {"questions", "décision", "décider", "préciser", "avant de", "clarifier"},
		made:      {"voici", "comme demandé", "sections", "j'ai écrit", "j'ai rédigé"},
		quoting:   {"vous avez demandé", "tu as demandé", "vous demandiez", "votre question", "ta question"},
		affirming: {
			"oui", "ouais", "ok", "d'accord", "vas y", "allez y", "continue", "continuez", "bien sûr", "parfait", "c'est bon", "fais le",
			"faites le", "approuvé", "s'il te plaît", "s'il vous plaît", "merci", "ça marche", "très bien", "je valide", "go",
		},
	},
}
