"""Where the statements of a misconception are: on no import, and on no head of a function whose body is wrong."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_key import Misconception, patched, read_catalogue
from autograder.answer_key.catalogue import marks_of, wording_of
from autograder.authoring.styles import ported
from autograder.course import find_course, load_suite, read_course
from autograder.diagnosis.locator import by_statement, by_wording, location_of
from autograder.results import Certainty
from autograder.runner import Survey
from autograder.runner.outcomes import read_survey
from autograder.worker.syntax import survey

COURSE = read_course(find_course())
CATALOGUES = sorted((COURSE.solutions_dir / "misconceptions").glob("*.toml"))


def survey_of(source: str) -> Survey:
    return read_survey({**survey(source.encode(), ()), "helpers": [], "flags": []})


def entry_of(name: str, marks: tuple[str, ...]) -> Misconception:
    return Misconception(name, "", "", "", (), {}, marks)


def found_in(catalogue: Path) -> Iterator[tuple[str, str, list[int]]]:
    """Yield each misconception with its program and the lines that it may be shown at."""
    solution = (COURSE.solutions_dir / f"{catalogue.stem}.py").read_text("utf-8")
    entries = read_catalogue(catalogue, solution)
    every = [entry_of(entry.id, marks_of(entry, solution)) for entry in entries]
    for entry, one in zip(entries, every, strict=True):
        wrong = patched(solution, entry)
        here = survey_of(wrong)
        yield entry.id, wrong, by_statement(one, every, here.statements, here)


@pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda file: file.stem)
def test_no_misconception_is_shown_on_a_line_that_computes_nothing(catalogue: Path) -> None:
    solution = (COURSE.solutions_dir / f"{catalogue.stem}.py").read_text("utf-8")
    for name, wrong, lines in found_in(catalogue):
        for line in lines:
            starts = [node for node in ast.walk(ast.parse(wrong)) if getattr(node, "lineno", 0) == line]
            statement = next(node for node in starts if isinstance(node, ast.stmt))
            assert not isinstance(statement, ast.Import | ast.ImportFrom | ast.ClassDef), name
            if isinstance(statement, ast.FunctionDef):  # it has other defaults, or has lost its decorator
                heads = {ast.dump(node) for node in ast.walk(ast.parse(solution)) if isinstance(node, ast.arguments)}
                assert ast.dump(statement.args) not in heads or not statement.decorator_list, name
            else:
                assert survey_of(wrong).runs(line), name


@pytest.mark.parametrize("exercise", ["ex05_attention", "ex14_generation"])
def test_the_wording_of_a_mistake_tells_its_line_in_programs_of_others_or_nothing(exercise: str) -> None:
    [one] = [one for one in COURSE.exercises if one.id == exercise]
    suite = load_suite(COURSE, [one])
    solution = (COURSE.solutions_dir / one.file).read_text("utf-8")
    catalogue = read_catalogue(COURSE.solutions_dir / "misconceptions" / f"{exercise}.toml", solution)
    found = []
    for wrong in ported(suite):
        source = wrong.submission.sources[one.file]
        [entry] = [entry for entry in catalogue if wrong.submission.student.endswith(f", {entry.id}")]
        known = replace(entry_of(entry.id, ()), wording=wording_of(entry, solution))
        if (place := by_wording(known, survey_of(source.decode()), source)) is not None:
            found.append(any(abs(place.line - line) <= 1 for line in wrong.lines))
    assert len(found) > 10
    assert sum(found) >= 0.8 * len(found), "of all exercises it is 0.94"


def worded(exercise: str, id_: str) -> Misconception:
    """Return a misconception of the course by its wording alone."""
    solution = (COURSE.solutions_dir / f"{exercise}.py").read_text("utf-8")
    catalogue = read_catalogue(COURSE.solutions_dir / "misconceptions" / f"{exercise}.toml", solution)
    [entry] = [entry for entry in catalogue if entry.id == id_]
    return replace(entry_of(id_, ()), wording=wording_of(entry, solution))


def test_a_line_whose_values_are_right_is_not_taken_for_a_mistake_that_it_is_like() -> None:
    known = worded("ex18_gated_feed_forward", "swiglu-relu")
    lines = ["gate = self.w1(x)", "value = self.w3(x)", "passed = torch.relu(gate)", "return self.w2(passed * value)"]
    body = "\n".join(f"        {line}" for line in lines)
    source = f"class SwiGLU:\n    def forward(self, x):\n{body}\n"
    places = [by_wording(known, survey_of(source), source.encode(), right=right) for right in ((), (3,), (3, 4))]
    assert [place.line if place else None for place in places] == [3, 4, None]


def test_a_branch_that_was_not_taken_is_not_taken_for_a_mistake_that_it_is_like() -> None:
    known = worded("ex14_generation", "sampling-column")
    survey = survey_of(SAMPLED)
    lines = [by_wording(known, survey, SAMPLED.encode(), ran=ran) for ran in ((), (5,), (5, 8))]
    assert [place.line if place else None for place in lines] == [4, 4, 8]


SAMPLED = """
def sample_next(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    logits = logits / temperature
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k, dim=-1).values[:, -1:], -math.inf)
    return torch.multinomial(torch.softmax(logits, dim=-1), num_samples=1, generator=generator)
"""


def test_of_several_statements_the_one_that_fewest_misconceptions_have_is_shown() -> None:
    lines = "import torch\ndef fill(x):\n    y = x * 2\n    y[0] = {}\n    return y\n"
    [first, second] = (lines.format(value) for value in (-1e9, -1e4))
    here = survey_of(first)
    marks, others = ([hash_ for hash_, _ in survey_of(text).statements if hash_] for text in (first, second))
    every = [entry_of("large", tuple(marks)), entry_of("small", tuple(others))]
    assert by_statement(every[0], every, here.statements, here) == [4]
    place = location_of([4], None, here, first.encode(), {4: "fill"}, "ex.py")
    assert place is not None
    assert place.certainty is Certainty.ALIKE


def test_the_first_of_several_statements_and_the_head_of_a_function_are_only_likely() -> None:
    source = "def fill(\n    x,\n    by=2,\n):\n    y = x * by\n    return y\n"
    for lines in ([5, 6], [1]):
        location = location_of(lines, None, survey_of(source), source.encode(), {}, "ex.py")
        assert location is not None
        assert (location.place.line, location.certainty) == (lines[0], Certainty.LIKELY)


STYLES = '''"""A docstring of the module."""

from __future__ import annotations

import math, torch
from torch import (
    Tensor,
    nn,
)


def marked(function):
    """Return it as it is."""

    @staticmethod
    def inner(x): return function(x)

    return inner


class Part(nn.Module):
    """A part."""

    scale: float = 1.0

    @torch.no_grad()
    def forward(
        self,
        x: Tensor,
    ) -> Tensor:
        """Return it."""
        # a comment
        for row in x:

            # another comment
            with torch.no_grad():
                y = (
                    row
                    # in brackets
                    * 2
                )
        return y
'''


def test_only_lines_of_statements_that_run_can_hold_a_mistake() -> None:
    here = survey_of(STYLES)
    lines = STYLES.splitlines()
    shown = [lines[line - 1].strip() for line in range(1, len(lines) + 1) if here.runs(line)]
    assert shown == [
        "def inner(x): return function(x)",
        "return inner",
        "scale: float = 1.0",
        "for row in x:",
        "with torch.no_grad():",
        *("y = (", "row", "# in brackets", "* 2", ")"),
        "return y",
    ]
