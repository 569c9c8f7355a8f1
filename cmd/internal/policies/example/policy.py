#!/usr/bin/env python3
"""A policy server for beckon (protocol 1.0). Python 3.8 or newer, no packages.

    python3 policy.py [PORT]        8080 when left out, 0 for a free one

In policy.json:

    {"servers": [{"server_url": "http://127.0.0.1:8080/hook", "events": ["PreToolUse", "UserPromptSubmit"]}]}
"""
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LARGEST = 16 << 20  # bytes of one event


def allow():
    return {"decision": "allow"}


def block(reason):
    """The reason reaches the agent, or the user when a prompt is blocked."""
    return {"decision": "block", "reason": reason}


def ask(reason):
    """The user decides. Protocol 1.0 has no word for it, metadata has."""
    return {"decision": "allow", "reason": reason, "metadata": {"permission_decision": "ask"}}


def modify(**tool_input):
    """Only the fields that change; None takes one out."""
    return {"decision": "modify", "modified_data": {"tool_input": tool_input}}


def decide(event, data):
    """Your policy. data is the client's whole payload for this event."""
    if event["type"] == "UserPromptSubmit" and "PRIVATE KEY-----" in data["prompt"]:
        return block("The prompt holds a private key.")
    if event["type"] != "PreToolUse" or data["tool_name"] != "Bash":
        return allow()
    command = data["tool_input"].get("command", "")
    if re.search(r"\brm\s+(-\w+\s+)*(/|~|\$HOME)(\s|$)", command):
        return block("That would delete everything.")
    if re.search(r"\bgit push\b.*\s--force(\s|$)", command):
        return modify(command=re.sub(r"--force(?=\s|$)", "--force-with-lease", command))
    if re.search(r"\bsudo\b", command):
        return ask("This runs as root.")
    return allow()


class Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds of silence

    def do_POST(self):
        try:
            size = int(self.headers.get("Content-Length", ""))
            if self.path != "/hook" or not 0 < size <= LARGEST:
                raise ValueError("no event")
            request = json.loads(self.rfile.read(size))
            if request["version"] != "1.0":
                raise ValueError("another protocol")
            answer = decide(request["event"], request["data"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return self.answer(400, {"error": "not a request of protocol 1.0"})
        self.answer(200, {"version": "1.0", **answer})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass  # the request line says nothing; log in decide what you want to keep


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8080
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print("listening on http://127.0.0.1:%d/hook" % server.server_address[1], flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
