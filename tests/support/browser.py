"""Chromium without a window, controlled through a pipe: it opens pages and records their requests."""

import base64
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SECONDS = 60.0

AT_3_AND_4 = """
import fcntl, os, sys
away = [fcntl.fcntl(int(descriptor), fcntl.F_DUPFD, 10) for descriptor in sys.argv[1:3]]
for there, at in zip(away, (3, 4)):
    os.dup2(there, at)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Chromium reads commands from file descriptor 3 and answers on 4."""


class Browser:
    """One page. `requests` are the addresses it asked for, `said` are the messages of its console."""

    def __init__(self, to: int, back: int) -> None:
        self._to, self._back = to, back
        self._rest = b""
        self._number = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.said: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for part in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{part}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the result of a command of the DevTools protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        assert "error" not in answer, answer["error"]
        return dict(answer["result"])

    def open(
        self, page: Path | str, *, width: int, dark: bool = False, media: str = "screen", scripts: bool = True
    ) -> float:
        """Open a page, a file or an address, and return the seconds until it was drawn; without scripts, loaded."""
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        size = {"width": width, "height": 900, "deviceScaleFactor": 1}
        self.call("Emulation.setDeviceMetricsOverride", **size, mobile=width < 600)
        self.requests.clear()
        self.said.clear()
        began = time.monotonic()
        address = page if isinstance(page, str) else page.as_uri()
        protocol = f"{address.partition(':')[0]}:"
        with contextlib.suppress(AssertionError):
            self.value("window.leaving = true")
        if "loaderId" not in self.call("Page.navigate", url=address):
            self.value("window.leaving = false")  # another part of the same page
        while not self._is_there(protocol, drawn=scripts):
            assert time.monotonic() < began + SECONDS, "the page does not get loaded"
        return time.monotonic() - began

    def _is_there(self, protocol: str, *, drawn: bool) -> bool:
        """Return whether the new page is there, of this protocol. While it replaces another, no script can run."""
        is_there = f"!window.leaving && document.readyState === 'complete' && location.protocol === '{protocol}'"
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
        with contextlib.suppress(AssertionError):
            return bool(self.value(is_there)) and (not drawn or bool(self.value(f"{frames}.then(() => {is_there})")))
        return False

    def value(self, script: str) -> Any:
        """Return the value of a script, or of the promise that it returns."""
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key on the page, a letter or a name like `Enter`."""
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def wait(self, script: str) -> None:
        """Wait until a script is true; the page may change meanwhile, and then what the script needs may be missing."""
        until = time.monotonic() + SECONDS
        is_true = False
        while not is_true:
            assert time.monotonic() < until, f"it does not come true: {script}"
            time.sleep(0.02)
            with contextlib.suppress(AssertionError):
                is_true = self.value(f"document.readyState === 'complete' && Boolean({script})")

    def picture(self, file: Path, *, whole: bool = True) -> None:
        """Write a screenshot of the page."""
        made = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(made["data"]))

    def pdf(self, file: Path) -> None:
        """Write the page as PDF, as it is printed."""
        self.call("Emulation.setEmulatedMedia", media="print", features=[])
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._back], [], [], SECONDS)[0], f"the browser is silent for {SECONDS:.0f} s"
            more = os.read(self._back, 1 << 20)
            assert more, "the browser has ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def _note(self, event: dict[str, Any]) -> None:
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(event["params"]["request"]["url"])
        elif event.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
            self.said.append(json.dumps(event["params"]))


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start a browser with its profile in a folder, and stop it at the end."""
    assert CHROMIUM is not None
    there, back = os.pipe(), os.pipe()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
    command = [CHROMIUM, *options, "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"]
    started = [sys.executable, "-c", AT_3_AND_4, str(there[0]), str(back[1]), *command]
    silent = subprocess.DEVNULL
    running = subprocess.Popen(started, pass_fds=(there[0], back[1]), stdout=silent, stderr=silent)
    os.close(there[0])
    os.close(back[1])
    try:
        yield Browser(there[1], back[0])
    finally:
        running.terminate()
        running.wait(30)
        os.close(there[1])
        os.close(back[0])
