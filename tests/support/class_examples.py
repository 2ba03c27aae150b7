"""Made-up classes of any size, to save the time of grading."""

from collections.abc import Mapping, Sequence
from random import Random

from autograder.instructor.statistics import Cohort
from autograder.results import CheckResult, ExerciseResult, Finding, Place, Report, Status

Titles = Mapping[str, Sequence[str]]
"""The ids of the checks by the id of the exercise."""

MISTAKES = ("value-of-another", "sum-not-mean", "axis-fixed", "off-by-one", "not-scaled")


def titles(exercises: int, checks: int) -> Titles:
    """Return a course of so many exercises, each of so many checks."""
    return {
        f"ex{at:02}_part_{at}": [f"check_{number}" for number in range(1, checks + 1)] for at in range(1, exercises + 1)
    }


def check(name: str, status: Status, finding: Finding | None = None, output: str | None = None) -> CheckResult:
    score = 100 if status == "pass" else 0
    return CheckResult(
        name, f"the {name.replace('_', ' ')} holds", status, score, 100, 0.01, finding, (), False, output
    )


def report(student: str, course: Titles, failing: Mapping[tuple[str, str], CheckResult]) -> Report:
    """Return a report in which every other check passes."""
    exercises = []
    for exercise, names in course.items():
        checks = tuple(failing.get((exercise, name), check(name, "pass")) for name in names)
        status: Status = next((check.status for check in checks if check.status != "pass"), "pass")
        if any(check.status == "grader_error" for check in checks):
            status = "grader_error"
        title = exercise[5:].replace("_", " ")
        score = sum(check.score for check in checks)
        exercises.append(ExerciseResult(exercise, title, status, score, 100 * len(checks), checks))
    submission = {"student": student, "digest": f"sha256:{student}", "notes": []}
    return Report("A course of parts", submission, "sha256:1", "cpu", "process", tuple(exercises))


def named(exercise: str, mistake: str) -> Finding:
    """Return the finding of a misconception, with its lines."""
    place = Place(f"{exercise}.py", 12, "part")
    source = ((11, "    count = x.size(-1)  # as Ada said"), (12, "    return x.sum(-1) # no division"), (13, ""))
    name = f"the {mistake.replace('-', ' ')}"
    return Finding("misconception", mistake, f"{name}.".capitalize(), name, "Because.", place, source)


def unexplained(word: str = "value") -> Finding:
    return Finding("pattern", word, "Your result: every number differs; first at [0].")


def large_class(students: int, exercises: int = 14, checks: int = 18, seed: int = 1) -> list[Report]:
    """Return reports of students of different skill, who stop at some exercise and fail in different ways."""
    course, random = titles(exercises, checks), Random(seed)
    keys = [(exercise, name) for exercise, names in course.items() for name in names]
    hard = {key: random.random() for key in keys}
    reports = []
    for at in range(1, students + 1):
        skill, reached = random.gauss(0.6, 0.3), random.choice((4, 7, 10, exercises, exercises, exercises))
        failing = {}
        for exercise, name in keys:
            if list(course).index(exercise) >= reached:
                failing[exercise, name] = check(name, "not_started")
            elif random.random() > 0.35 + 0.6 * skill + 0.5 * (0.6 - hard[exercise, name]):
                failing[exercise, name] = _failed(exercise, name, random)
        reports.append(report(f"student-{at:04}", course, failing))
    return reports


def _failed(exercise: str, name: str, random: Random) -> CheckResult:
    kind = random.random()
    if kind < 0.5:
        [mistake] = random.choices(MISTAKES, (16, 8, 4, 2, 1))
        return check(name, "fail", named(exercise, f"{exercise[5:].replace('_', '-')}-{mistake}"))
    if kind < 0.85:
        return check(name, "fail", unexplained(), f"{random.choice('abcdef') * 8}{exercise[2:4]}{name[-2:]}")
    return check(name, "timeout", Finding("exception", "timeout", "Your code was stopped after 10 s."))


def cohort(reports: Sequence[Report]) -> Cohort:
    """Return a class whose students are named by their ids."""
    ordered = sorted(reports, key=lambda report: -report.score)
    names = {str(report.submission["student"]): str(report.submission["student"]) for report in reports}
    return Cohort("A course of parts", tuple(ordered), names, max((report.max_score for report in reports), default=0))
