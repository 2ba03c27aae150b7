"""A class of sixty with known mistakes, truly graded: the class page finds what was planted, in the right order."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.answer_key import patched, read_catalogue
from autograder.course import load_suite, read_course
from autograder.gradebook import policy_of, read_roster, scores_csv
from autograder.judge import Grader
from autograder.results import Report
from autograder.runner import Runner
from autograder.submission import Submission, digest
from tests.support import tiny
from tests.support.elements import Elements

PLANTED = {
    "mean-of-everything": 13,
    "mean-not-divided": 10,
    "power-of-elements": 8,
    "mean-axis-fixed": 6,
    "mean-counts-from-zero": 4,
}
"""How many of the sixty hold each misconception; nobody holds two."""

NAMELESS = 7
"""So many are wrong in a way that the catalogue does not know, each in words of their own."""

COUNT = 60
NAMELESS_WAYS = (
    "return x.cumsum(dim=-1) / count + 0.37",
    "mine = x.cumsum(dim=-1) / count  # by ada\n    return mine + 0.37",
    "sums = torch.cumsum(x, -1)\n    return sums / count + 0.37",
)


@dataclass(frozen=True)
class Graded:
    """The course, what grading it left, what was handed in, and what each student's program is called."""

    course: Path
    out: Path
    folder: Path
    made: dict[str, str]

    def run(self, *arguments: str) -> str:
        done = tiny.run_course(self.course, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def table(self, name: str) -> list[dict[str, str]]:
        text = (self.out / "class" / f"{name}.csv").read_text("utf-8")
        return list(csv.DictReader(io.StringIO(text)))


def programs() -> Iterator[tuple[str, str, str]]:
    """Yield what each student's program is called, and the two files."""
    catalogues = {
        name: (name.startswith("mean"), patched(text, misconception))
        for file, text in zip((tiny.FIRST, tiny.SECOND), (tiny.MEAN, tiny.POWER), strict=True)
        for misconception in read_catalogue(tiny.ROOT / "solutions" / "misconceptions" / f"{file}.toml", text)
        for name in [misconception.id]
    }
    for name, count in PLANTED.items():
        first, text = catalogues[name]
        for _ in range(count):
            yield name, text if first else tiny.MEAN, tiny.POWER_ALONE if first else text
    for at in range(NAMELESS):
        yield "nameless", tiny.mean_with(NAMELESS_WAYS[at % len(NAMELESS_WAYS)]), tiny.POWER_ALONE
    for _ in range(COUNT - sum(PLANTED.values()) - NAMELESS):
        yield "right", tiny.MEAN, tiny.POWER


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, key_cache: Path, runner: Runner) -> Graded:
    """The class, graded as for a mark; equal submissions are run once."""
    root = tmp_path_factory.mktemp("sixty")
    course = tiny.copied(root / "course", key_cache)
    found: dict[str, Report] = {}
    reports, made = [], {}
    with Grader(tiny.SUITE, seed=tiny.COURSE.seed, cache=key_cache) as grader:
        for at, (name, first, second) in enumerate(programs()):
            student = f"student-{at * 37 % COUNT:02}"
            tiny.handed_in(root / "in" / student, first, second)
            sources = {file: text.encode() for file, text in zip(tiny.FILES, (first, second), strict=True)}
            submission = Submission(student, tiny.FILES, sources, digest(sources), ())
            if submission.digest not in found:
                found[submission.digest] = grader.grade(submission, None, runner)
            report = found[submission.digest]
            reports.append(Report(**{**vars(report), "submission": {**report.submission, "student": student}}))
            made[student] = name
    out = root / "out"
    (out / "reports").mkdir(parents=True)
    for student_report in reports:
        (out / "reports" / f"{student_report.submission['student']}.json").write_text(
            json.dumps(student_report.to_json()), "utf-8"
        )
    read = read_course(course)
    table = scores_csv(
        reports, [exercise.id for exercise in read.exercises], policy_of(read, read_roster(read, None)), {}
    )
    (out / "scores.csv").write_text(table, "utf-8")
    (out / "run.json").write_text(json.dumps({"schema": 1, "suite": reports[0].suite}), "utf-8")
    class_ = Graded(course, out, root / "in", made)
    class_.run("dashboard", str(out), str(root / "in"))
    return class_


def test_the_first_misconceptions_are_those_planted_in_their_order(graded: Graded) -> None:
    rows = graded.table("misconceptions")
    assert [(row["id"], int(row["students"])) for row in rows][: len(PLANTED)] == list(PLANTED.items())
    page = Elements((graded.out / "class.html").read_text("utf-8")).text
    places = [page.index(row["misconception"]) for row in rows]
    assert places == sorted(places)
    assert all(
        float(row["95 % interval from"]) <= float(row["share"]) <= float(row["95 % interval to"]) for row in rows
    )


def test_those_who_are_wrong_in_an_unknown_way_are_one_group(graded: Graded) -> None:
    known = {row["student"]: row["pseudonym"] for row in csv.DictReader((graded.out / "pseudonyms.csv").open())}
    wrong = {known[student] for student, name in graded.made.items() if name == "nameless"}
    first = graded.table("unnamed")[0]
    assert int(first["students"]) == NAMELESS
    assert set(first["who"].split(", ")) == wrong
    assert first["unexplained"] in ("yes", "no")


def test_every_figure_agrees_with_what_was_planted(graded: Graded) -> None:
    counts = Counter(graded.made.values())
    first = sum(count for name, count in counts.items() if name == "nameless" or name.startswith("mean"))
    exercises = {row["exercise"]: row for row in graded.table("exercises")}
    assert float(exercises[tiny.FIRST]["pass"]) == pytest.approx((COUNT - first) / COUNT, abs=1e-4)
    stuck = graded.table("stuck")
    assert len(stuck) == COUNT - counts["right"]
    checks = graded.table("checks")
    assert all(float(row["discrimination"] or 0) > -0.5 for row in checks)


def test_no_student_is_named_on_the_page_or_in_its_tables(graded: Graded) -> None:
    files = [graded.out / "class.html", *(graded.out / "class").iterdir()]
    for file in files:
        assert not re.search(r"student-\d\d|by ada", file.read_text("utf-8")), file.name


def test_one_command_writes_the_unknown_mistake_into_the_catalogue_and_then_it_is_named(
    graded: Graded, tmp_path: Path, key_cache: Path
) -> None:
    course = tiny.copied(tmp_path / "course", key_cache)
    group = graded.table("unnamed")[0]["group"]
    command = ("name", str(graded.out), str(graded.folder), group)
    done = tiny.run_course(course, *command)
    assert done.returncode == 0, done.stderr
    assert f"# {NAMELESS} students failed alike" in done.stdout
    assert "ada" not in done.stdout
    catalogue = course / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml"
    assert catalogue.read_text("utf-8").startswith(
        (tiny.ROOT / catalogue.relative_to(course)).read_text("utf-8").rstrip()
    )
    again = tiny.run_course(course, *command)
    assert again.returncode == 2
    assert "already; write its texts there" in again.stderr
    suite = load_suite(read_course(course))
    wrong = tiny.submitted(tiny.mean_with(NAMELESS_WAYS[2]), tiny.POWER_ALONE)
    with Grader(suite, seed=tiny.COURSE.seed) as grader:
        result = grader.grade(wrong, [suite.exercises[0]])
    findings = [check.finding for check in tiny.result_of(result, tiny.FIRST).checks if check.finding is not None]
    assert f"running-mean-{group}" in {finding.id for finding in findings}


def test_a_page_without_submissions_leaves_no_table_of_similar_ones(graded: Graded) -> None:
    table = graded.out / "class" / "similar.csv"
    assert len(graded.table("similar")) == 1, "students with equal files are one group"
    graded.run("dashboard", str(graded.out))
    assert not table.exists()
    assert "Not looked for: <code>course dashboard OUT DIR</code>" in (graded.out / "class.html").read_text("utf-8")


def test_a_group_that_is_not_there_is_reported_with_some_that_are(graded: Graded) -> None:
    done = tiny.run_course(graded.course, "name", str(graded.out), str(graded.folder), "nothing")
    assert done.returncode == 2
    assert graded.table("unnamed")[0]["group"] in done.stderr
