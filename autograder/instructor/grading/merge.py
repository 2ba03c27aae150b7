"""Merge the shards of a run into one folder, as if one machine had graded the whole class."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.instructor.grading.earlier_run import ACCEPTED
from autograder.instructor.grading.index import Row, row_of, state_of
from autograder.instructor.grading.out import Out, before, read_run
from autograder.instructor.grading.reports import stored_in, write_file
from autograder.instructor.grading.shards import read_shard


class MergeError(Exception):
    """Folders that cannot be merged; the message says what was found, what was expected and what to do."""


def read_shards(folders: Sequence[Path], out: Path) -> Mapping[str, Any]:
    """Return the run.json of all folders together. Raises `MergeError` if they are not shards of one run.

    The output folder may be new, or have an earlier merge of the same run.
    """
    if len({folder.resolve() for folder in (out, *folders)}) <= len(folders):
        raise MergeError("the same folder is given twice, expected one folder to write to and each shard once")
    runs = {folder: _run(folder) for folder in folders}
    first, run = next(iter(runs.items()))
    for folder, other in (*runs.items(), *(((out, known),) if (known := read_run(out)) else ())):
        differ = [key for key in sorted(_identity(run) | _identity(other)) if run.get(key) != other.get(key)]
        if differ:
            problem = f"{first} and {folder} differ in {' and '.join(differ)}"
            raise MergeError(f"{problem}, expected folders of one run; grade one of them again like the other")
    _require_all_shards({folder: run.get("shard") for folder, run in runs.items()})
    students: dict[str, str | None] = {}
    folders_of: dict[str, Path] = {}
    for folder, shard in runs.items():
        for student, handed_in in shard["students"].items():
            if student in students:
                problem = f"{student} is in {folders_of[student]} and in {folder}"
                raise MergeError(f"{problem}, expected every student once; leave one of the folders out")
            students[student], folders_of[student] = handed_in, folder
    accepted = sorted(student for shard in runs.values() for student in shard.get(ACCEPTED, ()))
    noted = {ACCEPTED: accepted} if accepted else {}
    return {**_identity(run), **noted, "students": dict(sorted(students.items()))}


def students_json(handed_in: Mapping[str, datetime | None]) -> dict[str, str | None]:
    """Return the students of a finished run and their times of submission, in the form of run.json."""
    return {name: time.isoformat() if time is not None else None for name, time in sorted(handed_in.items())}


def handed_in_of(run: Mapping[str, Any]) -> dict[str, datetime | None]:
    """Return the students of a run and their times. Raises TypeError, ValueError or AttributeError if damaged."""
    return {name: None if time is None else datetime.fromisoformat(time) for name, time in run["students"].items()}


def merge(out: Out, folders: Sequence[Path], run: Mapping[str, Any]) -> list[Row]:
    """Copy every report unchanged, and return the index rows in the order of the students.

    Raises `MergeError` if a report is damaged or of another run, and OSError.
    """
    rows = []
    for folder in folders:
        for student in _run(folder)["students"]:
            file = folder / "reports" / f"{student}.json"
            text = file.read_bytes() if file.is_file() else b""
            stored = stored_in(text)
            if stored is None or stored.report.suite != run["suite"]:
                raise MergeError(f"{file} is damaged or of another run; run the same course grade on {folder} again")
            write_file(out.report(student), text.decode())
            out.keep_before(student, before(folder, student))
            row = row_of(stored, stamp="", file=state_of(out.report(student)), basis="")
            out.index.put(row)
            rows.append(row)
    return sorted(rows, key=lambda row: row.student)


def _run(folder: Path) -> Mapping[str, Any]:
    run = read_run(folder)
    if run is None:
        raise MergeError(f"{folder} has no run.json, expected a folder written by course grade; check the path")
    if "students" not in run:
        raise MergeError(f"{folder} is not finished; run the same course grade on it again until it exits with 0")
    try:
        sound = all(name == Path(name).name for name in handed_in_of(run))
    except (AttributeError, TypeError, ValueError):
        sound = False
    if not sound:
        raise MergeError(f"{folder / 'run.json'} is damaged; run the same course grade on {folder} again")
    return run


def _identity(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of run.json that all shards of a run share."""
    return {key: value for key, value in run.items() if key not in ("shard", ACCEPTED, "students")}


def _require_all_shards(shards: Mapping[Path, str | None]) -> None:
    """Raise `MergeError` unless these are all shards of one division, or folders without shards."""
    if set(shards.values()) == {None}:
        return
    unsharded = next((folder for folder, shard in shards.items() if shard is None), None)
    if unsharded is not None:
        raise MergeError(f"{unsharded} is not a shard, expected only shards or none; leave it out")
    counts = Counter(map(str, shards.values()))
    try:
        parts = {read_shard(shard).parts for shard in counts}
    except ValueError as error:
        raise MergeError(str(error)) from None
    if twice := [shard for shard, count in counts.items() if count > 1]:
        raise MergeError(f"shard {twice[0]} appears twice, expected each once; leave one of the folders out")
    if len(parts) > 1:
        raise MergeError(f"the shards are {', '.join(sorted(counts))}, expected the same N in all of them")
    missing = [shard for at in range(1, max(parts) + 1) if (shard := f"{at}/{max(parts)}") not in counts]
    if missing:
        raise MergeError(f"shard {', '.join(missing)} is missing, expected all {max(parts)}; name its folder too")
