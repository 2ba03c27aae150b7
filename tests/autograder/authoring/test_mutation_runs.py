"""`course mutate`: it finds the survivors of a course, keeps what it knows, and saves what an author decides."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring import mutants as equivalents
from autograder.authoring import mutants as running
from autograder.authoring.mutants import LIKELY, ExerciseMutants, Options, mutants_of, mutate_each
from autograder.course import Suite
from tests.support import tiny

pytestmark = pytest.mark.worker

CATALOGUE = f"solutions/misconceptions/{tiny.FIRST}.toml"
EQUIVALENTS = f"solutions/equivalents/{tiny.FIRST}.toml"
CHECKS = f"tests/exercises/test_{tiny.FIRST}.py"
GRADIENT = '[[equivalent]]\noperator = "gradient"\nreason = "No check of this course asks for gradients."\n'


@pytest.fixture
def listed(course: Path) -> Path:
    """Return a copy of the course whose first exercise lists the mutants that cut the graph."""
    file = course / EQUIVALENTS
    file.parent.mkdir()
    file.write_text(GRADIENT)
    return course


def first(course: Path) -> Suite:
    suite = tiny.suite_at(course)
    return replace(suite, checks={tiny.FIRST: suite.checks[tiny.FIRST]})


def run(course: Path, **options: Any) -> ExerciseMutants:
    [result] = mutate_each(first(course), Options(**{"seed": 11, "jobs": 1, "trials": 2, **options}))
    return result


def becoming(result: ExerciseMutants) -> dict[str, str | None]:
    """Return what each survivor becomes, with the sentence about its witness."""
    return {
        survivor.mutant.becomes: survivor.witness.sentence if survivor.witness else None
        for survivor in result.survivors
    }


def test_survivors_are_found_with_an_input_on_which_they_differ(listed: Path) -> None:
    tiny.replaced(listed / CHECKS, 'given.sizes("T"), shift=1.0', 'given.sizes("T"), scale=0.0, shift=1.0')
    tiny.replaced(listed / CHECKS, 'given.sizes("N B T"))', 'given.sizes("N B T"), scale=0.0, shift=1.0)')
    result = run(listed)
    assert result.caught + result.equivalent + len(result.survivors) == result.mutants > 30
    assert result.equivalent > 0
    assert not result.ok
    assert (result.left, result.problems) == (0, ())
    found = becoming(result)
    assert found["return count / x.cumsum(dim=-1)"] == "Differs in the check values with numbers that are all 0."
    elsewhere = "Differs in the check values with inputs and modules on another device."
    assert found["count = torch.arange(1, x.size(-1) + 1)"] == elsewhere, "no check asks for another device"
    assert "count = torch.arange(2, x.size(-1) + 1, device=x.device)" not in found
    order = [(survivor.witness is None, LIKELY.index(survivor.mutant.operator)) for survivor in result.survivors]
    assert order == sorted(order), "likely mistakes come first"


def test_a_detach_without_a_gradient_is_equivalent_and_is_kept_so(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equivalents, "detaches_nothing", lambda *_: False)
    result = run(course)
    assert result.equivalent == 2, "the count, and the wording of the error"
    cut = {becomes: said for becomes, said in becoming(result).items() if "detach()" in becomes}
    assert cut == {
        "return (x.cumsum(dim=-1) / count).detach()": "Its gradients differ in the check values, and no check "
        "observes this."
    }
    monkeypatch.setattr(running, "_run", lambda part, pending, *_: pending and pytest.fail("a mutant is run again"))
    assert run(course) == result


def test_a_run_goes_on_where_it_ended(listed: Path) -> None:
    none = run(listed, until=0.0)
    assert (none.left, none.caught, none.ok) == (none.mutants, 0, False)
    seen: list[tuple[str, int, int]] = []
    suite = first(listed)
    [whole] = mutate_each(suite, Options(11, 1, trials=1), on_progress=lambda *now: seen.append(now))
    assert whole.left == 0
    assert seen[0] == (tiny.FIRST, 1, whole.mutants)
    assert seen[-1] == (tiny.FIRST, whole.mutants, whole.mutants)
    seen.clear()
    [again] = mutate_each(suite, Options(11, 1, trials=1), on_progress=lambda *now: seen.append(now))
    assert (again, seen) == (whole, [])
    kept = listed / ".course" / "cache" / f"mutants-{tiny.FIRST}.json"
    record = json.loads(kept.read_text())
    some = dict([*record["caught"].items()][:-3])
    kept.write_text(json.dumps({**record, "caught": some}))
    [rest] = mutate_each(suite, Options(11, 1, trials=1), on_progress=lambda *now: seen.append(now))
    assert rest == whole
    assert [done for _, done, _ in seen] == [whole.mutants - 2, whole.mutants - 1, whole.mutants]


def test_a_changed_check_runs_every_mutant_again(listed: Path) -> None:
    before = run(listed)
    tiny.replaced(listed / CHECKS, "points=3", "points=4")
    seen: list[int] = []
    suite = first(listed)
    [after] = mutate_each(suite, Options(11, 2, trials=1), on_progress=lambda _, done, __: seen.append(done))
    assert len(seen) == after.mutants
    assert (after.caught, after.equivalent) == (before.caught, before.equivalent)


def test_a_solution_that_fails_its_checks_is_no_start(listed: Path) -> None:
    tiny.replaced(listed / CHECKS, 'given.sizes("T"), shift=1.0))', 'given.sizes("T"), shift=1.0)) + time_ns() % 1000')
    tiny.replaced(listed / CHECKS, "from autograder.checks", "from time import time_ns\n\nfrom autograder.checks")
    done = tiny.run_course(listed, "mutate", "1")
    assert done.returncode == 4
    assert "the solution of ex01_running_mean fails the check values; run `course validate`" in done.stderr


def test_an_author_lists_or_drafts_a_survivor(course: Path) -> None:
    done = tiny.run_course(course, "mutate", "1", "--jobs", "2", "--search", "1", "--json", "-")
    assert done.returncode == 1
    [result] = json.loads(done.stdout)["exercises"]
    cut, *others = [survivor["id"] for survivor in result["survivors"]]
    shown = tiny.run_course(course, "mutate", "1", "--search", "1")
    assert cut in shown.stdout
    assert f"course mutate --draft {cut}" in shown.stdout

    done = tiny.run_course(course, "mutate", "--draft", cut)
    assert done.returncode == 0
    assert f"-{cut}]" in (course / CATALOGUE).read_text()
    assert tiny.run_course(course, "mutate", "--draft", cut).returncode == 2

    done = tiny.run_course(course, "mutate", "--equivalent", cut, *others, "--reason", "Nothing here has a gradient.")
    assert done.returncode == 0
    assert done.stdout == f"Listed {', '.join([cut, *others])} in {EQUIVALENTS}\n"
    done = tiny.run_course(course, "mutate", "1", "--plain")
    assert done.returncode == 0
    # Two need no entry: `count` is detached, whose whole numbers have no gradient, and the error has another wording.
    assert f"{3 + len(others)} equivalent, 0 survivors, 0 not run" in done.stdout


def test_what_is_caught_or_unknown_is_not_listed(course: Path) -> None:
    result = run(course)
    survivors = {survivor.mutant.id for survivor in result.survivors}
    caught = next(mutant.id for mutant in mutants_of(tiny.MEAN, "01") if mutant.id not in survivors)
    done = tiny.run_course(course, "mutate", "--equivalent", caught, "--reason", "It does not matter.")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{caught} is caught by the check " in done.stderr
    done = tiny.run_course(course, "mutate", "--equivalent", "01-000000", "--reason", "It does not matter.")
    assert "there is no mutant '01-000000'" in done.stderr
    done = tiny.run_course(course, "mutate", "--equivalent", caught)
    assert "--equivalent and --reason belong together" in done.stderr
    assert not (course / EQUIVALENTS).exists()


def test_an_entry_that_is_no_longer_true_is_a_problem(course: Path) -> None:
    file = course / EQUIVALENTS
    file.parent.mkdir()
    file.write_text('[[equivalent]]\noperator = "axis"\nreason = "Axes do not matter."\n')
    done = tiny.run_course(course, "mutate", "1", "--search", "1")
    assert done.returncode == 1
    assert "listed as equivalent, but the operator axis: caught by " in done.stdout
