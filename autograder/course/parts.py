"""Read the [[parts]] of course.toml: which exercises each part has, its points, and sizes and words of its own."""

import re
from collections.abc import Sequence
from dataclasses import replace

from autograder.course.model import Part
from autograder.course.section import Section, as_line, as_tables, as_texts, quoted
from autograder.course.sizes import read_sizes
from autograder.course.words import read_words

KEYS = ("id", "title", "points", "exercises", "sizes", "words")
"""The keys of a part in course.toml."""


def part_sections(top: Section) -> list[Section]:
    """Return the table of each part; there need not be any."""
    return top.tables("parts", "at least one [[parts]] table", as_tables)


def listed(section: Section) -> tuple[str, ...]:
    """Return the exercises that a part lists; none where the list is not valid, which `read_parts` records."""
    return as_texts(section.table.get("exercises")) or ()


def read_parts(top: Section, sections: Sequence[Section], exercises: Sequence[Section]) -> tuple[Part, ...]:
    """Return the parts of a course in their order. Each of the exercises must belong to exactly one."""
    ids = [str(exercise.table.get("id")) for exercise in exercises]
    if sections and "points" in top.table:
        top.note("points", "points has no effect beside [[parts]], each of which has points of its own; remove it")
    parts: list[Part] = []
    seen: dict[str, str] = {}
    for section in sections:
        part = _part(top, section)
        if part.id and part.id in [earlier.id for earlier in parts]:
            section.note("id", f"an earlier part already has the id {part.id}, choose another")
        _note_exercises(section, part, ids, seen)
        parts.append(part)
    for exercise, id_ in zip(exercises, ids, strict=True):
        if sections and id_ not in seen and "id" in exercise.table:
            exercise.note("id", "the exercise is in no part; add it to the exercises of one of the [[parts]]")
    return tuple(parts)


def _part(top: Section, section: Section) -> Part:
    section.expect_keys(*KEYS)
    return Part(
        id=section.value("id", "a name in lower case, like two", _as_id) or "",
        title=section.value("title", "one line that names the part", as_line) or "",
        exercises=section.value("exercises", "a list of exercise ids", as_texts) or (),
        sizes=read_sizes(section) if "sizes" in section.table else (),
        words=read_words(section, section if "sizes" in section.table else top),
    )


def _note_exercises(section: Section, part: Part, ids: Sequence[str], seen: dict[str, str]) -> None:
    """Record exercises that do not exist, that have a part already, or that are not in the order of the course."""
    for exercise in part.exercises:
        if exercise in seen:
            section.note("exercises", f"exercises lists {exercise}, which part {seen[exercise]} already has")
            continue
        if exercise not in ids:
            section.expect_names("exercises", [exercise], ids, "not an exercise", "expected the id of an exercise")
            continue
        late = next((other for other in seen if ids.index(other) > ids.index(exercise)), None)
        if late is not None:
            found = f"exercises lists {exercise} after {late}"
            section.note("exercises", f"{found}, expected the order of the [[exercises]]")
        seen[exercise] = part.id


def _as_id(value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"(?!ex\d)[a-z][a-z0-9_]*", value) else None


def owner_of(exercise: str, sections: Sequence[Section], top: Section, key: str = "exercises") -> Section:
    """Return the table of the part that lists an exercise, if that has the key, else the table of the course."""
    return next((section for section in sections if exercise in listed(section) and key in section.table), top)


def read_other_sizes(top: Section, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts with the sizes of another file, which must have some for each part with sizes of its own."""
    sizes = {}
    for section in part_sections(top):
        section.expect_keys("id", "sizes")
        known = [part.id for part in parts if part.sizes]
        id_ = section.value("id", f"a part with sizes of its own: {', '.join(known) or 'there is none'}", _as_id)
        if id_ is not None and id_ not in known:
            section.note("id", f"id is {quoted(id_)}, which is not a part with sizes of its own")
        sizes[id_] = read_sizes(section)
    for part in parts:
        if part.sizes and part.id not in sizes:
            top.note("parts", f'part {part.id} has sizes of its own; add [[parts]] with id = "{part.id}" and its sizes')
    return tuple(replace(part, sizes=sizes.get(part.id, part.sizes)) for part in parts)
