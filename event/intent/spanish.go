package intent

var spanish = language{
	code: "es",
	common: []string{
		"el", "la", "los", "las", "y", "es", "una", "un", "del", "para", "que", "con", "por", "en", "he", "está", "están", "hay", "lo",
		"se", "de", "a", "me", "no", "si", "qué", "al",
	},
	letters: "ñ",
	verbs: []string{
		"corregido", "corregida", "añadido", "añadida", "agregado", "agregada", "eliminado", "eliminada", "renombrado", "reemplazado",
		"sustituido", "actualizado", "actualizada", "cambiado", "creado", "creada", "escrito", "movido", "terminado", "terminada",
		"hecho", "listo", "lista", "implementado", "implementada", "resuelto", "resuelta", "arreglado", "arreglada", "probado",
		"verificado", "desplegado", "fusionado", "subido", "publicado", "migrado", "completado", "completada", "convertido",
		"convertidos", "solucionado",
	},
	lead: []string{"he", "ya", "está", "están", "ha", "han", "sido", "todo", "todos", "y", "también", "hemos", "fue", "fueron", "queda"},
	doer: []string{"he", "hemos"},
	results: []string{
		"corregido", "corregida", "terminado", "terminada", "hecho", "listo", "lista", "implementado", "implementada", "resuelto",
		"resuelta", "arreglado", "arreglada", "probado", "completado", "completada", "convertidos", "solucionado",
	},
	passive:   []string{"he", "está", "están", "sido", "ha", "han", "fue", "fueron", "queda", "hemos"},
	negations: []string{"no", "nada", "nunca", "ningún", "ninguna"},
	phrases: [families][]string{
		asking: {
			"por favor confirma", "por favor confirme", "confirma por favor", "confírmame", "^confirma", "^confirme", "por favor elige",
			"por favor indica", "por favor indícame", "elige", "elija", "dime", "dígame", "indícame", "avísame", "avíseme", "hazme saber",
			"puedes", "podrías", "podría", "necesito", "tu decisión", "su decisión", "tu opinión", "qué opinas", "qué te parece",
			"algunas preguntas", "preguntas abiertas", "tú decides", "pásame", "dame",
		},
		insisting: {
			"antes de que", "antes de continuar", "antes de empezar", "en cuanto me", "cuando me confirmes", "hasta que me",
			"hasta que confirmes", "espero tu", "espero su", "esperando tu", "a la espera de tu", "no sé si", "no estoy seguro",
			"necesito tu", "necesito su", "necesito que",
		},
		continuing: {
			"debo continuar", "continúo$", "sigo$", "quieres que continúe", "quieres que siga", "quiere que continúe", "puedo continuar",
			"debo seguir", "debo empezar", "empiezo$", "procedo$", "debo proceder",
		},
		addressing: {
			"tú", "ti", "te", "tu", "tus", "usted", "su", "quieres", "quiere", "prefieres", "prefiere", "puedes", "debo", "puedo",
			"deberíamos", "cuál", "cuáles", "te parece", "de acuerdo", "está bien",
		},
		choosing: {"o prefieres", "o mejor", "o bien", "cuál", "en su lugar", "en vez"},
		offering: {
			"quieres que", "quiere que", "te gustaría que", "le gustaría que", "puedo también", "también puedo", "si quieres puedo",
			"si lo deseas", "deseas que", "desea que",
		},
		extra: {"también", "además", "adicionalmente"},
		closing: {
			"avísame si", "avíseme si", "dime si", "hazme saber si", "no dudes en", "no dude en", "algo más", "en qué puedo ayudar",
			"en qué más", "en qué te puedo", "qué hacemos ahora", "qué sigue", "espero que ayude", "espero que te sirva", "de nada",
			"buena suerte", "hasta luego", "responde eso", "te ayuda eso",
		},
		handing: {
			"ya puedes", "ahora puedes", "puedes ejecutar", "puedes probar", "puede probar", "ya puede", "para probar", "para verificar",
			"para usarlo", "^ejecuta", "^ejecute", "^abre", "^abra", "^reinicia", "^recarga", "debería funcionar", "lista para",
			"listo para",
		},
		blocking: {
			"no tengo permiso", "no tengo permisos", "no tengo acceso", "no puedo", "permiso denegado", "acceso denegado",
			"no autenticado", "ejecuta el comando", "inicia sesión", "^error", "ha caducado", "ha expirado",
		},
		blockedOnce: {"no pude", "no he podido", "ha fallado", "falló", "fue rechazado", "fue rechazada"},
		finishing: {
			"^listo", "^hecho", "^terminado", "^completado", "pruebas pasan", "tests pasan", "pruebas están en verde", "está listo",
			"está lista", "ya funciona", "funciona de nuevo", "ya no",
		},
		going: {
			"ahora voy a", "voy a", "a continuación", "ahora paso", "paso a", "continúo con", "sigo con", "estoy revisando",
			"estoy ejecutando", "estoy trabajando", "estoy esperando", "te avisaré", "le avisaré", "avisaré cuando", "en segundo plano",
			"en curso", "queda por", "quedan por", "falta por", "faltan por", "pendiente", "siguiente paso", "luego haré", "después haré",
			"esperando a que",
		},
		lacking:   {"todavía no", "aún no", "no está terminado", "siguen fallando", "sigue fallando", "fallan", "incompleto", "parcialmente"},
		summing:   {"resumen de los cambios", "aquí tienes un resumen", "archivos modificados"},
		answering: {"^porque", "^sí", "^no", "^es", "^nadie", "^así"},
		reasoning: {"^he encontrado", "^encontré", "^veo", "^si", "^ambos", "^ambas", "^sin", "^yo", "^depende"},
		polar:     {"^es", "^está", "^hay", "^debe", "^debería", "^debo", "^puede", "^cuál", "^cuáles"},
		optional:  {"^opción", "^alternativa", "dos opciones", "dos alternativas"},
		listing:   {"preguntas", "decisión", "decidir", "aclarar", "antes de", "dudas"},
		made:      {"aquí tienes", "aquí están", "como pediste", "secciones", "he escrito"},
		quoting:   {"preguntaste", "tu pregunta", "su pregunta"},
		affirming: {
			"sí", "si", "vale", "ok", "de acuerdo", "adelante", "claro", "hazlo", "continúa", "continua", "sigue", "perfecto", "correcto",
			"está bien", "por favor", "gracias", "dale", "aprobado", "me parece bien", "procede",
		},
	},
}
