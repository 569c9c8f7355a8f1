package intent

var portuguese = language{
	code: "pt",
	common: []string{
		"o", "os", "as", "e", "é", "uma", "um", "do", "da", "para", "que", "com", "por", "em", "não", "está", "são", "foi", "foram",
		"ainda", "você", "de", "a", "me", "se", "no", "na", "ao", "este", "esta", "seu", "sua", "sem", "mais", "já", "como", "mas", "ou",
		"agora", "dois", "quando", "também", "antes", "deve", "tenho", "posso", "qual", "isso", "pela", "pelo", "nas", "nos", "à", "só",
	},
	letters: "ãõç",
	verbs: []string{
		"corrigi", "adicionado", "adicionada", "adicionei", "removido", "removi", "renomeado", "renomeei", "substituído", "substituí",
		"atualizado", "atualizada", "atualizei", "alterado", "alterei", "criado", "criada", "criei", "escrito", "escrevi", "movido", "movi",
		"terminei", "implementei", "resolvi", "testei", "verificado", "publicado", "publiquei", "migrado", "migrei", "ajustado", "ajustei",
	},
	lead: []string{"está", "estão", "foi", "foram", "tudo", "já", "e", "também", "eu", "agora", "é", "são"},
	doer: []string{"eu"},
	results: []string{
		"corrigido", "corrigida", "terminado", "concluído", "concluída", "pronto", "pronta", "feito", "implementado", "implementada",
		"resolvido", "resolvida", "testado", "convertidos",
	},
	passive:   []string{"está", "estão", "foi", "foram", "sido"},
	negations: []string{"não", "nada", "nunca", "nenhum", "nenhuma"},
	phrases: [families][]string{
		asking: {
			"^confirme", "escolha", "diga me", "me diga", "me informe", "informe me", "me avise", "avise me", "pode me", "poderia",
			"preciso de", "preciso que", "preciso saber", "sua decisão", "sua opinião", "o que você acha", "o que acha",
			"algumas perguntas", "perguntas em aberto", "você decide", "me envie", "me passe", "^confirma", "^diga", "^responda", "^decida",
			"^digite", "^insira", "^cole", "^envie", "^compartilhe", "^aprove", "^informe", "por favor", "você escolhe", "como preferir",
			"depende de você", "preciso da", "preciso do", "falta o", "falta a", "me falta", "sua resposta", "sua preferência",
			"uma dúvida", "duas dúvidas", "algumas dúvidas", "uma pergunta",
		},
		insisting: {
			"antes de eu", "antes que eu", "antes de continuar", "antes de começar", "assim que você", "quando você confirmar", "até você",
			"até que você", "aguardo sua", "aguardo seu", "aguardando sua", "aguardando seu", "não sei se", "não tenho certeza",
			"preciso da sua", "preciso do seu", "seu aval", "sua aprovação", "sua confirmação", "sinal verde", "seu ok", "se concordar",
			"se você concordar", "se estiver de acordo", "se estiver tudo bem", "se for isso", "se achar", "e eu começo", "e eu apago",
			"e eu continuo", "e eu faço", "e eu aplico", "e eu sigo", "e começo", "e continuo", "para eu", "para que eu possa",
			"aguardo o seu", "aguardo a sua", "fico no aguardo", "não sei qual", "prefiro perguntar", "precisaria d",
		},
		continuing: {
			"devo continuar", "devo prosseguir", "devo começar", "posso continuar", "posso prosseguir", "quer que eu continue", "continuo$",
			"prossigo$", "sigo em frente$",
		},
		addressing: {
			"você", "vocês", "seu", "sua", "te", "devo", "posso", "quer", "prefere", "gostaria", "qual", "quais", "tudo bem", "concorda",
			"de acordo", "pode", "o que deve", "como deve", "onde deve", "devemos", "deveria", "seguimos", "ficamos",
		},
		choosing: {"qual", "em vez disso", "ou"},
		offering: {
			"quer que eu", "gostaria que eu", "você quer que", "deseja que eu", "posso também", "também posso", "se quiser posso",
			"se quiser eu",
		},
		closing: {
			"avise se", "diga se", "fique à vontade", "não hesite", "mais alguma coisa", "algo mais", "como posso ajudar",
			"em que posso ajudar", "o que fazemos agora", "qual é o próximo", "espero que ajude", "espero ter ajudado", "de nada",
			"boa sorte", "até logo", "isso responde", "isso ajuda",
		},
		handing: {
			"agora você pode", "já pode", "para testar", "para verificar", "para usar", "^rode", "^abra", "^reinicie", "^recarregue",
			"deve funcionar", "pronta para", "pronto para",
		},
		blocking: {
			"não tenho permissão", "não tenho acesso", "não posso", "não consigo", "permissão negada", "acesso negado", "não autenticado",
			"execute o comando", "faça login", "^erro", "expirou",
		},
		blockedOnce: {"não consegui", "não pude", "falhou", "foi rejeitado", "foi rejeitada", "foi negado"},
		finishing: {
			"^pronto", "^feito", "^concluído", "testes passaram", "testes passam", "está pronto", "está pronta", "já funciona",
			"voltou a funcionar", "não * mais", "está verde", "estão verdes", "em verde", "sumiram", "sumiu", "desapareceram",
			"desapareceu",
		},
		going: {
			"vou", "em seguida", "a seguir", "passo para", "continuo com", "estou verificando", "estou rodando", "estou trabalhando",
			"estou aguardando", "aviso quando", "avisarei", "em segundo plano", "em andamento", "falta", "faltam", "resta", "restam",
			"próximo passo", "aguardando a", "aguardando o",
		},
		lacking:   {"ainda não", "não está pronto", "não está concluído", "ainda falha", "falham", "incompleto", "parcialmente"},
		summing:   {"resumo das alterações", "resumo das mudanças", "aqui está um resumo", "arquivos alterados", "arquivos modificados"},
		answering: {"^porque", "^sim", "^não", "^é", "^ninguém", "^assim"},
		reasoning: {"^encontrei", "^vejo", "^se", "^ambos", "^ambas", "^sem", "^eu", "^depende"},
		musing:    {"^por que", "^por quê", "^como", "^de onde"},
		wondering: {"^o que", "^onde", "^quando", "^quem"},
		stepping:  {"envie", "envio", "implante", "publique", "mescle"},
		extra:     {"também", "além disso", "adicionalmente"},
		optional:  {"^opção", "^alternativa", "duas opções", "duas alternativas"},
		listing:   {"perguntas", "decisão", "decidir", "esclarecer", "antes de", "dúvidas"},
		made:      {"aqui estão", "como pediu", "seções", "escrevi"},
		quoting:   {"você perguntou", "sua pergunta"},
		affirming: {
			"sim", "ok", "pode", "pode seguir", "pode continuar", "pode fazer", "claro", "certo", "beleza", "continue", "continua",
			"prossiga", "vá em frente", "vai em frente", "perfeito", "faça", "faz isso", "por favor", "obrigado", "obrigada", "aprovado",
			"tudo bem", "isso",
		},
	},
}
