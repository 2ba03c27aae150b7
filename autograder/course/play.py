"""Read the [[play]] of course.toml: programs that use the finished exercises, each a module of the course's play/."""

import re
from collections.abc import Sequence
from decimal import Decimal

from autograder.course.model import Activity, Choice, Value
from autograder.course.section import Section, Tables, as_line, as_texts

KEYS = ("id", "title", "needs", "options")
"""The keys of an activity in course.toml."""

COMMON = ("device", "seed", "steps", "say", "fresh", "anyway", "submission", "json", "plain", "no-color", "help")
"""The names of the options that every activity has."""


def read_play(top: Section, exercises: Sequence[str]) -> tuple[Activity, ...]:
    """Read the activities in their order; `exercises` are the ids they may need."""
    activities: list[Activity] = []
    for section in top.tables("play", "[[play]] tables", _as_tables):
        section.expect_keys(*KEYS)
        activity = Activity(
            id=section.value("id", "a name in lower case, like write", _as_id) or "",
            title=section.value("title", "a line that says what it does", as_line) or "",
            needs=_needs(section, exercises),
            choices=_choices(section.section("options")),
        )
        if activity.id in [earlier.id for earlier in activities if earlier.id]:
            section.note("id", f"an earlier activity already has the id {activity.id}, choose another")
        activities.append(activity)
    return tuple(activities)


def _as_tables(value: object) -> Tables | None:
    return value if isinstance(value, list) and all(isinstance(table, dict) for table in value) else None


def _as_id(value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]*", value) else None


def _needs(section: Section, exercises: Sequence[str]) -> tuple[str, ...]:
    needs = section.value("needs", "a list of exercise ids", as_texts) or ()
    section.expect_names("needs", needs, exercises, "not an exercise", "expected ids of exercises")
    return needs


def _choices(section: Section) -> tuple[Choice, ...]:
    """Return the options of one activity, each `name = [default, "what it does"]`."""
    choices = []
    for name in section.table:
        choice = section.value(name, 'a default and a help text, like [0.8, "how daring"]', _as_choice)
        if name in COMMON:
            section.note(name, f"{name} is an option of every activity, choose another name")
        elif not re.fullmatch(r"[a-z][a-z0-9-]*", name):
            section.note(name, f"{name} cannot be the name of an option, expected lower-case letters, digits and -")
        elif choice is not None:
            choices.append(Choice(name, *choice))
    return tuple(choices)


def _as_choice(value: object) -> tuple[Value, str] | None:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str) or not value[1].strip():
        return None
    default = float(value[0]) if isinstance(value[0], Decimal) else value[0]
    return (default, value[1]) if isinstance(default, str | int | float) else None
