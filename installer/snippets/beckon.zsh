# beckon: what needs you, in the right prompt. In ~/.zshrc, after whatever sets the prompt:
#   eval "$(@PROGRAM@ init zsh)"
if [[ -o interactive ]]; then
	zmodload zsh/system 2>/dev/null
	autoload -Uz add-zsh-hook
	typeset -g _beckon_fd=
	# An element of psvar is shown as it is: no % and no $ in it means anything.
	typeset -g _beckon_prefix='%(78V.%B%F{red}%78v%f%b .)'
	# The answer is awaited in the background, so the prompt waits for nothing.
	_beckon_precmd() {
		emulate -L zsh
		# Prompt programs set RPROMPT anew each time.
		[[ ${RPROMPT-} == "$_beckon_prefix"* ]] || RPROMPT=$_beckon_prefix${RPROMPT-}
		if [[ -n $_beckon_fd ]]; then
			zle -F $_beckon_fd 2>/dev/null
			exec {_beckon_fd}<&-
		fi
		_beckon_fd=
		exec {_beckon_fd}< <(exec @LINE@ prompt 2>/dev/null </dev/null)
		zle -F $_beckon_fd _beckon_answer
	}
	_beckon_answer() {
		emulate -L zsh
		local segment= fd=$1
		IFS= read -r -u $fd segment
		zle -F $fd
		exec {fd}<&-
		[[ $fd == "$_beckon_fd" ]] && _beckon_fd=
		if [[ $segment != "${psvar[78]-}" ]]; then
			psvar[78]=$segment
			zle reset-prompt
		fi
	}
	add-zsh-hook precmd _beckon_precmd
fi
