"""A term from start to end: three assignments, forty students, and everything that happens to them in between."""

import csv
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cache
from math import ceil, floor
from pathlib import Path

import pytest

from autograder.course import CourseError, assigned, find_assignment, read_course
from autograder.gradebook import Adjustments, Roster, adjustment
from tests.support import plain, tiny

pytestmark = pytest.mark.worker

SEED = 5
SORT, SEARCH, SPREAD = plain.SORT, plain.SEARCH, "ex03_spread"
DUE = {"week1": datetime(2026, 3, 8, 20), "week2": datetime(2026, 3, 15, 20), "week3": datetime(2026, 3, 22, 20)}
FILES = {"week1": f"{SORT}.py", "week2": f"{SEARCH}.py", "week3": f"{SPREAD}.py"}
WORTH = {"week1": 60, "week2": 40, "week3": 25}
WEIGHT = {"week1": 60, "week2": 40, "week3": 100}

ASSIGNMENTS = f"""
[[exercises]]
id = "{SPREAD}"
title = "spread"
points = 25
needs = ["{SORT}"]
forbidden = []

[grading]
time_zone = "UTC"
late_percent = 10
late_most = 50

[[assignments]]
id = "week1"
title = "Sort"
exercises = ["{SORT}"]
due = 2026-03-08T20:00:00

[[assignments]]
id = "week2"
title = "Search"
exercises = ["{SEARCH}"]
due = 2026-03-15T20:00:00

[[assignments]]
id = "week3"
title = "Spread"
exercises = ["{SPREAD}"]
due = 2026-03-22T20:00:00
late_percent = 20
builds_on = "reference"
weight = 100
"""

HINTS = """
[hints]
spread = ["What is first in order?", "Sort them.", "Take the last minus the first."]
one = ["What is the spread of one number?", "It is 0.", "The last is the first."]
"""

CHECKS = '''"""ex03: spread."""

from autograder.checks import check


@check("the spread is the last minus the first", points=4, of="spread")
def test_spread(impl, given):
    return impl.spread(given.distinct(0, 90, 9))


@check("one number has the spread 0", of="spread")
def test_one(impl, given):
    return impl.spread([given.number(1, 9)])
'''

SOLUTION = f'''# %%
from {SORT} import insertion_sort


# %%
def spread(values):
    """Return the distance of the largest value from the smallest."""
    # TODO ex03: sort them
    ### BEGIN SOLUTION
    items = insertion_sort(values)
    return items[-1] - items[0]
    ### END SOLUTION
'''

PART = """\"\"\"Reference part for ex01: the list's own order.\"\"\"


def insertion_sort(values):
    items = values[:]
    items.sort()
    return items
"""
WRONG_SORT = "def insertion_sort(values):\n    return list(values)\n\n\ndef moves(values):\n    return 0\n"
WRONG_SPREAD = "def spread(values):\n    return max(values)\n"


def course_at(folder: Path) -> Path:
    """Copy the course of the term, with its notebooks and the answer keys of the seed that classes are graded with."""
    return Path(shutil.copytree(Path(made_course().name, "course"), folder))


@cache
def made_course() -> "tempfile.TemporaryDirectory[str]":
    """Make that course once for all tests of this process."""
    made = tempfile.TemporaryDirectory()
    folder = Path(made.name, "course")
    shutil.copytree(plain.ROOT, folder, ignore=shutil.ignore_patterns("__pycache__", ".course"))
    settings = folder / "course.toml"
    settings.write_text("points = 125\n" + settings.read_text("utf-8") + ASSIGNMENTS, "utf-8")
    (folder / "tests" / "exercises" / f"test_{SPREAD}.py").write_text(CHECKS, "utf-8")
    (folder / "tests" / "exercises" / "hints" / f"{SPREAD}.toml").write_text(HINTS, "utf-8")
    (folder / "solutions" / f"{SPREAD}.py").write_text(SOLUTION, "utf-8")
    (folder / "solutions" / "misconceptions" / f"{SPREAD}.toml").write_text("", "utf-8")
    parts = folder / "solutions" / "reference_parts"
    parts.mkdir(exist_ok=True)
    (parts / f"{SORT}.py").write_text(PART, "utf-8")
    run(folder, "build")
    tiny.make_keys(tiny.suite_at(folder), SEED, folder / ".course" / "cache")
    return made


def run(course: Path, *arguments: str, expected: int = 0) -> str:
    done = tiny.run_course(course, *arguments)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def roster(course: Path, students: list[str]) -> None:
    rows = [f"{student},{at + 1},Name {student}" for at, student in enumerate(students)]
    (course / "roster.csv").write_text("\n".join(["student,lms_id,name", *rows, ""]))


def hand_in(folder: Path, week: str, student: str, text: str, late: timedelta, earlier: Mapping[str, str]) -> None:
    place = folder / week / student / "term"
    place.mkdir(parents=True)
    for file, source in {**earlier, FILES[week]: text}.items():
        (place / file).write_text(source)
    time = DUE[week] + late
    (place / "timestamp.txt").write_text(f"{time:%Y-%m-%d %H:%M:%S} UTC\n")


def table(text: str) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in csv.DictReader(io.StringIO(text))}


STUDENTS = [f"s{number:02}" for number in range(1, 41)]
RIGHT = {week: plain.solution(id_) for week, id_ in (("week1", SORT), ("week2", SEARCH))} | {"week3": SOLUTION}
BY_GRACE = ("--by", "Grace")


def grade(course: Path, hand_ins: Path, week: str, expected: int = 0, more: Sequence[str] = ()) -> str:
    where = ("--layout", "nbgrader", "--out", f"build/{week}", "--assignment", week, "--seed", str(SEED), "--jobs", "2")
    return run(course, "grade", str(hand_ins / week), *where, *tiny.TRUSTED, *more, expected=expected)


@pytest.fixture(scope="module")
def term(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("term")
    course, hand_ins = course_at(folder / "course"), folder / "hand_ins"
    for at, student in enumerate(STUDENTS):
        late = timedelta(hours=30 if at % 7 == 0 else -1)
        sort = WRONG_SORT if at % 4 == 0 else RIGHT["week1"]
        if student not in ("s39", "s05"):  # one comes later, one hands in nothing
            hand_in(hand_ins, "week1", student, sort, late, {})
        hand_in(hand_ins, "week2", student, RIGHT["week2"], late, {FILES["week1"]: sort})
        if student != "s40":  # one leaves
            hand_in(hand_ins, "week3", student, WRONG_SPREAD if at % 3 == 0 else RIGHT["week3"], late, {})
    broken = hand_ins / "week2" / "s06" / "term"
    shutil.rmtree(broken)
    broken.mkdir()
    (broken / "all.zip").write_bytes(b"PK\x03\x04")
    return course, hand_ins


@pytest.mark.slow
def test_a_term_ends_with_the_marks_of_an_independent_computation(term: tuple[Path, Path], tmp_path: Path) -> None:
    course, hand_ins = term
    roster(course, [student for student in STUDENTS if student != "s39"])
    grade(course, hand_ins, "week1")
    # During the second week.
    roster(course, STUDENTS)
    assert "1 without a score" in grade(course, hand_ins, "week2", expected=4)
    run(course, "adjust", "s39", "week1", "excused", "--text", "came later", *BY_GRACE)
    run(course, "adjust", "s08", "week1", "extension", "2", "--text", "ill", *BY_GRACE)
    run(course, "adjust", "s01", "1", "add", "7.5", "--text", "a good idea", *BY_GRACE)
    run(course, "adjust", "s06", "week2", "points", "20", "--text", "shown in the lab", *BY_GRACE)
    theirs = tmp_path / "theirs.csv"
    shutil.copy(course / "adjustments.csv", theirs)
    with theirs.open("a") as file:
        file.write("s02,ex02_binary_search,points,30,counted by hand,Alan,2026-03-20 10:00\n")
    assert "1 row added" in run(course, "adjust", "--merge", str(theirs))
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "sort.py").write_text(RIGHT["week1"])
    reason = ("--reason", "the wrong file", *BY_GRACE, "--assignment", "week1")
    run(course, "accept", "s13", str(tmp_path / "mail" / "sort.py"), "--as", FILES["week1"], *reason)
    assert "1 graded, 37 kept" in grade(course, hand_ins, "week1")
    assert "0 graded, 40 kept" in grade(course, hand_ins, "week2")
    # At the end.
    roster(course, STUDENTS[:-1])
    grade(course, hand_ins, "week3")
    (course / "build" / "term").mkdir()
    for week in DUE:
        (course / "build" / week).rename(course / "build" / "term" / week)
    run(course, "export", "scores", "build/term", "--to", "build/term.csv")
    marks = table((course / "build" / "term.csv").read_text("utf-8"))
    for student, expected in by_hand(course).items():
        row = marks[student]
        assert [row[name] for name in ("week1", "week2", "week3", "term")] == expected, student
    assert "nothing was handed in until it was due, counts 0" in marks["s05"]["notes"]
    every_platform(course)


def by_hand(course: Path) -> dict[str, list[str]]:
    """Compute all marks from the verdicts alone, as one would in a spreadsheet."""
    result = {}
    for at, student in enumerate(STUDENTS):
        points: dict[str, Fraction | str] = {}
        for week, most in WORTH.items():
            report = course / "build" / "term" / week / "reports" / f"{student}.json"
            if not report.exists():
                points[week] = ""
                continue
            exercises = {one["id"]: one for one in json.loads(report.read_text())["exercises"]}
            score = Fraction(exercises[FILES[week][:-3]]["score"], 100)
            if (student, week) == ("s01", "week1"):
                score += Fraction("7.5")
            if (student, week) == ("s02", "week2"):
                score = Fraction(30)
            days = 2 if at % 7 == 0 else 0  # thirty hours are two started days
            if (student, week) == ("s08", "week1"):
                days = 0
            penalty = min(Fraction(most * days * (20 if week == "week3" else 10), 100), score)
            points[week] = score - Fraction(ceil(penalty * 100 - Fraction(1, 2)), 100)
        if student == "s39":
            points["week1"] = "excused"
        if student == "s06":
            points["week2"] = Fraction(20)
        shares = []
        for week, most in WORTH.items():
            mark = points[week]
            if isinstance(mark, Fraction):
                shares.append((mark / most, WEIGHT[week]))
            elif mark == "":
                shares.append((Fraction(0), WEIGHT[week]))
        total = sum(share * weight for share, weight in shares) / sum(weight for _, weight in shares)
        cells = [f"{float(mark):.2f}" if isinstance(mark, Fraction) else mark for mark in points.values()]
        result[student] = [*cells, f"{floor(total * 10_000 + Fraction(1, 2)) / 100:.2f}"]
    return result


def every_platform(course: Path) -> None:
    out = "build/term/week1"
    (course / "canvas.csv").write_text(
        "Student,ID,Sort (7)\nPoints Possible,,60\n" + "".join(f"x,{at + 1},\n" for at in range(39))
    )
    (course / "moodle.csv").write_text(
        "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments\n"
        + "".join(f"Participant {at + 1},x,,,,60.00,\n" for at in range(39))
    )
    said = run(course, "export", "canvas", out, "--to", "build/c.csv", "--into", "canvas.csv", expected=4)
    assert "1 score without a row in canvas.csv: s40" in said, "who left has no row there"
    assert "x,39,EX" in (course / "build" / "c.csv").read_text()
    run(course, "export", "moodle", out, "--to", "build/m.csv", "--into", "moodle.csv", expected=4)
    for name in ("gradescope", "markdown", "junit", "feedback", "code-quality"):
        run(course, "export", name, out, "--to", f"build/{name}")
    run(course, "export", "prairielearn", out, "--to", "build/p.json", "--student", "s01")
    run(course, "export", "feedback", out, "--to", "build/moodle.zip", "--for", "moodle", expected=4)
    with zipfile.ZipFile(course / "build" / "moodle.zip") as archive:
        assert len(archive.namelist()) >= 37
    page = (course / "build" / "feedback" / "s13.html").read_text("utf-8")
    assert "What changed" in page
    assert "the wrong file" in page
    assert "a good idea" in (course / "build" / "feedback" / "s01.html").read_text("utf-8")
    run(course, "export", "feedback", "build/term", "--to", "build/all")
    pages = sorted(file.name for file in (course / "build" / "all").glob("*/s02.html"))
    assert len(pages) == len(DUE)
    pytest.importorskip("nbgrader", reason="pip install -e '.[nbgrader]'")
    url = f"sqlite:///{course}/gradebook.db"
    run(course, "export", "nbgrader", out, "--to", url, "--assignment", "week1")
    run(course, "dashboard", out)
    refused = run(course, "export", "canvas", "build/term", "--to", "build/x", "--into", "canvas.csv", expected=2)
    assert "has the runs of several assignments" in refused


def test_what_an_assignment_builds_on_is_worth_nothing_in_it(tmp_path: Path) -> None:
    course = read_course(course_at(tmp_path / "course"))
    second = assigned(course, find_assignment(course, "week2"))
    assert [(one.id, one.points) for one in second.exercises] == [(SORT, 0), (SEARCH, 4000)]
    third = assigned(course, find_assignment(course, "week3"))
    assert [(one.id, one.points) for one in third.exercises] == [(SPREAD, 2500)]
    assert third.grading is not None
    assert (third.grading.late_percent, second.grading.late_percent if second.grading else 0) == (20, 10)


def test_a_decision_about_an_exercise_counts_in_the_run_of_its_assignment_only(tmp_path: Path) -> None:
    course = read_course(course_at(tmp_path / "course"))
    about = {name: {"student": "s01", "exercise": name} for name in (SORT, SEARCH, "week1", "week2", "*")}
    shared = {"kind": "comment", "value": "", "text": "why", "by": "Grace", "when": "2026-03-09 10:00"}
    rows = Adjustments(tuple(adjustment(course, Roster(), {**own, **shared}) for own in about.values()))
    for week, kept in (("week1", {SORT, "week1", "*"}), ("week2", {SEARCH, "week2", "*"})):
        run = assigned(course, find_assignment(course, week))
        assert {row.exercise for row in rows.within(run).of("s01")} == kept
    assert len(rows.within(course).of("s01")) == len(about) - 2, "a run of the whole course is about no assignment"


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('exercises = ["ex03_spread"]', 'exercises = ["ex01_insertion_sort"]', "is in week1 already"),
        ('exercises = ["ex03_spread"]', 'exercises = ["ex03_spred"]', "did you mean ex03_spread?"),
        ('id = "week3"', 'id = "week1"', "an earlier assignment already has the id week1"),
        ('builds_on = "reference"', 'builds_on = "other"', 'expected "own" or "reference"'),
        ("weight = 100", "weight = 0", "expected a number above 0"),
        ("weight = 100", "wieght = 100", "did you mean weight?"),
        ("due = 2026-03-22T20:00:00", "due = 2026-03-22T20:00:00\nrelease = 2026-04-01T08:00:00", "not before due"),
        ('exercises = ["ex01_insertion_sort"]', 'exercises = ["ex02_binary_search"]', "is in week1 already"),
    ],
)
def test_a_mistake_in_an_assignment_is_a_sentence(tmp_path: Path, old: str, new: str, found: str) -> None:
    folder = course_at(tmp_path / "course")
    settings = folder / "course.toml"
    text = settings.read_text("utf-8")
    assert old in text
    settings.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(CourseError) as error:
        read_course(folder)
    assert found in str(error.value)


@pytest.mark.slow
def test_a_kit_of_an_assignment_has_what_came_before_and_its_due_date(tmp_path: Path) -> None:
    course = course_at(tmp_path / "course")
    settings = course / "course.toml"
    settings.write_text(settings.read_text("utf-8").replace("2026-03-15T20", "2096-03-15T20"), "utf-8")
    run(course, "release", str(tmp_path / "kit"), "--assignment", "week2")
    files = sorted(file.name for file in (tmp_path / "kit" / "exercises").glob("*.py"))
    assert files == [f"{SORT}.py", f"{SEARCH}.py"]
    text = (tmp_path / "kit" / "course.toml").read_text("utf-8")
    assert (course / "tests" / "exercises" / "hints" / f"{SPREAD}.toml").is_file()
    assert not (tmp_path / "kit" / "tests" / "exercises" / "hints" / f"{SPREAD}.toml").exists()
    assert "late_percent" not in text
    assert "week3" not in text
    assert "Search: due 2096-03-15 20:00 (UTC)" in run(tmp_path / "kit", "list")
    refused = run(course, "release", str(tmp_path / "kit"), "--assignment", "week9", expected=2)
    assert "there is no assignment" in refused


def test_an_agreement_for_every_assignment_at_once_is_refused(tmp_path: Path) -> None:
    course = course_at(tmp_path / "course")
    (course / "roster.csv").write_text("student,points\nada,3\n")
    hand_in(tmp_path / "hand_ins", "week1", "ada", RIGHT["week1"], timedelta(0), {})
    said = grade(course, tmp_path / "hand_ins", "week1", expected=2)
    assert "the roster has points for ada, which would hold for every assignment" in said
    (course / "roster.csv").unlink()
    said = run(course, "adjust", "ada", "*", "points", "3", "--text", "x", *BY_GRACE, expected=2)
    assert "points is for one assignment, and not for every one (*); expected one of week1, week2, week3" in said
