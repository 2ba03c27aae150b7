"""What a notebook shows: a card, and beside it the same in plain sentences for whatever shows no HTML."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.report.plain import lines_of


@dataclass(frozen=True)
class Card:
    """An HTML element, and sentences that stand alone."""

    html: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, html: str, sentences: Iterable[str]) -> "Card":
        return cls(html, tuple(lines_of(sentences)))

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return str(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Mapping[str, Any]:  # noqa: ARG002
        return {"text/html": self.html, "text/plain": str(self)}


class Shown:
    """The place of a card in the output of a cell; a later card takes the place of an earlier one."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, card: Card, *, passing: bool = False) -> None:
        """Show a card. One that is `passing` says only that something goes on: it is not printed without a notebook."""
        display = _display()
        if display is None:
            if not passing:
                print(card)
        elif self._handle is None:
            self._handle = display(card, display_id=True)
        else:
            self._handle.update(card)


def _display() -> Any:
    """Return what shows things in a notebook; None where this is none."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display if get_ipython() is not None else None
