"""A page for one person on this machine: its address with a secret, who may ask, and the server.

It needs starlette and uvicorn: import it only after they were found.
"""

import hmac
import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from autograder.course import UsageError

from .screen import warn

HOST = "127.0.0.1"
MOST_FORM = 64 << 10
"""Bytes of a form."""

CONFINED = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without a referrer a browser sends no origin with a form
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

OPTIONS: Mapping[str, Any] = {
    "log_config": None,  # a log of addresses would have the secret
    "access_log": False,
    "lifespan": "off",
    "ws": "none",
    "proxy_headers": False,
    "server_header": False,
    "limit_concurrency": 64,
    "timeout_graceful_shutdown": 1,
}
"""The arguments of the server."""


@dataclass(eq=False)
class Access:
    """Who may open the pages called `name`, whose address `command` prints: secrets that live as long as its process.

    `entrance` is the page that goes on to `/`, and `problem` makes a page of a sentence. `most_bytes` says how large a
    form for a path may be.
    """

    name: str
    command: str
    host: str
    entrance: str
    problem: Callable[[str, int], Response]
    most_bytes: Callable[[str], int] = lambda _: MOST_FORM
    secret: str = field(repr=False, default_factory=lambda: os.urandom(16).hex())
    session: str = field(repr=False, default_factory=lambda: os.urandom(16).hex())
    tickets: set[str] = field(repr=False, default_factory=set)

    @property
    def cookie(self) -> str:
        """The name of the cookie: a browser sends the cookies of all ports, so each server has its own."""
        return f"{self.name}-{self.host.rpartition(':')[2]}"

    def address(self, secret: str) -> str:
        """Return the address of the first page."""
        return f"http://{self.host}/?token={secret}"

    def ticket(self) -> str:
        """Return a secret for one visit: other users of this machine can read how a browser was started."""
        made = os.urandom(16).hex()
        self.tickets.add(made)
        return made

    def admits(self, secret: str) -> bool:
        """Say whether a secret opens the pages; a ticket does so once."""
        used = {ticket for ticket in self.tickets if is_same(ticket, secret)}
        self.tickets -= used
        return bool(used) or is_same(self.secret, secret)

    def open_browser(self) -> None:
        """Open the first page in a browser, if there is a screen: one in the terminal would hide the address."""
        if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            webbrowser.open(self.address(self.ticket()))


def is_same(secret: str, text: str) -> bool:
    """Compare in a time that does not depend on the secret."""
    return hmac.compare_digest(secret.encode(), text.encode("utf-8", "replace"))


class Guard:
    """Lets only the browser that has the cookie reach the pages, and adds the headers that confine them."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return

        async def confined(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in CONFINED.items()]
            await send(message)

        answer = self._refusal(Request(scope))
        try:
            await (answer or self._app)(scope, receive, confined)
        except Exception as error:  # its page is sent already: the server goes on with the next request
            warn(f"the {self._access.name} failed on {scope['path']}: {type(error).__name__}: {error}")

    def _refusal(self, request: Request) -> Response | None:
        """Return why a request is not answered, or the cookie for one with the secret; None for one to answer."""
        access, headers = self._access, request.headers
        name, problem = access.name, access.problem
        if headers.get("host") != access.host:
            return problem(f"This {name} answers at {access.host} only.", 421)
        site, is_visit = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode") == "navigate"
        if site in ("cross-site", "same-site") and not (is_visit and request.method == "GET"):
            return problem(f"Another page asked for this, and only the pages of the {name} may.", 403)
        if request.method == "GET" and request.url.path == "/" and "token" in request.query_params:
            return self._entrance(request.query_params["token"])
        if not is_same(access.session, request.cookies.get(access.cookie, "")):
            return problem(f"Open the {name} at the address that `{access.command}` printed: it has the token.", 403)
        if request.method == "POST":
            if headers.get("origin") != f"http://{access.host}":
                return problem(f"Another page sent this form, and only the pages of the {name} may.", 403)
            size, most = headers.get("content-length", ""), access.most_bytes(request.url.path)
            if not size.isdecimal() or int(size) > most:
                found = f"{int(size):,} bytes" if size.isdecimal() else "no size"
                return problem(f"The form has {found}, and at most {most:,} bytes are read. Nothing was saved.", 413)
        return None

    def _entrance(self, secret: str) -> Response:
        """Return the page that keeps the session in a cookie and goes on without the secret in the address.

        A redirect would not do: after a click in another page, the browser would follow it without the cookie.
        """
        access = self._access
        if not access.admits(secret):
            sentence = (
                f"This token is not that of this {access.name}. Copy the address that `{access.command}` printed."
            )
            return access.problem(sentence, 403)
        response = HTMLResponse(access.entrance)
        response.set_cookie(access.cookie, access.session, httponly=True, samesite="strict", path="/")
        return response


def listen(port: int) -> socket.socket:
    """Return a socket of this machine alone; port 0 is a free one. Raises `UsageError` if the port is taken."""
    listener = socket.socket()
    try:
        if os.name != "nt":  # there it would let two programs have one port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or "it is no port"
        raise UsageError(f"port {port} cannot be used ({why}); choose another, or leave --port out") from None
    return listener


class LocalServer:
    """Serves pages on a socket, in a thread, until the block ends: in the main thread uvicorn would take signals."""

    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        self._server = uvicorn.Server(uvicorn.Config(app, **OPTIONS))
        sockets = {"sockets": [listener]}
        self._thread = threading.Thread(target=self._server.run, kwargs=sockets, name="pages", daemon=True)

    def __enter__(self) -> "LocalServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()
        self.wait()

    def stop(self, _signal: int = 0) -> None:
        """Begin to stop."""
        self._server.should_exit = True

    def wait(self) -> None:
        """Wait until it has stopped."""
        self._thread.join()
