"""Statistics of a class: the quality of checks, common mistakes, stuck students, and similar submissions."""

import hashlib
import io
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.comparison import Numbers
from autograder.course import Course, Described, UsageError, describe
from autograder.diagnosis import UNEXPLAINED
from autograder.gradebook import Graded
from autograder.report import STATES, message_of, one_line, passing, state_of
from autograder.results import NOT_JUDGED, Certainty, CheckResult, ExerciseResult, Finding, Report, Status
from autograder.runner import EnvironmentProblem

if TYPE_CHECKING:
    from copydetect import CodeFingerprint


# The results of a graded class: a status for every student and check.

TRIED: frozenset[Status] = frozenset({"pass", "fail", "error", "timeout", "memory"})
"""Statuses of code that was written and run."""

WRONG: frozenset[Status] = TRIED - {"pass"}
STOPPED: frozenset[Status] = frozenset({"timeout", "memory"})
OPEN: frozenset[Status] = frozenset({"not_started", "missing", "waits"})

Key = tuple[str, str]
"""The id of an exercise and the id of one of its checks."""


@dataclass(frozen=True)
class Item:
    """One check of the course, as the reports describe it."""

    exercise: str
    check: str
    title: str
    bonus: bool

    @property
    def key(self) -> Key:
        """Return the exercise and the check."""
        return self.exercise, self.check


@dataclass(frozen=True)
class Cohort:
    """The reports of a class, highest score first, and the `names` of its students on the page.

    `title` is that of the course, and of the assignment if there are several. `maximum` is the sum of the points of all
    exercises that are not a bonus, in hundredths. `missing` are the names of students without a submission, and
    `decided` the ids of those without a judged one about whom a person has decided. Reports with a grader error or a
    held hand-in are included, but they have no score.
    """

    title: str
    reports: tuple[Report, ...]
    names: Mapping[str, str]
    maximum: int
    missing: tuple[str, ...] = ()
    decided: frozenset[str] = frozenset()

    def name(self, report: Report) -> str:
        """Return the name of a student on the page."""
        return self.names[student_of(report)]

    @cached_property
    def exercises(self) -> tuple[tuple[str, str], ...]:
        """Ids and titles of the exercises, in course order."""
        first = self.reports[0].exercises if self.reports else ()
        return tuple((exercise.id, exercise.title) for exercise in first)

    @cached_property
    def items(self) -> tuple[Item, ...]:
        """The checks, in course order."""
        items: dict[Key, Item] = {}
        for report in self.reports:
            for exercise, check in checks_of(report):
                items.setdefault((exercise.id, check.id), Item(exercise.id, check.id, check.title, check.bonus))
        order = {exercise: position for position, (exercise, _) in enumerate(self.exercises)}
        return tuple(sorted(items.values(), key=lambda item: order.get(item.exercise, len(order))))

    @cached_property
    def verdicts(self) -> Mapping[Key, tuple[Status, ...]]:
        """The statuses of each check, one per report, in the order of the reports."""
        by_report = [
            {(exercise.id, check.id): check.status for exercise, check in checks_of(report)} for report in self.reports
        ]
        return {item.key: tuple(statuses.get(item.key, "missing") for statuses in by_report) for item in self.items}

    def of_exercise(self, exercise_id: str) -> tuple[Status, ...]:
        """Return the statuses of an exercise, one per report, in the order of the reports."""
        by_report = ({exercise.id: exercise.status for exercise in report.exercises} for report in self.reports)
        return tuple(statuses.get(exercise_id, "missing") for statuses in by_report)

    @cached_property
    def scored(self) -> tuple[int, ...]:
        """The indices of the reports with a score, which are those that were judged."""
        return tuple(index for index, report in enumerate(self.reports) if report.has_score)


def student_of(report: Report) -> str:
    """Return the student id of a report."""
    return str(report.submission["student"])


def checks_of(report: Report) -> Iterator[tuple[ExerciseResult, CheckResult]]:
    """Yield every check of a report with its exercise."""
    for exercise in report.exercises:
        for check in exercise.checks:
            yield exercise, check


def cohort_of(graded: Graded, names: Mapping[str, str], section: str | None = None) -> Cohort:
    """Return the results of a graded class, or of one section; `names` has the name of each student on the page."""
    reports: Sequence[Report] = [mark.report for mark in graded.marks if mark.report is not None]
    ordered = sorted(reports, key=lambda report: (-report.score, names[student_of(report)]))
    missing = [names[mark.student] for mark in graded.marks if mark.report is None and not mark.is_decided]
    title, assignment = graded.course.title, graded.course.assignment
    title = f"{title}, {assignment.title}" if assignment else title
    title = f"{title}, section {one_line(section)}" if section is not None else title
    decided = frozenset(mark.student for mark in graded.marks if mark.is_decided)
    return Cohort(title, tuple(ordered), names, graded.policy.maximum, tuple(sorted(missing)), decided)


# Stuck students: the first exercise of each that was started and does not pass, and why.


@dataclass(frozen=True)
class StuckStudent:
    """One student: the score, the first failing exercise with its state and reason, and the number of failing ones."""

    name: str
    score: int
    passed: int
    exercises: int
    exercise: str
    state: str
    why: str
    failing: int


def stuck_students(cohort: Cohort) -> tuple[StuckStudent, ...]:
    """Return the students with an exercise that was started and fails, lowest score first."""
    rows = [row for report in cohort.reports if (row := _stuck(cohort, report)) is not None]
    return tuple(sorted(rows, key=lambda row: (row.score, row.name)))


def _stuck(cohort: Cohort, report: Report) -> StuckStudent | None:
    failing = [exercise for exercise in report.exercises if exercise.status in WRONG]
    if not failing:
        return None
    first = failing[0]
    check = first.first_failure
    why = message_of(check.status, check.finding) if check is not None else STATES[first.status].meaning
    passed = sum(exercise.status == "pass" for exercise in report.exercises)
    state = f"{state_of(first).word.lower()}, {passing(first.checks)} of {len(first.checks)} checks pass"
    name = cohort.name(report)
    return StuckStudent(name, report.score, passed, len(report.exercises), first.id, state, why, len(failing))


# The final marks of a class: how they are spread, for everybody, by section of the roster, and by who decided.

BINS = 10
"""The columns of the distribution: tenths of the maximum."""


@dataclass(frozen=True)
class MarkSummary:
    """The final marks of everybody or of some of them, in hundredths and in order, and the number of these students."""

    label: str
    students: int
    marks: tuple[int, ...]
    maximum: int

    @property
    def mean(self) -> float | None:
        """The mean in hundredths; None without a mark."""
        return sum(self.marks) / len(self.marks) if self.marks else None

    def quantile(self, share: float) -> float | None:
        """Return the mark that this share of the students does not exceed, between two marks in a straight line."""
        return float(np.quantile(np.array(self.marks, dtype=np.float64), share)) if self.marks else None

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The number of marks in each tenth of the maximum; what is below or above it counts in the nearest."""
        bins = Counter(min(max(mark * BINS // max(self.maximum, 1), 0), BINS - 1) for mark in self.marks)
        return tuple(bins[at] for at in range(BINS))


def mark_summaries(graded: Graded) -> tuple[MarkSummary, ...]:
    """Return the final marks of everybody, of each section if there are several, and by who decided about a student.

    An accepted file counts; neither a decision for everybody nor an imported time does. A student about whom two people
    decided counts for both.
    """
    sections: dict[str, list[int | None]] = defaultdict(list)
    for mark in graded.marks:
        sections[mark.row.section].append(mark.score)
    everybody = [mark.score for mark in graded.marks]
    named = [(section, scores) for section, scores in sorted(sections.items()) if section]
    if named and (others := sections.get("")):
        named.append(("in no section", others))
    people: dict[str, list[int | None]] = defaultdict(list)
    for mark in graded.marks:
        own = mark.final.adjustments if mark.final is not None else ()
        decisions = [row for row in own if not row.is_for_everybody and not row.is_imported_time]
        for by in {*(row.by for row in decisions), *(one.by for one in mark.accepted)}:
            people[by].append(mark.score)
    decided = [(f"decided by {one_line(by)}", scores) for by, scores in sorted(people.items())]
    return tuple(
        MarkSummary(label, len(scores), tuple(sorted(one for one in scores if one is not None)), graded.policy.maximum)
        for label, scores in [("everybody", everybody), *(named if len(named) > 1 else ()), *decided]
    )


# Failures without a name, grouped by equal results: each group is a mistake that an author could name.

NAMED = ("misconception", "convention", "forbidden")
CAN_BE_NAMED = ("fail", "error")
NO_PROGRAM = ("SyntaxError", "IndentationError", "TabError", "dotted_import")
_ID_LENGTH = 8
"""Eight hexadecimal digits: short enough to type, and a class has far too few groups for two of them to collide."""


@dataclass(frozen=True)
class Cluster:
    """Students whose failures have equal results in each of `checks`.

    `course name` takes the `id`. `unexplained` means that no more than the location of the failure is known. `students`
    are ids.
    """

    id: str
    exercise: str
    checks: tuple[str, ...]
    students: tuple[str, ...]
    message: str
    unexplained: bool


def is_unexplained(check: CheckResult) -> bool:
    """Return whether a check fails and neither a misconception nor a pattern explains it; a location does not."""
    finding = check.finding
    if check.status != "fail" or finding is None:
        return check.status == "fail"
    return finding.kind == "place" or (finding.kind == "pattern" and finding.id in UNEXPLAINED)


def clusters_of(cohort: Cohort) -> tuple[Cluster, ...]:
    """Return the groups, the largest first; checks that the same students fail alike are one group."""
    failures: dict[tuple[str, str, str], list[tuple[str, CheckResult]]] = defaultdict(list)
    for report in cohort.reports:
        for exercise, check in checks_of(report):
            if _is_nameless(check):
                failures[exercise.id, check.id, _result(exercise, check)].append((student_of(report), check))
    groups: dict[tuple[str, tuple[str, ...]], list[tuple[str, CheckResult]]] = defaultdict(list)
    for (exercise_id, _, result), members in failures.items():
        students = tuple(sorted(student for student, _ in members))
        groups[exercise_id, students].append((result, members[0][1]))
    order = {item.key: position for position, item in enumerate(cohort.items)}
    clusters = []
    for (exercise_id, students), results in groups.items():
        results.sort(key=lambda result: order[exercise_id, result[1].id])
        checks = [check for _, check in results]
        unexplained = [check for check in checks if is_unexplained(check)]
        first = (unexplained or checks)[0]
        ids = tuple(check.id for check in checks)
        message = message_of(first.status, first.finding)
        clusters.append(Cluster(results[0][0][:_ID_LENGTH], exercise_id, ids, students, message, bool(unexplained)))

    def rank(cluster: Cluster) -> tuple[int, bool, int]:
        return -len(cluster.students), not cluster.unexplained, order[cluster.exercise, cluster.checks[0]]

    return tuple(sorted(clusters, key=rank))


def find_cluster(clusters: tuple[Cluster, ...], word: str) -> Cluster:
    """Return the group with an id; raises `UsageError` if there is none."""
    cluster = next((cluster for cluster in clusters if cluster.id == word.strip().lower()), None)
    if cluster is None:
        some = ", ".join(cluster.id for cluster in clusters[:3])
        hint = f"expected a group of the class page, like {some}" if some else "every failure of this class has a name"
        raise UsageError(f"no group of failures is called {word!r}; {hint}")
    return cluster


def _is_nameless(check: CheckResult) -> bool:
    finding = check.finding
    named = finding is not None and (finding.kind in NAMED or finding.id in NO_PROGRAM)
    return check.status in CAN_BE_NAMED and not named


def _result(exercise: ExerciseResult, check: CheckResult) -> str:
    """Return a fingerprint of a failure: of its output, or else of the exception and its message."""
    if check.output is not None:
        return check.output
    finding = check.finding
    parts = (finding.kind, finding.id, finding.message) if finding is not None else ()
    return hashlib.sha256(repr((exercise.id, check.id, parts)).encode("utf-8", "surrogatepass")).hexdigest()


FEWEST = 20
"""Discrimination and quintiles need at least this many students: below, one student more or less can turn the sign."""

QUINTILES = 5
_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution, for a two-sided 95 % interval."""


@dataclass(frozen=True)
class Share:
    """A proportion: `count` of `of`."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        """The share from 0 to 1; None if there are no students."""
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % confidence interval by Wilson; None if there are no students."""
        return wilson(self.count, self.of) if self.of else None


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of `count` in `of > 0`; it lies within 0 and 1."""
    share, square = count / of, _Z * _Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    # Rounding would leave the ends of 0 and of 1 a little inside the share.
    return (0.0 if count == 0 else low), (1.0 if count == of else high)


def passing_share(statuses: Sequence[Status]) -> Share:
    """Return the share that passes, of all that could be graded."""
    return Share(statuses.count("pass"), sum(status not in NOT_JUDGED for status in statuses))


@dataclass(frozen=True)
class CheckStatistics:
    """The statistics of one check in a class.

    `difficulty` is the mean score of all students with a score. `tried` is the share that passes among those whose code
    ran. `unexplained` is the share of failures without misconception or pattern. `discrimination` is the correlation
    of the check's score with the score of all other checks, from -1 to 1. `quintiles` are the mean scores in each fifth
    of the class, weakest first.
    """

    item: Item
    difficulty: Share
    tried: Share
    unexplained: Share
    discrimination: float | None
    quintiles: tuple[float, ...]
    stopped: int
    grader: int

    @property
    def remark(self) -> str:
        """What an author should look at; empty if nothing is unusual."""
        enough = self.difficulty.of >= FEWEST
        both = min(self.difficulty.count, self.difficulty.of - self.difficulty.count) >= 3
        # One or two unexplained failures are chance; the author looks at three, if they are the larger part.
        mostly_unexplained = self.unexplained.count >= 3 and self.unexplained.count * 2 > self.unexplained.of
        remarks = {
            "the grader failed": self.grader > 0,
            "nobody passes": enough and self.difficulty.count == 0,
            "everybody passes": enough and self.difficulty.count == self.difficulty.of,
            "stronger students fail it more often": both
            and self.discrimination is not None
            and self.discrimination < 0,
            "most failures are unexplained": mostly_unexplained,
        }
        return "; ".join(remark for remark, holds in remarks.items() if holds)


def check_statistics(cohort: Cohort) -> tuple[CheckStatistics, ...]:
    """Return the statistics of every check, in course order."""
    checks = [(exercise.id, check) for report in cohort.reports for exercise, check in checks_of(report)]
    unexplained = Counter((exercise, check.id) for exercise, check in checks if is_unexplained(check))
    totals = np.array([cohort.reports[index].score for index in cohort.scored], dtype=np.float64)
    scores = _scores(cohort)
    return tuple(_figures(cohort, item, totals - scores[item.key], unexplained[item.key]) for item in cohort.items)


def _figures(cohort: Cohort, item: Item, rest: Numbers, unexplained: int) -> CheckStatistics:
    """Return the statistics of one check; `rest` has the scores of all other checks, by student."""
    statuses = cohort.verdicts[item.key]
    scored = [statuses[index] for index in cohort.scored]
    passed = np.array([status == "pass" for status in scored], dtype=np.float64)
    enough = len(scored) >= FEWEST
    return CheckStatistics(
        item,
        difficulty=Share(scored.count("pass"), len(scored)),
        tried=Share(statuses.count("pass"), sum(status in TRIED for status in statuses)),
        unexplained=Share(unexplained, sum(status in WRONG for status in statuses)),
        discrimination=correlation(passed, rest) if enough else None,
        quintiles=by_quintile(passed, rest) if enough else (),
        stopped=sum(status in STOPPED for status in statuses),
        grader=statuses.count("grader_error"),
    )


def _scores(cohort: Cohort) -> dict[Key, Numbers]:
    """Return the points that the students with a score earned in each check, in hundredths."""
    earned = {item.key: np.zeros(len(cohort.scored)) for item in cohort.items}
    for student, index in enumerate(cohort.scored):
        for exercise, check in checks_of(cohort.reports[index]):
            earned[exercise.id, check.id][student] = check.score
    return earned


def correlation(one: Numbers, other: Numbers) -> float | None:
    """Return Pearson's correlation; None if one of the two does not vary."""
    if not one.size or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    a, b = one - one.mean(), other - other.mean()
    return float(np.clip(a @ b / math.sqrt(float(a @ a) * float(b @ b)), -1.0, 1.0))


def by_quintile(passed: Numbers, rest: Numbers) -> tuple[float, ...]:
    """Return the mean of `passed` in each fifth of the students by `rest`, lowest first."""
    ordered = passed[np.argsort(rest, kind="stable")]
    return tuple(float(group.mean()) for group in np.array_split(ordered, QUINTILES))


# The misconceptions of a class: how many students hold each of them, with the lines of one student.

Hide = Callable[[str, str], str]
"""Takes a student id and a text of that student; returns the text without the student's names."""

_COMMENT = re.compile(r"""^((?:[^#'"]|'[^']*'|"[^"]*")*)#.*$""")


@dataclass(frozen=True)
class HeldMisconception:
    """A misconception in a class; each student counts once.

    `share` is the proportion of the students who tried the exercise, `shown` counts those whose code has what the name
    says. `example` has numbered lines of one student, and `wrong` is the number of the faulty line. `described` has the
    texts of the catalogue.
    """

    id: str
    name: str
    exercise: str
    share: Share
    shown: int
    checks: tuple[str, ...]
    example: tuple[tuple[int, str], ...]
    wrong: int | None
    described: Described | None


def misconceptions_of(cohort: Cohort, course: Course, hide: Hide) -> tuple[HeldMisconception, ...]:
    """Return the misconceptions of a class, the most frequent first."""
    holders: dict[str, dict[str, Finding]] = defaultdict(dict)
    checks: dict[str, dict[str, None]] = defaultdict(dict)
    exercises: dict[str, str] = {}
    for report in cohort.reports:
        for exercise, check in checks_of(report):
            finding = check.finding
            if finding is not None and finding.kind == "misconception":
                exercises.setdefault(finding.id, exercise.id)
                checks[finding.id][check.id] = None
                holders[finding.id].setdefault(student_of(report), finding)
    order = {item.check: position for position, item in reversed([*enumerate(cohort.items)])}
    misconceptions = []
    for id_, findings in holders.items():
        exercise_id = exercises[id_]
        tried = sum(status in TRIED for status in cohort.of_exercise(exercise_id))
        example, wrong = _example([*findings.items()], hide)
        name = one_line(next(iter(findings.values())).name or id_)
        share = Share(len(findings), max(tried, len(findings)))
        shown = sum(finding.claim is Certainty.SHOWN for finding in findings.values())
        failing = tuple(sorted(checks[id_], key=order.__getitem__))
        described = describe(course, id_)
        misconceptions.append(
            HeldMisconception(id_, name, exercise_id, share, shown, failing, example, wrong, described)
        )
    return tuple(sorted(misconceptions, key=lambda held: (-held.share.count, held.id)))


def _example(findings: Sequence[tuple[str, Finding]], hide: Hide) -> tuple[tuple[tuple[int, str], ...], int | None]:
    """Return the lines of the student with the surest location and the shortest lines, without comments."""
    located = [(student, finding) for student, finding in findings if finding.source and finding.place is not None]
    if not located:
        return (), None
    student, finding = min(
        located,
        key=lambda pair: (
            pair[1].claim is not Certainty.SHOWN,
            pair[1].certainty <= Certainty.LIKELY,
            sum(len(line) for _, line in pair[1].source),
        ),
    )
    lines = tuple((number, hide(student, without_comment(line))) for number, line in finding.source)
    return lines, finding.place.line if finding.place is not None else None


def without_comment(line: str) -> str:
    """Return a line of code without its comment, since students write names there."""
    match = _COMMENT.match(line)
    return match[1].rstrip() if match else line


# Submissions that are more similar than those of others, found by copydetect, which compares fingerprints of code.
#
# Names, comments and the order of functions are ignored. So is code that was handed out or that many students share,
# since short exercises have few right answers.

LENGTH = 40
"""The characters of a fingerprint, each name counted as one: two or three lines. The window of copydetect is 1, so that
all fingerprints are compared: with a larger one it samples them differently in each process."""

LEAST_SHARE = 0.6
LEAST_SHARED = 120
"""Two files are listed from this share of a file's own characters on, and from this many: shorter ones match by chance.
"""

MOST_COMMON, LEAST_COMMON, COMMON_PART = 10, 3, 6
"""Code that more than a sixth of the class has belongs to nobody; the limit is at least 3 and at most 10 students."""

Sources = Mapping[str, Mapping[str, str]]
"""The source texts of a class, by student id and file."""

Lines = tuple[tuple[int, str], ...]

NO_DIGESTS: Mapping[str, Mapping[str, str]] = {}
NO_GROUPS: Mapping[str, str] = {}


@dataclass(frozen=True)
class Alike:
    """One file of two students: the similar shares of their own characters, and the lines that have them."""

    file: str
    shares: tuple[float, float]
    shared: int
    lines: tuple[Lines, Lines]


@dataclass(frozen=True)
class Pair:
    """Two students by their ids, and their similar files, the most similar first.

    `others` are alike with one of the two, or with another of them: together they are one group.
    """

    students: tuple[str, str]
    files: tuple[Alike, ...]
    others: tuple[str, ...] = ()

    @property
    def shared(self) -> int:
        """The number of shared characters in all files together."""
        return sum(alike.shared for alike in self.files)


def pairs_of(
    sources: Sources,
    stubs: Mapping[str, str],
    digests: Mapping[str, Mapping[str, str]] = NO_DIGESTS,
    groups: Mapping[str, str] = NO_GROUPS,
    *,
    equal_alone: bool = False,
) -> tuple[Pair, ...]:
    """Return the similar submissions as one pair for each group of students, the most similar first.

    `stubs` is the code that was handed out, by file. Files with the same of the `digests` are found without a library,
    and with `equal_alone` only these. Members of one of the `groups` of the class are not compared.

    Raises `EnvironmentProblem` if the library is not installed.
    """
    files = sorted({file for own_files in sources.values() for file in own_files})
    similar: dict[tuple[str, str], list[Alike]] = defaultdict(list)
    for file in files:
        texts = {student: own_files[file] for student, own_files in sources.items() if file in own_files}
        stub, firsts = stubs.get(file, ""), dict(texts)
        equal: dict[str, list[str]] = defaultdict(list)
        for student in sorted(texts):
            equal[digests.get(student, {}).get(file, student)].append(student)
        for first, *rest in equal.values():
            own = _own_lines(texts[first], stub)
            shared = sum(len("".join(line.split())) for _, line in own)
            for other in rest:
                firsts.pop(other)
                if shared >= LEAST_SHARED:
                    lines = own, _own_lines(texts[other], stub)
                    similar[first, other].append(Alike(file, (1.0, 1.0), shared, lines))
        for students, alike in () if equal_alone else _in_file(file, firsts, stub, len(texts)):
            similar[students].append(alike)
    return _one_for_each_group(
        [
            Pair(students, tuple(sorted(alikes, key=lambda alike: -alike.shared)))
            for students, alikes in similar.items()
            if groups.get(students[0]) is None or groups.get(students[0]) != groups.get(students[1])
        ]
    )


def _one_for_each_group(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the most similar pair of each group of students who are connected by pairs, with all others in it."""
    group_of: dict[str, set[str]] = {}
    for pair in pairs:
        joined = set().union(*(group_of.get(student, {student}) for student in pair.students))
        group_of.update(dict.fromkeys(joined, joined))
    found: dict[int, Pair] = {}
    for pair in sorted(pairs, key=lambda pair: (-pair.shared, pair.students)):
        joined = group_of[pair.students[0]]
        found.setdefault(id(joined), replace(pair, others=tuple(sorted(joined.difference(pair.students)))))
    return tuple(found.values())


def _own_lines(text: str, stub: str) -> Lines:
    """Return the lines of a file that were not handed out, with their numbers and without comments."""
    handed_out = {without_comment(line).strip() for line in stub.split("\n")}
    lines = ((at, without_comment(line)) for at, line in enumerate(text.split("\n"), 1))
    return tuple((at, line) for at, line in lines if line.strip() and line.strip() not in handed_out)


def code_digest(text: str) -> str:
    """Return a digest that is the same for files which differ only in comments and blank lines."""
    lines = (without_comment(line).rstrip() for line in text.splitlines())
    return hashlib.sha256("\n".join(line for line in lines if line).encode("utf-8", "replace")).hexdigest()


def _in_file(file: str, texts: Mapping[str, str], stub: str, students: int) -> list[tuple[tuple[str, str], Alike]]:
    """Return the similar pairs of one file; `students` have one, those with equal code counted each."""
    compare = _library().compare_files
    prints = {student: _fingerprint(file, text) for student, text in texts.items()}
    counts = Counter(hash_ for fingerprint in prints.values() for hash_ in fingerprint.hashes)
    most = max(LEAST_COMMON, min(MOST_COMMON, students // COMMON_PART))
    common = {hash_ for hash_, count in counts.items() if count > most} | set(_fingerprint(file, stub).hashes)
    for fingerprint in prints.values():
        _leave_out(fingerprint, common)
    own = {student: _covered(fingerprint, fingerprint.hashes) for student, fingerprint in prints.items()}
    similar = []
    for one, other in _candidates(prints):
        both = prints[one].hashes & prints[other].hashes
        lengths = [_covered(prints[student], both) for student in (one, other)]
        shares = lengths[0] / own[one], lengths[1] / own[other]
        if max(shares) >= LEAST_SHARE and min(lengths) >= LEAST_SHARED:
            _, _, slices = compare(prints[one], prints[other])
            lines = _lines(texts[one], slices[0]), _lines(texts[other], slices[1])
            similar.append(((one, other), Alike(file, shares, min(lengths), lines)))
    return similar


def _library() -> Any:
    try:
        import copydetect
    except ImportError as error:
        problem = f"the comparison of submissions needs the package {error.name}, which is not installed"
        raise EnvironmentProblem(f"{problem}; install it in the kit's folder: pip install -e '.[similar]'") from None
    return copydetect


def _fingerprint(file: str, text: str) -> "CodeFingerprint":
    return _library().CodeFingerprint(file, LENGTH, 1, fp=io.StringIO(text), language="python")


def _leave_out(fingerprint: "CodeFingerprint", common: set[int]) -> None:
    """Remove the code that is not the student's own."""
    fingerprint.hashes = {hash_ for hash_ in fingerprint.hashes if hash_ not in common}
    fingerprint.hash_idx = {
        hash_: positions for hash_, positions in fingerprint.hash_idx.items() if hash_ in fingerprint.hashes
    }


def _candidates(prints: Mapping[str, "CodeFingerprint"]) -> list[tuple[str, str]]:
    """Return the pairs that share enough fingerprints to be compared in full."""
    students: dict[int, list[str]] = defaultdict(list)
    for student, fingerprint in prints.items():
        for hash_ in fingerprint.hashes:
            students[hash_].append(student)
    shared = Counter(pair for names in students.values() for pair in combinations(sorted(names), 2))
    # LEAST_SHARED characters in a row have LEAST_SHARED - LENGTH + 1 fingerprints.
    return sorted(pair for pair, count in shared.items() if count > LEAST_SHARED - LENGTH)


def _covered(fingerprint: "CodeFingerprint", hashes: Iterable[int]) -> int:
    """Return how many characters of a file these fingerprints cover together."""
    covered, end = 0, 0
    for start in sorted(int(start) for hash_ in hashes for start in fingerprint.hash_idx[hash_]):
        covered += start + LENGTH - max(start, end)
        end = start + LENGTH
    return covered


def _lines(text: str, slices: Any) -> Lines:
    """Return the lines of a text that have characters from `slices[0]` up to `slices[1]`.

    Comments are left out, since they may name students.
    """
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    numbers: set[int] = set()
    for begin, end in zip(*slices, strict=True):
        numbers |= {at for at in range(len(lines)) if starts[at] < end and starts[at + 1] > begin + 1}
    numbered = ((at + 1, without_comment(lines[at])) for at in sorted(numbers))
    return tuple((number, line) for number, line in numbered if line.strip())
