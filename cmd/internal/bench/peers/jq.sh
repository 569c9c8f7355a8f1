#!/bin/bash
# The session's state in a file, with bash, jq and flock.
set -eu
input=$(cat)
session=$(jq -r .session_id <<<"$input")
file=$STATE_DIR/$session.json
exec 9>"$file.lock"
flock 9
[ -e "$file" ] || echo '{}' >"$file"
jq -c --argjson e "$input" '
	.session_id = $e.session_id | .event = $e.hook_event_name | .tool = $e.tool_name |
	.summary = ($e.tool_input.command // "" | .[:120]) | .count = (.count // 0) + 1 | .at = now' "$file" >"$file.tmp"
mv "$file.tmp" "$file"
