"""Read the [[exercises]] of course.toml: their ids, points, needs, hints and forbidden names."""

import re
from collections.abc import Mapping, Sequence

from autograder.course.forbidden import read_forbidden, read_groups
from autograder.course.model import Exercise, Part
from autograder.course.parts import owner_of, part_sections, read_parts
from autograder.course.points import read_points
from autograder.course.section import Section, as_line, as_positive, as_tables, as_text, as_texts, quoted
from autograder.course.words import read_words

KEYS = ("id", "title", "points", "needs", "hints", "forbidden", "words", "built", "start", "minutes")
"""The keys of an exercise in course.toml."""

ID = re.compile(r"ex[0-9]{2}_[a-z][a-z0-9_]*")
"""The id of an exercise: the names of its files begin with it."""

HINT_LENGTH = 200
"""Characters of a hint: about 40 words, three lines of a terminal."""

TODO_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)?")
"""The name of a TODO: a function, or a method with its class."""

MOST_STARTS = 3
"""Texts on how to begin one TODO: as many as there are hints."""

BUILT_LENGTH = 110
"""Characters of `built`, which is one line of a report."""

Hints = Mapping[str, tuple[str, str, str]]


def read_exercises(
    top: Section, libraries: Sequence[str] = (), *, required: bool = True
) -> tuple[tuple[Exercise, ...], tuple[Part, ...]]:
    """Read the exercises in their order, and their parts; each exercise may need only earlier ones.

    There may be none, if not `required`.
    """
    expected = "at least one [[exercises]] table; `course new NAME` adds one"
    sections = top.tables("exercises", expected, as_tables, required=required)
    ids = [_id(section) for section in sections]
    for index, section in enumerate(sections):
        _note_earlier(section, ids[index], ids[:index])
    owners = part_sections(top)
    parts = read_parts(top, owners, sections)
    points = _points(top, owners, sections, ids)
    groups = read_groups(top, libraries)
    exercises = [
        _exercise(
            section,
            owner_of(ids[index], owners, top, "sizes"),
            ids,
            index,
            points[index],
            read_forbidden(section, groups, libraries),
        )
        for index, section in enumerate(sections)
    ]
    return tuple(exercises), parts


def _points(top: Section, owners: Sequence[Section], sections: Sequence[Section], ids: Sequence[str]) -> list[int]:
    """Return the hundredths of a point of each exercise: its share of its part, or of a course without parts."""
    points = [0] * len(sections)
    for owner in owners or [top]:
        own = [index for index, id_ in enumerate(ids) if owner_of(id_, owners, top) is owner]
        for index, worth in zip(own, read_points(owner, [sections[index] for index in own]), strict=True):
            points[index] = worth
    return points


def _exercise(
    section: Section, sized: Section, ids: Sequence[str], index: int, points: int, forbidden: tuple[str, ...]
) -> Exercise:
    """Return an exercise; `sized` is the table with the sizes that its words may name."""
    section.expect_keys(*KEYS)
    return Exercise(
        id=ids[index],
        title=section.value("title", "a string", as_text) or "",
        points=points,
        needs=_needs(section, ids, index),
        hints=_hints(section),
        forbidden=forbidden,
        words=read_words(section, sized),
        built=_built(section),
        start=_start(section),
        minutes=section.value("minutes", "a whole number of minutes above 0", as_positive, required=False),
    )


def _id(section: Section) -> str:
    def accept(value: object) -> str | None:
        return value if isinstance(value, str) and ID.fullmatch(value) else None

    return section.value("id", "exNN_name in lower case, like ex05_attention", accept) or ""


def _note_earlier(section: Section, id_: str, earlier: Sequence[str]) -> None:
    """Record an id that an earlier exercise has, or whose number one has: commands name an exercise by its number."""
    if id_ and id_ in earlier:
        section.note("id", f"an earlier exercise already has the id {id_}, choose another")
    elif same := next((other for other in earlier if id_ and other[:4] == id_[:4]), None):
        number = f"the number {id_[2:4]}, which {same} has already"
        section.note("id", f"id has {number}, expected another number; rename this exercise and its files")


def _needs(section: Section, ids: Sequence[str], index: int) -> tuple[str, ...]:
    needs = section.value("needs", "a list of exercise ids", as_texts, required=False) or ()
    for need in needs:
        if need in ids[:index]:
            continue
        if need == ids[index]:
            section.note("needs", f"needs lists {need}, the exercise itself, expected earlier exercises only")
        elif need in ids:
            section.note("needs", f"needs lists {need}, a later exercise, expected earlier exercises only")
        else:
            otherwise = "expected the id of an earlier exercise"
            section.expect_names("needs", [need], ids[:index], "not an exercise", otherwise)
    return needs


def _hints(section: Section) -> Hints:
    """Return the three hints of each check."""
    table = section.section("hints")
    hints: dict[str, tuple[str, str, str]] = {}
    for check in table.table:
        texts = table.value(check, "a list of three strings", as_texts)
        if texts is None:
            continue
        if len(texts) != 3:
            table.note(check, f"{check} has {len(texts)} hints, expected three: a question, the principle, the step")
            continue
        hints[check] = (texts[0], texts[1], texts[2])
        for number, text in enumerate(texts, start=1):
            _note_text(table, check, f"hint {number}", text)
    return hints


def _start(section: Section) -> dict[str, tuple[str, ...]]:
    """Return the texts that say how to begin each TODO, by its name."""
    table = section.section("start")
    starts: dict[str, tuple[str, ...]] = {}
    for todo in table.table:
        if isinstance(table.table[todo], dict):
            table.note(todo, f'{todo} is a table, expected a list; put a name with a dot in quotes: "{todo}.__init__"')
            continue
        texts = table.value(todo, "a list of one to three strings", as_texts)
        if texts is None:
            continue
        if not TODO_NAME.fullmatch(todo):
            table.note(todo, f"{quoted(todo)} names no TODO, expected a function, or a method as Class.method")
        if not 1 <= len(texts) <= MOST_STARTS:
            table.note(todo, f"{todo} has {len(texts)} texts, expected one to three")
        for number, text in enumerate(texts, start=1):
            _note_text(table, todo, f"text {number}", text)
        starts[todo] = texts
    return starts


def _note_text(table: Section, key: str, name: str, text: str) -> None:
    """Record a hint, or a text on how to begin, that is empty or too long."""
    if not text.strip():
        table.note(key, f"{name} of {key} is empty, expected a sentence")
    elif len(text) > HINT_LENGTH:
        table.note(key, f"{name} of {key} has {len(text)} characters, expected at most {HINT_LENGTH}")


def _built(section: Section) -> str | None:
    built = section.value("built", "one line that says what was built", as_line, required=False)
    if built is not None and len(built) > BUILT_LENGTH:
        section.note("built", f"built has {len(built)} characters, expected at most {BUILT_LENGTH}")
    return built
