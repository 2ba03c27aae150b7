"""Parse a page into its elements and its text."""

import re
from html.parser import HTMLParser

_LISTING = re.compile(r"<(pre|textarea|title|script|style|option)\b.*?</\1>", re.DOTALL)


def in_backticks(page: str) -> list[str]:
    """Return what a page shows between backticks, outside listings and fields: it should be code."""
    return re.findall(r"`[^`]*`", re.sub(r"<[^>]*>", " ", _LISTING.sub("", page)))


class Elements(HTMLParser):
    """The elements of a page, and its text outside style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "path", "rect", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text += data
