"""The page of `course play serve`: who may ask, what is streamed, and the figures. No code of the student runs here."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from autograder.cli import Access, Guard
from autograder.report import DARK, LIGHT
from play.batch import Batch, Writing

FOLDER = Path(__file__).parent / "page"

ENTRANCE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/">'
    '<title>Your chats</title><p><a href="/">Go on to your chats</a></p></html>\n'
)


class Refusal(Exception):
    """A request that is not answered; the message is a sentence for the page."""


class Stream(StreamingResponse):
    """The events of some texts. If their reader goes away, the texts are cancelled."""

    def __init__(self, batch: Batch, texts: Sequence[Writing], events: AsyncIterator[str]) -> None:
        super().__init__(events, media_type="application/x-ndjson")
        self._batch, self._texts = batch, texts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            for text in self._texts:
                if not text.has_ended:
                    self._batch.cancel(text)


class Pages:
    """The handlers of the routes. They run in the thread of the server."""

    def __init__(self, batch: Batch, chats: int, seed: int) -> None:
        self._batch, self._chats, self._seed = batch, chats, seed
        self._texts: dict[int, Writing] = {}
        self._count = 0

    async def write(self, request: Request) -> Response:
        """Begin a text in some chats. Stream a line of JSON for each new token, and one for the end of each text."""
        fields = await self._fields(request)
        prompt = fields.get("prompt")
        if not isinstance(prompt, str):
            raise Refusal("The request has no prompt, expected a text.")
        chats = self._chats_of(fields)
        for chat in chats:
            if chat in self._texts and not self._texts[chat].has_ended:
                raise Refusal(f"Chat {chat + 1} is writing already. Stop it first.")
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        def on_change(text: Writing) -> None:  # in the thread of the batch
            event = {"chat": text.chat, "text": text.text, "tokens": text.new, "problem": text.problem}
            loop.call_soon_threadsafe(events.put_nowait, {**event, "end": text.has_ended})

        texts = []
        for chat in chats:
            texts.append(Writing(chat, prompt, self._seed + self._count, on_change))
            self._count += 1
        self._texts.update(zip(chats, texts, strict=True))
        self._batch.add(texts)
        return Stream(self._batch, texts, self._lines(events, len(texts)))

    async def _lines(self, events: asyncio.Queue[dict[str, Any]], left: int) -> AsyncIterator[str]:
        while left:
            event = await events.get()
            left -= event["end"]
            yield f"{json.dumps(event)}\n"

    async def stop(self, request: Request) -> Response:
        """Cancel the texts of some chats."""
        for chat in self._chats_of(await self._fields(request)):
            if chat in self._texts and not self._texts[chat].has_ended:
                self._batch.cancel(self._texts[chat])
        return Response(status_code=204)

    async def figures(self, _: Request) -> Response:
        """Return what is measured."""
        batch, usage = self._batch, self._batch.usage
        speeds = {count: tokens / seconds for count, (tokens, seconds) in sorted(dict(batch.speeds).items())}
        return JSONResponse(
            {
                "speed": batch.speed(),
                "speeds": speeds,
                "blocks": usage.blocks,
                "rows": batch.block_size,
                "used": usage.used,
                "saved": usage.saved,
                "tables": usage.tables,
                "peak": batch.peak.used,
                "tokens": usage.tokens,
                "context": batch.context,
                "bytes": usage.page_bytes,
                "contiguous": usage.contiguous_bytes,
            }
        )

    async def _fields(self, request: Request) -> dict[str, Any]:
        try:
            fields = json.loads(await request.body())
        except (ValueError, RecursionError):
            fields = None
        if not isinstance(fields, dict):
            raise Refusal("The request is no object of JSON.")
        return fields

    def _chats_of(self, fields: dict[str, Any]) -> list[int]:
        """Return the chats that a request names."""
        chats = fields.get("chats")
        every = range(self._chats)
        if (
            not isinstance(chats, list)
            or not chats
            or any(type(chat) is not int or chat not in every for chat in chats)
        ):
            raise Refusal(f"The request names no chats, expected a list of numbers from 0 to {self._chats - 1}.")
        return list(dict.fromkeys(chats))


def access_at(host: str) -> Access:
    """Return who may open the page at a host and port."""
    return Access("server", "course play serve", host, ENTRANCE, _problem)


def application(batch: Batch, access: Access, faults: Sequence[str], *, chats: int, seed: int) -> ASGIApp:
    """Return the page as an application that a server can run. `faults` are sentences that stand on it."""
    pages = Pages(batch, chats, seed)
    light, dark = (f":root {{ {_colors(theme)} }}" for theme in (LIGHT, DARK))
    style = f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n{(FOLDER / 'chats.css').read_text('utf-8')}"
    notes = "".join(f'<p class="problem">{escape(fault)}</p>\n' for fault in faults)
    html = (FOLDER / "chats.html").read_text("utf-8").replace("CHATS", f"{chats}").replace("FAULTS", notes)
    files = {
        "/": ("text/html", html),
        "/chats.css": ("text/css", style),
        "/chats.js": ("text/javascript", (FOLDER / "chats.js").read_text("utf-8")),
        "/favicon.ico": ("image/x-icon", ""),
    }
    routes = [
        *(Route(path, partial(_file, kind, text)) for path, (kind, text) in files.items()),
        Route("/figures", pages.figures),
        Route("/write", pages.write, methods=["POST"]),
        Route("/stop", pages.stop, methods=["POST"]),
    ]
    handlers: Mapping[Any, Any] = {Refusal: _refused, HTTPException: _missing}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


async def _file(kind: str, text: str, _: Request) -> Response:
    return Response(text, media_type=kind)


async def _refused(_: Request, error: Exception) -> Response:
    return _problem(str(error), 409)


async def _missing(_: Request, error: HTTPException) -> Response:
    return _problem("There is no such page here.", error.status_code)


def _problem(sentence: str, status: int) -> Response:
    return PlainTextResponse(f"{sentence}\n", status)


def _colors(theme: Mapping[str, str]) -> str:
    return "; ".join(f"--{name}: {color}" for name, color in theme.items())
