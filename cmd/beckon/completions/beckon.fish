# beckon's completion for fish. In config.fish: beckon completion fish | source
function __beckon_complete
	set -l words (commandline -opc)
	set -e words[1]
	set -l word (commandline -ct)
	beckon __complete $words "$word" 2>/dev/null
end
complete -c beckon -f -a '(__beckon_complete)'
