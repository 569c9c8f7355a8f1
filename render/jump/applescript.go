package jump

// The scripts look for one pane, given as their argument, select it with its
// tab and window, or print "gone". An application that
// does not run is not started.

const itermByID = itermHead + "id of s" + itermTail

const itermByTTY = itermHead + "tty of s" + itermTail

const itermHead = `on run argv
	if application "iTerm2" is not running then return "gone"
	tell application "iTerm2"
		repeat with w in windows
			repeat with t in tabs of w
				repeat with s in sessions of t
					if `

const itermTail = ` is item 1 of argv then
						tell w to select
						tell t to select
						tell s to select
						activate
						return "found"
					end if
				end repeat
			end repeat
		end repeat
	end tell
	return "gone"
end run`

const terminalByTTY = `on run argv
	if application "Terminal" is not running then return "gone"
	tell application "Terminal"
		repeat with w in windows
			repeat with t in tabs of w
				if tty of t is item 1 of argv then
					set selected of t to true
					set frontmost of w to true
					activate
					return "found"
				end if
			end repeat
		end repeat
	end tell
	return "gone"
end run`
