"""An editor for tests: starts `course lsp`, and speaks the Language Server Protocol to it over pipes."""

import json
import os
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

from tests.support import tiny
from tests.support.watching import saved

PATIENCE = 120.0
"""Seconds until a test gives up: no test depends on anything shorter."""

CAPABILITIES = {
    "window": {"workDoneProgress": True, "showDocument": {"support": True}},
    "workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}},
    "textDocument": {"publishDiagnostics": {"relatedInformation": True}},
}
"""What VS Code can do, as far as it matters here."""


class Editor:
    """One editor with one language server. `answers` are the titles chosen when the server asks, in order."""

    def __init__(self, course: Path, *, answers: tuple[str, ...] = (), **env: str) -> None:
        self.course = course
        self.answers = list(answers)
        self.record: list[tuple[str, str]] = []
        self.log: list[str] = []
        self.documents: list[dict[str, Any]] = []
        self.diagnostics: queue.SimpleQueue[tuple[str, list[dict[str, Any]]]] = queue.SimpleQueue()
        self.refreshed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._responses: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self.messages: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._number = 0
        self._answers_requests = True
        self.process = subprocess.Popen(
            [sys.executable, "-m", "autograder", "lsp"],
            cwd=course,
            env=tiny.environment(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        self.capabilities = self.request(
            "initialize", {"processId": os.getpid(), "rootUri": self.course.as_uri(), "capabilities": CAPABILITIES}
        )["capabilities"]
        self.notify("initialized", {})
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()

    def uri(self, file: str = tiny.FILES[0]) -> str:
        """Return the address of an exercise's file."""
        return (self.course / "exercises" / file).as_uri()

    def open(self, file: str = tiny.FILES[0]) -> None:
        """Open an exercise."""
        text = (self.course / "exercises" / file).read_text("utf-8")
        document = {"uri": self.uri(file), "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def save(self, source: str, file: str = tiny.FILES[0], version: int = 2) -> None:
        """Change the open document, and save it."""
        document = {"uri": self.uri(file), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": source}]})
        saved(self.course, source, file)
        self.notify("textDocument/didSave", {"textDocument": {"uri": self.uri(file)}})

    def next_diagnostics(self) -> list[dict[str, Any]]:
        """Return the diagnostics that come next."""
        return self.diagnostics.get(timeout=PATIENCE)[1]

    def next_message(self) -> str:
        """Return the message that is shown next."""
        return self.messages.get(timeout=PATIENCE)

    def on_document(self, method: str, file: str = tiny.FILES[0], **parameters: object) -> Any:
        """Return the answer to a request about a document."""
        return self.request(f"textDocument/{method}", {"textDocument": {"uri": self.uri(file)}, **parameters})

    def request(self, method: str, parameters: object) -> Any:
        """Return the answer to a request."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": parameters})
        answer = self._responses.get(timeout=PATIENCE)
        assert "error" not in answer, answer
        return answer["result"]

    def notify(self, method: str, parameters: object) -> None:
        """Send a notification."""
        self._send({"method": method, "params": parameters})

    def disappear(self) -> int:
        """Close the pipes as an editor that crashed, and return the server's exit status."""
        assert self.process.stdin is not None
        self._answers_requests = False
        self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def quit(self) -> int:
        """End the server as an editor does, and return its exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(PATIENCE)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.record.append(("editor", message.get("method", "answer")))
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while head := stream.readline():
            assert head.startswith(b"Content-"), f"{head!r} on stdout is no message of the protocol"
            length = 0
            while head.strip():
                if head.startswith(b"Content-Length:"):
                    length = int(head.split(b":")[1])
                head = stream.readline()
            self._take(json.loads(stream.read(length)))

    def _take(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params") or {}
        self.record.append(("server", method or "answer"))
        if method is None:
            self._responses.put(message)
        elif method == "textDocument/publishDiagnostics":
            self.diagnostics.put((parameters["uri"], parameters["diagnostics"]))
        elif method == "window/showMessage":
            self.messages.put(parameters["message"])
        elif method == "window/showMessageRequest":
            self.messages.put(parameters["message"])
            title = self.answers.pop(0) if self.answers else None
            self._send({"id": message["id"], "result": {"title": title} if title else None})
        elif method == "window/logMessage":
            self.log.append(parameters["message"])
        elif method == "window/showDocument":
            self.documents.append(parameters)
            self._send({"id": message["id"], "result": {"success": True}})
        elif "id" in message and self._answers_requests:
            self._send({"id": message["id"], "result": None})
            self.refreshed.put(method)
