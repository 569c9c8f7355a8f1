# beckon: what needs you, in front of the prompt. In ~/.bashrc, after whatever sets the prompt:
#   eval "$(@PROGRAM@ init bash)"
if [[ $- == *i* ]] && shopt -q promptvars; then
	_beckon_segment=
	# The value of a variable in PS1 is shown as it is: bash expands it no further.
	_beckon_prefix='\[\e[1;31m\]${_beckon_segment-}\[\e[0m\]'
	_beckon_precmd() {
		local status=$?
		_beckon_segment=$(@LINE@ prompt 2>/dev/null)
		_beckon_segment=${_beckon_segment:+$_beckon_segment }
		# Prompt programs set PS1 anew each time.
		[[ ${PS1-} == "$_beckon_prefix"* ]] || PS1=$_beckon_prefix${PS1-}
		return $status
	}
	case "${PROMPT_COMMAND[*]-}" in
	*_beckon_precmd*) ;;
	*)
		if [[ $(declare -p PROMPT_COMMAND 2>/dev/null) == 'declare -a'* ]]; then
			PROMPT_COMMAND+=(_beckon_precmd)
		else
			PROMPT_COMMAND=${PROMPT_COMMAND:+$PROMPT_COMMAND$'\n'}_beckon_precmd
		fi
		;;
	esac
fi
