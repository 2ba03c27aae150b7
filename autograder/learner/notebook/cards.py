"""The output of a notebook's cell: an HTML card, and the same as plain sentences for programs without HTML."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.report.plain import lines_of


@dataclass(frozen=True)
class Card:
    """An HTML element, and sentences that say the same."""

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


class CellOutput:
    """The output of a cell, where a new card replaces the one before."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, card: Card, *, is_progress: bool = False) -> None:
        """Show a card. A card that only reports progress is not printed outside a notebook."""
        display = _display()
        if display is None:
            if not is_progress:
                print(card)
        elif self._handle is None:
            self._handle = display(card, display_id=True)
        else:
            self._handle.update(card)


def _display() -> Any:
    """Return the function that displays output in a notebook; None outside a notebook."""
    try:
        from IPython import get_ipython
        from IPython.display import display
    except ImportError:
        return None
    return display if get_ipython() is not None else None
