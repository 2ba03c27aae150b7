"""`course validate --watch` runs only what an edit touches, and finds what a whole proof finds; parts say they are."""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.authoring.command_validate import _prove_again
from autograder.authoring.programs import Memory
from autograder.authoring.proof import Part, Validation, validate
from autograder.course import Suite, load_suite, read_course, with_steps
from tests.support import tiny

pytestmark = pytest.mark.worker

CHECKS, SOLUTION = f"tests/exercises/test_{tiny.FIRST}.py", f"solutions/{tiny.FILES[0]}"
CATALOGUE = f"solutions/misconceptions/{tiny.FIRST}.toml"
WRONG = 8


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.copied(tmp_path / "course")


@pytest.fixture
def memory() -> Iterator[Memory]:
    kept = Memory()
    yield kept
    kept.close()


def suite_of(course: Path) -> Suite:
    read = read_course(course)
    return with_steps(load_suite(read, [read.exercises[0]]))


def proof(course: Path, memory: Memory | None = None, part: Part | None = None) -> Validation:
    suite = suite_of(course)
    return validate(suite, seed=tiny.COURSE.seed, jobs=2, cache=course / "cache", memory=memory, part=part)


def facts(found: Validation) -> object:
    return found.problems, [(one.kind, one.name, one.checks, one.named) for one in found.proofs]


EDITS = [
    (CHECKS, '"three axes": impl.running_mean', '"all three axes": impl.running_mean'),
    (CATALOGUE, "replace = 'x.cumsum(dim=0)'", "replace = 'x.cumsum(dim=-1)'"),
    (SOLUTION, "# # A running mean", "# # The mean of all up to here"),
    (SOLUTION, "count = torch.arange(1, ", "count = torch.arange(2, "),
    (SOLUTION, "count = torch.arange(2, ", "count = torch.arange(1, "),
    (CHECKS, 'given.sizes("T"), shift=1.0))', 'given.sizes("T"))) * 0'),
]


@pytest.mark.slow
def test_a_proof_with_a_memory_finds_what_a_proof_without_one_finds(course: Path, memory: Memory) -> None:
    assert facts(proof(course, memory)) == facts(proof(course))
    found = []
    for file, old, new in EDITS:
        tiny.replaced(course / file, old, new)
        found.append(proof(course, memory))
        assert facts(found[-1]) == facts(proof(course)), (file, new)
    assert [bool(one.problems) for one in found] == [False, True, True, True, True, True]


def test_only_what_an_edit_touches_runs_again(course: Path, memory: Memory) -> None:
    def ran(file: str, old: str, new: str) -> int:
        tiny.replaced(course / file, old, new)
        before = memory.ran
        proof(course, memory)
        return memory.ran - before

    proof(course, memory)
    everything = memory.ran
    before = memory.ran
    proof(course, memory)
    assert memory.ran == before
    assert ran(CATALOGUE, 'hint = "Is your', 'hint = "So is your') == 0
    assert ran(CATALOGUE, "replace = 'x.cumsum(dim=0)'", "replace = 'x.cumsum(dim=-2)'") <= 7  # trials of the checks
    one_check = ran(CHECKS, '"three axes": impl.running_mean', '"all three axes": impl.running_mean')
    assert 0 < one_check < everything / 2
    assert (
        ran(
            CHECKS,
            "from autograder.checks import Raises, check, picture",
            "from autograder.checks import Raises, check, picture  # all",
        )
        == 2  # the picture of two right programs, which is known by the whole file
    )


def test_a_memory_forgets_what_a_check_uses_in_its_file(course: Path, memory: Memory) -> None:
    checks = course / CHECKS
    text = checks.read_text("utf-8").replace('given.normal(*given.sizes("T"), shift=1.0)', "row(given)")
    checks.write_text(f'{text}\n\ndef row(given):\n    return given.normal(*given.sizes("T"), shift=1.0)\n', "utf-8")
    proof(course, memory)
    tiny.replaced(checks, "shift=1.0", "shift=2.0")
    before = memory.ran
    assert facts(proof(course, memory)) == facts(proof(course))
    assert memory.ran > before + WRONG


def test_a_part_of_a_proof_says_so_and_writes_no_file(course: Path) -> None:
    table = course / CATALOGUE.replace(".toml", ".json")
    before = table.read_bytes() if table.is_file() else None
    done = tiny.run_course(course, "validate", "--check", "axes")
    assert done.returncode == 0, done.stdout + done.stderr
    *_, caught, last = done.stdout.splitlines()
    assert caught.startswith("axes is failed by 6 of 8 misconceptions: mean-not-divided, ")
    assert last.startswith("a part of the proof: no problem, ")
    assert last.endswith(f"seed {tiny.COURSE.seed}. `course validate 01` proves everything")
    assert (table.read_bytes() if table.is_file() else None) == before
    done = tiny.run_course(course, "validate", "1", "--misconception", "mean-axis-fixed", "--json", "-")
    found = json.loads(done.stdout)
    assert found["part"] == {"checks": [], "misconceptions": ["mean-axis-fixed"]}
    assert [one["name"] for one in found["proofs"] if one["kind"] == "misconception"] == ["mean-axis-fixed"]


@pytest.mark.slow
def test_a_part_leaves_the_keys_of_the_whole_proof(course: Path) -> None:
    assert tiny.run_course(course, "validate", "1", "--plain").returncode == 0
    before = {file: file.read_bytes() for file in (course / ".course" / "cache").iterdir()}
    done = tiny.run_course(course, "validate", "1", "--check", "axes")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {file: file.read_bytes() for file in before} == before


def test_a_part_with_a_problem_fails(course: Path) -> None:
    tiny.replaced(course / CATALOGUE, "replace = 'x.cumsum(dim=0)'", "replace = 'x.cumsum(-1)'")
    done = tiny.run_course(course, "validate", "1", "--misconception", "mean-axis-fixed")
    assert done.returncode == 1
    assert "the misconception mean-axis-fixed passes every check" in done.stdout
    tiny.replaced(course / CHECKS, "shift=1.0))", "shift=1.0)).shape[0] * 0")
    done = tiny.run_course(course, "validate", "1", "--check", "values")
    assert done.returncode == 1
    assert "no misconception fails the check values" in done.stdout
    assert "a part of the proof: " in done.stdout
    assert "holds" not in done.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--check", "axis"], "There is no check `axis`. Did you mean `axes`?"),
        (["--misconception", "a"], "There is no misconception `a`. Expected one of mean-axis-fixed, "),
        (["--check", "axes", "--misconception", "power-of-elements"], "no exercise has both the check and the misc"),
        (["--check", "axes", "--page", "page.md"], "--check proves a part, and --page needs a whole proof"),
        (["--watch", "--check", "axes"], "--watch proves what a save touches; leave --check"),
    ],
)
def test_what_is_no_part_is_refused(course: Path, words: list[str], sentence: str) -> None:
    done = tiny.run_course(course, "validate", *words)
    assert done.returncode == 2
    assert sentence in " ".join(done.stderr.split())


def test_what_cannot_be_looked_for_is_not_called_gone(
    course: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(course)
    options, last = argparse.Namespace(exercises=["1"], sizes=None, seed=None), None

    def saved(file: str, old: str, new: str) -> list[str]:
        nonlocal last
        tiny.replaced(course / file, old, new)
        last = _prove_again(options, 2, "cpu", course / "cache", memory, last)
        return [line for line in capsys.readouterr().out.splitlines() if not line.startswith("right programs")]

    text = (course / CHECKS).read_text("utf-8")
    idle = (
        '@check("it is an array", requires_any=("values",))\ndef test_idle(impl, given):\n    return {"right": True}\n'
    )
    (course / CHECKS).write_text(f"{text}\n\n{idle}", "utf-8")
    wrong, right = "replace = 'x.cumsum(dim=-1, dtype=x.dtype)'", "replace = 'x.cumsum(dim=0)'"
    *first, last_line = saved(CATALOGUE, right, wrong)
    unfit, passing = f"new: {tiny.FIRST}: no misconception fails the check idle", "mean-axis-fixed passes every check"
    assert unfit in first
    assert passing in "".join(first)
    assert last_line.startswith(f"{len(first)} problems, ")

    place = "find = 'x.cumsum(dim=-1)'"
    *broken, last_line = saved(CATALOGUE, f"{place}\n{wrong}", f"find = 'no such text'\n{wrong}")
    assert [line.split(":")[0] for line in broken] == ["new"]
    assert "its find occurs 0 times" in broken[0]
    assert last_line.startswith(f"{len(first)} problems and 1 of before that cannot be looked for now, ")

    unreadable = saved(SOLUTION, "count = torch.arange(1, ", "count = no_such_name or torch.arange(1, ")
    assert not [line for line in unreadable if "gone" in line and "find occurs" not in line]
    assert "of before that cannot be looked for now" in unreadable[-1]

    *repaired, last_line = saved(SOLUTION, "no_such_name or ", "")
    assert [line.split(":")[0] for line in repaired] == ["gone"] * len(repaired)
    assert last_line.startswith(f"{len(first)} problems and 1 of before")

    *mended, last_line = saved(CATALOGUE, f"find = 'no such text'\n{wrong}", f"{place}\n{right}")
    assert any(passing in line for line in mended if line.startswith("gone: "))
    assert not any("check idle" in line for line in mended)
    assert " that cannot be looked for" not in last_line


def test_a_save_is_noticed_and_worst_news_come_first(course: Path) -> None:
    command = [sys.executable, "-m", "autograder", "validate", "1", "--watch"]
    environment = tiny.environment({"PYTHONUNBUFFERED": "1"})
    with subprocess.Popen(command, cwd=course, env=environment, stdout=subprocess.PIPE, text=True) as watch:
        assert watch.stdout is not None

        def until_summary() -> list[str]:
            said: list[str] = []
            for line in watch.stdout or ():
                said.append(line.rstrip("\n"))
                if "sizes and costs are not proved here" in line or "correct it" in line:
                    break
            return said

        first = until_summary()
        assert first[-1].startswith("no problem, ")
        tiny.replaced(course / SOLUTION, "count = torch.arange(1, ", "count = torch.arange(2, ")
        changed, *news, last = until_summary()
        assert changed == f"{SOLUTION} changed"
        assert news[0].startswith(f"new: {tiny.FIRST}: the solution of {tiny.FIRST} fails the check values (")
        assert last.startswith(f"{len([one for one in news if one.startswith('new: ')])} problems, ")
        tiny.replaced(course / SOLUTION, "count = torch.arange(2, ", "count = torch.arange(2, (")
        assert "is no Python (" in " ".join(until_summary())
        tiny.replaced(course / SOLUTION, "count = torch.arange(2, (", "count = torch.arange(1, ")
        *news, last = until_summary()
        assert last.startswith("no problem, ")
        assert any(one.startswith("gone: ") for one in news)
        watch.send_signal(signal.SIGINT)
        assert watch.wait(20) == 130
