"""The glyphs of the output: one set for terminals that can show them, one in ASCII for all others."""

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
    """A set of glyphs. `passed`, `failed`, `waiting` and `problem` always have a word beside them.

    A map consists of `same` and `differs`, or in colour of `half`, the upper half of a cell. A picture without colour
    consists of `shades`, from the smallest number to the largest.
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
        """Return text of ours in the letters of this set: `√d` is `sqrt d` in ASCII."""
        return text.translate(_ASCII_SPELLING) if self is ASCII else text


UNICODE = Glyphs("✓", "✗", "·", "!", "▸", "│", "…", "·", "×", "▀", " ░▒▓█")
ASCII = Glyphs("+", "x", ".", "!", ">", "|", "...", ".", "x", "", " .:-=+*#%@")


def glyphs_for(encoding: str) -> Glyphs:
    """Return the Unicode set if the encoding has all of it, else the ASCII set."""
    try:
        "".join(getattr(UNICODE, field.name) for field in fields(Glyphs)).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
