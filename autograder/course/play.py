"""The [[play]] of course.toml: what can be done with the finished exercises, each a module of the course's play/."""

import re
from collections.abc import Sequence
from decimal import Decimal

from autograder.course.model import Activity, Choice, Value
from autograder.course.nearest import nearest
from autograder.course.section import Section, as_line, as_texts, shown

COMMON = ("device", "seed", "steps", "say", "fresh", "anyway", "submission", "json", "plain", "no-color", "help")
"""The options that every activity has."""


def read_play(top: Section, exercises: Sequence[str]) -> tuple[Activity, ...]:
    """Read the activities in their order; `exercises` are the ids they may need."""
    tables = top.value("play", "[[play]] tables", _as_tables, required=False) or []
    activities: list[Activity] = []
    for at, table in enumerate(tables):
        found = table.get("id")
        section = Section(
            table, ("play", at), f"play {shown(found) if isinstance(found, str) else f'number {at + 1}'}", top.problems
        )
        section.known("id", "title", "needs", "options")
        activity = Activity(
            id=section.value("id", "a name in lower case, like write", _as_id) or "",
            title=section.value("title", "a line that says what it does", as_line) or "",
            needs=_needs(section, exercises),
            choices=_choices(section.section("options")),
        )
        if activity.id in [each.id for each in activities if each.id]:
            section.note("id", f"id {activity.id} is already taken by an earlier one, expected another")
        activities.append(activity)
    return tuple(activities)


def _as_tables(value: object) -> list[dict[str, object]] | None:
    return value if isinstance(value, list) and all(isinstance(each, dict) for each in value) else None


def _as_id(value: object) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_]*", value) else None


def _needs(section: Section, exercises: Sequence[str]) -> tuple[str, ...]:
    needs = section.value("needs", "a list of exercise ids", as_texts) or ()
    for need in needs:
        if need not in exercises:
            near = nearest(need, exercises)
            hint = f"is {near} meant?" if near else "expected ids of exercises"
            section.note("needs", f"needs names {shown(need)}, which is no exercise; {hint}")
    return needs


def _choices(section: Section) -> tuple[Choice, ...]:
    """Return the options of one activity, each `name = [default, "what it does"]`."""
    choices = []
    for name in section.table:
        made = section.value(name, 'a default and what the option does, like [0.8, "how daring"]', _as_choice)
        if not re.fullmatch(r"[a-z][a-z0-9-]*", name) or name in COMMON:
            section.note(name, f"{name} is no name for an option, expected one in lower case that is not common to all")
        elif made is not None:
            choices.append(Choice(name, *made))
    return tuple(choices)


def _as_choice(value: object) -> tuple[Value, str] | None:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[1], str) or not value[1].strip():
        return None
    default = float(value[0]) if isinstance(value[0], Decimal) else value[0]
    return (default, value[1]) if isinstance(default, str | int | float) else None
