"""Note a decision about a mark: points, excused, time, a comment.

KIND is one of: {kinds}. STUDENT may be a group of the roster, or * for everybody.
EXERCISE may be an assignment, or * for all together. The VALUE of void is a check; `withdraw void CHECK` takes it back.
The row is added to adjustments.csv beside course.toml, which counts when marks are read: nothing is graded again. A
later row of the same student and exercise replaces an earlier one. Rows of add and comment count beside each other. A
row of one student counts before one of everybody.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from autograder import gradebook
from autograder.cli import GRADES, ROSTER, CommandParser, say, warn
from autograder.course import (
    Course,
    UsageError,
    find_course,
    load_suite,
    read_course,
    refuse_kit,
    suggestion,
)
from autograder.ending import PASS
from autograder.report import number, one_line, plural
from autograder.results import joined

FORM = "write course adjust STUDENT EXERCISE KIND [VALUE] --text TEXT"


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    parser.description = (parser.description or "").replace("{kinds}", ", ".join(gradebook.KINDS))
    add = parser.add_argument
    add("student", nargs="?", metavar="STUDENT", help="the id of a student, the name of a group, or * for everybody")
    add("exercise", nargs="?", metavar="EX", help=f"{parser.exercise}, or * for all together")
    add("kind", nargs="?", metavar="KIND", help="what is decided")
    add("value", nargs="*", metavar="VALUE", help="points; days or a time of an extension; the time handed in; a check")
    add("--text", metavar="TEXT", help="why: the student reads it")
    add("--section", metavar="NAME", help="with *: only the students of this section of the roster")
    add("--where", metavar="misconception=NAME", help="with *: only the students in OUT with this misconception")
    add("--out", type=Path, metavar="OUT", help=f"{GRADES}, or a folder of several: show which marks change")
    add("--try", dest="is_trial", action="store_true", help="show which marks in --out would change, and write nothing")
    add("--by", metavar="NAME", help="who decides (default: git's user.name, or your login)")
    add("--list", action="store_true", help="list what counts, of all or of one student, and do nothing")
    add("--merge", type=Path, metavar="FILE", help="add the rows of another grader's adjustments.csv")
    add("--keep", choices=("mine", "theirs"), help="what counts where --merge finds two decisions")
    add("--from-nbgrader", metavar="URL", help="take over what people entered in nbgrader's database")
    does = "take over the times in a JSON of Canvas, a worksheet of Moodle, or the dates of a folder"
    add("--times", type=Path, metavar="SOURCE", help=does)
    does = "with --times: the assignment; with --from-nbgrader: its name there (default: the course's folder)"
    add("--assignment", metavar="NAME", help=does)
    add("--course", type=Path, metavar="DIR", help="the course (default: the one you are in)")
    add("--roster", type=Path, metavar="FILE", help=ROSTER)


def run(options: argparse.Namespace) -> int:
    """Run the command. Raises `UsageError` with every mistake, and then nothing is written."""
    course = read_course(find_course(options.course))
    refuse_kit(course, "adjust")
    roster = gradebook.find_roster(course, options.roster)
    known = gradebook.read_adjustments(course)
    if options.list:
        return _list(known, options.student)
    if options.is_trial and options.out is None:
        raise UsageError(
            "--try shows which marks would change, and needs --out OUT, the folder that course grade wrote"
        )
    rows = _new_rows(course, roster, known, options)
    effect = list(_effect(course, roster, options.out, rows)) if options.out is not None else []
    if rows and not options.is_trial:
        gradebook.append(course, rows, partial(_refuse_if_changed, course, known, rows))
    for line in (*_decided(rows, known), *effect):
        say(line)
    warn(gradebook.kept_beside(course, known, rows))
    if options.merge is None:
        warn(gradebook.replaced(known, rows))
    warn(gradebook.times_to_come(rows))
    warn(gradebook.unlisted(roster, rows))
    if options.is_trial:
        say("Nothing is written")
        return PASS
    for row in {(row.exercise, row.kind, row.value): row for row in rows}.values():
        for warning in gradebook.warnings_about(course, row):
            warn(warning)
    does = "the next `course grade` and `course export` count them" if rows else "nothing is new"
    say(f"{plural(len(rows), 'row')} added to adjustments.csv; {does}")
    return PASS


def _refuse_if_changed(course: Course, known: gradebook.Adjustments, rows: Sequence[gradebook.Adjustment]) -> None:
    """Raise `UsageError` if rows about many were chosen by decisions that are no longer all: they could count twice."""
    if (len(rows) > 1 or rows[0].is_for_everybody) and gradebook.read_adjustments(course).rows != known.rows:
        raise UsageError("somebody else decided meanwhile, and nothing was written; run the same command again")


def _new_rows(
    course: Course, roster: gradebook.Roster, known: gradebook.Adjustments, options: argparse.Namespace
) -> tuple[gradebook.Adjustment, ...]:
    if options.merge is not None:
        return gradebook.merged(known, gradebook.read_adjustments(course, options.merge), options.keep)
    if options.from_nbgrader is not None:
        from autograder.exports import manual_marks  # an application beside this one

        name = options.assignment or course.root.name
        given = {"by": gradebook.author(options.by), "when": gradebook.now(course)}
        found = list(manual_marks(course, options.from_nbgrader, name))
        return _new_imports([gradebook.adjustment(course, roster, {**cells, **given}) for cells in found], known)
    if options.times is not None:
        return _times(course, roster, known, options)
    missing = [name for name in ("student", "exercise", "kind") if getattr(options, name) is None]
    if missing:
        raise UsageError(f"course adjust has no {missing[0].upper()}; {FORM}")
    words = {name: getattr(options, name) or "" for name in ("student", "exercise", "kind", "text")}
    words["value"] = " ".join(options.value)
    students = _chosen(course, roster, options)
    given = {**words, "by": gradebook.author(options.by), "when": gradebook.now(course)}
    if students is not None or options.student == gradebook.EVERYBODY:
        chosen = students or (gradebook.EVERYBODY,)
        many = [gradebook.adjustment(course, roster, {**given, "student": student}) for student in chosen]
        _check(course, many[:1])
        return _new_of_many(many, known)
    row = gradebook.adjustment(course, roster, given)
    _check(course, [row])
    gradebook.refuse_idle(row, known)
    return (row,)


def _new_of_many(
    rows: Sequence[gradebook.Adjustment], known: gradebook.Adjustments
) -> tuple[gradebook.Adjustment, ...]:
    """Return the rows that no earlier command added, and say whose later decision stays. Raises `UsageError`."""
    for row in rows:
        if row.is_for_everybody:
            gradebook.refuse_idle(row, known)
            if row.kind == "withdraw":
                return (row,)
    added = {_decision(one) for one in known.rows}
    decided = [row.who for row in rows if _decision(row) in added and not _is_done(row, known)]
    if decided:
        fix = "to decide again, write another --text"
        warn(f"a later decision stays, so nothing is added for {gradebook.named(decided)}; {fix}")
    new = (row for row in rows if _decision(row) not in added)
    return tuple(row for row in new if row.kind != "withdraw" or gradebook.withdrawable(row, known))


def _is_done(row: gradebook.Adjustment, known: gradebook.Adjustments) -> bool:
    """Say whether what a row decides counts, or what it takes back does not."""
    if row.kind == "withdraw":
        return not gradebook.withdrawable(row, known)
    return _decision(row) in map(_decision, known.of(row.student))


def _decision(row: gradebook.Adjustment) -> tuple[object, ...]:
    """Return what is the same if a command runs again, whoever runs it."""
    value = row.value if row.kind in ("void", "withdraw") else ""
    return row.student, row.exercise, row.kind, value, row.amount, row.due, row.text


def _times(
    course: Course, roster: gradebook.Roster, known: gradebook.Adjustments, options: argparse.Namespace
) -> tuple[gradebook.Adjustment, ...]:
    """Return the rows for the times in a file or folder, and say whose are unknown. Raises `UsageError`."""
    if not roster:
        raise UsageError("--times needs a roster, whose lms_id or ids are those of the source; see docs/grading.md")
    times = gradebook.read_times(options.times, roster)
    name = options.times.resolve().name
    about = {"exercise": options.assignment or gradebook.WHOLE, "text": f"{gradebook.TIME_IN}{name}"}
    given = {**about, "kind": "handed_in", "by": gradebook.author(options.by), "when": gradebook.now(course)}
    rows = [
        gradebook.adjustment(course, roster, {**given, "student": student, "value": time})
        for student, time in times.found.items()
    ]
    if times.strangers:
        strangers = gradebook.named(times.strangers)
        warn(f"{plural(len(times.strangers), 'time')} in {name} of nobody on the roster: {strangers}")
    if times.without:
        warn(f"{plural(len(times.without), 'student')} without a time in {name}: {gradebook.named(times.without)}")
    new = _new_imports(rows, known)
    both = gradebook.Adjustments((*known.rows, *new))
    if idle := [row.student for row in rows if _moment(row) not in map(_moment, both.of(row.student))]:
        count = f"{plural(len(idle), 'time')} in {name} {'does' if len(idle) == 1 else 'do'} not count"
        warn(f"{count}, as a person decided otherwise: {gradebook.named(idle)}")
    return new


def _new_imports(
    rows: Sequence[gradebook.Adjustment], known: gradebook.Adjustments
) -> tuple[gradebook.Adjustment, ...]:
    """Return the rows of an import that differ from the last one, whoever ran that and whatever was decided since."""
    imported = (one for one in known.rows if one.is_imported_time or one.is_from_nbgrader)
    last = {(one.student, one.exercise, one.kind): one for one in imported}
    return tuple(row for row in rows if _content(row) != _content(last.get((row.student, row.exercise, row.kind))))


def _content(row: gradebook.Adjustment | None) -> tuple[object, ...]:
    """Return what a platform says in a row; of a time, not the name of its source."""
    if row is None or row.is_imported_time:
        return (row and row.due,)
    return row.amount, row.text.removesuffix(gradebook.IN_NBGRADER)


def _moment(row: gradebook.Adjustment) -> tuple[object, ...]:
    return row.exercise, row.kind, row.due


# Decisions for many: which students, what is said about them, and which marks change.

MOST_ROWS = 5
"""More decisions are counted: the file has them all."""


def _chosen(course: Course, roster: gradebook.Roster, options: argparse.Namespace) -> tuple[str, ...] | None:
    """Return the students that --section and --where choose, or those of a group. Raises `UsageError`.

    None for a row with the name that was written.
    """
    if options.section is None and options.where is None:
        return roster.in_group_of(options.student) or None
    if options.student != gradebook.EVERYBODY:
        raise UsageError(
            f"--section and --where choose among everybody; write '{gradebook.EVERYBODY}' in the place of STUDENT"
        )
    students = roster.in_section(options.section) if options.section is not None else None
    if options.where is None:
        return students
    name, equals, value = options.where.partition("=")
    if name != "misconception" or not equals or not value:
        raise UsageError(f"--where is {one_line(options.where)}, expected misconception=NAME")
    if options.out is None:
        raise UsageError("--where looks into the reports, and needs --out OUT, the folder that course grade wrote")
    runs = _runs(course, roster, options.out)
    found = dict.fromkeys(student for _, graded in runs for student in gradebook.students_with(graded, value))
    if not found:
        names = {one for _, graded in runs for one in gradebook.misconceptions_in(graded)}
        hint = suggestion(value, names, "the class page lists what there is")
        raise UsageError(f"no report in {options.out} has the misconception {one_line(value)}; {hint}")
    both = tuple(student for student in found if students is None or student in students)
    if not both:
        raise UsageError(f"nobody in section {one_line(options.section)} has the misconception {one_line(value)}")
    return both


def _check(course: Course, rows: Sequence[gradebook.Adjustment]) -> None:
    """Refuse the text of an import, a void check that the exercise does not have, or a bonus check.

    Raises `UsageError`.
    """
    for row in rows:
        gradebook.refuse_time(row)
        if row.kind != "void":
            continue
        checks = {check.id: check for check in load_suite(course).checks[row.exercise]}
        where = f"exercise {number(row.exercise)}"
        if row.value not in checks:
            hint = suggestion(row.value, checks, f"it has {joined(sorted(checks))}")
            raise UsageError(f"{where} has no check {one_line(row.value)}; {hint}")
        if checks[row.value].bonus:
            raise UsageError(
                f"{row.value} of {where} is a bonus check, so nobody loses points by it; leave it as it is"
            )


def _runs(
    course: Course, roster: gradebook.Roster, out: Path, more: Sequence[gradebook.Adjustment] = ()
) -> list[tuple[str, gradebook.Graded]]:
    """Return the class in a folder, or the classes of a term with their assignments."""
    if gradebook.is_term(out):
        return [(assignment.id, graded) for assignment, graded in gradebook.read_term(course, roster, out, more)]
    return [("", gradebook.read_graded(course, roster, out, more=more))]


def _effect(course: Course, roster: gradebook.Roster, out: Path, rows: Sequence[gradebook.Adjustment]) -> Iterator[str]:
    """Yield which marks in a folder the rows change, for each assignment that they are about."""
    runs = _runs(course, roster, out)
    if rows and not any(gradebook.Adjustments(tuple(rows)).within(graded.course).rows for _, graded in runs):
        yield f"No mark in {out} changes: {rows[0].subject} is not in what was graded there"
        return
    changes = False
    for (name, before), (_, after) in zip(runs, _runs(course, roster, out, rows), strict=True):
        for line in gradebook.effect_of(before, after):
            changes = True
            yield f"{name}: {line}" if name and line[:1] != " " else line
    if not changes:
        yield f"No mark in {out} changes"


def _decided(rows: Sequence[gradebook.Adjustment], known: gradebook.Adjustments) -> Iterator[str]:
    """Yield what each row decides, and takes back; of many that decide the same, how many there are."""
    for row in rows[:MOST_ROWS]:
        yield _sentence(row)
        for one in gradebook.withdrawable(row, known) if row.kind == "withdraw" else ():
            yield f"  takes back {one.sentence}"
    if len(rows) > MOST_ROWS:
        others = [row.student for row in rows[MOST_ROWS:]]
        yield f"and {plural(len(others), 'other student')}: {gradebook.named(others)}"


def _sentence(row: gradebook.Adjustment) -> str:
    """Return what a row decides, with the student unless it is for everybody."""
    return row.sentence if row.is_for_everybody else f"{row.who}: {row.sentence}"


def _alone(row: gradebook.Adjustment, counting: Sequence[gradebook.Adjustment]) -> str:
    """Return how to take back this row alone, if others of its kind count beside it; else ""."""
    beside = [one for one in counting if (one.exercise, one.kind) == (row.exercise, row.kind)]
    return f" [to take this one back: withdraw {row.target}]" if len(beside) > 1 and row.target != row.kind else ""


def _list(known: gradebook.Adjustments, student: str | None) -> int:
    everybody = known.of(gradebook.EVERYBODY) if student in (None, gradebook.EVERYBODY) else ()
    for row in everybody:
        others = known.without(row)
        said = f"{_sentence(row)}{f'; not for {gradebook.named(others)}' if others else ''}"
        say(said + _alone(row, everybody))
    for name in sorted(known.students):
        if student in (None, name):
            for row in known.of(name):
                if student is not None or not row.is_for_everybody:
                    say(_sentence(row) + _alone(row, known.of(name)))
    if not everybody and not any(student in (None, name) for name in known.students):
        say("Nothing is adjusted")
    return PASS
