#!/bin/bash
# log-tool-usage.sh

LOG_FILE="$HOME/.code-agent/tool-usage.log"
TIMESTAMP=$(date -u +"%Y-%m-%dT%H:%M:%SZ")

echo "$TIMESTAMP | $SESSION_ID | $TOOL_NAME | $TOOL_INPUT" >> "$LOG_FILE"
exit 0
