"""Whole-course submissions made from the catalogue of misconceptions, reproducible by seed.

    python benchmarks/synthetic.py --out build/synthetic --count 100 --seed 1

A submission is right but for up to three misconceptions in different exercises. Some stop at an exercise and leave the
stubs after it as they were, some lack a file, some are written in another accepted way. `--notebooks` packs each into
a notebook beside, whose cells write the files.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from autograder.authoring.programs import Program, programs_of
from autograder.course import Course, Suite, find_course, load_suite, read_course

MISTAKES = {0: 25, 1: 35, 2: 25, 3: 15}
"""The percentage of submissions by number of misconceptions."""

STOPPED, LACKING, OTHERWISE = 0.25, 0.1, 0.3
"""The shares that stop at some exercise, that lack a file, and that have a part, or all, written in another way."""


@dataclass(frozen=True)
class Synthetic:
    """A submission, and the origin of each exercise: `solution`, `stub`, `missing`, or the name of its program.

    `wrong` has the exercises with a misconception.
    """

    student: str
    sources: Mapping[str, bytes]
    made_of: Mapping[str, str]
    wrong: frozenset[str]

    def write(self, folder: Path) -> None:
        """Write the files into a folder of the student's own."""
        own = folder / self.student
        own.mkdir(parents=True)
        for file, source in self.sources.items():
            (own / file).write_bytes(source)

    def cells(self) -> dict[str, str]:
        """Return the code cell of each exercise: it writes the file that was handed in."""
        return {
            exercise: f"%%writefile {exercise}.py\n{self.sources[f'{exercise}.py'].decode()}"
            for exercise in self.made_of
            if f"{exercise}.py" in self.sources
        }


def synthetic(suite: Suite, count: int, seed: int) -> Iterator[Synthetic]:
    """Yield submissions; the first ones are the same however many are wanted."""
    programs = {exercise.id: list(programs_of(suite, exercise)) for exercise in suite.exercises}
    for number in range(1, count + 1):
        yield _submission(suite, programs, f"student-{number:04}", Random(f"{seed} {number}"))


def _submission(suite: Suite, programs: Mapping[str, Sequence[Program]], student: str, random: Random) -> Synthetic:
    exercises = [exercise.id for exercise in suite.exercises]
    made_of = dict.fromkeys(exercises, "solution")
    sources = {
        f"{exercise}.py": _of_kind(programs[exercise], "solution")[0].sources[f"{exercise}.py"]
        for exercise in exercises
    }
    wrong: set[str] = set()

    def put(program: Program) -> None:
        for exercise in exercises if program.name.startswith("whole/") else [program.exercise]:
            sources[f"{exercise}.py"] = program.sources.get(f"{exercise}.py", sources[f"{exercise}.py"])
            made_of[exercise] = program.name if program.kind in ("accepted", "misconception") else program.kind
            (wrong.add if program.kind == "misconception" else wrong.discard)(exercise)

    if random.random() < OTHERWISE:
        put(random.choice(_of_kind(programs[random.choice(exercises)], "accepted")))
    [mistakes] = random.choices(list(MISTAKES), list(MISTAKES.values()))
    for exercise in random.sample(exercises, min(mistakes, len(exercises))):
        put(random.choice(_of_kind(programs[exercise], "misconception")))
    if random.random() < STOPPED and exercises[1:]:
        for exercise in exercises[random.randrange(1, len(exercises)) :]:
            put(_of_kind(programs[exercise], "stub")[0])
    if random.random() < LACKING:
        lacking = random.choice(exercises)
        del sources[f"{lacking}.py"]
        made_of[lacking] = "missing"
        wrong.discard(lacking)
    return Synthetic(student, sources, made_of, frozenset(wrong))


def _of_kind(programs: Sequence[Program], kind: str) -> list[Program]:
    return [program for program in programs if program.kind == kind]


def notebook(cells: Sequence[tuple[str, Mapping[str, object]]]) -> str:
    """Return a notebook of code cells, each a source and its metadata."""
    made = [
        {
            "cell_type": "code",
            "id": f"cell-{number}",
            "metadata": metadata,
            "source": source,
            "outputs": [],
            "execution_count": None,
        }
        for number, (source, metadata) in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": made}, indent=1)


def write_all(course: Course, out: Path, count: int, seed: int, *, notebooks: bool) -> None:
    """Write the submissions as folders, or as notebooks, and beside them `made_of.json`: what each is made of."""
    out.mkdir(parents=True)
    made_of = {}
    for submission in synthetic(load_suite(course), count, seed):
        submission.write(out / "folders")
        made_of[submission.student] = dict(submission.made_of)
        if notebooks:
            (out / "notebooks").mkdir(exist_ok=True)
            text = notebook([(cell, {}) for cell in submission.cells().values()])
            (out / "notebooks" / f"{submission.student}.ipynb").write_text(text, "utf-8")
    (out / "made_of.json").write_text(json.dumps(made_of, indent=1) + "\n", "utf-8")


def main() -> None:
    """Make submissions of the course around the working folder."""
    parser = argparse.ArgumentParser(description="Make whole-course submissions from the catalogue.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder that is not there yet")
    parser.add_argument("--count", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another seed gives other submissions (1)")
    parser.add_argument("--notebooks", action="store_true", help="also as notebooks")
    options = parser.parse_args()
    if options.out.exists():
        parser.error(f"{options.out} is there already; name a folder that is not, or remove it")
    write_all(read_course(find_course()), options.out, options.count, options.seed, notebooks=options.notebooks)
    print(f"{options.count} submissions are in {options.out / 'folders'}")


if __name__ == "__main__":
    main()
