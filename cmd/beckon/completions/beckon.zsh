#compdef beckon
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
