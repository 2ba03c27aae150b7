"""Read the results of `course grade`: the report of each student, and the final score by the current policy."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

from autograder.course import (
    FOLDER,
    Assignment,
    Course,
    Exercise,
    UsageError,
    assigned,
    digest_of_parts,
    find_assignment,
    find_course,
    make_folder,
    read_plain,
    refuse_kit,
    resolve_take,
    suggestion,
    taking,
    write_atomically,
)
from autograder.report import DECIDED, plural, points
from autograder.results import CheckResult, ExerciseResult, Finding, Report, UnknownFormat, read_report
from autograder.submission import Caps, Submission, SubmissionError, checked_id, handout_of, printable

from .class_folder import Entry
from .decisions import (
    FILE,
    LOG,
    Adjustment,
    Adjustments,
    Decision,
    decisions_that_hold,
    graded_without,
    read_accepted,
    read_adjustments,
    unlisted,
)
from .decisions import FOLDER as ACCEPTED_FOLDER
from .listing import for_groups, list_submissions
from .out import MOST_LISTED, before, harmless, read_run, read_scores, result_digest
from .policy import Final, Policy, deadline, final_of, missing, policy_of, times_to_look_at
from .roster import Roster, Student, as_csv, named, parse_time

# Choose what `course grade` works on: the course, the students, and the secret seed.


def grading_course(submissions: Path, named: Path | None) -> Path:
    """Return the root of the course to grade by: the one named, or the one around the working folder.

    Raises `UsageError` for a course among the submissions: somebody handed it in.
    """
    root = find_course(named)
    if submissions.resolve() in (root, *root.parents):
        raise UsageError(
            f"the course in {root} lies inside {submissions}, where the submissions are; "
            "go to the folder of your course, or name it with --course"
        )
    return root


def course_of(course: Course, take: Sequence[str], assignment: str | None) -> Course:
    """Return the course as far as it is graded: one assignment, or some parts and exercises. Raises `UsageError`."""
    if take and assignment:
        raise UsageError("--take and --assignment both choose exercises; leave one of them out")
    if assignment:
        return assigned(course, find_assignment(course, assignment))
    return taking(course, resolve_take(course, take)) if take else course


def course_of_run(course: Course, run: Mapping[str, Any]) -> Course:
    """Return the course as far as a run graded it, by its run.json. Raises `UsageError`."""
    take, assignment = run.get("take"), run.get("assignment")
    chosen = [name for name in take if isinstance(name, str)] if isinstance(take, list) else []
    return course_of(course, chosen, assignment if isinstance(assignment, str) else None)


def chosen_facts(take: Sequence[str], assignment: str | None) -> dict[str, object]:
    """Return what run.json notes about the choice."""
    return {"assignment": assignment} if assignment else {"take": list(take)} if take else {}


def choose_students(entries: Sequence[Entry], named: Sequence[str] | None) -> frozenset[str]:
    """Return the students that are named, or all. Raises `UsageError` for one without a submission."""
    students = frozenset(entry.student for entry in entries)
    for student in named or ():
        if student not in students:
            hint = suggestion(student, students, "use the name of a folder or a zip, without its ending")
            raise UsageError(f"no submission is of {student!r}; {hint}")
    return frozenset(named) if named else students


def grading_seed(course: Course, named: int | None, out: Path) -> int:
    """Return the seed to grade with: the one named, or a secret one, made once and kept beside the course.

    If that cannot be written, the seed of an earlier run into `out` is used.
    """
    if named != course.seed:  # a kit has the answer keys of the public seed only
        refuse_kit(course, "grade", f"the solutions for any seed but the public one, --seed {course.seed}")
    if named is not None:
        return named
    file = course.root / FOLDER / "grading_seed"
    try:
        return int(read_plain(file))
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a number"
        raise UsageError(
            f"the secret seed in {file} cannot be read ({reason}); restore it, delete it to draw a new one, or name "
            "one with --seed"
        ) from None
    seed = secrets.randbits(62)
    try:
        make_folder(file.parent)
        write_atomically(file, f"{seed}\n", mode=0o600)
    except OSError:
        known = (read_run(out) or {}).get("seed")
        return known if isinstance(known, int) else seed
    return seed


class ExportError(UsageError):
    """A class that cannot be exported; the message says what was found, what was expected and what to do."""


@dataclass(frozen=True)
class Mark:
    """One student of the class with the row of the roster. A missing student has neither `report` nor `final`.

    `before` is the report from before a file was accepted, if that changed the submission. `judged` is the report as
    it was graded, whatever was decided since. `accepted` are files and hand-ins that replace those of the student.
    """

    row: Student
    report: Report | None = None
    final: Final | None = None
    before: Report | None = None
    judged: Report | None = None
    accepted: tuple[Decision, ...] = ()

    @property
    def student(self) -> str:
        return self.row.student

    @property
    def failed(self) -> bool:
        """Whether the grader failed on a part of the submission, so that it has no score."""
        return self.report is not None and "grader_error" in self.report.statuses and self.score is None

    @property
    def excused(self) -> bool:
        """Whether everything is excused, so that there is no score, and nothing is missing."""
        return self.final is not None and self.final.excused

    @property
    def held(self) -> bool:
        """Whether no file of the submission could be read, and nobody has decided what it is worth."""
        return self.report is not None and self.report.is_held and self.score is None and not self.excused

    @property
    def is_decided(self) -> bool:
        """Whether a person decided about a student without a judged submission."""
        judged = self.report is not None and self.report.has_score
        return not judged and self.final is not None and not self.final.is_open

    @property
    def score(self) -> int | None:
        """The final score in hundredths; None if the grader failed or the student is missing."""
        return self.final.score if self.final else None


@dataclass(frozen=True, eq=False)
class Graded:
    """A graded class in the order of scores.csv, missing students last; `notes` are for the instructor.

    `run` has the seed, the checks and the versions of the run, as far as run.json can be read.
    """

    course: Course
    policy: Policy
    marks: tuple[Mark, ...]
    notes: tuple[str, ...] = ()
    run: Mapping[str, Any] = field(default_factory=dict)

    @property
    def seed(self) -> int | None:
        """The seed of the run; None if it is unknown. It is secret unless it is the seed of the course."""
        seed = self.run.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def runtime(self) -> Mapping[str, str]:
        """The versions of Python and of the libraries that results depend on, by name."""
        versions = self.run.get("runtime")
        return {str(name): str(version) for name, version in versions.items()} if isinstance(versions, dict) else {}

    @property
    def to_show(self) -> tuple[Mark, ...]:
        """Return the marks to make a file of: those with a report, and those that a person gave without one.

        A student who handed in nothing gets a report in which every exercise is missing.
        """
        shown = (mark for mark in self.marks if mark.report is not None or mark.score is not None or mark.excused)
        return tuple(mark if mark.report else replace(mark, report=self._of_nothing(mark.student)) for mark in shown)

    def _of_nothing(self, student: str) -> Report:
        """Return the report of a student who handed in nothing."""
        exercises = tuple(
            ExerciseResult(exercise.id, exercise.title, "missing", 0, exercise.points, ())
            for exercise in self.course.exercises
        )
        facts = {"student": student, "notes": ["nothing was handed in"]}
        return Report(self.course.title, facts, "", "", "", exercises)

    @property
    def with_report(self) -> tuple[Mark, ...]:
        """Return the marks of students who have a report."""
        return tuple(mark for mark in self.marks if mark.report is not None)


def read_graded(
    course: Course, roster: Roster, out: Path, students: Sequence[str] = (), more: Sequence[Adjustment] = ()
) -> Graded:
    """Return the class in a folder of `course grade`, or the single report in a file of `--json`.

    With `students`, only those. `more` are decisions to count beside those of the course.

    Raises `ExportError` if there is no class, or reports and table are of different runs.
    """
    run = {} if out.is_file() else read_run(out) or {}
    adjustments = Adjustments((*read_adjustments(course).rows, *more))
    course = course_of_run(course, run)
    policy = policy_of(course, roster, adjustments)
    if out.is_file():
        report = _read(out)
        _check_course(course, out, report)
        return Graded(course, policy, (_mark(policy, _student(out, report), report, None),))
    reports, notes = _reports(course, out, run)
    _require_same_checks(course, out, run)
    marks = _marks(
        course,
        policy,
        handed_in_times(out, run),
        reports,
        {student: _before(out, student, report) for student, report in reports.items()},
    )
    return Graded(course, policy, _chosen(marks, students), (*notes, *_left_out(course, policy, marks)), run)


def decided_again(graded: Graded, course: Course, roster: Roster, out: Path, more: Sequence[Adjustment] = ()) -> Graded:
    """Return a class that was read from a folder by the decisions and the roster of now; no report is read again.

    `more` are decisions to count beside those of the course. Raises `UsageError` if these cannot be read.
    """
    policy = policy_of(graded.course, roster, Adjustments((*read_adjustments(course).rows, *more)))
    reports = {mark.student: mark.judged for mark in graded.marks if mark.judged is not None}
    earlier = {mark.student: mark.before for mark in graded.marks}
    marks = _marks(graded.course, policy, handed_in_times(out, graded.run), reports, earlier)
    others = tuple(note for note in graded.notes if not note.startswith((f"{FILE} ", f"{ACCEPTED_FOLDER}/")))
    return replace(graded, policy=policy, marks=tuple(marks), notes=(*others, *_left_out(graded.course, policy, marks)))


def _marks(
    course: Course,
    policy: Policy,
    times: Mapping[str, datetime],
    reports: Mapping[str, Report],
    earlier: Mapping[str, Report | None],
) -> list[Mark]:
    marks = [
        replace(_mark(policy, student, report, times.get(student)), before=earlier.get(student))
        for student, report in reports.items()
    ]
    marks += [_absent(policy, student) for student in missing(policy, reports)]
    accepted = decisions_that_hold(course, course.assignment.id if course.assignment else "")
    return [replace(mark, accepted=accepted.get(mark.student, ())) for mark in marks]


def _left_out(course: Course, policy: Policy, marks: Sequence[Mark]) -> tuple[str, ...]:
    known = {mark.student for mark in marks}
    notes = list(_unknown_checks(policy, [mark.judged for mark in marks if mark.judged is not None]))
    intake = {mark.student: mark.judged.submission.get("notes", ()) if mark.judged else () for mark in marks}
    due = graded_without(course, course.assignment.id if course.assignment else "", intake)
    if due := tuple(student for student in due if student in known):
        were = "was" if len(due) == 1 else "were"
        found = f"{ACCEPTED_FOLDER}/{LOG} was changed since {plural(len(due), 'student')} {were} graded"
        fix = "their marks are those of before; run the same `course grade` again"
        notes.append(f"{found}: {named(due)}; {fix}")
    if gone := unlisted(policy.roster, policy.adjustments.rows):
        notes.append(gone)
    listed = (one for one in policy.adjustments.students if not policy.roster or one in policy.roster)
    if nowhere := [student for student in listed if student not in known]:
        return (f"{FILE} has students without a submission, left out: {named(nowhere)}", *notes)
    return tuple(notes)


def _unknown_checks(policy: Policy, reports: Iterable[Report]) -> Iterator[str]:
    """Yield a note for each check that is void and in no report: a name that was misspelled, or is gone."""
    unknown = set(policy.adjustments.void_checks)
    for report in reports if unknown else ():
        unknown -= {(exercise.id, check.id) for exercise in report.exercises for check in exercise.checks}
    for exercise, check in sorted(unknown):
        yield f"{FILE} has a void check {check} of {exercise}, which is in no report, so it changes nothing"


def handed_in_times(out: Path, run: Mapping[str, Any]) -> Mapping[str, datetime]:
    """Return the known times of submission (UTC) by student, as they were before any decision.

    If run.json does not have them, those in the table beside the reports.
    """
    noted = run.get("students")
    known = noted if isinstance(noted, dict) else {name: row.get("handed_in") for name, row in _table(out).items()}
    times = {str(student): parse_time(str(time or ""), UTC) for student, time in known.items()}
    return {student: time for student, time in times.items() if time is not None}


def handed_in_at(graded: Graded, student: str, time: datetime | None) -> Graded:
    """Return a class of one report, as submitted by a student at a time (UTC)."""
    (report,) = [mark.report for mark in graded.with_report]
    assert report is not None
    return replace(graded, marks=(_mark(graded.policy, student, report, time),))


def of_class(graded: Graded) -> list[str]:
    """Return what to look at in a folder of `course grade`; a single report has no time of its own."""
    finals = {mark.student: mark.final for mark in graded.with_report if mark.final is not None}
    return times_to_look_at(graded.course, graded.policy, finals, graded.run) if graded.run else []


def _mark(policy: Policy, student: str, report: Report, time: datetime | None) -> Mark:
    final = final_of(policy, student, time, report)
    return Mark(policy.roster[student], report if final.is_open else _decided(report), final, judged=report)


def _decided(report: Report) -> Report:
    """Return a report that says of each held exercise that somebody has decided."""
    return replace(
        report,
        exercises=tuple(
            replace(exercise, checks=tuple(map(_decided_check, exercise.checks)))
            if exercise.status == "held"
            else exercise
            for exercise in report.exercises
        ),
    )


def _decided_check(check: CheckResult) -> CheckResult:
    return replace(check, finding=Finding("structure", "decided", DECIDED.meaning))


def _absent(policy: Policy, student: str) -> Mark:
    """Return the mark of a student without a report, who has a final score only if somebody gave one."""
    final = final_of(policy, student, None, None)
    return Mark(policy.roster[student], None, final if final.adjustments else None)


def _before(out: Path, student: str, report: Report) -> Report | None:
    """Return the report from before a file was accepted, unless it is of the same submission."""
    file = before(out, student)
    earlier = _read(file) if file.is_file() else None
    same = earlier is None or earlier.submission.get("digest") == report.submission.get("digest")
    return None if same else earlier


def _reports(course: Course, out: Path, run: Mapping[str, Any]) -> tuple[dict[str, Report], tuple[str, ...]]:
    """Return the reports of the students in the table, and a note about other reports."""
    folder = out / "reports"
    files = {file.stem: file for file in sorted(folder.glob("*.json")) if not file.name.startswith(".")}
    if not files:
        raise ExportError(
            f"{printable(out)} has no reports, expected a folder written by course grade DIR --out {out.name}"
        )
    table = _table(out)
    suite = run.get("suite")
    reports: dict[str, Report] = {}
    for student, row in table.items():
        if not row.get("max_score"):
            continue  # a missing student
        if student not in files:
            raise _stale(out, f"reports/{student}.json is missing, but scores.csv has a row for it")
        report = reports[student] = _read(files[student])
        if report.submission.get("student") != student:
            raise _stale(out, f"reports/{student}.json is not the report of {student}")
        _check_course(course, files[student], report)
        score = f"{report.score / 100:.2f}" if report.has_score else ""
        if row.get("score") != score:
            in_table = row.get("score") or "no score"
            raise _stale(out, f"scores.csv has {in_table} for {student}, but the report has {score or 'no score'}")
        if isinstance(suite, str) and report.suite != suite:
            raise _stale(out, f"the report of {student} was made with other checks than the last run")
    others = [student for student in files if student not in table]
    note = f"{plural(len(others), 'report')} not in scores.csv, left out: {named(others)}"
    return reports, (note,) if others else ()


def _table(out: Path) -> dict[str, dict[str, str]]:
    """Return the rows of scores.csv by student, in the order of the file."""
    try:
        return read_scores(out / "scores.csv")
    except OSError:
        raise _stale(out, "scores.csv is missing, so the run did not finish") from None
    except ValueError:
        raise _stale(out, "scores.csv has other columns than course grade writes") from None


def _read(file: Path) -> Report:
    try:
        report = read_report(file)
    except UnknownFormat as error:
        raise ExportError(f"{printable(file)}: {error}") from None
    if report is None:
        raise ExportError(f"{printable(file)} is not a report, expected one of course grade; run it again")
    return report[0]


def _student(file: Path, report: Report) -> str:
    """Return the student id of a report. It becomes a file name, and anyone can write a report, so it is checked."""
    student = report.submission.get("student")
    try:
        return checked_id(student if isinstance(student, str) else "", file)
    except SubmissionError:
        found = f"the student {printable(student)!r}" if student else "no student"
        raise ExportError(f"{printable(file)} has {found}, expected a student id; create the report again") from None


def _check_course(course: Course, file: Path, report: Report) -> None:
    """Refuse a report of another course, or with other points for an exercise: its maximum would not fit."""
    worth = {exercise.id: exercise.points for exercise in course.exercises}
    for exercise in report.exercises:
        if worth.get(exercise.id) != exercise.max_score:
            now = f"has {worth[exercise.id] / 100:g}" if exercise.id in worth else "does not have it"
            found = f"{printable(file)} has {exercise.max_score / 100:g} points for {exercise.id}"
            raise ExportError(f"{found}, but this course {now}; run course grade again, in the folder of its course")


def digests_of_checks(course: Course) -> dict[str, str]:
    """Return a digest for each exercise of what decides its marks; helpers beside the checks count for all of them.

    The checks and solutions of the exercises it needs count too: they decide whether reference parts are used.
    """
    checks = {course.checks_file(exercise) for exercise in course.every}
    helpers = [file for file in sorted(course.checks_dir.glob("*.py")) if file not in checks]
    common = [repr(asdict(course.limits)).encode(), *map(named_content, helpers)]
    return {exercise.id: _digest_of_checks(course, exercise, common) for exercise in course.exercises}


def _digest_of_checks(course: Course, exercise: Exercise, common: list[bytes]) -> str:
    needed = course.with_all_needs(exercise)
    rules = [(part.id, part.needs, part.forbidden, course.sizes_of(part)) for part in needed]
    files = []
    for part in needed:
        files += [course.checks_file(part), course.solutions_dir / part.file]
        files += [course.reference_parts_dir / f"{part.id}.json"] if part is not exercise else []
    return f"sha256:{digest_of_parts([*common, repr(rules).encode(), *map(named_content, files)])}"


def named_content(file: Path) -> bytes:
    """Return the name and content of a file; empty if it is missing."""
    try:
        return file.name.encode() + b"\0" + file.read_bytes()
    except FileNotFoundError:
        return b""


def _require_same_checks(course: Course, out: Path, run: Mapping[str, Any]) -> None:
    """Refuse a run if what decides marks in the course has changed since. An older run.json does not have it."""
    graded = run.get("checks")
    if not isinstance(graded, dict):
        return
    changed = [id_ for id_, digest in digests_of_checks(course).items() if graded.get(id_) != digest]
    if changed:
        found = f"the checks, the solution, limits or sizes of {named(changed)} have changed since it was graded"
        raise ExportError(f"{printable(out)}: {found}; run the same course grade again")


def _stale(out: Path, found: str) -> ExportError:
    return ExportError(f"{printable(out)} is not a finished run: {found}; run the same course grade again")


def _chosen(marks: Sequence[Mark], students: Sequence[str]) -> tuple[Mark, ...]:
    known = {mark.student: mark for mark in marks}
    for student in students:
        if student not in known:
            hint = suggestion(student, known, "expected a student of scores.csv or of the roster")
            raise ExportError(f"there is no student {printable(student)}; {hint}")
    return tuple(mark for mark in marks if not students or mark.student in students)


# What a decision changes, before or after it is written.


def students_with(graded: Graded, misconception: str) -> tuple[str, ...]:
    """Return the students in whose reports a check has this misconception."""
    return tuple(mark.student for mark in graded.marks if misconception in _misconceptions(mark))


def misconceptions_in(graded: Graded) -> frozenset[str]:
    """Return the misconceptions that the checks of a class have."""
    return frozenset(id_ for mark in graded.marks for id_ in _misconceptions(mark))


def _misconceptions(mark: Mark) -> set[str]:
    checks = (check for exercise in mark.report.exercises for check in exercise.checks) if mark.report else ()
    found = (check.finding for check in checks)
    return {finding.id for finding in found if finding is not None and finding.kind == "misconception"}


def effect_of(before: Graded, after: Graded) -> Iterator[str]:
    """Yield how many marks differ, by how much, the first of them, and those below 0 or above the maximum."""
    old = {mark.student: mark for mark in before.marks}
    both = [(old[mark.student], mark) for mark in after.marks if mark.student in old]
    changed = [pair for pair in both if _standing(pair[0]) != _standing(pair[1])]
    if not changed:
        return
    scores = [(one.score, two.score) for one, two in changed if one.score is not None and two.score is not None]
    by = sorted(two - one for one, two in scores)
    spread = " to ".join(dict.fromkeys(f"{change / 100:+.2f}" for change in (by[0], by[-1]))) if by else ""
    count = f"{len(changed)} of {plural(len(both), 'student')} {'gets' if len(changed) == 1 else 'get'} another mark"
    yield f"{count}, by {spread}" if by else count
    known = [[mark.score for mark in column if mark.score is not None] for column in zip(*both, strict=True)]
    if all(known):
        means = [f"{sum(column) / len(column) / 100:.2f}" for column in known]
        yield f"the mean goes from {means[0]} to {means[1]} of {points(after.policy.maximum)}"
    for one, two in changed[:MOST_LISTED]:
        yield f"  {printable(one.student)}  {_standing(one)} → {_standing(two)}"
    if len(changed) > MOST_LISTED:
        yield f"  and {len(changed) - MOST_LISTED} more"
    if below := [two.student for _, two in changed if two.score is not None and two.score < 0]:
        yield f"{plural(len(below), 'mark')} below 0, and they count: {named(below)}"
    most = after.policy.maximum
    if above := [two.student for _, two in changed if two.score is not None and two.score > most]:
        yield f"{plural(len(above), 'mark')} above the maximum of {points(most)}, and they count: {named(above)}"


def _standing(mark: Mark) -> str:
    return "excused" if mark.excused else "no score" if mark.score is None else f"{mark.score / 100:.2f}"


# Read the submissions of a graded class again, as they were when they were graded.


@dataclass(frozen=True)
class GradedSubmissions:
    """The submissions by student, and warnings on those that were left out."""

    by_student: Mapping[str, Submission]
    warnings: list[str] = field(default_factory=list)


def read_submissions(folder: Path, layout: str | None, graded: Graded) -> GradedSubmissions:
    """Return the submissions that were graded, read as grading reads them: the files of the run, and what was accepted.

    One that has changed or disappeared since is left out.
    """
    course = graded.course  # as far as the run graded it
    entries = graded_entries(graded, folder, layout)
    digests = {mark.student: mark.report.submission.get("digest") for mark in graded.with_report if mark.report}
    caps = Caps(source_kib=course.limits.source_kib)
    read = {entry.student: entry.read(course.files, caps) for entry in entries if entry.student in digests}
    changed = [student for student, submission in read.items() if digests[student] not in (None, submission.digest)]
    absent = [student for student in digests if student not in read]
    warnings = [
        f"{plural(len(students), 'submission')} in {folder} {one if len(students) == 1 else more}: {named(students)}"
        for one, more, students in (
            ("was changed since it was graded, left out", "were changed since they were graded, left out", changed),
            ("is not there, left out", "are not there, left out", absent),
        )
        if students
    ]
    return GradedSubmissions(
        {student: submission for student, submission in read.items() if student not in changed}, warnings
    )


Exporter = Callable[[Graded, Mark], str]
"""Returns the file for one student; the mark has a report."""


# The marks of a term: those of all assignments side by side, and their weighted total.


@dataclass(frozen=True)
class TermMark:
    """The total of a student, in hundredths of percent; None if an assignment waits for a decision, or none counts.

    `cells` has what stands in the column of each assignment, and `notes` say why some have no score.
    """

    student: str
    cells: tuple[str, ...]
    total: int | None
    notes: tuple[str, ...]


def is_term(out: Path) -> bool:
    """Say whether a folder has the runs of several assignments, and is no run itself."""
    return out.is_dir() and not (out / "run.json").exists() and any(out.glob("*/run.json"))


def read_term(
    course: Course, roster: Roster, out: Path, more: Sequence[Adjustment] = ()
) -> tuple[tuple[Assignment, Graded], ...]:
    """Return the runs in a folder by assignment, in the order of the course. Raises `ExportError`.

    `more` are decisions to count beside those of the course.
    """
    found: dict[str, Path] = {}
    for file in sorted(out.glob("*/run.json")):
        name = str((read_run(file.parent) or {}).get("assignment") or "")
        if not name:
            fix = "grade it with --assignment, or move it out of the folder"
            raise ExportError(
                f"{printable(file.parent)} is the run of no assignment, so it has no place in a term; {fix}"
            )
        if name in found:
            both = f"{printable(found[name])} and {printable(file.parent)}"
            raise ExportError(f"{both} are both runs of {name}, expected one; move the other out of the folder")
        found[find_assignment(course, name).id] = file.parent
    wanted = [one for one in course.assignments if one.id in found]
    return tuple((one, read_graded(course, roster, found[one.id], more=more)) for one in wanted)


def term_marks(runs: Sequence[tuple[Assignment, Graded]], drop: int, now: datetime) -> list[TermMark]:
    """Return the total of each student: the mean of the shares that count, weighted by the assignments.

    What is excused leaves. What is missing is worth 0 as soon as it was due, and leaves before that. The `drop`
    assignments with the lowest shares leave too, of equals the later ones.
    """
    by_student = [{mark.student: mark for mark in graded.marks} for _, graded in runs]
    students = dict.fromkeys(student for marks in by_student for student in marks)
    return [
        _term_mark(student, runs, [marks.get(student) for marks in by_student], drop, now)
        for student in sorted(students)
    ]


def term_csv(runs: Sequence[tuple[Assignment, Graded]], drop: int, now: datetime | None = None) -> str:
    """Return the table of a term as CSV: a column for each assignment, `term` and `term_max` in percent, notes."""
    heads = [name for one, _ in runs for name in (one.id, f"{one.id}_max")]
    rows = [["student", *heads, "term", "term_max", "notes"]]
    for mark in term_marks(runs, drop, now or datetime.now(UTC)):
        cells = [cell for cell, (_, graded) in zip(mark.cells, runs, strict=True) for cell in (cell, _max(graded))]
        total = "" if mark.total is None else f"{mark.total / 100:.2f}"
        rows.append([harmless(mark.student), *cells, total, "100.00", harmless(" | ".join(mark.notes))])
    return as_csv(rows)


def _term_mark(
    student: str, runs: Sequence[tuple[Assignment, Graded]], marks: Sequence[Mark | None], drop: int, now: datetime
) -> TermMark:
    cells, waits = [], False
    rosters = [graded.policy.roster for _, graded in runs]
    notes = ["not on the roster"] if any(roster and student not in roster for roster in rosters) else []
    shares: dict[str, tuple[Fraction, Fraction]] = {}
    for (assignment, graded), mark in zip(runs, marks, strict=True):
        score = mark.score if mark is not None else None
        cells.append(f"{score / 100:.2f}" if score is not None else "excused" if mark and mark.excused else "")
        if score is None and (mark is None or mark.report is None) and not (mark and mark.excused):
            due = deadline(graded.policy, student, 0)
            if due is None or due >= now:
                notes.append(f"{assignment.id}: nothing handed in yet")
                continue
            notes.append(f"{assignment.id}: nothing was handed in until it was due, counts 0")
            score = 0
        if score is not None:
            weight = (
                Fraction(assignment.weight) if assignment.weight is not None else Fraction(graded.policy.maximum, 100)
            )
            shares[assignment.id] = Fraction(score, max(graded.policy.maximum, 1)), weight
        elif mark is not None and not mark.excused:
            notes.append(f"{assignment.id}: nobody has decided yet")
            waits = True
    order = list(shares)
    lowest = sorted(order, key=lambda id_: (shares[id_][0], -order.index(id_)))[: max(min(drop, len(order) - 1), 0)]
    if lowest:
        notes.append(f"dropped: {', '.join(id_ for id_ in order if id_ in lowest)}")
    return TermMark(student, tuple(cells), None if waits else _total(shares, lowest), tuple(notes))


def _total(shares: Mapping[str, tuple[Fraction, Fraction]], dropped: Sequence[str]) -> int | None:
    kept = [pair for id_, pair in shares.items() if id_ not in dropped]
    if not kept:
        return None
    exact = sum(share * weight for share, weight in kept) / sum(weight for _, weight in kept)
    return floor(exact * 10_000 + Fraction(1, 2))


def _max(graded: Graded) -> str:
    return f"{graded.policy.maximum / 100:.2f}"


# The submissions that were graded, and what a student writes to ask about a check.


def graded_entries(graded: Graded, folder: Path, layout: str | None) -> tuple[Entry, ...]:
    """Return the submissions in a folder as grading lists them: the files of the run, and what was accepted."""
    course, roster = graded.course, graded.policy.roster
    handout = handout_of(course)
    listing = list_submissions(folder, course.files, layout, roster, handout)
    accepted = read_accepted(course, course.assignment.id if course.assignment else "")
    grouped = for_groups(listing.entries, roster, graded.policy.adjustments.times)
    entries, _ = accepted.apply(grouped.entries, roster, handout)
    return entries


CLAIM = ("student", "exercise", "check", "report", "my question")
"""What a claim has: a student asks about one check of one report, or without an exercise about the whole hand-in."""


def claim_text(mark: Mark, exercise: ExerciseResult | None = None, check: CheckResult | None = None) -> str:
    """Return the lines that a student sends to ask about a check or a hand-in; `course desk --claims` reads them."""
    about = (exercise.id, check.id) if exercise is not None and check is not None else (None, None)
    values = zip(CLAIM, (mark.student, *about, claim_digest(mark), ""), strict=True)
    return "".join(f"- {name}: {value}".rstrip() + "\n" for name, value in values if value is not None)


def claim_digest(mark: Mark) -> str:
    """Return a short digest of the report of a mark, so that a claim about an earlier report is recognised."""
    report = mark.judged or mark.report
    return result_digest(report.to_json()).removeprefix("sha256:")[:12] if report is not None else ""
