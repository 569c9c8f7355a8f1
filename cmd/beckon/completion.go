package main

import "io"

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (c *completionCmd) Run(a *app) error {
	_, err := io.WriteString(a.Stdout, completions[c.Shell])
	return err
}

// completions are the shells' scripts. They know nothing of beckon's commands:
// each asks `beckon __complete` for the words, so they never grow old.
var completions = map[string]string{
	"bash": `# beckon's completion for bash. In ~/.bashrc: source <(beckon completion bash)
_beckon() {
	local word
	COMPREPLY=()
	while IFS=$'\t' read -r word _; do
		COMPREPLY+=("$word")
	done < <(beckon __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o nosort -F _beckon beckon 2>/dev/null || complete -F _beckon beckon
`,
	"zsh": `#compdef beckon
# beckon's completion for zsh. In ~/.zshrc, after compinit: source <(beckon completion zsh)
_beckon() {
	local line
	local -a words_found
	for line in "${(@f)$(beckon __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		[[ -n $line ]] && words_found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	_describe -V 'beckon' words_found
}
if [[ ${funcstack[1]} == _beckon ]]; then
	_beckon "$@"
else
	compdef _beckon beckon
fi
`,
	"fish": `# beckon's completion for fish. In config.fish: beckon completion fish | source
function __beckon_complete
	set -l words (commandline -opc)
	set -e words[1]
	set -l word (commandline -ct)
	beckon __complete $words "$word" 2>/dev/null
end
complete -c beckon -f -a '(__beckon_complete)'
`,
}
