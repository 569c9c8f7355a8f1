package jump

// The scripts look for one pane, given as their argument, and select it with its tab and
// window, or print its text below "found"; or print "gone". They do not start an application
// that is not running. They refer to panes by number, not by the variable of a loop, because
// "contents of" such a variable is its own value.

const (
	itermByID   = itermHead + "id" + itermTest + itermShow + itermTail
	itermByTTY  = itermHead + "tty" + itermTest + itermShow + itermTail
	itermTextOf = itermHead + "id" + itermTest + `return "found" & linefeed & contents of session i of t` + itermTail
)

const itermHead = `on run argv
	if application "iTerm2" is not running then return "gone"
	tell application "iTerm2"
		repeat with w in windows
			repeat with t in tabs of w
				repeat with i from 1 to count of sessions of t
					if `

const itermTest = ` of session i of t is item 1 of argv then
						`

const itermShow = `tell w to select
						tell t to select
						tell session i of t to select
						activate
						return "found"`

const itermTail = `
					end if
				end repeat
			end repeat
		end repeat
	end tell
	return "gone"
end run`

const (
	terminalByTTY  = terminalHead + terminalShow + terminalTail
	terminalTextOf = terminalHead + `return "found" & linefeed & contents of tab i of w` + terminalTail
)

const terminalHead = `on run argv
	if application "Terminal" is not running then return "gone"
	tell application "Terminal"
		repeat with w in windows
			repeat with i from 1 to count of tabs of w
				if tty of tab i of w is item 1 of argv then
					`

const terminalShow = `set selected of tab i of w to true
					set frontmost of w to true
					activate
					return "found"`

const terminalTail = `
				end if
			end repeat
		end repeat
	end tell
	return "gone"
end run`
