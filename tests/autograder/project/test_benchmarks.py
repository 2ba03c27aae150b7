"""The benchmarks: where marks are wrong there is no figure, and the status is 1."""

import csv
import functools
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder.course import load_suite, read_course
from autograder.sandbox import Launch
from autograder.sandbox.channels import NOBODY
from tests.support import tiny

BENCHMARKS = tiny.REPOSITORY / "benchmarks"
CHECKS = ("first", "second")


@pytest.fixture(scope="module")
def benchmark() -> Iterator[Callable[[str], ModuleType]]:
    """Load a benchmark by its name; what it imports from its folder is found while the tests of this file run."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # where a dataclass looks for its own types
        spec.loader.exec_module(module)
        return module

    sys.path.insert(0, str(BENCHMARKS))
    yield load
    sys.path.remove(str(BENCHMARKS))


def submission(**made_of: str) -> Any:
    """Return a submission of these exercises; `wrong` stands for a misconception."""
    wrong = frozenset(exercise for exercise, kind in made_of.items() if kind == "wrong")
    return importlib.import_module("synthetic").Synthetic("ada", {}, made_of, wrong)


def exercise(id_: str, status: str, *passing: str, parts: str = "own", kind: str | None = None) -> dict[str, Any]:
    """Return the result of an exercise with two checks of 100 hundredths; each that does not pass has the status."""
    checks = []
    for check in CHECKS:
        passes = check in passing
        finding = None if passes or kind is None else {"kind": kind}
        checks.append(
            {"id": check, "status": "pass" if passes else status, "score": 100 if passes else 0, "finding": finding}
        )
    score = sum(check["score"] for check in checks)
    return {"id": id_, "status": status, "score": score, "max_score": 200, "parts": parts, "checks": checks}


def reports(*exercises: dict[str, Any]) -> dict[str, Any]:
    return {"ada": {"exercises": exercises}}


HONEST = reports(
    exercise("a", "pass", *CHECKS),
    exercise("b", "fail", "first"),
    exercise("c", "missing"),
    exercise("d", "not_started"),
)
MADE_OF = {"a": "solution", "b": "wrong", "c": "missing", "d": "stub"}


def test_marks_that_are_deserved_are_no_problem(benchmark: Callable[[str], ModuleType]) -> None:
    assert list(benchmark("marks").misgraded([submission(**MADE_OF)], HONEST)) == []


@pytest.mark.parametrize(
    ("place", "found"),
    [
        (0, exercise("a", "fail", "first")),
        (0, exercise("a", "grader_error")),
        (0, exercise("a", "timeout", "first")),
        (1, exercise("b", "pass", *CHECKS)),
        (1, exercise("b", "grader_error")),
        (2, exercise("c", "pass", *CHECKS)),
        (3, exercise("d", "fail", "first")),
    ],
    ids=lambda value: value["status"] if isinstance(value, dict) else str(value),
)
def test_a_mark_that_is_not_deserved_is_named(
    benchmark: Callable[[str], ModuleType], place: int, found: dict[str, Any]
) -> None:
    exercises = list(HONEST["ada"]["exercises"])
    exercises[place] = found
    [sentence] = benchmark("marks").misgraded([submission(**MADE_OF)], reports(*exercises))
    assert f"ada {found['id']} ({MADE_OF[found['id']]}): {found['status']}" in sentence


def test_a_report_or_an_exercise_that_is_not_there_is_named(benchmark: Callable[[str], ModuleType]) -> None:
    marks = benchmark("marks")
    assert list(marks.misgraded([submission(a="solution")], {})) == ["ada has no report"]
    assert list(marks.misgraded([submission(a="solution")], reports())) == ["ada a (solution): not in the report"]


@pytest.mark.parametrize("theirs", [0, None, 200])
def test_a_grader_of_this_kit_has_no_reason_to_differ(
    benchmark: Callable[[str], ModuleType], theirs: int | None
) -> None:
    ours = reports(exercise("a", "timeout", "first", parts="stand-in", kind="forbidden"))
    found = benchmark("marks").compared([submission(a="wrong")], ours, {"ada": {"a": theirs}}, rival=False)
    assert (found.same, found.reasons.total(), len(found.unexplained)) == (0, 0, 1)


@pytest.mark.parametrize(
    ("ours", "theirs", "explained"),
    [
        (exercise("a", "fail", "first"), 100, True),
        (exercise("a", "fail", "first"), 200, False),
        (exercise("a", "fail", "first"), None, False),
        (exercise("a", "fail", "first", kind="forbidden"), 200, True),
        (exercise("a", "fail", "first", kind="forbidden"), 0, False),
        (exercise("a", "timeout", "first"), 200, True),
        (exercise("a", "timeout", "first"), 0, False),
        (exercise("a", "timeout", "first"), None, True),
        (exercise("a", "fail", "first", parts="stand-in"), 0, True),
    ],
)
def test_a_rival_differs_for_a_named_reason_only(
    benchmark: Callable[[str], ModuleType], ours: dict[str, Any], theirs: int | None, *, explained: bool
) -> None:
    marks = {"ada": {} if theirs is None else {"a": theirs}}
    found = benchmark("marks").compared([submission(a="wrong")], reports(ours), marks, rival=True)
    assert (found.unexplained == []) == explained
    assert found.marks == 1


def test_a_probe_that_did_not_end_although_its_check_passes_is_named(benchmark: Callable[[str], ModuleType]) -> None:
    marks = benchmark("marks")
    ours = reports(exercise("a", "pass", *CHECKS), exercise("b", "pass", *CHECKS, parts="stand-in"))
    assert list(marks.cut_short(ours, {"ada": {"a": CHECKS}})) == []
    assert list(marks.cut_short(ours, {"ada": {"a": ["first"]}})) == ["ada a: the probes of second did not end"]


def test_a_refusal_names_some_and_counts_the_others(benchmark: Callable[[str], ModuleType]) -> None:
    refuse = benchmark("marks").refuse
    refuse("somebody", [])
    with pytest.raises(SystemExit) as stopped:
        refuse("somebody", [f"mark {number}" for number in range(512)])
    assert isinstance(stopped.value.code, str)  # which Python prints, and exits with 1
    assert stopped.value.code.startswith("no figure, for the marks of somebody are wrong:\n  mark 0\n")
    assert stopped.value.code.endswith("and 504 more")


def contest(
    benchmark: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    theirs: Mapping[str, int],
    own: Any = HONEST,
) -> tuple[ModuleType, Any]:
    """Return the benchmark of grading with two graders that do nothing, and its options."""
    grading = benchmark("grading")
    contestants = importlib.import_module("contestants")
    clock = dict.fromkeys(("prepare", "clear", "run"), lambda _: None)
    ours = type("Ours", (contestants.Confined,), {**clock, "reports": lambda _: own, "isolated": lambda _: "L3"})
    other = type("Other", (contestants.Unwalled,), {**clock, "marks": lambda _: {"ada": theirs}})
    class_ = contestants.Class(Path(), Path(), [submission(**MADE_OF)], {}, 1, 1)
    monkeypatch.setattr(grading, "prepared", lambda *_: [other(class_), ours(class_)])
    monkeypatch.setattr(grading, "floor_of", lambda _: (1.0, {"ada": {"a": CHECKS, "b": ["first"]}}))
    monkeypatch.setattr(grading, "beside", lambda run, other, every: (1.0, [other()]))
    options = type("Options", (), {"only": [], "rounds": 1, "every": 1.0, "submissions": 1, "jobs": 1})
    return grading, (class_, options)


def test_grading_prints_figures_of_graders_whose_marks_are_ours(
    benchmark: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grading, (class_, options) = contest(benchmark, monkeypatch, {"a": 200, "b": 100, "c": 0, "d": 0})
    grading.print_set("all", grading.measured(class_, options), options)
    said = capsys.readouterr().out
    assert "4 of 4" in said
    assert "throughput with the sandbox, relative to without" in said


@pytest.mark.parametrize("theirs", [{}, {"a": 0, "b": 0, "c": 0, "d": 0}], ids=["no marks", "zeros"])
def test_grading_prints_no_figure_of_a_grader_whose_marks_are_not(
    benchmark: Callable[[str], ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    theirs: dict[str, int],
) -> None:
    grading, (class_, options) = contest(benchmark, monkeypatch, theirs)
    with pytest.raises(SystemExit, match="the marks of course-unwalled are wrong:\n  ada a"):
        grading.measured(class_, options)
    assert "course-unwalled" not in capsys.readouterr().out


def test_grading_prints_no_figure_at_all_where_ours_are_wrong_and_all_agree(
    benchmark: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = reports(*(exercise(name, "grader_error") for name in MADE_OF))
    grading, (class_, options) = contest(benchmark, monkeypatch, dict.fromkeys(MADE_OF, 0), failed)
    with pytest.raises(SystemExit, match="the marks of course-sandbox are wrong"):
        grading.measured(class_, options)
    assert capsys.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.worker
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="zygotes need Linux")
def test_without_a_sandbox_the_marks_are_those_of_plain_processes(tmp_path: Path) -> None:
    """Also where this is root, and Python lies in a folder that nobody else may read."""
    course = tmp_path / "course"
    shutil.copytree(tiny.ROOT, course, ignore=shutil.ignore_patterns(".course", "__pycache__"))
    (tmp_path / "class" / "ada").mkdir(parents=True)
    for file in tiny.FILES:
        shutil.copy(course / "solutions" / file, tmp_path / "class" / "ada")
    table = []
    for name, program, isolation in (
        ("process", ["-m", "autograder"], "process"),
        ("unwalled", [BENCHMARKS / "unwalled.py"], "sandbox"),
    ):
        options = ["--out", tmp_path / name, "--isolation", isolation, "--seed", "1", "--jobs", "1", "--plain"]
        command = [sys.executable, *program, "grade", tmp_path / "class", *options]
        done = subprocess.run([*map(str, command)], cwd=course, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        with (tmp_path / name / "scores.csv").open(encoding="utf-8", newline="") as file:
            table.append(list(csv.DictReader(file)))
    assert table[0] == table[1]
    assert table[0][0]["score"] == "100.00"


@pytest.mark.long
@pytest.mark.parametrize("count", [6, 14])
def test_the_speed_is_measured_on_the_first_exercises_of_the_course(
    benchmark: Callable[[str], ModuleType], tmp_path: Path, count: int
) -> None:
    benchmark("grading").copy_course(tmp_path / "course", count)
    found = [exercise.id for exercise in read_course(tmp_path / "course").exercises]
    assert found == [exercise.id for exercise in read_course(tiny.REPOSITORY).exercises[:count]]


@pytest.mark.worker
def test_the_patience_with_a_grader_is_processor_time(
    benchmark: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So a pause, in which another one is measured, takes nothing of it."""
    contestants = benchmark("contestants")
    monkeypatch.setattr(contestants, "PATIENCE", 1)
    class_ = contestants.Class(tmp_path, Path(sys.executable), [], {}, 1, 1)
    assert class_.call(["sleep", "1.5"], tmp_path) == 0
    assert class_.call(["sh", "-c", "while :; do :; done"], tmp_path) < 0


@pytest.mark.slow
@pytest.mark.worker
def test_the_solutions_pass_the_checks_of_the_rivals(tmp_path: Path) -> None:
    """The rivals use their own judges, which must follow every judge and every value of ours."""
    (tmp_path / "course").symlink_to(tiny.REPOSITORY)
    environment = {**os.environ, "PLAIN_CHECKS": str(tmp_path), "PYTHONPATH": str(tiny.REPOSITORY)}
    command = [sys.executable, str(BENCHMARKS / "rivals" / "plain_checks.py"), "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "expected.pt").is_file()


def test_a_zygote_outside_bubblewrap_is_nobody_where_this_is_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert Launch(outer=False).user() == {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    assert Launch(outer=True).user() == {}


def test_a_gradebook_with_other_scores_is_named(benchmark: Callable[[str], ModuleType]) -> None:
    differing = benchmark("gradebook").differing
    assert differing({"ada": 1.5}, {"ada": 1.5}) == []
    assert differing({"ada": 1.5, "eva": 2.0}, {"ada": 1.0, "bob": 0.0}) == [
        "ada: 1.0, expected 1.5",
        "eva: None, expected 2.0",
        "bob: 0.0, expected None",
    ]


@pytest.mark.parametrize(
    ("figures", "wrong", "right"),
    [
        ({"wrong": []}, None, True),
        ({"wrong": [["ex04", "a mask"]]}, None, False),
        (None, None, False),
        ({"wrong": [["ex04", "a mask"], ["ex04", "a mask"]]}, "ex04", True),
        ({"wrong": []}, "ex04", False),
        (None, "ex04", True),
    ],
)
def test_playing_a_program_has_a_figure_where_it_is_judged_rightly(
    benchmark: Callable[[str], ModuleType], figures: dict[str, Any] | None, wrong: str | None, *, right: bool
) -> None:
    play = benchmark("play")
    assert (play.misjudged(play.Ended(0, "said", figures, 1.0, 1.0), wrong) is None) == right


def test_the_comparison_of_checks_refuses_a_course_that_does_not_hold(
    benchmark: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    naive = benchmark("naive_checks")

    def fails(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        Path(command[-1]).write_text("{}")
        return subprocess.CompletedProcess(command, 1, "2 problems", "")

    monkeypatch.setattr(naive.subprocess, "run", fails)
    with pytest.raises(SystemExit, match="no figure, for the course does not hold:\n2 problems"):
        naive.validated(tiny.COURSE, 1)


def test_a_course_of_two_exercises_has_synthetic_submissions_too(benchmark: Callable[[str], ModuleType]) -> None:
    synthetic = benchmark("synthetic").synthetic
    course = read_course(tiny.REPOSITORY)
    for count in (1, 2):
        suite = load_suite(course, course.exercises[:count])
        assert len(list(synthetic(suite, 40, 1))) == 40


def peer_task(**fields: Any) -> Any:
    """Return a task of another course whose adapter is the function `double` of an exercise."""
    task = importlib.import_module("peer_tasks").Task
    given = {"course": "TorchCode", "name": "double", "exercise": "ex99_double", "adapter": lambda code: code.double}
    return task(**{**given, "probe": lambda double: [double(3)], **fields})


def doubling(source: str) -> ModuleType:
    """Return the code of an exercise with one function."""
    module = ModuleType("ex99_double")
    exec(f"def double(x): return {source}", vars(module))
    return module


def test_the_checks_of_a_task_are_read_from_a_clone_and_run_on_what_the_adapter_makes(
    benchmark: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    peers = benchmark("peers")
    file = tmp_path / "torch_judge" / "tasks" / "double.py"
    file.parent.mkdir(parents=True)
    file.write_text('TASK = {"function_name": "twice", "tests": [{"name": "two", "code": "assert {fn}(2) == 4"}]}')
    assert peers.snippets(tmp_path, "double") == ("twice", ["assert twice(2) == 4"])
    run = (*peers.snippets(tmp_path, "double"), peer_task())
    for passing in ("2 * x", "x * x"):
        peers.run_snippets(*run, doubling(passing), doubling("2 * x"))
    with pytest.raises(AssertionError):
        peers.run_snippets(*run, doubling("x"), doubling("2 * x"))


def test_a_mistake_counts_where_the_probe_of_the_task_shows_it(benchmark: Callable[[str], ModuleType]) -> None:
    peers = benchmark("peers")
    peers.compare(peer_task(), [6], doubling("x + x"), doubling("2 * x"))
    with pytest.raises(AssertionError):
        peers.compare(peer_task(), [6], doubling("x * x"), doubling("2 * x"))
    tensor = peers.torch.tensor
    assert peers.same(tensor([1.0]), tensor([1.00001]), 1e-4)
    assert not peers.same(tensor([1.0]), tensor([1.1]), 1e-4)
    assert not peers.same(tensor([1.0]), tensor([[1.0]]), 1e-4)


@pytest.mark.worker
def test_tests_of_another_course_call_the_adapter_in_the_place_of_their_own(
    benchmark: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    peers = benchmark("peers")
    (tmp_path / "tests").mkdir()
    for name, text in {
        "__init__": "",
        "adapters": "def run_double(x): raise NotImplementedError\ndef run_other(x): raise NotImplementedError",
        "test_model": "from .adapters import run_double, run_other\ndef test_double(): assert run_double(2) == 4\n"
        "def test_other(): assert run_other(2) == 4",
    }.items():
        (tmp_path / "tests" / f"{name}.py").write_text(text)
    task = peer_task(function="run_double", tests=("test_model.py::test_double",))
    programs = [
        peers.Program("misconception", task.exercise, name, name, f"def double(x): return {name}")
        for name in ("2 * x", "x * x", "x")
    ]
    check = {task.exercise: functools.partial(peers.run_tests, tmp_path, task)}
    passing = peers.passing_programs(programs, check, {task.exercise: doubling("2 * x")}, 1)
    assert [program.name for program in programs if program in passing] == ["2 * x", "x * x"]


def test_the_section_on_other_courses_counts_by_task_and_in_total(benchmark: Callable[[str], ModuleType]) -> None:
    peers = benchmark("peers")
    wrong = [peers.Program("misconception", "ex99_double", f"double-{i}", f"mistake {i}", "") for i in range(3)]
    rows = [peers.Row(peer_task(), wrong, wrong[:1]), peers.Row(peer_task(name="more"), wrong[1:], [])]
    text = peers.section(rows, {"TorchCode": "0123456789abcdef"}, "the command")
    assert "| ex99_double | TorchCode | `double` | 3 | 1 | 0 |" in text
    assert "| ex99_double | TorchCode | `more` | 2 | 0 | 0 |" in text
    assert "| **total** | TorchCode |  | **5** | **1** | **0** |" in text
    assert "| the computation itself | 5 | 1 | mistake 0 |" in text
    assert "commit `0123456789ab`" in text
    assert "\nthe command\n" in text


def test_each_part_of_the_comparison_is_renewed_without_the_other(
    benchmark: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    page = benchmark("naive_page")
    file = tmp_path / "comparison.md"
    assert page.beside(file) == ""
    file.write_text(page.with_section("# Naive\n", f"{page.BESIDE}\n\nold\n"))
    assert file.read_text() == f"# Naive\n\n{page.BESIDE}\n\nold\n"
    assert page.with_section("# New\n", page.beside(file)) == f"# New\n\n{page.BESIDE}\n\nold\n"
    assert page.with_section(file.read_text(), f"{page.BESIDE}\n\nnew\n") == f"# Naive\n\n{page.BESIDE}\n\nnew\n"
    assert page.with_section("# Naive\n", "") == "# Naive\n"
