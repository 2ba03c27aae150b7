"""Words, code and tables as safe HTML."""

from collections.abc import Sequence
from html import escape

from autograder.report.printable import one_line, printable

_LONGEST_LINE = 500  # longer than any page is wide


def text(words: str) -> str:
    """Return any words on one line, safe inside HTML."""
    return escape(one_line(words))


def code(line: str) -> str:
    """Return a piece of code unchanged, safe inside HTML."""
    return escape(printable(line[:_LONGEST_LINE]).replace("\n", " "))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "", words: str = "") -> str:
    """Return a table of cells that are safe HTML already; the first of each row names it."""
    titled = f"<caption>{caption}</caption>" if caption else ""
    heads = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    named = f' class="{words}"' if words else ""
    focus = "" if words else ' tabindex="0"'  # so that a keyboard can scroll a table that is too wide
    whole = f"<table{named}>{titled}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide"{focus}>{whole}</div>'
