"""The proof of a course: it succeeds for a sound course, and reports each problem in one sentence."""

import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.answer_key import WrongProgram
from autograder.authoring.oversights import reading_clocks, reading_dates
from autograder.authoring.programs import Program
from autograder.authoring.proof import (
    Proof,
    SearchedLine,
    cost_problems,
    excused,
    figures_of,
    slow_checks,
    unexpected,
    validate,
)
from autograder.authoring.release import release_kit
from autograder.course import BEGIN, END, Suite, UsageError
from tests.support import tiny

pytestmark = pytest.mark.worker

CATALOGUE = f"solutions/misconceptions/{tiny.FIRST}.toml"
SOLUTION = f"solutions/{tiny.FIRST}.py"


def proof(course: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = tiny.run_course(course, "validate", *arguments, "--json", "-")
    assert not tiny.without_counts(done.stderr)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def first_proof(first_keys: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any]]:
    """The proof of the first exercise of the course as it is."""
    return proof(tiny.copied(tmp_path_factory.mktemp("proved") / "course", first_keys), "1")


def test_the_tiny_course_holds_under_another_seed(course: Path) -> None:
    done = tiny.run_course(course, "validate", "--seed", "7", "--plain")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1].startswith("the course holds: 12 of 13 misconceptions named as themselves")
    assert f"exercise: {tiny.FIRST}. checks: 4. caught: 8 of 8. named: 8 of 8. accepted: 1 of 1." in done.stdout


def test_the_json_of_a_proof_says_what_was_proved(first_proof: tuple[int, dict[str, Any]]) -> None:
    status, found = first_proof
    assert status == 0
    assert (found["schema"], found["ok"], found["seed"]) == (1, True, tiny.COURSE.seed)
    [exercise] = found["exercises"]
    assert (exercise["id"], exercise["checks"], exercise["misconceptions"], exercise["caught"]) == (tiny.FIRST, 4, 8, 8)
    assert exercise["problems"] == []
    assert {proof["kind"] for proof in found["proofs"]} >= {"solution", "stub", "misconception", "accepted"}


def test_the_answer_keys_and_then_the_programs_are_counted(course: Path) -> None:
    keys: list[tuple[int, int]] = []
    programs: list[tuple[int, int]] = []
    found = validate(
        tiny.suite_at(course),
        seed=tiny.COURSE.seed,
        jobs=2,
        cache=course / ".course" / "cache",
        on_progress=lambda *count: programs.append(count),
        on_keys=lambda *count: keys.append(count),
    )
    assert found.ok
    assert all(min(one.seconds.values()) > 0 for one in found.proofs if one.kind == "solution")
    assert keys == [(1, 2), (2, 2)]
    assert programs == [(done, len(found.proofs)) for done in range(1, len(found.proofs) + 1)]


def test_what_is_proved_on_the_cpu_only_is_refused_on_another_device(course: Path) -> None:
    done = tiny.run_course(course, "validate", "--device", "cuda", "--once")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--once works on the CPU only; leave it or `--device cuda` out" in done.stderr


@pytest.mark.parametrize(("named", "may_be_unknown", "count"), [(None, False, 1), (None, True, 0), ("other", True, 1)])
def test_a_misconception_without_a_name_is_a_problem_on_the_cpu_only(
    named: str | None, may_be_unknown: bool, count: int
) -> None:
    program = Program("misconception", tiny.FIRST, "median", {})
    finding = SimpleNamespace(id=named, known_as=named, message="")
    result = SimpleNamespace(checks=[SimpleNamespace(id="values", status="fail", finding=finding)])
    assert len(list(unexpected(program, result, lambda check: (), may_be_unknown=may_be_unknown))) == count


def test_a_check_that_takes_long_with_the_solution_is_named_with_its_seconds() -> None:
    statuses = {"values": "pass", "axes": "pass"}
    right = Proof("solution", tiny.FIRST, tiny.FIRST, statuses, None, (), seconds={"values": 2.54, "axes": 0.2})
    wrong = replace(right, kind="misconception", name="other")
    [found] = slow_checks([right, wrong])
    assert found.startswith(f"{tiny.FIRST}: the check values takes 2.5 s with the solution: so long a learner waits")


@pytest.mark.parametrize(
    ("status", "does", "asks"),
    [("timeout", "does not end", "what ends the loop"), ("memory", "uses up the memory", "what grows")],
)
def test_a_misconception_that_never_ends_is_refused_once_with_what_to_do(status: str, does: str, asks: str) -> None:
    program = Program("misconception", tiny.FIRST, "endless", {})
    checks = [SimpleNamespace(id=id_, status=status, finding=None) for id_ in ("values", "axes")]
    result = SimpleNamespace(checks=checks)
    [found] = unexpected(program, result, lambda check: (), may_be_unknown=False)
    assert found.startswith(f"the misconception endless {does} in the checks values, axes, and what is stopped gets")
    assert found.endswith(f"remove it or make it stop earlier, and let the hints of values ask {asks}")


def test_the_cost_of_a_misconception_is_the_share_of_points_without_bonus(
    course: Path, first_proof: tuple[int, dict[str, Any]]
) -> None:
    _, found = first_proof
    [exercise] = found["exercises"]
    checks = {check.id: check for check in tiny.suite_at(course).checks[tiny.FIRST]}
    total = sum(check.points for check in checks.values() if not check.bonus)
    wrong = {proof["name"]: proof["checks"] for proof in found["proofs"] if proof["kind"] == "misconception"}
    assert exercise["costs"].keys() == wrong.keys()
    for name, statuses in wrong.items():
        lost = sum(checks[id_].points for id_, status in statuses.items() if status != "pass" and not checks[id_].bonus)
        assert exercise["costs"][name] == pytest.approx(100 * lost / total, abs=0.06)
    done = tiny.run_course(course, "validate", "1", "--costs", "--plain")
    assert all(f" %  {name}" in done.stdout for name in wrong)


def cost_sentences(costs: list[float], **texts: dict[int, str]) -> list[str]:
    """Return the problems of misconceptions that cost these percentages; texts are by their numbers."""
    entries = [
        WrongProgram(str(at), "", "", "", (), **{field: values[at] for field, values in texts.items() if at in values})
        for at in range(len(costs))
    ]
    return list(cost_problems(entries, dict(zip(map(str, range(len(costs))), costs, strict=True))))


def test_a_misconception_may_not_cost_most_points_of_an_exercise() -> None:
    assert cost_sentences([30.0] * 9 + [60.0]) == []
    assert cost_sentences([100.0] * 9) == []  # a median of few says little
    [median] = cost_sentences([31.0] * 10)
    assert median.startswith("the median misconception costs 31 % of the points, expected at most 30 %")
    [high] = cost_sentences([20.0] * 9 + [61.0])
    assert high.startswith("the misconception 9 costs 61 % of the points, expected at most 60 %")
    [convention] = cost_sentences([20.0] * 9 + [36.0], convention={9: "of others"}, destroys={8: ""})
    assert convention.startswith("the convention 9 costs 36 % of the points, expected at most 35 %")


def test_one_misconception_in_ten_may_destroy_the_idea_and_says_why() -> None:
    assert cost_sentences([20.0] * 9 + [100.0], destroys={9: "nothing is left"}) == []
    [needless] = cost_sentences([20.0] * 10, destroys={9: "nothing is left"})
    assert needless == "the misconception 9 has destroys, and costs only 20 % of the points: remove it"
    [many] = cost_sentences([20.0] * 8 + [100.0] * 2, destroys={8: "nothing is left", 9: "nothing is left"})
    assert many == "2 of 10 misconceptions have destroys, expected at most one in ten"


def test_an_exercise_that_is_listed_as_costly_has_the_measured_figures() -> None:
    entries = [WrongProgram(str(at), "", "", "", ()) for at in range(10)]
    costly = dict(zip(map(str, range(10)), [40.0] * 8 + [70.0] * 2, strict=True))
    figures = "median 40 %, 2 above 60 %"
    assert figures_of(entries, costly) == figures
    problems = ["costs too much"]
    assert list(excused(None, problems, figures)) == problems
    assert list(excused(figures, problems, figures)) == []
    [wrong] = excused("median 39 %, 2 above 60 %", problems, figures)
    assert wrong == "costly.toml says 'median 39 %, 2 above 60 %' of it, measured is 'median 40 %, 2 above 60 %'"
    assert list(excused(figures, [], figures)) == ["costly.toml lists it, and its costs hold: remove the line"]


def problems_after(course: Path) -> list[str]:
    """Return the problems of the first exercise of a broken course."""
    suite = tiny.suite_at(course)
    first = replace(suite, checks={tiny.FIRST: suite.checks[tiny.FIRST]})
    found = validate(first, seed=tiny.COURSE.seed, jobs=1, cache=course / ".course" / "cache")
    assert not found.ok
    for sentence in found.problems:
        assert sentence.startswith(f"{tiny.FIRST}: ")
        assert "\n" not in sentence
    return [sentence.removeprefix(f"{tiny.FIRST}: ") for sentence in found.problems]


def without(file: Path, table: str) -> None:
    """Take one [table] out of a TOML file."""
    before, after = file.read_text().split(f"[{table}]\n")
    file.write_text(before + after[after.index("\n[") + 1 :] if "\n[" in after else before)


STEPS = [
    "doubled = x + x",
    "shifted = doubled + 1",
    "sums = shifted.cumsum(dim=-1)",
    "places = torch.arange(1, x.shape[-1] + 1)",
    "raised = sums * 3",
    "lowered = raised - 3 * places",
    "halved = lowered / 2",
    "thirds = halved / 3",
    "means = thirds / places.to(x)",
    "opposite = -means",
    "again = opposite * 5",
    "return again / -5",
]
"""A running mean in another style: most of its values are none of the solution's."""


def another_style(**other: str) -> str:
    """Return the running mean of these steps; of a variable that is named with another value."""
    lines = [f"{name} = {other[name]}" if (name := step.split()[0]) in other else step for step in STEPS]
    body = "\n    ".join(["if not x.numel(): raise ValueError(x.shape)", "x = x.to(x.dtype)", *lines])
    return f"import torch\n\n\ndef running_mean(x):\n    {body}\n"


def lines_of_first(course: Path) -> tuple[Any, dict[str, Any]]:
    """Return the proof of the first exercise, and the lines that were searched in each program."""
    suite = tiny.suite_at(course)
    first = replace(suite, checks={tiny.FIRST: suite.checks[tiny.FIRST]})
    found = validate(first, seed=tiny.COURSE.seed, jobs=1, cache=course / ".course" / "cache")
    return found.exercises[0], {proof.name: proof.lines for proof in found.proofs if proof.lines}


def test_a_right_value_that_the_solution_does_not_store_hides_wrong_lines(course: Path) -> None:
    few, programs = lines_of_first(course)
    assert (few.lines, few.lines_found) == (len(programs["loop"]), len(programs["loop"]))
    assert not any("line finding" in warning for warning in few.warnings)
    (course / "solutions" / "accepted" / tiny.FIRST / "steps.py").write_text(another_style(), "utf-8")
    many, programs = lines_of_first(course)
    assert many.problems == ()
    assert many.lines_found < many.lines / 2
    weak = f"if wrong, {many.lines_found} of {many.lines} lines of programs in another style would be found"
    [warning] = [warning for warning in many.warnings if "line finding" in warning]
    assert warning.startswith(f"{tiny.FIRST}: line finding is weak here: {weak}. steps computes `doubled` in line 7, ")
    assert {line.value for line in programs["steps"] if not line.found} >= {"doubled"}


def test_the_wrong_line_of_a_whole_program_is_searched_beside_the_right_program_that_it_resembles(course: Path) -> None:
    (course / "solutions" / "accepted" / tiny.FIRST / "steps.py").write_text(another_style(), "utf-8")
    folder = course / "solutions" / "misconceptions" / tiny.FIRST
    folder.mkdir()
    (folder / "quarters.py").write_text(another_style(thirds="halved / 4"), "utf-8")
    (folder / "other.py").write_text("def running_mean(x):\n    return x * 7\n", "utf-8")
    texts = 'name = "{0}"\nexplanation = "It is {0}."\nhint = "What is {0} of it?"\nprogram = "{0}.py"\n'
    catalogue = (course / CATALOGUE).read_text("utf-8")
    more = "\n".join(f"\n[mean-{name}]\n{texts.format(name)}" for name in ("quarters", "other"))
    (course / CATALOGUE).write_text(catalogue + more, "utf-8")
    _, programs = lines_of_first(course)
    assert programs["mean-quarters"] == (SearchedLine(False, 7, "doubled"),)
    assert "mean-other" not in programs


def test_a_check_that_no_misconception_fails_is_reported(course: Path) -> None:
    without(course / CATALOGUE, "mean-of-nothing")
    assert problems_after(course) == ["no misconception fails the check empty"]


def test_a_misconception_that_passes_everything_is_reported(course: Path) -> None:
    tiny.replaced(
        course / CATALOGUE, "'return x.mean(dim=-1, keepdim=True).expand_as(x)'", "'return (x.cumsum(dim=-1) / count)'"
    )
    assert problems_after(course) == [
        "the misconception mean-of-everything passes every check; make one stricter, or remove the misconception"
    ]


def test_two_misconceptions_with_the_same_output_must_be_declared_a_group(course: Path) -> None:
    catalogue = course / CATALOGUE
    for line in ('same_as = ["mean-of-last-count"]\n', 'same_as = ["mean-divided-by-length"]\n'):
        tiny.replaced(catalogue, line, "")
    found = problems_after(course)
    for one, other in (
        ("mean-divided-by-length", "mean-of-last-count"),
        ("mean-of-last-count", "mean-divided-by-length"),
    ):
        assert (
            f"the misconception {one} fails the check values without a name, as {other} gives it the same result: "
            "observe more in it, or name each in the other's same_as"
        ) in found


def test_a_misconception_that_is_refused_is_reported_with_the_reason(course: Path) -> None:
    right, refused = "x.mean(dim=-1, keepdim=True).expand_as(x)", "torch.cummax(x, dim=-1).values"
    tiny.replaced(course / CATALOGUE, f"'return {right}'", f"'return {refused}'")
    found = problems_after(course)
    start = "the misconception mean-of-everything fails the check values without a name; a student would read: "
    assert any(sentence.startswith(start) and "torch.cummax" in sentence for sentence in found), found


def test_a_group_that_only_one_of_its_members_declares_is_reported(course: Path) -> None:
    tiny.replaced(course / CATALOGUE, 'same_as = ["mean-of-last-count"]\n', "")
    line = (course / CATALOGUE).read_text("utf-8").splitlines().index("[mean-of-last-count]") + 1
    where = f"{os.path.relpath(course / CATALOGUE)}, line {line}: mean-of-last-count"
    assert problems_after(course)[0] == f"{where}: same_as names mean-divided-by-length, which names it not"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('name = "the counts begin at 0"\n', "", "mean-counts-from-zero: has no name"),
        ('name = "the counts begin at 0"\n', 'name = "the counts begin at 0"\ntitle = 1\n', "which means nothing here"),
        (
            'name = "the counts begin at 0"\n',
            'nam = "the counts begin at 0"\n',
            "has nam, which means nothing here; did you",
        ),
        ("find = 'x.cumsum(dim=-1)'", "fnd = 'x.cumsum(dim=-1)'", "nothing here; did you mean find?"),
        (
            'name = "the counts begin at 0"\n',
            'name = "the counts begin at 0"\nany_exception = 1\n',
            "neither true nor false",
        ),
        ("find = 'x.cumsum(dim=-1)'", "find = 'x.cumsum(dim=5)'", "its find occurs 0 times in the solution"),
        ("find = 'x.cumsum(dim=-1)'", "find = 'x'", "its find occurs"),
        ("replace = 'x.cumsum(dim=0)'", "replace = 'x.cumsum(dim=-1)'", "its find and replace are the same"),
        ("find = 'x.cumsum(dim=-1)'\n", "", "needs find and replace"),
        (
            "find = 'x.cumsum(dim=-1)'",
            "tempting = ''\nfind = 'x.cumsum(dim=-1)'",
            "its tempting is no text of 1 to 240 characters",
        ),
        (
            "replace = 'x.cumsum(dim=0)'",
            "replace = 'x.cumsum(dim=0)'\nconvention = 'NumPy'",
            "its explanation does not say what the course has instead",
        ),
        (
            "replace = 'x.cumsum(dim=0)'",
            "replace = 'x.cumsum(dim=0)'\ndestroys = ' '",
            "its destroys is no text of 1 to 160",
        ),
        ("[mean-axis-fixed]", "[mean-axis-fixed", "Expected ']'"),
        (
            'name = "the counts begin at 0"',
            'name = "the running sum is not divided"',
            "has the name of mean-not-divided",
        ),
        ("replace = 'x.cumsum(dim=0)'", "replace = 'x.cumsum(dim=0)'\npatches = []", "has find or replace beside"),
        ("replace = 'x.cumsum(dim=0)'", "replace = 'x.cumsum((dim=0)'", "the solution is no Python (line 19: "),
    ],
)
def test_a_catalogue_that_cannot_be_read_is_reported_by_name(course: Path, old: str, new: str, sentence: str) -> None:
    tiny.replaced(course / CATALOGUE, old, new)
    [found] = problems_after(course)
    assert sentence in found


def test_a_course_with_the_line_ends_of_windows_holds(course: Path) -> None:
    find, before = "return x.cumsum(dim=-1) / count'\nreplace = '", "device=x.device)  # (T,)\\n    "
    text = (course / CATALOGUE).read_text("utf-8")
    old = f"find = '{find}return x.cumsum(dim=-1)'\n"
    assert text.count(old) == 1
    new = old.replace("return", f"{before}return").replace("'", '"')
    (course / CATALOGUE).write_text(text.replace(old, new), "utf-8")
    for name in (SOLUTION, CATALOGUE, f"solutions/accepted/{tiny.FIRST}/loop.py"):
        (course / name).write_bytes((course / name).read_bytes().replace(b"\n", b"\r\n"))
    status, found = proof(course, "1")
    assert (status, found["exercises"][0]["problems"]) == (0, [])


def test_a_variant_that_is_wrong_is_reported_with_its_check(course: Path) -> None:
    variant = course / "solutions" / "accepted" / tiny.FIRST / "sum.py"
    variant.write_text(
        "def running_mean(x):\n    if not x.numel(): raise ValueError(x.shape)\n    return x.cumsum(-1)\n"
    )
    found = problems_after(course)
    assert len(found) == 2
    assert found[0].startswith("the accepted variant sum fails the check values: The running sum is not divided.")


def test_a_stub_that_is_a_solution_is_reported(course: Path) -> None:
    solution = course / SOLUTION
    solution.write_text(solution.read_text().replace(f"    {BEGIN}\n", "").replace(f"    {END}\n", ""))
    found = problems_after(course)
    assert found[0] == "the stub is pass with 40 points, expected not_started with 0"
    assert [problem.split(": ", 1)[1] for problem in found[1:]] == [
        f"running_mean is given away: its work is outside of {BEGIN}; write the mark above it, and one below it"
    ]


def test_a_mark_that_is_missing_is_reported_with_its_line(course: Path) -> None:
    tiny.replaced(course / SOLUTION, f"    {END}\n", "")
    [found] = problems_after(course)
    assert found.startswith(f"{tiny.FIRST}.py:")
    assert found.endswith(f"this region has no {END}")


def test_a_mark_that_is_missing_has_no_other_problem(course: Path) -> None:
    file = course / SOLUTION
    more = f"\n\ndef other(x):\n    {BEGIN}\n    return x\n    {END}\n"
    file.write_text(file.read_text("utf-8").replace(f"    {END}\n", "") + more, "utf-8")
    tiny.replaced(course / tiny.HINTS, "[hints]", '[start]\nrunning_mean = ["Begin with a sum."]\n\n[hints]')
    [found] = problems_after(course)
    assert f"this region has no {END}; write one above the {BEGIN} of line " in found


def test_hints_for_no_check_are_reported(course: Path) -> None:
    file = course / tiny.HINTS
    tiny.replaced(file, "\nempty = [", "\nempti = [")
    misspelt = f"{tiny.HINTS}:5: there are hints for empti, which is not a check; did you mean empty?"
    assert problems_after(course) == [misspelt]
    tiny.replaced(file, "\nempti = [", "\nnothing_at_all = [")
    unknown = f"{tiny.HINTS}:5: there are hints for nothing_at_all, which is not a check; expected one of empty"
    assert problems_after(course) == [unknown]


@pytest.mark.slow
def test_hints_are_missing_without_a_problem_until_a_release(course: Path) -> None:
    (course / tiny.HINTS).unlink()
    done = tiny.run_course(course, "validate", "1")
    bare = (
        f"{tiny.HINTS}: 4 checks have no hints yet (values, axes, dtype, empty); `course release` needs three for each"
    )
    assert done.returncode == 0
    assert bare in " ".join(done.stderr.split() + done.stdout.split())
    released = tiny.run_course(course, "release", str(course.parent / "kit"))
    assert (released.returncode, bare in " ".join(released.stderr.split())) == (2, True)


def test_a_text_on_how_to_begin_what_is_no_todo_is_reported(course: Path) -> None:
    tiny.replaced(course / tiny.HINTS, "[hints]", '[start]\nrunning_maen = ["Begin with a sum."]\n\n[hints]')
    named = "[start] names running_maen, which is no TODO of the stub; did you mean running_mean?"
    assert problems_after(course) == [f"{tiny.HINTS}:2: {named}"]


def test_a_name_in_a_check_that_the_solution_lacks_is_a_slip_of_the_check(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    text = file.read_text("utf-8")
    line = next(at for at, line in enumerate(text.splitlines(), 1) if "impl.running_mean(" in line)
    file.write_text(text.replace("impl.running_mean(", "impl.runing_mean(", 1), "utf-8")
    [found] = problems_after(course)
    where = f"the check values (test_{tiny.FIRST}.py, line {line})"
    missing = "uses runing_mean, which the solution does not define"
    assert found == f"{where} {missing}; did you mean running_mean?"


def test_an_attribute_in_a_check_that_the_solution_lacks_is_a_slip_of_the_check(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    text = file.read_text("utf-8")
    own = "\n\nclass Box:\n    total = 1\n"
    (course / SOLUTION).write_text((course / SOLUTION).read_text("utf-8") + own, "utf-8")
    file.write_text(text.replace("impl.running_mean(", "impl.Box().totall or impl.running_mean(", 1), "utf-8")
    [found] = problems_after(course)
    assert found.endswith("uses totall, which Box does not define; did you mean total?")


def test_a_solution_that_fails_is_reported_and_the_other_exercise_is_still_proved(course: Path) -> None:
    tiny.replaced(course / "solutions" / tiny.FILES[1], "    return power\n", "    return 1 / 0\n")
    (course / "solutions" / "misconceptions" / f"{tiny.SECOND}.toml").unlink()
    status, found = proof(course)
    assert status == 1
    first, second = found["exercises"]
    assert first["problems"] == []
    assert first["caught"] == 8
    where = f"test_{tiny.SECOND}.py, line 15"
    raised = f"ZeroDivisionError: division by zero ({tiny.SECOND}.py, line"
    assert f"the solution of {tiny.SECOND} fails the check power ({where}): {raised}" in second["problems"][0]
    fails = [problem.split("fails the check ")[1].split()[0] for problem in second["problems"]]
    assert fails == ["power", "zeroth", "rotation", "mean"]


def test_a_solution_that_cannot_be_imported_is_one_problem(course: Path) -> None:
    file = course / SOLUTION
    file.write_text("import json.nothing_here\n" + file.read_text("utf-8"), "utf-8")
    [found] = problems_after(course)
    raised = f"ModuleNotFoundError: No module named 'json.nothing_here' ({tiny.FIRST}.py, line 1)"
    assert found == f"the solution {tiny.FIRST}.py cannot be imported: {raised}"


def test_a_standard_check_that_raises_names_the_line_that_declares_it(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    tiny.replaced(file, "import Raises, check, picture", "import Raises, check, picture, standard_checks")
    more = """
NUMBERS = standard_checks(of="running_mean", make=lambda impl, given, dtype: (impl.running_mean, {"x": 3}))
test_numbers = NUMBERS.inputs_kept()
test_gradients = NUMBERS.gradients()
test_lines = standard_checks(of="running_mean", make=lambda impl, given, dtype: 1 / 0).dtypes()
"""
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    last = len(file.read_text("utf-8").splitlines())
    found = problems_after(course)
    lines = [problem.split("line ")[1].split(")")[0] for problem in found]
    assert lines == [str(line) for line in (last - 2, last - 1, last)]
    assert (
        f"fails the check dtypes (test_{tiny.FIRST}.py, line {last}): ZeroDivisionError: division by zero" in found[2]
    )


def with_checks(course: Path, more: str) -> list[str]:
    """Return the problems that more checks of the first exercise have, hints and misconceptions aside."""
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    tiny.replaced(file, "import Raises, check, picture", "import Raises, check, picture, standard_checks")
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    return [
        problem for problem in problems_after(course) if not problem.startswith("no misc") and "no hints" not in problem
    ]


def test_a_program_without_the_idea_earns_little(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    tiny.replaced(file, 'points=2, of="running_mean")', 'points=2, of="running_mean", idea=True)')
    missing = "a check is its idea, and no misconception has without_idea = true"
    assert problems_after(course) == [missing]
    catalogue = course / "solutions" / "misconceptions" / f"{tiny.FIRST}.toml"
    tiny.replaced(catalogue, "[mean-of-nothing]", "[mean-of-nothing]\nwithout_idea = true")
    (problem,) = problems_after(course)
    assert problem.startswith("the misconception mean-of-nothing is without the idea and earns 34.29 of 40 points")


def test_a_check_whose_inputs_are_sizes_alone_is_reported(course: Path) -> None:
    more = """
def ones(impl, given):
    return impl.running_mean(given.torch.ones(given.size("T")).cumsum(0))


@check("a count has a mean", of="running_mean")
def test_count(impl, given):
    return ones(impl, given)


@check("a count has a mean, beside others", of="running_mean", requires_any=("values", "axes"))
def test_beside(impl, given):
    return ones(impl, given)


@check("torch draws too", of="running_mean")
def test_drawn(impl, given):
    return impl.running_mean(given.torch.rand(given.size("T")))


@check("the mean has a type", of="running_mean")
def test_concluded(impl, given):
    return impl.running_mean(given.normal(given.size("T"))).dtype == given.torch.float32
"""
    *constant, empty = with_checks(course, more)
    why = "has the same result under every seed, so a program can know it: draw its input"
    assert [sentence.split(" from")[0] for sentence in constant] == [
        f"the check count {why}",
        f"the check concluded {why}",
    ]
    assert empty.startswith("the check concluded is passed by programs that compute nothing (zeros, ones,")


def test_a_judge_that_raises_is_named_with_its_line_once(course: Path) -> None:
    more = """
def ratio(yours, expected):
    return None if int(yours["mean"] / yours["mean"]) == 1 else "the ratio is not 1"


@check("the last mean", of="running_mean", judge=ratio)
def test_ratio(impl, given):
    return {"mean": float(impl.running_mean(given.normal(4))[-1]), "input": given.number(1, 99)}
"""
    raised = [problem for problem in with_checks(course, more) if "judge" in problem and "raises" in problem]
    assert len(raised) == 2  # a mean of 0 and a mean of NaN
    lines = (course / "tests" / "exercises" / f"test_{tiny.FIRST}.py").read_text("utf-8").splitlines()
    place = f"(test_{tiny.FIRST}.py, line {1 + lines.index(more.splitlines()[2])})"
    assert raised[0].startswith(f"the judge ratio {place} raises ")


def clock_check(course: Path, line: str) -> Suite:
    """Return the course with one more check, with this line as its body."""
    more = f"\nimport time\n\n@check('more', of='running_mean')\ndef test_more(impl, given):\n    {line}\n"
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    return tiny.suite_at(course)


def test_a_check_that_reads_the_date_is_refused(course: Path) -> None:
    suite = clock_check(course, "return time.time()")
    [problem] = reading_dates(suite.checks[tiny.FIRST])
    assert problem.startswith("the check more (line ")
    assert "reads the date or the time of day, and a kit is used on another day" in problem
    with pytest.raises(UsageError, match=r"the check more .* reads the date"):
        release_kit(suite.course, course / "kit", jobs=1, on_keys=lambda *_: None)


def test_a_check_that_reads_a_timer_is_warned_of(course: Path) -> None:
    suite = clock_check(course, "return time.perf_counter() < 1")
    assert list(reading_dates(suite.checks[tiny.FIRST])) == []
    [warning] = reading_clocks(suite, suite.course.exercise(tiny.FIRST))
    assert warning.startswith("the check more reads a timer or another source that no seed sets")


def test_a_solution_that_reads_the_date_is_warned_of(course: Path) -> None:
    suite = tiny.suite_at(course)
    file = course / "solutions" / tiny.FILES[0]
    text = file.read_text("utf-8")
    file.write_text(f'{text}\n\ndef at():\n    """CURRENT_DATE"""\n    return "SELECT 1"\n', "utf-8")
    assert list(reading_clocks(suite, suite.course.exercise(tiny.FIRST))) == []
    for line in ("SQL = \"SELECT time('now')\"\n", "import time\n\nAT = time.time()\n"):
        file.write_text(text + line, "utf-8")
        [warning] = reading_clocks(suite, suite.course.exercise(tiny.FIRST))
        assert warning.startswith("the solution reads the date or the time of day")


def test_a_standard_check_whose_solution_does_not_follow_the_input_is_reported(course: Path) -> None:
    more = """
def moving(impl, given, dtype):
    return (lambda x: impl.running_mean(x.float().cpu())), {"x": given.normal(3, 4, dtype=dtype)}


MOVING = standard_checks(of="running_mean", make=moving)
RIGHT = standard_checks(
    of="running_mean", make=lambda impl, given, dtype: (impl.running_mean, {"x": given.normal(3, 4, dtype=dtype)})
)
test_dtypes, test_device = MOVING.dtypes(dtypes=("float64", "float32")), MOVING.device()
test_right_dtypes = RIGHT.dtypes(id="right_dtypes", title="dtypes again")
test_right_device = RIGHT.device(id="right_device", title="a device again")
"""
    dtypes, device = with_checks(course, more)
    assert dtypes.startswith(
        "the check dtypes: the solution returns float32 for float64, so it notices no other dtype; "
    )
    assert device.startswith("the check device: the solution returns a tensor on the CPU for an input elsewhere; see")


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ("None", 'returns None in every trial; return what the code computes, or {"result": None} if None is right'),
        ('{"a": [{1, 2}]}', "returns an object of the type set, which cannot be compared; return sorted(...) of it"),
        (
            "[0] * 1001",
            "returns a collection of more than 1000 parts or 8 levels, which cannot be compared; return its",
        ),
    ],
)
def test_a_check_that_returns_no_data_is_one_problem(course: Path, result: str, sentence: str) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    more = f"""

@check("something", of="running_mean")
def test_something(impl, given):
    return {result}
"""
    line = len(file.read_text("utf-8").splitlines()) + 3
    [found] = with_checks(course, more)
    assert found.startswith(f"the check something (test_{tiny.FIRST}.py, line {line}) {sentence}")


def test_a_missing_catalogue_is_one_problem(course: Path) -> None:
    (course / CATALOGUE).unlink()
    missing = f"{CATALOGUE} is missing; write a misconception there for each check"
    assert problems_after(course) == [missing]
    done = tiny.run_course(course, "validate", "1", "--plain")
    assert done.stdout.splitlines()[-1].startswith("1 problem: no misconception was run, ")


def test_where_no_misconception_fits_no_check_is_called_idle(course: Path) -> None:
    texts = 'name = "a"\nexplanation = "It is so."\nhint = "Is it so?"\nfind = "no such text"\nreplace = "b"\n'
    (course / CATALOGUE).write_text(f"[one]\n{texts}", "utf-8")
    [found] = problems_after(course)
    assert "one: its find occurs 0 times" in found


def test_what_is_wrong_is_printed_one_sentence_a_line_and_the_exit_is_1(course: Path) -> None:
    file = course / SOLUTION
    source = file.read_text("utf-8")
    file.write_text(source.replace("return ", "return -"), "utf-8")
    done = tiny.run_course(course, "validate", "1")
    assert done.returncode == 1
    *problems, last = done.stdout.splitlines()
    assert " problem" in last
    assert [line for line in problems if line.startswith(f"{tiny.FIRST}: ")], done.stdout


def test_a_missing_solution_is_named_before_anything_runs(course: Path) -> None:
    (course / SOLUTION).unlink()
    done = tiny.run_course(course, "validate", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{SOLUTION} is missing" in done.stderr


def test_a_proof_of_nothing_says_so(course: Path) -> None:
    done = tiny.run_course(course, "validate", "1", "--once", "--seed", "7", "--plain")
    assert done.returncode == 0
    last = "once: no misconceptions were tried, because no exercise that is validated here needs another one of them"
    assert done.stdout.splitlines()[-1] == last
    assert "key kB: -." in done.stdout


def test_a_todo_that_no_check_needs_is_reported(course: Path) -> None:
    more = f'\n\ndef second(x: Tensor) -> Tensor:\n    """Return x."""\n    {BEGIN}\n    return x\n    {END}\n'
    file = course / SOLUTION
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    assert problems_after(course) == [
        "no check needs second: a program that still raises NotImplementedError there passes; "
        "write a check of it, or take it out of the solution regions"
    ]


def test_a_library_that_the_course_does_not_list_is_reported_with_its_line(course: Path) -> None:
    tiny.replaced(course / SOLUTION, "import torch\n", "import jinja2\nimport torch\n")
    found = problems_after(course)
    assert found == [
        f"{SOLUTION}: line 7 imports jinja2, which libraries of course.toml does not list; "
        'list it there, like libraries = ["torch", "jinja2"], or do without'
    ]


def test_the_number_of_another_exercise_in_a_todo_is_reported(course: Path) -> None:
    tiny.replaced(course / SOLUTION, "# TODO ex01:", "# TODO ex02:")
    assert problems_after(course) == ["line 14 of the solution says TODO ex02, expected TODO ex01"]


def test_a_result_that_no_seed_decides_is_said_to_be_drawn(course: Path) -> None:
    more = """
import numpy as np


@check("noise", of="running_mean")
def test_noise(impl, given):
    return impl.running_mean(given.tensor(np.random.default_rng().standard_normal(5)))
"""
    found = with_checks(course, more)
    assert found[0].startswith("two runs of the solution differ in the check noise: something is drawn that no seed")


def test_an_exception_that_is_not_observed_is_a_slip_of_the_check(course: Path) -> None:
    more = """

@check("nothing is refused", of="running_mean", judge=Raises(ValueError))
def test_refused(impl, given):
    return impl.running_mean(given.torch.ones(0))
"""
    [found] = with_checks(course, more)
    assert "test_refused" not in found
    assert "has the judge Raises, and does not return what given.raises observes; write return given.raises(" in found


def test_an_exception_without_its_judge_is_a_slip_of_the_check(course: Path) -> None:
    more = """

@check("nothing is refused", of="running_mean")
def test_refused(impl, given):
    return given.raises(lambda: impl.running_mean(given.torch.ones(0)), 0)
"""
    [found] = with_checks(course, more)
    assert found.startswith(f"the check refused (test_{tiny.FIRST}.py, line ")
    assert "returns what given.raises observes, and its judge would compare the words of the message; add" in found


def test_a_solution_that_fails_gives_no_warning_of_variants(course: Path) -> None:
    tiny.replaced(
        course / "solutions" / tiny.FILES[0], "    ### BEGIN SOLUTION", "    ### BEGIN SOLUTION\n    return 1 / 0"
    )
    suite = tiny.suite_at(course)
    result = validate(suite, seed=suite.course.seed, jobs=1)
    proof = next(one for one in result.exercises if one.id == tiny.FIRST)
    assert any("ZeroDivisionError" in problem for problem in proof.problems)
    assert not any("no accepted variant" in warning for warning in proof.warnings)


def test_a_check_that_any_crash_passes_is_named(course: Path) -> None:
    more = """

@check("nothing is refused", of="running_mean", judge=Raises(Exception))
def test_refused(impl, given):
    return given.raises(lambda: impl.running_mean(given.torch.ones(0)))
"""
    assert any("expects Exception, so any crash passes; name the exception" in one for one in with_checks(course, more))


def test_a_check_that_catches_an_unwritten_todo_is_named(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    text = file.read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("    return impl.running_mean("))
    tried = f"    try:\n    {line}\n    except Exception:\n        return 0.0"
    file.write_text(text.replace(line, tried, 1), "utf-8")
    assert any("; a check of it catches NotImplementedError: values" in one for one in problems_after(course))


def test_a_check_without_a_file_beside_it_says_what_to_do(course: Path) -> None:
    more = """

@check("a file", of="running_mean")
def test_file(impl, given):
    return [__file__, impl.running_mean(given.normal(4))]
"""
    [found] = with_checks(course, more)
    assert found.endswith("a check has no file beside it: write its data into the file with the checks")


def test_too_few_random_results_are_counted(course: Path) -> None:
    more = """
from autograder.checks import Within


@check("the results vary", of="running_mean", judge=Within())
def test_varied(impl, given):
    return {"results": [given.number(0, 9) for _ in range(10)]}
"""
    [found] = with_checks(course, more)
    assert found.startswith(f"the check varied (test_{tiny.FIRST}.py, line ")
    assert "has the judge Within and only 10 results, expected a list or an array of at least 50" in found


def test_a_judge_that_accepts_everything_is_named(course: Path) -> None:
    more = """
def kind(yours, expected):
    return None


@check("kind", of="running_mean", judge=kind)
def test_kind(impl, given):
    return impl.running_mean(given.normal(4))
"""
    found = with_checks(course, more)
    assert found[0].startswith("the judge kind of the check kind accepts the results of other seeds: return a sentence")


def test_an_earlier_exercise_that_needs_lacks_is_named(course: Path) -> None:
    tiny.replaced(course / "course.toml", f'needs = ["{tiny.FIRST}"]', "needs = []")
    found = validate(tiny.suite_at(course), seed=1, jobs=1, cache=course / "cache").problems
    assert found[0].startswith(f"{tiny.SECOND}: the solution {tiny.FILES[1]} cannot be imported: ModuleNotFoundError")
    assert found[0].endswith(f"; add {tiny.FIRST} to needs of {tiny.SECOND} in course.toml")


def test_what_gives_the_solution_a_flag_is_a_problem(course: Path) -> None:
    tiny.replaced(course / SOLUTION, "import torch\n", "import sqlite3\nimport torch\n")
    tiny.replaced(
        course / SOLUTION, "    ### BEGIN SOLUTION\n", "    ### BEGIN SOLUTION\n    sqlite3.connect(':memory:')\n"
    )
    rules = '[flags]\nusual = ["torch"]\n\n[flags.odd]\n"it is not needed" = ["way:unlisted"]\n\n'
    tiny.replaced(course / "course.toml", "[sizes]", f"{rules}[sizes]")
    [found] = [problem for problem in problems_after(course) if "flag" in problem]
    assert found.startswith(f"the solution gets a flag for sqlite3 ({tiny.FIRST}.py, line ")
    assert 'because it is not needed: add "sqlite3" to usual of [flags] in course.toml, or do without' in found


def test_an_exercise_without_an_accepted_variant_is_warned_of(course: Path) -> None:
    for file in (course / "solutions" / "accepted" / tiny.FIRST).glob("*.py"):
        file.unlink()
    suite = tiny.suite_at(course)
    proof, _ = validate(suite, seed=1, jobs=1, cache=course / "cache").exercises
    assert any("it has no accepted variant; write a right program that looks" in one for one in proof.warnings)


@pytest.mark.parametrize("said", ["False", "True", '""'])
def test_a_judge_that_returns_neither_a_sentence_nor_none_is_named(course: Path, said: str) -> None:
    more = f"""

def vague(yours, expected):
    return {said}


@check("vague", of="running_mean", judge=vague)
def test_vague(impl, given):
    return impl.running_mean(given.normal(4))
"""
    found = [problem for problem in with_checks(course, more) if "judge" in problem]
    line = (
        (course / "tests" / "exercises" / f"test_{tiny.FIRST}.py")
        .read_text("utf-8")
        .splitlines()
        .index("def vague(yours, expected):")
    )
    said = said.replace('"', "'")
    assert found[0] == (
        f"the judge vague (test_{tiny.FIRST}.py, line {line + 1}) returns {said}, "
        "expected a sentence on what is wrong, or None if nothing is"
    )


def test_a_decorator_without_parentheses_is_refused_with_its_line(course: Path) -> None:
    file = course / "tests" / "exercises" / f"test_{tiny.FIRST}.py"
    line = len(file.read_text("utf-8").splitlines()) + 3
    more = "\n\n@check\ndef test_bare(impl, given):\n    return impl.running_mean(given.normal(3))\n"
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    done = tiny.run_course(course, "validate", "1")
    assert done.returncode == 2
    assert f'@check above test_bare (line {line}) has no title: write @check("...")' in done.stderr


def test_a_find_that_is_nowhere_is_shown_the_nearest_line(course: Path) -> None:
    tiny.replaced(course / SOLUTION, "return x.cumsum(dim=-1) / count  #", "return x.cumsum(dim=-1).div(count)  #")
    status, found = proof(course, "1")
    own = found["exercises"][0]
    assert status == 1
    assert "; the nearest line is 19: 'return x.cumsum(dim=-1).div(count)  # (..., T)'" in own["problems"][0]
    assert 0 < own["misconceptions"] == own["named"]  # the others are proved all the same
