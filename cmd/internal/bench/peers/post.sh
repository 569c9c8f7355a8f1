#!/bin/bash
# A running server is told: python3 picks what it wants, curl posts it.
set -eu
body=$("$PYTHON" -c '
import json, sys, time
e = json.load(sys.stdin)
print(json.dumps({
    "session_id": e["session_id"],
    "event": e["hook_event_name"],
    "tool": e.get("tool_name"),
    "summary": e.get("tool_input", {}).get("command", "")[:120],
    "at": time.time(),
}))')
curl -s -m 2 -o /dev/null -H 'Content-Type: application/json' -d "$body" "$SERVER"
