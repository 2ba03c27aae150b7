"""The list of equivalent mutants of an exercise: those that no check can catch, each with the reason.

An entry names a statement and what it becomes, or an operator and perhaps a function or class:

    [[equivalent]]
    in = "Model.forward"
    line = "mask = make_mask(ids)"
    becomes = ["mask = make_mask(ids).detach()"]
    reason = "A mask has no gradient."

    [[equivalent]]
    operator = "gradient"
    reason = "Masks have no gradient."
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring.mutation.mutants import Mutant
from autograder.course import Course, Exercise
from autograder.course.names import UsageError
from autograder.course.nearest import suggestion
from autograder.course.storage import write_atomically
from autograder.edits.gradients import detaches_nothing

SHORTEST_REASON = 3
"""Words. A shorter reason convinces nobody."""

_TEXTS = {"in", "line", "operator", "reason"}

_ENTRY = """
[[equivalent]]
in = {where}
line = {was}
becomes = [{becomes}]
{nth}reason = {reason}
"""


@dataclass(frozen=True)
class Equivalent:
    """One entry, for one replacement of a statement, or for all mutants of an operator."""

    reason: str
    where: str | None
    operator: str | None = None
    was: str = ""
    becomes: str = ""
    nth: int = 1

    def covers(self, mutant: Mutant) -> bool:
        """Return whether the entry is about this mutant."""
        if self.operator is not None:
            return self.operator == mutant.operator and self.where in (None, mutant.where)
        return (self.where, self.was, self.becomes, self.nth) == mutant.key

    def __str__(self) -> str:
        where = f" in {self.where}" if self.where else ""
        if self.operator is not None:
            return f"the operator {self.operator}{where}"
        return f"{self.was!r}{where}, changed to {self.becomes!r}"


def equivalents_file(course: Course, exercise: Exercise) -> Path:
    """Return the file with the equivalent mutants of an exercise; students never get it."""
    return course.solutions_dir / "equivalents" / f"{exercise.id}.toml"


def read_equivalents(file: Path) -> tuple[Equivalent, ...]:
    """Read a list; a missing file is an empty list. Raises `UsageError` for entries that cannot be understood."""
    if not file.is_file():
        return ()
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}") from error
    entries = data.pop("equivalent", [])
    if data or not isinstance(entries, list):
        raise UsageError(f"{file} has {', '.join(data) or 'no list'}, expected only [[equivalent]]")
    problems = [f"{file}: entry {number}: {problem}" for number, problem in _problems(entries)]
    if problems:
        raise UsageError("\n".join(problems))
    return tuple(found for entry in entries for found in _read(entry))


def is_equivalent(mutant: Mutant, entries: Iterable[Equivalent]) -> bool:
    """Return whether a mutant is listed, or detaches a value that has no gradient by its text: no check sees that."""
    detaches = mutant.operator == "gradient" and detaches_nothing(mutant.source, mutant.line)
    return detaches or any(entry.covers(mutant) for entry in entries)


def stale(
    entries: Iterable[Equivalent], mutants: Iterable[Mutant], caught: Mapping[str, str | None]
) -> Iterator[tuple[Equivalent, str]]:
    """Yield each entry that is no longer true, with what is wrong. `caught` has the mutants that were run."""
    made = list(mutants)
    for entry in entries:
        covered = [mutant for mutant in made if entry.covers(mutant)]
        catchers = {catcher for mutant in covered if (catcher := caught.get(mutant.id)) is not None}
        if not covered:
            yield entry, "no such mutant exists"
        elif all(caught.get(mutant.id) is not None for mutant in covered):
            yield entry, f"caught by {', '.join(sorted(catchers))}"


def add_equivalents(file: Path, mutants: Iterable[Mutant], reason: str) -> list[Mutant]:
    """Append an entry for each of these mutants that is not listed, and return those that are.

    Raises `UsageError` if there is no reason, or all of them are listed.
    """
    if len(reason.split()) < SHORTEST_REASON:
        raise UsageError(f"the reason {reason!r} is too short; say in a sentence why no check can catch it")
    listed = read_equivalents(file)
    text = file.read_text("utf-8") if file.is_file() else ""
    wanted = list(dict.fromkeys(mutants))
    before = [mutant for mutant in wanted if any(entry.covers(mutant) for entry in listed)]
    if len(before) == len(wanted):
        raise UsageError(f"{file} lists {', '.join(mutant.id for mutant in before)} already")
    for mutant in (mutant for mutant in wanted if mutant not in before):
        nth = f"nth = {mutant.nth}\n" if mutant.nth > 1 else ""
        texts = {"where": mutant.where, "was": mutant.was, "becomes": mutant.becomes, "reason": reason}
        quoted = {
            name: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F") for name, value in texts.items()
        }
        text = f"{text.rstrip()}\n{_ENTRY.format(nth=nth, **quoted)}".lstrip("\n")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text)
    return before


def _read(entry: Mapping[str, Any]) -> Iterator[Equivalent]:
    if "operator" in entry:
        yield Equivalent(entry["reason"], entry.get("in"), entry["operator"])
    for becomes in entry.get("becomes", ()):
        yield Equivalent(entry["reason"], entry["in"], None, entry["line"], becomes, entry.get("nth", 1))


def _problems(entries: Iterable[Any]) -> Iterator[tuple[int, str]]:
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            yield number, "is no table"
            continue
        known = (*_TEXTS, "becomes", "nth")
        for key in sorted(set(entry) - {*known}):
            hint = suggestion(key, known, f"expected {', '.join(known)}")
            yield number, f"has {key}, which means nothing here; {hint}"
        if not all(isinstance(entry[key], str) for key in _TEXTS & set(entry)):
            yield number, "in, line, operator and reason are texts"
        elif len(entry.get("reason", "").split()) < SHORTEST_REASON:
            yield number, "has no reason"
        becomes = entry.get("becomes")
        if "operator" in entry:
            if {"line", "becomes", "nth"} & set(entry):
                yield number, "has an operator and a line; use one of them"
        elif not {"in", "line"} <= set(entry) or not isinstance(becomes, list) or not becomes:
            yield number, "needs in, line and a list `becomes`, or an operator"
        elif not all(isinstance(text, str) for text in becomes) or type(entry.get("nth", 1)) is not int:
            yield number, "becomes is a list of texts, and nth a whole number"
