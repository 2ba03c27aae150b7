"""The `words` of course.toml: what the axes of each size count, as messages to students name them."""

from autograder.checks.structure import nearest
from autograder.course.model import Words
from autograder.course.section import Section, as_table, as_text, as_texts, shown

LONGEST = 24
_EXPECTED = "a word, or a list of words of which the first that is free is used"


def read_words(section: Section, top: Section) -> Words:
    """Return the words of a course or of an exercise, which may be left out; `top` has the sizes they are for."""
    table = section.section("words")
    sizes = as_table(top.table.get("sizes")) or {}
    read = {}
    for symbol in table.table:
        words = table.value(symbol, _EXPECTED, _as_words)
        if words is None:
            continue
        read[symbol] = words
        if symbol not in sizes:
            near = nearest(symbol, tuple(sizes))
            hint = f"is {near} meant?" if near else f"expected one of {', '.join(sizes)}"
            table.note(symbol, f"{symbol} is not in [sizes]; {hint}")
        if len(set(words)) < len(words):
            table.note(symbol, f"{symbol} has a word twice, expected different ones")
        for word in words:
            if len(word) > LONGEST:
                table.note(symbol, f"{symbol} has {shown(word)}, expected at most {LONGEST} characters")
    return read


def _as_words(value: object) -> tuple[str, ...] | None:
    words = (value,) if isinstance(value, str) else as_texts(value)
    return words if words and all(as_text(each) and each.isprintable() for each in words) else None
