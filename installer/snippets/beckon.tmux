# beckon: what needs you, in the status line; keys; and panes that you look at count as seen.
# In ~/.tmux.conf, after what sets status-right:
#   run-shell "@PROGRAM@ init tmux | tmux source-file -"
if-shell -F "#{m:*beckon*prompt*,#{status-right}}" "" {
	set-option -ga status-right " #[fg=red bold]#(@LINE@ prompt --for tmux)#[default]"
}
# The default of 40 columns is full without it; a length of yours stays.
if-shell -F "#{==:#{status-right-length},40}" { set-option -g status-right-length 60 }
# The default of 15 s is long when somebody waits; a value of yours stays.
if-shell -F "#{==:#{status-interval},15}" { set-option -g status-interval 3 }
# prefix @NEXT@ goes to the session that needs you next, prefix @POPUP@ shows all of them.
if-shell "! tmux list-keys -T prefix @NEXT@ 2>/dev/null | grep -v beckon | grep -q ." {
	bind-key @NEXT@ run-shell -b "@PROGRAM@ jump next --message"
}
if-shell "! tmux list-keys -T prefix @POPUP@ 2>/dev/null | grep -v beckon | grep -q ." {
	bind-key @POPUP@ display-popup -E -w 90% -h 80% "@PROGRAM@ watch --leave"
}
# The number keeps hooks of yours, and makes a second time the same as one.
set-option -g focus-events on
set-hook -g "pane-focus-in[7483]" "run-shell -b \"@PROGRAM@ seen --pane '#{pane_id}' >/dev/null 2>&1 || true\""
