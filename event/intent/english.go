package intent

// english is the first language: its phrases are consulted for every message.
// Families, with examples, are those of CASES section 4.3.
var english = language{
	code:   "en",
	common: []string{"the", "and", "is", "to", "of", "a", "in", "it", "for", "that", "this", "you", "with", "are", "i", "not", "on"},
	verbs: []string{
		"added", "adapted", "adjusted", "applied", "built", "bumped", "changed", "cleaned", "closed", "committed", "completed", "configured",
		"converted", "copied", "corrected", "created", "deleted", "deployed", "documented", "done", "enabled", "disabled", "exported", "extracted",
		"finished", "fixed", "formatted", "generated", "implemented", "imported", "improved", "installed", "integrated", "introduced", "merged",
		"migrated", "moved", "opened", "patched", "ported", "published", "pushed", "rebased", "refactored", "regenerated", "released", "removed",
		"renamed", "replaced", "resolved", "restored", "reverted", "rewritten", "rewrote", "simplified", "sorted", "split", "squashed", "switched",
		"tagged", "tested", "translated", "tuned", "updated", "upgraded", "verified", "wired", "wrote", "written", "archived", "covered", "packaged",
	},
	lead:    []string{"i've", "i", "have", "we've", "we", "has", "just", "also", "now", "successfully", "all", "both", "so", "then", "finally", "and", "is", "are", "was", "were", "been", "everything", "it's", "that's", "already", "ok", "okay"},
	passive: []string{"is", "are", "was", "were", "been", "i've", "i", "we've", "have", "has", "it's", "that's"},
	ing:     "ing",
	notIng:  []string{"nothing", "everything", "something", "anything", "during", "string", "warning", "according", "including", "regarding", "considering", "assuming", "depending", "using", "following", "morning", "guessing", "leaving", "keeping", "proposing", "suggesting", "asking", "missing", "interesting"},
	finite:  []string{"is", "are", "was", "were", "means", "no", "takes", "costs", "makes", "would", "will", "can", "can't", "needs", "requires", "works", "does", "doesn't", "has", "have", "should", "gives", "saves", "must", "may", "might", "isn't", "won't", "finished", "failed", "passed", "completed", "done", "succeeded", "brought", "made", "took", "gave", "cut", "became", "went", "led", "kept", "lets", "stops", "helps", "breaks", "seems", "looks", "adds", "removes", "causes", "leaves", "keeps", "goes", "gets", "depends", "turns", "shows"},
	past:    "ed",
	busy:    []string{"i'm", "still", "am", "we're"},
	phrases: [families][]string{
		asking: {

			"let me know if i should", "let me know if you want me to",

			"please confirm", "please choose", "please clarify", "please provide", "please decide", "please advise", "please specify", "please respond", "please reply",
			"please answer", "please select", "please pick", "please share", "please paste", "please send", "please approve", "please tell", "please let me know which", "please log in",
			"^could you", "^can you", "^would you mind", "^would you like me to", "^do you want me to", "^should i", "^shall i", "^may i",
			"^choose", "^pick", "pick one", "pick a number", "choose one", "^which of", "^which one", "^what should", "^confirm that", "^confirm whether", "^confirm if",
			"your call", "you decide", "up to you", "your decision", "pending your",
			"your ok", "your okay", "your go ahead", "your thoughts", "your opinion",
			"i need to know", "i'd need to know", "i need permission", "i need access", "i need an", "i need a", "i need the", "i need one of", "i'll need", "we need to know",
			"^paste", "^share the", "^send me", "^give me", "what do you think", "^thoughts$", "tell me", "let me know",
			"^open question", "^open questions", "decision needed", "needs a decision", "need a decision",
			"i have a question", "i have a few questions", "i have some questions", "i have two questions", "i have one question", "a few questions before", "some questions before", "^a few questions", "^some questions", "^two questions", "^one question", "^questions$",
			"here are some options", "here are the options", "there are two options", "there are two approaches", "there are a few options",
			"^y n$", "^yes no$",
		},
		insisting: {
			"i won't * until you", "wait until you", "hold off * until you", "i'll hold * until you", "unless you say", "waiting for your", "waiting for you", "waiting on you", "awaiting your", "say the word", "^reply with", "^respond with",
			"before i proceed", "before i continue", "before i start", "before i go", "before i do the rest", "before i touch", "before proceeding", "before i can continue", "before i can start", "before i can proceed",
			"before i write any", "before i begin", "before i make", "need your", "needs your", "need you to", "i'd like your", "like to hear your", "i'd rather ask", "correct me if",
			"let me know * and i'll start", "let me know * and i'll proceed", "let me know * and i'll continue", "let me know * and i'll go", "let me know * and i'll implement", "let me know * and i'll retry",
			"tell me * and i'll", "if you tell me", "if you could let me know", "once you * i'll", "once you * i can", "as soon as you * i'll", "as soon as you * i can", "i'll * once you", "i'll * as soon as you", "i'll * when you're", "i can * once you", "i'll * when you tell", "once you confirm", "once i know", "ask me to try again", "and i'll retry", "and i'll try again",
			"i can carry on", "then i can", "let me know which", "let me know whether", "let me know if you'd prefer", "let me know if you prefer", "let me know if you'd rather", "let me know if i should", "let me know if * proceed", "let me know if * go ahead", "let me know if you agree", "let me know if you approve", "without your permission", "without your approval", "without your ok", "i haven't changed anything yet", "how would you like to proceed", "how you'd like to proceed", "not sure what you mean", "not sure which", "i'm not sure whether", "i'm not sure if", "i don't know whether", "i don't know which", "request is ambiguous", "this is ambiguous", "that's ambiguous", "^type * to confirm", "^enter * to confirm", "^press * to confirm", "you need to decide", "you have to decide", "you'll have to decide", "needs to be decided", "you decide",
			"let me know how you'd like", "please tell me", "can't continue without", "cannot continue without", "can't proceed without", "would like to hear",
			"if that's fine with you", "if that's ok with you", "if you're happy with it",
		},
		continuing: {
			"should i continue", "should i proceed", "should i go ahead", "should i go on", "should i keep going", "should i start", "should i move on",
			"shall i continue", "shall i proceed", "shall i go ahead", "shall i go on", "shall i start", "want me to continue", "want me to proceed", "want me to go ahead", "want me to keep going", "want me to start",
			"like me to continue", "like me to proceed", "like me to go ahead", "like me to start", "ready to proceed", "ready for me to", "ok to proceed", "okay to proceed", "^proceed$", "^continue$", "can i proceed", "may i proceed", "do you want to proceed",
		},
		addressing: {
			"you", "your", "you're", "you'd", "you've", "should i", "shall i", "should we", "shall we", "may i", "can i", "could i", "do we want", "should this", "should it", "should these", "should those", "should the", "should they",
			"^which of", "which one", "^which", "which should", "where should", "how should", "what should", "when should", "who should", "^ok to", "^okay to", "is it ok", "is that ok", "is this ok", "is it okay", "is that okay", "is that acceptable",
			"is that correct", "is this correct", "is that right", "right$", "agreed", "^thoughts", "sound good", "sounds good", "look good", "looks good", "look right", "^proceed", "^confirm",
		},
		choosing: {
			"or should", "or would you", "or do you", "or leave", "or keep", "or rather", "or just", "or is it", "or shall", "instead", "or wait", "or revert", "or only", "or use", "which", "first or",
		},
		offering: {
			"would you like me to", "would you like", "want me to", "do you want me to", "do you want", "like me to", "shall i also", "should i also", "can i also", "if you'd like i can", "if you want i can", "if you like i can",
			"i can also", "i could also", "happy to", "glad to", "if you want me to", "if you'd like me to", "would it help if",
		},
		extra: {
			"also", "as well", "too", "in addition", "additionally", "while i'm at it", "while we're at it", "on top",
		},
		closing: {
			"let me know if", "let me know should", "let me know in case", "let me know how it goes", "let me know how it went", "let me know how that goes", "feel free", "don't hesitate", "do not hesitate",
			"anything else", "what else can i", "how can i help", "how may i help", "how can i assist", "what can i do for you", "what can i help", "what would you like to work on", "what would you like to do next", "what shall we", "what are we working on",
			"what's next", "what is next", "what should i work on next", "what should i do next", "what should i tackle next", "^what next", "what would you like me to do next", "what would you like me to work on",
			"does that help", "does this help", "does that answer", "does this answer", "does that make sense", "does this make sense", "hope this helps", "hope that helps", "happy coding", "^enjoy", "good luck", "have fun", "have a great", "have a nice", "have a good",
			"would you like any changes", "would you like anything changed", "would you like any adjustments", "give me a shout", "shout if", "i'm here if", "i'm here to", "ready when you are", "^bye", "goodbye", "good night", "see you", "^cheers",
			"you're welcome let me", "glad it", "glad that", "glad to hear", "that wraps", "that's a wrap", "all set", "^that's it", "^that is it", "reach out", "just ask", "just let me know", "just say", "any questions", "^thanks", "^thank you",
			"over to you", "i'll stand by", "standing by", "call it a day", "last one on the list", "that was the last", "that's everything", "that's all", "no further changes from my side", "nothing else from my side", "clear it up", "clear things up", "i'm around", "whenever you are", "back to you", "safe to close", "ping me if",
		},
		opining: {
			"let me know what you think", "let me know your thoughts", "curious what you think", "feedback is welcome", "feedback welcome",
		},
		handing: {
			"you can now", "you can use", "you can run", "you can start", "you can open", "you can test", "you can try", "you can view", "you can access", "you can verify", "you'll find", "you should see", "you should now", "you'll see",
			"^to use", "^to verify", "^to test", "^to try", "^to run", "^to start", "^to log in", "^to apply", "^to see", "^to check", "^to deploy", "^to install", "^how to test$", "^how to try$", "^how to try it$", "^how to use$", "^how to use it$", "^how to verify$", "^how to run$", "^how to run it$", "^how to check$", "^usage", "^next steps$", "^next steps for you", "^what you need to do", "^flash", "^double click", "^launch", "^visit", "^merge", "^copy", "^set", "^go to", "^click", "^point", "^start", "^execute", "^fill", "^put", "you can merge", "you can deploy",
			"^run", "^restart", "^reload", "^refresh", "^re run", "^rerun", "^open", "^try", "^just", "^simply", "^install it", "^start it", "^apply it", "^use it", "^see * for", "^check the", "^turn it on", "^drop",
			"refresh to", "reload the", "restart the", "should work now", "should be working", "should now work", "is now live", "fix is live", "all you have to do", "all you need to do", "when you're ready", "whenever you want", "whenever you're ready", "when you want",
			"ready for review", "ready for your review", "ready to merge", "ready to be merged", "ready to use", "ready to go", "ready for use", "you only need to", "you just need to", "you still have to", "ready to execute", "ready to run", "ready to deploy", "on your side", "on your end", "^if you need", "^if you want to", "^if you'd like to", "make sure to", "remember to", "don't forget to",
		},
		pleading: {
			"please", "run it yourself",
		},
		blocking: {
			"i don't have permission", "i don't have access", "i don't have write access", "i don't have read access", "i don't have the", "i do not have permission", "i do not have access", "i have no access", "no permission to", "i lack",
			"i can't",
			"i cannot", "i'm unable to", "i am unable to", "i'm not able to", "i'm not allowed", "i am not allowed", "i'm stuck", "i'm blocked", "authentication required", "not authenticated", "not logged in",
			"is blocked by", "blocked by a", "^error |", "^failed to", "^api error", "authentication_error", "please log in", "run it yourself",
			"asks for a login",
		},
		blockedOnce: {
			"i couldn't", "requires authentication", "permission denied", "access denied", "was blocked", "isn't available", "is not available", "isn't installed", "too low", "has expired", "is expired", "requires a login", "i could not", "i was unable to", "i wasn't able to", "i was not able to", "could not be", "timed out", "was denied", "was rejected", "rejected the",
		},
		finishing: {
			"^done", "^complete", "^completed", "^finished", "^all done", "^all set", "tests pass", "tests passed", "test passes", "tests are green", "is green", "are green", "all passing", "tests passing", "all pass", "passed", "now passes", "still pass", "passes again", "pass again",
			"is done", "are done", "is complete", "are complete", "is finished", "is in place", "are in place", "is ready", "are ready", "is gone", "are gone", "is live", "are live", "works now", "now works", "is working again", "up to date", "working tree clean", "working tree is clean",
			"successfully", "succeeded", "no longer", "it's in", "is in", "^here's what i did", "^here is what i did", "what i changed", "what changed", "changes made", "no change is needed", "no changes needed", "no changes are needed", "i made", "everything looks good",
			"^verdict", "i opened", "i've opened", "tests and lint pass", "lint clean", "set up", "wrapped up",
		},
		going: {
			"i'll", "i will", "^next i'm", "^next up", "i'm looking into * next", "^now i need to", "^now let me", "^now for", "now i'm",
			"will report back", "and will", "i'm going to", "i am going to", "^i'm now",
			"^let me",
			"is running in the background", "started in the background", "it in the background", "is running now", "are running now",
			"i still need to", "i still have to", "remaining work", "remaining tasks", "remaining steps", "^remaining$", "^remaining |", "^still to do", "^todo$", "^todo |", "^to do$", "^to do |", "there's one more", "before i can finish", "doing that now", "^on it", "in the meantime", "^trying again", "trying again", "carrying on", "in progress$", "is in progress", "are in progress", "^in progress", "^let's check", "^let's look", "^let's see", "^let's start", "^let's first", "^let's try", "^let's fix", "^let's run", "^let's verify", "^let's do", "you'll get a message", "you'll hear", "is queued behind", "are queued behind", "not started$", "not started yet", "| not started", "i've scheduled", "i have scheduled", "the next session", "waiting on", "waiting until", "to be continued",
			"hours left", "minutes left", "i've launched", "i launched", "^so far", "so far$", "done so far", "results so far", "summary so far", "assumptions so far",
		},
		hinging: {
			"^otherwise", "^then", "^after that", "^until then", "^in that case", "^if not", "^afterwards", "^if so",
		},
		lacking: {
			"not finished", "isn't finished", "not complete", "isn't complete", "not done yet", "isn't done", "not yet done", "is unfinished", "are unfinished", "still unfinished", "is incomplete", "are incomplete", "still incomplete", "still fail", "still fails", "still failing", "tests are failing", "tests fail", "test fails", "haven't been able to", "have not been able to", "not working yet", "doesn't work yet",
			"have not found out", "haven't found out", "i stopped here", "i stopped at", "i stopped because", "^pending", "pending$", "is pending", "are pending", "still pending", "left to do", "about halfway", "not fixed yet", "are stubs", "is a stub", "still broken", "still open", "still missing", "still wrong", "still crashes", "still hangs", "still not", "still doesn't", "has to wait", "not yet done", "not yet finished", "not yet tested", "not yet verified", "not yet implemented", "not yet complete", "not yet working", "doesn't yet$", "don't yet$", "^open |", "^missing |", "^pending |", "^not done", "reached the * limit", "blocked on", "have to wait", "wip", "tests are missing", "more to go$", "left to go$", "one to go$", "two to go$", "three to go$",
		},
		summing: {
			"here's a summary", "here is a summary", "^summary of", "files changed", "file changed", "the following files were", "files modified", "files were modified", "changes made", "modified files", "changed files",
		},
		answering: {
			"^because", "^yes", "^no", "^it's", "^it is", "^turns out", "^not", "^in short", "^they", "^it does", "^it doesn't", "^i think so", "^i don't think", "^probably", "^only", "^hardly", "^absolutely", "^sure", "^nobody", "^so",
		},
		reasoning: {
			"^i found", "^i see", "^if", "^both", "^i can't", "^i cannot", "^i couldn't", "^without", "^depending", "^options", "^it decides", "^it depends on", "^once i", "^my suggestion", "^i'd", "^i would", "^i lean", "^that determines", "^i need", "^i have", "^i haven't", "^one of",
		},
		polar: {
			"^is", "^are", "^does", "^do", "^did", "^has", "^have", "^can", "^will", "^should", "^would", "^could", "^was", "^were", "^which",
		},
		optional: {
			"^option", "^options", "^approach", "options are", "here are some options", "^plan a", "^variant",
		},
		listing: {
			"questions", "clarify", "clarification", "decision", "decisions", "need to know", "need you", "before i", "before starting", "from you", "decide", "unclear", "confirm", "open points", "help me understand",
		},
		made: {
			"here are", "here is", "as requested", "as you asked", "^added", "i added", "i've added", "i wrote", "i've written", "covers", "answers", "entries", "faq", "documented", "documents", "sections",
		},
		quoting: {
			"you asked", "you wrote", "you said", "i asked myself", "who would have thought", "i wondered", "isn't it", "aren't they", "doesn't it", "how great is", "how cool is",
		},
		affirming: {
			"yes", "y", "yeah", "yep", "yup", "ok", "okay", "k", "sure", "go ahead", "proceed", "continue", "do it", "go for it", "sounds good", "looks good", "lgtm", "approved", "approve", "accept", "accepted", "please", "thanks", "please do", "of course", "absolutely", "definitely", "perfect", "great", "go on", "ship it", "that works", "works for me", "agreed", "correct", "right", "fine", "alright", "all right", "i approve", "yes please",
			"yes and auto accept edits", "yes auto accept edits", "yes clear context and auto accept edits", "yes clear context", "yes and manually approve edits", "yes manually approve edits", "yes and bypass permissions", "yes clear context and bypass permissions", "yes clear context and manually approve edits",
		},
	},
}
