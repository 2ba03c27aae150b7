"""The marks a rendering is drawn with: one set for terminals that can show them, one in ASCII for all others."""

from dataclasses import dataclass, fields

_ASCII_SPELLING = str.maketrans(
    {
        "×": "x",
        "√": "sqrt ",
        "∞": "inf",
        "−": "-",
        "–": "-",
        "±": "+-",
        "≈": "~",
        "≠": "!=",
        "≤": "<=",
        "≥": ">=",
        "→": "->",
        "²": "^2",
        "·": "*",
        "…": "...",
        "‖": "||",
        "“": '"',
        "”": '"',
        "‘": "'",
        "’": "'",
        "α": "alpha",
        "β": "beta",
        "γ": "gamma",
        "ε": "eps",
        "μ": "mu",
        "σ": "sigma",
        "π": "pi",
    }
)


@dataclass(frozen=True)
class Glyphs:
    """The marks. `passed`, `failed`, `waiting` and `problem` never stand alone: a word is always beside them.

    A map is drawn with `same` and `differs`, or in colour with `half`, the upper half of a cell; a picture without
    colour with `shades`, from the least to the most.
    """

    passed: str
    failed: str
    waiting: str
    problem: str
    marker: str
    gutter: str
    ellipsis: str
    same: str
    differs: str
    half: str
    shades: str

    def spell(self, text: str) -> str:
        """Return our own text in the letters of this set, e.g. `√d` as `sqrt d` in ASCII."""
        return text.translate(_ASCII_SPELLING) if self is ASCII else text


UNICODE = Glyphs("✓", "✗", "·", "!", "▸", "│", "…", "·", "×", "▀", " ░▒▓█")
ASCII = Glyphs("+", "x", ".", "!", ">", "|", "...", ".", "x", "", " .:-=+*#%@")


def glyphs_for(encoding: str) -> Glyphs:
    """Return the set for a stream of that encoding: all of the first set, or none of it."""
    try:
        "".join(getattr(UNICODE, each.name) for each in fields(Glyphs)).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
