"""What an earlier run left in the output folder: another run must not replace it, nor lose the rows of its students."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from autograder.course.names import UsageError
from autograder.instructor.gradebook.graded import named
from autograder.instructor.gradebook.roster import Roster
from autograder.instructor.gradebook.scores import read_scores
from autograder.instructor.grading.conditions import Conditions
from autograder.instructor.grading.out import read_run
from autograder.instructor.grading.reports import read_stored
from autograder.report.quantities import plural
from autograder.submission.class_entry import Entry
from autograder.submission.files import printable

ACCEPTED = "accepted"
"""The key of run.json for the students of whom only accepted files are there, and no submission."""


def accepted_only(entries: Sequence[Entry], own: frozenset[str]) -> dict[str, list[str]]:
    """Return what run.json notes about students without a submission of their `own`, for whom a file was accepted."""
    students = sorted(entry.student for entry in entries if entry.student not in own)
    return {ACCEPTED: students} if students else {}


def refuse_other_run(out: Path, conditions: Conditions, chosen: Mapping[str, object]) -> None:
    """Refuse an output folder with a run of other exercises. Raises `UsageError` before anything is written."""
    run = read_run(out)
    if run is None:
        return
    earlier, now = _choice(run), _choice(chosen)
    of_this_course = not set(run.get("exercises") or ()).isdisjoint(conditions.exercises)
    if earlier == now and not of_this_course and run.get("exercises"):
        earlier, now = f"the course {run.get('course')}", f"the course {conditions.course.title}"
    if earlier != now:
        found = f"{printable(out)} has the reports of {printable(earlier)}, and this run is of {now}"
        raise UsageError(f"{found}, so it would replace them; choose another --out")


def changed_ids(
    out: Path, folder: Path, conditions: Conditions, entries: Sequence[Entry], roster: Roster, left: Sequence[str]
) -> list[str]:
    """Return a sentence for each student of the earlier run who has another id now, as after a change of the roster.

    `entries` are the submissions in `folder`, and `left` the students whom the user leaves out. Raises `UsageError` if
    the submission of anybody else is gone: a table without them would look as if they had handed in nothing.
    """
    gone = sorted(_with_submission(out) - {entry.student for entry in entries})
    if not gone:
        return []
    unlisted = [student for student in gone if roster and student not in roster]  # only a roster changes ids
    renamed = _renamed(out, conditions, unlisted, entries)
    missing = [student for student in gone if student not in renamed and student not in left]
    if missing:
        count = plural(len(missing), "submission")
        found = f"{printable(out)} has the report of {count} that {'is' if len(missing) == 1 else 'are'} not in"
        fix = "grade a folder with all submissions, or choose another --out"
        removed = "if one was taken out on purpose, or has another id now, add --leave-out"
        raise UsageError(
            f"{found} {printable(folder)}: {named(missing)}; {fix}; {removed} {quote(printable(missing[0]))}"
        )
    return [
        f"{printable(old)} is graded as {printable(new)} now: the files are the same" for old, new in renamed.items()
    ]


def _choice(run: Mapping[str, Any]) -> str:
    """Return which exercises of which students a run is about, in words."""
    take, assignment, shard = run.get("take"), run.get("assignment"), run.get("shard")
    taken = ", ".join(sorted(map(str, take))) if isinstance(take, list) else ""
    what = str(assignment or taken or "the whole course")
    return f"part {shard} of {what}" if shard else what


def _with_submission(out: Path) -> set[str]:
    """Return the students with a submission in the last finished run; if there is none, those with a report."""
    run = read_run(out) or {}
    students = run.get("students")
    known = set(students) if isinstance(students, dict) else _in_table(out)
    accepted = run.get(ACCEPTED)
    return known - set(accepted if isinstance(accepted, list) else ())


def _in_table(out: Path) -> set[str]:
    try:
        return {student for student, row in read_scores(out / "scores.csv").items() if row["max_score"]}
    except (OSError, ValueError):
        return {file.stem for file in (out / "reports").glob("*.json") if not file.name.startswith(".")}


def _renamed(out: Path, conditions: Conditions, gone: Sequence[str], entries: Sequence[Entry]) -> dict[str, str]:
    """Return the new id of each student whose files somebody has who was not in the earlier run."""
    known = _with_submission(out)
    new = {conditions.read(entry).digest: entry.student for entry in entries if entry.student not in known}
    renamed = {}
    for student in gone:
        stored = read_stored(out / "reports" / f"{student}.json")
        same = new.pop(str(stored.report.submission.get("digest")), None) if stored is not None else None
        if same is not None:
            renamed[student] = same
    return renamed
