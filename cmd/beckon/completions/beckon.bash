# beckon's completion for bash. In ~/.bashrc: source <(beckon completion bash)
_beckon() {
	local word
	COMPREPLY=()
	while IFS=$'\t' read -r word _; do
		COMPREPLY+=("$word")
	done < <(beckon __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o nosort -F _beckon beckon 2>/dev/null || complete -F _beckon beckon
