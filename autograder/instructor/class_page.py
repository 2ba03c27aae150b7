"""Make the page of a graded class, with its tables as CSV files."""

import re
import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from autograder.course import Course, Exercise, UsageError, load_suite, write_atomically
from autograder.gradebook import (
    DIGITS,
    EVERYBODY,
    LETTERS,
    PSEUDONYMS,
    Graded,
    Student,
    as_csv,
    find_roster,
    harmless,
    read_graded,
    read_pseudonyms,
    read_submissions,
)
from autograder.report import ended, facts_of, one_line, plural, summary_of
from autograder.runner import EnvironmentProblem
from autograder.submission import Submission, handout_of

from .page import FOLDER, SIMILAR, Findings, page, tables
from .statistics import (
    Pair,
    check_statistics,
    clusters_of,
    code_digest,
    cohort_of,
    find_cluster,
    mark_summaries,
    misconceptions_of,
    pairs_of,
    stuck_students,
)

# Replace a student's name by their pseudonym wherever it stands in a text.

_SHORTEST, _SHORTEST_NUMBER = 3, 6
"""A shorter part of a name is an ordinary word of code, or an ordinary number."""


def keep_names(_student: str, text: str) -> str:
    """Return a text as it is."""
    return text


def hider(graded: Graded, names: Mapping[str, str]) -> Callable[[str, str], str]:
    """Return a function that hides a student's name in their text, and the ids and full names of all others.

    `names` has the pseudonyms by student.
    """
    patterns = {mark.student: _pattern(mark.row, *re.findall(r"\w+", mark.row.name)) for mark in graded.marks}
    others: dict[str, list[tuple[re.Pattern[str], str]]] = defaultdict(list)
    for mark in graded.marks:
        for name in _names(mark.row):
            if (pattern := _pattern(Student(name))) is not None:
                others[_words(name)[0]].append((pattern, names[mark.student]))
        if mark.row.group and (words := _words(mark.row.group)):
            pattern = re.compile(rf"(?:for )?group {re.escape(mark.row.group)}(?![^\W_])", re.IGNORECASE)
            others[words[0]].append((pattern, "for their group"))

    def hide(student: str, text: str) -> str:
        text = unicodedata.normalize("NFC", text)
        if (own := patterns.get(student)) is not None:
            text = own.sub(names[student], text)
        found = [one for word in dict.fromkeys(_words(text)) for one in others.get(word, ())]
        for pattern, name in sorted(found, key=lambda one: -len(one[0].pattern)):
            text = pattern.sub(name, text)
        return text

    return hide


def _names(row: Student) -> tuple[str, ...]:
    """Return the names of a student that nobody else has, with a letter or digit."""
    return tuple(filter(_words, dict.fromkeys((row.student, row.name, row.login, row.email, row.lms_id))))


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFC", text).casefold())


def _pattern(row: Student, *parts_of_name: str) -> re.Pattern[str] | None:
    """Return a pattern of all names of a student, the longest first."""
    parts = {*_names(row), *parts_of_name}
    parts = {unicodedata.normalize("NFC", part) for part in parts}
    long_enough = (part for part in parts if len(part) >= (_SHORTEST_NUMBER if part.isdigit() else _SHORTEST))
    wanted = sorted(long_enough, key=lambda part: (-len(part), part))
    # In code an underscore separates words, so it is no letter here.
    pattern = rf"(?<![^\W_])(?:{'|'.join(map(re.escape, wanted))})(?![^\W_])"
    return re.compile(pattern, re.IGNORECASE) if wanted else None


# Random names for the students on the class page, the same every time.


def pseudonyms(file: Path, students: Iterable[str]) -> Mapping[str, str]:
    """Return a pseudonym for each student: the one in the file, or a new one that is added to the file.

    Raises `UsageError` if the file is damaged, and OSError if it cannot be written.
    """
    wanted = list(students)
    known = read_pseudonyms(file)
    taken = set(known.values())
    for student in wanted:
        if student not in known:
            known[student] = _new(taken)
            taken.add(known[student])
    rows = ((name, harmless(student)) for student, name in sorted(known.items(), key=lambda pair: pair[1]))
    write_atomically(file, as_csv([("pseudonym", "student"), *rows]), mode=0o600)
    return {student: known[student] for student in wanted}


def own_names(graded: Graded) -> Mapping[str, str]:
    """Return the name of each student in the roster, with the student id."""
    rows = {mark.student: one_line(mark.row.name) for mark in graded.marks}
    return {student: f"{name} ({one_line(student)})" if name else one_line(student) for student, name in rows.items()}


def _new(taken: set[str]) -> str:
    """Return a pseudonym that nobody has."""
    pairs = 2 if len(taken) < 5000 else 3  # there are 25,600 with two pairs: above a fifth of them, retries get many
    while True:
        name = "".join(secrets.choice(LETTERS) + secrets.choice(DIGITS) for _ in range(pairs))
        if name not in taken:
            return name


def page_name(section: str | None) -> str:
    """Return the name of the page of a class or of a section of it, and of the folder with its tables."""
    return FOLDER if section is None else f"{FOLDER}-{quote(section, safe='')}"


@dataclass(frozen=True)
class ClassPage:
    """The page and how many tables it has; `problem` says why submissions were not compared, or is ""."""

    file: Path
    folder: Path
    tables: int
    problem: str


def make_class_page(
    course: Course,
    graded: Graded,
    out: Path,
    *,
    names: bool,
    submissions: Mapping[str, Submission] | None,
    section: str | None = None,
) -> ClassPage:
    """Write the page of the class in a folder of `course grade`, or of the section that `graded` has. Raises OSError.

    With `names` it has the students' names, else pseudonyms. Similar submissions are found among `submissions`.
    """
    name = page_name(section)
    students = [mark.student for mark in graded.marks]
    labels = own_names(graded) if names else pseudonyms(out / PSEUDONYMS, students)
    room = cohort_of(graded, labels, section)
    hide = keep_names if names else hider(graded, labels)
    groups = {mark.student: mark.row.group for mark in graded.marks if mark.row.group}
    pairs, problem = _pairs(course, submissions, hide, groups) if submissions is not None else (None, "")
    not_compared = f"Only equal files are found: {problem[:1].lower()}{problem[1:]}." if problem else ""
    if submissions is None:
        not_compared = "Not looked for: course dashboard OUT DIR compares the submissions in DIR."
    hint = [] if names else [f"Names are pseudonyms; {PSEUDONYMS} beside this page says who is who."]
    decisions = {mark.student: mark.score for mark in graded.marks if mark.is_decided}
    summary = summary_of([facts_of(report) for report in room.reports], graded.policy.maximum, decisions)
    findings = Findings(
        folder=name,
        room=room,
        stuck=[replace(row, why=hide("", row.why)) for row in stuck_students(room)],
        why=misconceptions_of(room, course, hide),
        figures=check_statistics(room),
        clusters=[replace(one, message=hide("", one.message)) for one in clusters_of(room)],
        pairs=pairs,
        not_compared=not_compared,
        marks=mark_summaries(graded),
        looks=[(room.names[student], hide(student, why)) for student, why in summary.need_a_look],
        notes=[*hint, *(hide("", sentence) for sentence in _other(graded))],
    )
    folder, file = out / name, out / f"{name}.html"
    folder.mkdir(exist_ok=True)
    (folder / SIMILAR).unlink(missing_ok=True)  # that of an earlier page may have names
    made = tables(findings)
    for table, text in made.items():
        write_atomically(folder / table, text)
    write_atomically(file, page(findings))
    return ClassPage(file, folder, len(made), problem)


def _other(graded: Graded) -> list[str]:
    """Return what is decided for everybody, and a note that final scores differ from the points on the page."""
    sentences = [row.sentence for row in graded.policy.adjustments.of(EVERYBODY)]
    decided = [ended(f"{sentence[:1].upper()}{sentence[1:]}") for sentence in sentences]
    earned = {mark.student: mark.report.score for mark in graded.marks if mark.report and mark.report.has_score}
    other = sum(mark.final is not None and mark.score != earned.get(mark.student) for mark in graded.marks)
    if not other:
        return decided
    why = "lateness, decisions or the rules of the course. This page shows the points earned."
    return [*decided, f"{plural(other, 'final score')} in scores.csv {'differs' if other == 1 else 'differ'} by {why}"]


def _pairs(
    course: Course,
    submissions: Mapping[str, Submission],
    hide: Callable[[str, str], str],
    groups: Mapping[str, str],
) -> tuple[Sequence[Pair], str]:
    """Return pairs of similar submissions, with no name in their lines; and why they were not compared, or "".

    Without the library these are the files that differ at most in comments and blank lines.
    """
    handout = handout_of(course)
    own = {
        student: {file: source for file, source in submission.sources.items() if not handout.is_stub(file, source)}
        for student, submission in submissions.items()
    }
    sources = {
        student: {file: hide(student, source.decode("utf-8", "replace")) for file, source in files.items()}
        for student, files in own.items()
    }
    digests = {
        student: {file: code_digest(source.decode("utf-8", "replace")) for file, source in files.items()}
        for student, files in own.items()
    }
    stubs = {file: text.decode("utf-8", "replace") for file, text in handout.files.items() if file.endswith(".py")}
    try:
        return pairs_of(sources, stubs, digests, groups), ""
    except EnvironmentProblem as problem:
        return pairs_of(sources, stubs, digests, groups, equal_alone=True), str(problem)


# Add the common mistake of a group of students to the catalogue, as a misconception without texts.


@dataclass(frozen=True)
class NewMisconception:
    """The entry as TOML, the catalogue it was added to, and warnings on submissions that were left out."""

    exercise: Exercise
    entry: str
    file: Path
    warnings: list[str]


def add_misconception(
    course: Course, out: Path, folder: Path, group: str, *, layout: str | None, roster_file: Path | None
) -> NewMisconception:
    """Write the patch that makes a group's program from the solution into the catalogue.

    Raises `UsageError` if there is no such group, or no patch.
    """
    roster = find_roster(course, roster_file)
    graded = read_graded(course, roster, out)
    room = cohort_of(graded, {mark.student: mark.student for mark in graded.marks})
    cluster = find_cluster(clusters_of(room), group)
    exercise = course.exercise(cluster.exercise)
    solution = course.solutions_dir / exercise.file
    if not solution.is_file():
        raise UsageError(f"{solution} is not there, and a misconception is a patch of it; run this in the course")
    read = read_submissions(folder, layout, graded)
    sources = [
        read.by_student[student].sources[exercise.file] for student in cluster.students if student in read.by_student
    ]
    count = plural(len(cluster.students), "student")
    if not sources:
        raise UsageError(f"none of the {count} of {cluster.id} is in {folder}")
    checks = load_suite(course).checks[exercise.id]
    parts = [check.of for check in checks if check.id in cluster.checks and check.of]
    shortest = min(sources, key=lambda source: (len(source), source))
    from autograder.authoring import append_entry, entry_of, patches_of  # an application beside this one

    patches = patches_of(solution.read_text("utf-8"), shortest, parts)
    name = f"{exercise.id[5:].replace('_', '-')}-{cluster.id}"
    entry = entry_of(exercise, name, f"{count} failed alike with this.", patches)
    return NewMisconception(exercise, entry, append_entry(course, exercise, name, entry), read.warnings)
