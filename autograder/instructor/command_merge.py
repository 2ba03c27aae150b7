"""Join the parts of a class that `course grade --shard` wrote.

A second run changes nothing.
"""

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

from autograder import gradebook
from autograder.cli import ROSTER, CommandParser, say, warn
from autograder.course import UsageError, find_course, read_course
from autograder.ending import ENVIRONMENT, GRADER, PASS
from autograder.gradebook import Entry
from autograder.report import plural
from autograder.submission import printable

from .bulk import Conditions

# What an earlier run left in the output folder: another run must not replace it, nor lose the rows of its students.


def accepted_only(entries: Sequence[Entry], own: frozenset[str]) -> dict[str, list[str]]:
    """Return what run.json notes about students without a submission of their `own`, for whom a file was accepted."""
    students = sorted(entry.student for entry in entries if entry.student not in own)
    return {gradebook.ACCEPTED: students} if students else {}


def refuse_other_run(out: Path, conditions: Conditions, chosen: Mapping[str, object]) -> None:
    """Refuse an output folder with a run of other exercises. Raises `UsageError` before anything is written."""
    run = gradebook.read_run(out)
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
    out: Path,
    folder: Path,
    conditions: Conditions,
    entries: Sequence[Entry],
    roster: gradebook.Roster,
    left: Sequence[str],
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
            f"{found} {printable(folder)}: {gradebook.named(missing)}; {fix}; {removed} {quote(printable(missing[0]))}"
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
    run = gradebook.read_run(out) or {}
    students = run.get("students")
    known = set(students) if isinstance(students, dict) else _in_table(out)
    accepted = run.get(gradebook.ACCEPTED)
    return known - set(accepted if isinstance(accepted, list) else ())


def _in_table(out: Path) -> set[str]:
    try:
        return {student for student, row in gradebook.read_scores(out / "scores.csv").items() if row["max_score"]}
    except (OSError, ValueError):
        return {file.stem for file in (out / "reports").glob("*.json") if not file.name.startswith(".")}


def _renamed(out: Path, conditions: Conditions, gone: Sequence[str], entries: Sequence[Entry]) -> dict[str, str]:
    """Return the new id of each student whose files somebody has who was not in the earlier run."""
    known = _with_submission(out)
    new = {conditions.read(entry).digest: entry.student for entry in entries if entry.student not in known}
    renamed = {}
    for student in gone:
        stored = gradebook.read_stored(out / "reports" / f"{student}.json")
        same = new.pop(str(stored.report.submission.get("digest")), None) if stored is not None else None
        if same is not None:
            renamed[student] = same
    return renamed


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
    for folder, other in (*runs.items(), *(((out, known),) if (known := gradebook.read_run(out)) else ())):
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
    accepted = sorted(student for shard in runs.values() for student in shard.get(gradebook.ACCEPTED, ()))
    noted = {gradebook.ACCEPTED: accepted} if accepted else {}
    return {**_identity(run), **noted, "students": dict(sorted(students.items()))}


def students_json(handed_in: Mapping[str, datetime | None]) -> dict[str, str | None]:
    """Return the students of a finished run and their times of submission, in the form of run.json."""
    return {name: time.isoformat() if time is not None else None for name, time in sorted(handed_in.items())}


def handed_in_of(run: Mapping[str, Any]) -> dict[str, datetime | None]:
    """Return the students of a run and their times. Raises TypeError, ValueError or AttributeError if damaged."""
    return {name: None if time is None else datetime.fromisoformat(time) for name, time in run["students"].items()}


def merge(out: gradebook.Out, folders: Sequence[Path], run: Mapping[str, Any]) -> list[gradebook.Row]:
    """Copy every report unchanged, and return the index rows in the order of the students.

    Raises `MergeError` if a report is damaged or of another run, and OSError.
    """
    rows = []
    for folder in folders:
        for student in _run(folder)["students"]:
            file = folder / "reports" / f"{student}.json"
            text = file.read_bytes() if file.is_file() else b""
            stored = gradebook.stored_in(text)
            if stored is None or stored.report.suite != run["suite"]:
                raise MergeError(f"{file} is damaged or of another run; run the same course grade on {folder} again")
            gradebook.write_file(out.report(student), text.decode())
            out.keep_before(student, gradebook.before(folder, student))
            row = gradebook.row_of(stored, stamp="", file=gradebook.state_of(out.report(student)), basis="")
            out.index.put(row)
            rows.append(row)
    return sorted(rows, key=lambda row: row.student)


def _run(folder: Path) -> Mapping[str, Any]:
    run = gradebook.read_run(folder)
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
    return {key: value for key, value in run.items() if key not in ("shard", gradebook.ACCEPTED, "students")}


def _require_all_shards(shards: Mapping[Path, str | None]) -> None:
    """Raise `MergeError` unless these are all shards of one division, or folders without shards."""
    if set(shards.values()) == {None}:
        return
    unsharded = next((folder for folder, shard in shards.items() if shard is None), None)
    if unsharded is not None:
        raise MergeError(f"{unsharded} is not a shard, expected only shards or none; leave it out")
    counts = Counter(map(str, shards.values()))
    try:
        parts = {gradebook.read_shard(shard).parts for shard in counts}
    except ValueError as error:
        raise MergeError(str(error)) from None
    if twice := [shard for shard, count in counts.items() if count > 1]:
        raise MergeError(f"shard {twice[0]} appears twice, expected each once; leave one of the folders out")
    if len(parts) > 1:
        raise MergeError(f"the shards are {', '.join(sorted(counts))}, expected the same N in all of them")
    missing = [shard for at in range(1, max(parts) + 1) if (shard := f"{at}/{max(parts)}") not in counts]
    if missing:
        raise MergeError(f"shard {', '.join(missing)} is missing, expected all {max(parts)}; name its folder too")


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.add_argument("out", type=Path, metavar="OUT", help="where to write the reports and scores.csv")
    parser.add_argument("shards", type=Path, nargs="+", metavar="SHARD", help="a folder of `course grade --shard`")
    parser.add_argument("--roster", type=Path, metavar="FILE", help=ROSTER)


def run(options: argparse.Namespace) -> int:
    """Run the command. A second run changes nothing. The scores follow the rules of the course and its roster."""
    course = read_course(find_course())
    roster = gradebook.find_roster(course, options.roster)
    try:
        run = read_shards(options.shards, options.out)
        with gradebook.Out(options.out) as out:
            rows = merge(out, options.shards, run)
            course = gradebook.course_of_run(course, run)
            policy = gradebook.policy_of(course, roster, gradebook.read_adjustments(course))
            void = policy.adjustments.void_checks
            summaries = [gradebook.with_checks(row.summary, out.report(row.student), void) for row in rows]
            out.write_scores(gradebook.scores_csv(summaries, run["exercises"], policy, handed_in_of(run)))
            out.note_run(run)
    except MergeError as error:
        raise UsageError(str(error)) from None
    except gradebook.Busy as error:
        warn(str(error))
        return ENVIRONMENT
    failed = sum(row.failed for row in rows)
    say(f"{len(rows):,} reports from {len(options.shards)} folders, {failed:,} of them the grader failed on")
    say(f"Reports are in {out.reports}, the table in {options.out / 'scores.csv'}")
    times = handed_in_of(run)
    finals = {
        row.student: gradebook.final_of(policy, row.student, times.get(row.student), report)
        for row, report in zip(rows, summaries, strict=True)
    }
    undecided = any(row.summary.is_held and finals[row.student].is_open for row in rows)
    doubtful = gradebook.times_to_look_at(course, policy, finals, run)
    for sentence in (*gradebook.without_effect(policy), *doubtful):
        warn(sentence)
    return GRADER if failed or undecided or doubtful else PASS
