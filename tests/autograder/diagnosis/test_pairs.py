"""A finding speaks of one mistake: pairs of mistakes from the catalogue, both in the same program."""

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import pytest

from autograder.answer_key import WrongProgram, patched, read_catalogue
from autograder.authoring.programs import faulty_lines
from autograder.course import Exercise, Suite, find_course, load_suite, read_course, resolve_exercise
from autograder.diagnosis.exceptions import MORE
from autograder.judge import Grader
from autograder.results import Certainty, CheckResult, Evidence, ExerciseResult, Finding
from autograder.runner import Runner
from tests.support import tiny
from tests.support.course_programs import submission_of

pytestmark = pytest.mark.worker

COURSE = read_course(find_course())
PAIRS = dict.fromkeys(("1", "2", "3", "4", "5", "6", "7", "8", "9", "10"), 2 if tiny.EVERYTHING else 1)
"""How many pairs are drawn from each exercise."""

SLOW = {"10"}
"""Its pairs take as long as those of all others: it needs them all."""


@dataclass(frozen=True)
class Pair:
    """Two mistakes in one program. `lines` has the lines that each of them alone changed, by its id."""

    exercise: Exercise
    mistakes: tuple[WrongProgram, WrongProgram]
    program: str
    lines: dict[str, frozenset[int]]

    @property
    def id(self) -> str:
        return " and ".join(mistake.id for mistake in self.mistakes)

    def one_of(self, name: str) -> WrongProgram | None:
        """Return the mistake that has this name, or that gives the same results."""
        return next((mistake for mistake in self.mistakes if name in (mistake.id, *mistake.same_as)), None)


def solution_of(exercise: Exercise) -> str:
    return (COURSE.solutions_dir / exercise.file).read_text("utf-8")


def pairs_of(exercise: Exercise) -> Iterator[Pair]:
    """Yield pairs in an order that is always the same; none whose patches are not independent."""
    solution = solution_of(exercise)
    catalogue = read_catalogue(COURSE.solutions_dir / "misconceptions" / f"{exercise.id}.toml", solution)
    found = list(combinations(catalogue, 2))
    random.Random(exercise.id).shuffle(found)
    for one, other in found:
        first, second = patched(solution, one), patched(solution, other)
        fits = not one.program and not other.program and all(first.count(find) == 1 for find, _ in other.patches)
        fits &= all(second.count(find) == 1 for find, _ in one.patches)
        both = patched(first, other)
        if fits and other.id not in one.same_as and both == patched(second, one) and is_python(both):
            lines = {one.id: faulty_lines(second, both), other.id: faulty_lines(first, both)}
            yield Pair(exercise, (one, other), both, lines)


def is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def sampled_pairs() -> Iterator[Pair]:
    for number, count in PAIRS.items():
        pairs = pairs_of(resolve_exercise(COURSE, number))
        yield from (pair for pair, _ in zip(pairs, range(count), strict=False))


@pytest.fixture(scope="module")
def graded() -> Iterator[Callable[[Exercise, str], ExerciseResult]]:
    """Return a function that grades one exercise of a program, the others being the solutions."""
    suite = load_suite(COURSE)
    with Runner(suite, seed=COURSE.seed, shared=True) as runner:

        def grade(exercise: Exercise, source: str) -> ExerciseResult:
            submission = submission_of(COURSE, exercise, source)
            with Grader(only(suite, exercise), seed=COURSE.seed, evidence=True) as grader:
                return grader.report(submission, [exercise], runner).exercises[0]

        yield grade


def only(suite: Suite, exercise: Exercise) -> Suite:
    """Return the suite with one check for every other exercise: those it builds on are right here."""
    brief = {name: tuple(replace(check, trials=1) for check in checks[:1]) for name, checks in suite.checks.items()}
    return replace(suite, checks={**brief, exercise.id: suite.checks[exercise.id]})


@pytest.mark.parametrize(
    "pair",
    [pytest.param(one, marks=pytest.mark.slow if one.exercise.number in SLOW else ()) for one in sampled_pairs()],
    ids=lambda pair: pair.id,
)
def test_a_finding_speaks_of_one_of_two_mistakes(pair: Pair, graded: Callable[[Exercise, str], ExerciseResult]) -> None:
    result = graded(pair.exercise, pair.program)
    assert result.first_failure is not None
    for check in result.checks:
        finding = check.finding
        if finding is not None and finding.kind == "misconception":
            speaks_of_its_own_mistake(pair, check, finding, graded)
        elif finding is not None and finding.place is not None and finding.label is not None:
            assert any(finding.place.line in lines for lines in pair.lines.values()), finding


def speaks_of_its_own_mistake(
    pair: Pair, check: CheckResult, finding: Finding, graded: Callable[[Exercise, str], ExerciseResult]
) -> None:
    """Assert that name, location, marked characters, evidence and hint are those of one mistake alone."""
    mistake = pair.one_of(finding.id)
    if mistake is None and finding.claim is Certainty.ALIKE:
        return  # that the results are equal is true, and no more is said
    assert mistake is not None, f"{finding.id} is neither mistake"
    alone = graded(pair.exercise, patched(solution_of(pair.exercise), mistake))
    [there] = [other for other in alone.checks if other.id == check.id]
    assert there.finding is not None, f"{finding.id} is not to blame for {check.id}"
    if finding.claim is not there.finding.claim:  # beside the other mistake, only the results may be alike
        assert finding.claim is Certainty.ALIKE
        assert mistake.explanation not in str(finding.detail)
        return
    assert check.hints == there.hints
    assert finding.detail is not None
    if finding.claim is Certainty.SHOWN:  # else they say where an exception was raised
        if finding.evidence is not None and check.status != "error":  # which has the tensors of where it was raised
            assert without_numbers(finding.evidence) == without_numbers(there.finding.evidence)
        assert finding.detail.removesuffix(f"\n{MORE}") == there.finding.detail
    if finding.place is not None and finding.claim is Certainty.SHOWN:  # else it may be where an exception was raised
        assert finding.place.line in pair.lines[mistake.id], (finding.id, finding.place)


def without_numbers(evidence: Evidence | None) -> object:
    """Return what evidence shows, without its numbers, which are rounded."""
    if evidence is None:
        return None
    rows = [label for label, _, _ in evidence.rows]
    return evidence.name, evidence.witness_title, evidence.axes, rows, [at for at, _, _ in evidence.witnesses]
