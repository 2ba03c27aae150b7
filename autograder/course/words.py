"""Read the `words` of course.toml, with which messages to students name what each axis counts."""

from autograder.course.model import Words
from autograder.course.nearest import suggestion
from autograder.course.section import Section, as_table, as_text, as_texts, quoted

LONGEST = 24  # characters, so that a sentence with two of them still fits on a line
_EXPECTED = "a word, or a list of words of which the first unused one is taken"


def read_words(section: Section, sized: Section) -> Words:
    """Return the optional words of a course, a part or an exercise; `sized` has the sizes that they may name."""
    table = section.section("words")
    sizes = as_table(sized.table.get("sizes")) or {}
    read = {}
    for symbol in table.table:
        words = table.value(symbol, _EXPECTED, _as_words)
        if words is None:
            continue
        read[symbol] = words
        if symbol not in sizes:
            hint = suggestion(symbol, sizes, f"expected one of {', '.join(sizes)}")
            table.note(symbol, f"{symbol} is not in [sizes]; {hint}")
        if len(set(words)) < len(words):
            table.note(symbol, f"{symbol} lists a word twice, expected different words")
        for word in words:
            if len(word) > LONGEST:
                table.note(symbol, f"{symbol} has {quoted(word)}, expected at most {LONGEST} characters")
    return read


def _as_words(value: object) -> tuple[str, ...] | None:
    words = (value,) if isinstance(value, str) else as_texts(value)
    return words if words and all(as_text(word) and word.isprintable() for word in words) else None
