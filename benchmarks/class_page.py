"""Check that the class page finds the misconceptions planted in a class of sixty, graded for real in one exercise.

    python benchmarks/class_page.py --exercise ex05_attention --out build/class-page

The misconceptions of the catalogue are drawn by a seed, and dealt to known numbers of students. What the page lists
first is held against that: where it lists others, or other numbers of students, the status is 1.
"""

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from autograder.authoring.programs import programs_of
from autograder.cli import run
from autograder.course import find_course, load_suite, read_course
from autograder.gradebook import Roster, policy_of, scores_csv
from autograder.judge import Grader
from autograder.results import Report
from autograder.submission import Submission, digest

HOLD = (14, 11, 9, 7, 5, 4, 3, 2)
"""How many students hold each of the misconceptions; the rest of the class is right."""


def main() -> None:
    """Make the class, grade it, make its page, and compare planted and found misconceptions."""
    options = arguments()
    course = read_course(find_course())
    suite = load_suite(course)
    exercise = course.exercise(options.exercise)
    programs = list(programs_of(suite, exercise))
    wrong = [program for program in programs if program.kind == "misconception"]
    right = next(program for program in programs if program.kind == "solution")
    planted = Random(options.seed).sample(wrong, len(HOLD))
    reports: list[Report] = []
    with Grader(suite, seed=course.seed) as grader:
        for program, count in zip((*planted, right), (*HOLD, options.students - sum(HOLD)), strict=True):
            submission = Submission("", course.files, program.sources, digest(program.sources), ())
            report = grader.grade(submission, [exercise])
            for _ in range(count):
                student = f"student-{len(reports):03}"
                reports.append(replace(report, submission={**report.submission, "student": student}))
            print(f"graded {program.name}", file=sys.stderr)
    write(options.out, reports, [exercise.id])
    if (status := run(["dashboard", str(options.out)])) != 0:
        raise SystemExit(f"course dashboard ended with exit status {status}")
    with (options.out / "class" / "misconceptions.csv").open(encoding="utf-8", newline="") as table:
        found = [(row["id"], int(row["students"])) for row in csv.DictReader(table)]
    names = [program.name.rsplit("/", 1)[-1] for program in planted]
    listed = list(zip(names, HOLD, strict=True))
    for place, (name, count) in enumerate(listed):
        seen = found[place] if place < len(found) else None
        print(f"{count:3} planted: {name:48} {'found' if seen == (name, count) else f'found {seen}'}")
    sys.exit(found[: len(listed)] != listed)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Hold a class page against what its class was made of.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="where reports and page go")
    parser.add_argument("--exercise", default="ex05_attention", metavar="EX", help="the exercise (ex05_attention)")
    parser.add_argument("--students", type=int, default=60, metavar="N", help="how many (60)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is planted (1)")
    return parser.parse_args()


def write(out: Path, reports: Sequence[Report], exercises: Sequence[str]) -> None:
    """Write reports and table as course grade does."""
    (out / "reports").mkdir(parents=True, exist_ok=True)
    for report in reports:
        text = json.dumps(report.to_json())
        (out / "reports" / f"{report.submission['student']}.json").write_text(text, "utf-8")
    course = read_course(find_course())
    (out / "scores.csv").write_text(scores_csv(reports, exercises, policy_of(course, Roster()), {}), "utf-8")
    (out / "run.json").write_text(json.dumps({"schema": 1, "suite": reports[0].suite}), "utf-8")


if __name__ == "__main__":
    main()
