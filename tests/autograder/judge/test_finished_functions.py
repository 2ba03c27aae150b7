"""A finished function is judged, whatever else of its exercise is still to be written.

PROOF=all does it in every exercise, not in some of them.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping

import pytest

from autograder.course import Exercise, find_course, load_suite, read_course
from autograder.judge import Grader
from autograder.results import ExerciseResult
from autograder.runner import Runner
from tests.support import tiny
from tests.support.course_programs import submission_of

COURSE = read_course(find_course())
SUITE = load_suite(COURSE)
TRIED = COURSE.exercises if tiny.EVERYTHING else COURSE.exercises[4::12]
ALONE = COURSE.exercises[4::12]
"""Some exercises without a class that another class of the file uses: its empty methods still make checks fail."""

SINUSOIDS = COURSE.exercise("ex02_positional_encoding")
TABLE = ("pairs", "frequencies", "last_pairs", "odd_width")
"""The checks of ex02 that look at the table alone."""

EXPONENT = "(column / d_model)"
UNWRITTEN = ("PositionalEncoding.__init__", "PositionalEncoding.forward")

Judged = Callable[[Exercise, str], ExerciseResult]


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    """Return a function that judges a program as one exercise; all of them run in one worker, which none kills."""
    with Runner(SUITE, seed=COURSE.seed, shared=True) as runner, Grader(SUITE, seed=COURSE.seed) as grader:
        yield lambda exercise, program: grader.grade(
            submission_of(COURSE, exercise, program), [exercise], runner
        ).exercises[0]


def functions(text: str) -> Mapping[str, ast.FunctionDef]:
    """Return the functions and methods of a program by their names."""
    owners = [(f"{node.name}.", node.body) for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return {
        prefix + node.name: node
        for prefix, body in [("", ast.parse(text).body), *owners]
        for node in body
        if isinstance(node, ast.FunctionDef)
    }


def solution(exercise: Exercise) -> str:
    return (COURSE.solutions_dir / exercise.file).read_text("utf-8")


def without(exercise: Exercise, names: Collection[str], left: str | None = None) -> str:
    """Return the solution with these functions as a stub leaves them, or with this body."""
    lines, defined = solution(exercise).splitlines(), functions(solution(exercise))
    stubs = functions((COURSE.exercises_dir / exercise.file).read_text("utf-8"))
    for name, node in sorted(((name, defined[name]) for name in names), key=lambda pair: -pair[1].lineno):
        has_text = len(node.body) > 1 and ast.get_docstring(node) is not None
        indent = " " * node.body[0].col_offset
        parent = [f"{indent}super().__init__()"] if "super().__init__()" in ast.unparse(stubs[name]) else []
        raised = indent + (left or f'raise NotImplementedError("{name}")')
        lines[node.body[has_text].lineno - 1 : node.end_lineno] = [*parent, raised]
    return "\n".join([*lines, ""])


def todos(exercise: Exercise) -> list[str]:
    return [function.name for function in SUITE.stubs[exercise.id].functions if function.todo]


def statuses(result: ExerciseResult) -> dict[str, str]:
    return {check.id: check.status for check in result.checks}


@pytest.mark.worker
def test_a_right_table_passes_before_its_module_is_written(judged: Judged) -> None:
    found = statuses(judged(SINUSOIDS, without(SINUSOIDS, UNWRITTEN)))
    assert {id_ for id_, status in found.items() if status == "pass"} == set(TABLE)
    assert {status for id_, status in found.items() if id_ not in TABLE} == {"not_started"}


@pytest.mark.worker
def test_a_wrong_table_is_named_before_its_module_is_written(judged: Judged) -> None:
    program = without(SINUSOIDS, UNWRITTEN)
    assert program.count(EXPONENT) == 1
    result = judged(SINUSOIDS, program.replace(EXPONENT, "(2 * column / d_model)"))
    first = next(check for check in result.checks if check.status == "fail")
    assert first.finding is not None
    assert first.finding.id == "positions-exponent-doubled"
    assert first.finding.place is not None
    assert first.finding.place.function == "sinusoidal_table"
    assert not {"error", "missing"} & set(statuses(result).values())


@pytest.mark.worker
def test_a_wrong_table_without_a_name_is_shown_in_the_function_that_made_it(judged: Judged) -> None:
    program = without(SINUSOIDS, UNWRITTEN).replace(EXPONENT, "(column / d_model - 0.25)")
    result = judged(SINUSOIDS, program)
    table = result.todos[0]
    assert (table.name, set(table.checks)) == ("sinusoidal_table", set(TABLE))
    first = next(check for check in result.checks if check.status == "fail")
    assert first.finding is not None
    assert first.finding.place is not None
    assert first.finding.place.function == "sinusoidal_table"


@pytest.mark.worker
@pytest.mark.parametrize("head", ["def sinusoidal_table(seq_len, d_model, base)", "def angles(seq_len, d_model)"])
def test_a_program_that_is_divided_in_another_way_is_not_blamed(judged: Judged, head: str) -> None:
    program = without(SINUSOIDS, UNWRITTEN)
    old = next(line for line in program.splitlines() if line.startswith("def sinusoidal_table("))
    found = statuses(judged(SINUSOIDS, program.replace(old, f"{head}:")))
    assert set(found.values()) == {"not_started"}


@pytest.mark.slow
@pytest.mark.worker
@pytest.mark.parametrize("exercise", TRIED, ids=lambda exercise: exercise.id)
def test_every_check_of_finished_functions_passes_and_no_other_fails(judged: Judged, exercise: Exercise) -> None:
    """A check needs the functions without which it does not pass. A program of all of these passes it."""
    names = todos(exercise)
    found = {name: statuses(judged(exercise, without(exercise, [name]))) for name in names}
    ids = [check.id for check in SUITE.checks[exercise.id]]
    needs = {id_: {name for name in names if found[name][id_] != "pass"} for id_ in ids}
    for name in names:
        alone = statuses(judged(exercise, without(exercise, [other for other in names if other != name])))
        assert set(alone.values()) | set(found[name].values()) <= {"pass", "waits", "not_started"}
        assert [id_ for id_, needed in needs.items() if needed <= {name} and alone[id_] != "pass"] == []


@pytest.mark.worker
@pytest.mark.parametrize("body", ["pass", "..."])
@pytest.mark.parametrize(
    ("exercise", "name", "own"),
    [
        ("ex20_kv_cache", "KVCache.truncate", {"truncated", "truncated_below", "truncated_beyond"}),
        ("ex30_preference", "kl_estimate", {"distance", "distance_gradient", "device"}),
    ],
)
def test_a_check_that_names_a_function_without_code_is_not_judged(
    judged: Judged, exercise: str, name: str, own: set[str], body: str
) -> None:
    one = COURSE.exercise(exercise)
    result = judged(one, without(one, [name], body))
    assert {id_ for id_, status in statuses(result).items() if status == "not_started"} == own
    assert set(statuses(result).values()) == {"pass", "not_started"}
    assert result.in_progress


@pytest.mark.worker
def test_a_mistake_beside_a_function_without_code_still_fails(judged: Judged) -> None:
    one = COURSE.exercise("ex30_preference")
    kept = "loss = -gain.masked_fill(~mask, 0.0)"
    wrong = without(one, ["kl_estimate"], "pass")
    assert kept in wrong
    found = statuses(judged(one, wrong.replace(kept, f"log_probs.mul_(1.5)\n    {kept}")))
    assert (found["inputs_kept"], found["distance"]) == ("fail", "not_started")


@pytest.mark.slow
@pytest.mark.worker
@pytest.mark.parametrize("exercise", ALONE, ids=lambda exercise: exercise.id)
def test_a_function_without_code_makes_no_check_fail(judged: Judged, exercise: Exercise) -> None:
    found = {name: statuses(judged(exercise, without(exercise, [name], "pass"))) for name in todos(exercise)}
    assert {name: own for name, own in found.items() if not {*own.values()} <= {"pass", "waits", "not_started"}} == {}
