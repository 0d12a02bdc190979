"""Let checks that speak HTTP alone reach `memcli mcp`, which speaks over pipes; no test.

    python -m tests.mcp.bridge WORKSPACE --port 3000
    npx @modelcontextprotocol/conformance server --url http://127.0.0.1:3000/mcp --scenario ping

Each session of the protocol of 2025 has a server of its own; what needs no session has one in
common. It listens on this machine alone. Scenarios that are about any server: server-initialize,
server-session-lifecycle, ping, tools-list, prompts-list, resources-list, caching,
sep-2164-resource-not-found, input-required-result-unsupported-methods. The others call tools of a
server of examples, or are about HTTP.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Any
from uuid import uuid4

SESSION = "Mcp-Session-Id"
Message = dict[str, Any]


class Piped:
    """A server behind pipes, which several clients may ask at once."""

    def __init__(self, workspace: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memcli", "mcp", "-q", "-w", workspace],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._numbers, self._writing = count(1), Lock()
        self._waiting: dict[int, SimpleQueue[Message]] = {}
        Thread(target=self._read, daemon=True).start()

    def ask(self, request: Message) -> Iterator[Message]:
        """Give what a request is answered with: notes on its progress, and the answer last."""
        number, own = next(self._numbers), request["id"]
        answers = self._waiting[number] = SimpleQueue[Message]()
        meta = request.get("params", {}).get("_meta", {})
        token = meta.get("progressToken")
        if token is not None:
            meta["progressToken"] = number
        self.tell({**request, "id": number})
        while "id" not in (found := answers.get()):
            yield {**found, "params": {**found["params"], "progressToken": token}}
        del self._waiting[number]
        yield {**found, "id": own}

    def tell(self, message: Message) -> None:
        with self._writing:
            _pipe(self._process.stdin).write(json.dumps(message) + "\n")
            _pipe(self._process.stdin).flush()

    def _read(self) -> None:
        for line in _pipe(self._process.stdout):
            message = json.loads(line)
            number = message.get("id", message.get("params", {}).get("progressToken"))
            if number in self._waiting:
                self._waiting[number].put(message)

    def close(self) -> None:
        _pipe(self._process.stdin).close()
        self._process.wait()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


class Bridge(BaseHTTPRequestHandler):
    """Takes the messages of a client to its server."""

    protocol_version = "HTTP/1.1"
    workspace: str
    sessions: dict[str, Piped]

    def do_POST(self) -> None:
        host = self.headers.get("Host", "").rpartition(":")[0]
        origin = self.headers.get("Origin", "")
        if host not in ("127.0.0.1", "localhost") or (origin and f"//{host}" not in origin):
            self._send(403, {"error": "this bridge is for this machine alone"})
            return
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        session = self.headers.get(SESSION, "")
        if message.get("method") == "initialize":
            session = uuid4().hex
            self.sessions[session] = Piped(self.workspace)
        server = self.sessions.get(session)
        if server is None:
            self._send(404, {"error": f"there is no session {session}"})
        elif "id" in message and "method" in message:
            self._send(200, *server.ask(message), session=session)
        else:
            server.tell(message)
            self._send(202)

    def do_GET(self) -> None:
        self._send(405)

    def do_DELETE(self) -> None:
        server = self.sessions.pop(self.headers.get(SESSION, ""), None)
        if server is not None:
            server.close()
        self._send(200 if server else 404)

    def _send(self, status: int, *messages: Message, session: str = "") -> None:
        """Answer with one message as JSON, with several as events."""
        written = [json.dumps(message) for message in messages]
        is_stream = len(written) > 1
        body = "".join(f"event: message\ndata: {line}\n\n" for line in written)
        body = body if is_stream else "".join(written)
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if is_stream else "application/json")
        self.send_header("Content-Length", str(len(body.encode())))
        if session:
            self.send_header(SESSION, session)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *arguments: object) -> None:
        """Leave the terminal to the server."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace")
    parser.add_argument("--port", type=int, default=3000)
    arguments = parser.parse_args()
    Bridge.workspace, Bridge.sessions = arguments.workspace, {"": Piped(arguments.workspace)}
    with ThreadingHTTPServer(("127.0.0.1", arguments.port), Bridge) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
