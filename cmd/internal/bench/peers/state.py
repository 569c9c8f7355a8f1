"""The session's state in a file, with nothing but the standard library."""
import fcntl
import json
import os
import sys
import time

e = json.load(sys.stdin)
path = os.path.join(os.environ["STATE_DIR"], e["session_id"] + ".json")
with open(path + ".lock", "w") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        with open(path) as f:
            s = json.load(f)
    except FileNotFoundError:
        s = {}
    s.update(
        session_id=e["session_id"],
        event=e["hook_event_name"],
        tool=e.get("tool_name"),
        summary=e.get("tool_input", {}).get("command", "")[:120],
        count=s.get("count", 0) + 1,
        at=time.time(),
    )
    with open(path + ".tmp", "w") as f:
        json.dump(s, f)
    os.replace(path + ".tmp", path)
