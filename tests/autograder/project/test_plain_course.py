"""A course of plain Python, from its proof to its kit, in processes that cannot import torch."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support import plain, tiny

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(plain.ROOT, tmp_path_factory.mktemp("plain") / "course"))


def checked(root: Path, folder: Path, exercise: str, text: str) -> dict[str, Any]:
    """Return the result of one exercise with this text."""
    folder.mkdir(exist_ok=True)
    (folder / f"{exercise}.py").write_text(text, "utf-8")
    plain.run_course(root, "check", exercise, "--submission", str(folder), "--json", str(folder / "report.json"))
    [result] = json.loads((folder / "report.json").read_text("utf-8"))["exercises"]
    return dict(result)


def finding_of(result: dict[str, Any]) -> dict[str, Any]:
    return next(check["finding"] for check in result["checks"] if check["finding"])


def test_it_holds_and_every_misconception_is_named(root: Path) -> None:
    done = plain.run_course(root, "validate", "--seed", "7")
    assert done.returncode == 0, done.stdout
    assert "14 of 14 misconceptions named as themselves" in done.stdout
    assert "empty programs: 19 families, 0 points at most" in done.stdout


def test_a_worker_loads_no_library(root: Path, tmp_path: Path) -> None:
    result = checked(root, tmp_path, plain.SORT, plain.LOADS_NOTHING + plain.solution(plain.SORT))
    assert result["status"] == "pass"


def test_a_mistake_that_nobody_knows_is_located_by_its_values(root: Path, tmp_path: Path) -> None:
    wrong = plain.solution(plain.SORT).replace("count += 1", "count += 2")
    result = checked(root, tmp_path, plain.SORT, wrong)
    place = finding_of(result)["place"]
    assert wrong.splitlines()[place["line"] - 1].strip() == "count += 2"


def test_all_values_of_a_list_that_differ_are_shown(root: Path, tmp_path: Path) -> None:
    wrong = plain.solution(plain.SORT).replace("    return items\n", "    return items[1:] + items[:1]\n")
    evidence = finding_of(checked(root, tmp_path, plain.SORT, wrong))["evidence"]
    assert evidence["name"] == "result"
    assert [label for label, _, _ in evidence["rows"]] == ["parts"]
    assert [at for at, _, _ in evidence["witnesses"]][:2] == ["item 0", "item 1"]
    assert evidence["witness_title"] == "values that differ"


def test_an_exception_shows_the_values_of_its_line(root: Path, tmp_path: Path) -> None:
    wrong = plain.solution(plain.SEARCH).replace("items[middle] == wanted", "items[middle + 90] == wanted")
    (tmp_path / f"{plain.SORT}.py").write_text(plain.solution(plain.SORT), "utf-8")
    finding = finding_of(checked(root, tmp_path, plain.SEARCH, wrong))
    assert finding["kind"] == "exception"
    assert finding["evidence"]["name"] == f"the values in {finding['place']['function']}()"
    assert ["middle", "", "6"] in finding["evidence"]["rows"]


def test_a_class_is_graded_in_the_sandbox(root: Path, tmp_path: Path) -> None:
    for student, count in (("ada", "1"), ("eva", "2")):
        (tmp_path / "class" / student).mkdir(parents=True)
        for exercise in (plain.SORT, plain.SEARCH):
            text = plain.solution(exercise).replace("count += 1", f"count += {count}")
            (tmp_path / "class" / student / f"{exercise}.py").write_text(text, "utf-8")
    isolation = () if shutil.which("bwrap") else ("--isolation", "process")
    done = plain.run_course(root, "grade", str(tmp_path / "class"), "--out", str(tmp_path / "out"), *isolation)
    assert done.returncode == 0, done.stderr
    scores = {
        file.stem: json.loads(file.read_text("utf-8"))["score"] for file in (tmp_path / "out" / "reports").iterdir()
    }
    assert scores["ada"] == 10000
    assert 0 < scores["eva"] < 10000


def test_its_kit_names_no_other_course_and_installs_no_torch(root: Path, tmp_path: Path) -> None:
    done = plain.run_course(root, "build", "--force")
    assert done.returncode == 0, done.stderr
    done = plain.run_course(root, "release", str(tmp_path / "kit"))
    assert done.returncode == 0, done.stderr
    readme = (tmp_path / "kit" / "README.md").read_text("utf-8")
    assert readme.startswith("# Sort and search")
    assert "--editable .\n" in readme
    assert "Transformer" not in readme
    assert "torch" not in readme
    shutil.copyfile(root / "solutions" / f"{plain.SORT}.py", tmp_path / "kit" / "exercises" / f"{plain.SORT}.py")
    done = plain.run_course(tmp_path / "kit", "check", "1")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_help_has_the_title_of_the_course(root: Path) -> None:
    done = plain.run_course(root, "--help")
    assert "Sort and search: write the exercises, and have each one checked." in done.stdout
    assert "Transformer" not in done.stdout


def test_the_worked_example_runs(root: Path) -> None:
    shutil.copyfile(plain.ROOT / "solutions" / f"{plain.SORT}.py", root / "exercises" / f"{plain.SORT}.py")
    done = plain.run_course(root, "try", "1")
    assert "[1 2 3]   [1 2 3]" in done.stdout


def test_another_device_is_refused_in_a_sentence(root: Path) -> None:
    done = plain.run_course(root, "check", "1", "--device", "cuda")
    assert done.returncode == 3
    assert "this course has no devices; leave --device cuda out" in done.stderr


BANNED = {
    "a builtin": ("items = list(values)", "items = sorted(values)", "sorted"),
    "a builtin of another name": ("items = list(values)", "order = sorted; items = order(values)", "sorted"),
    "a method": ("items = list(values)", "items = list(values); items.sort()", "list.sort"),
    "a module": ("items = list(values)", "import heapq; items = list(values)", "heapq"),
    "a module by a function": ("items = list(values)", "items = list(values); __import__('heapq')", "heapq"),
    "a part of a module": ("items = list(values)", "from heapq import nsmallest as least; items = [*values]", "heapq"),
    "syntax": ("items = list(values)", "items = (lambda given: [*given])(values)", "syntax:lambda"),
}


@pytest.mark.parametrize("what", BANNED)
def test_what_an_exercise_forbids_is_named_with_its_line(root: Path, tmp_path: Path, what: str) -> None:
    old, new, name = BANNED[what]
    wrong = plain.solution(plain.SORT).replace(old, new)
    result = checked(root, tmp_path, plain.SORT, wrong)
    finding = finding_of(result)
    assert (result["score"], finding["kind"]) == (0, "forbidden")
    assert finding["id"].startswith(name)
    assert new in wrong.splitlines()[finding["place"]["line"] - 1]
    assert "this exercise asks you" in finding["message"].lower()


ALLOWED = {
    "a variable of the same name": ("items = list(values)", "sorted = list(values); items = sorted"),
    "a method of the same name": ("items = list(values)", "items = list(values); 'a'.index('a')"),
    "the name in a text": ("items = list(values)", "items = list(values); 'sorted lambda heapq'"),
}


@pytest.mark.parametrize("what", ALLOWED)
def test_what_only_looks_forbidden_is_allowed(root: Path, tmp_path: Path, what: str) -> None:
    old, new = ALLOWED[what]
    assert checked(root, tmp_path, plain.SORT, plain.solution(plain.SORT).replace(old, new))["status"] == "pass"


def test_a_learner_who_catches_the_refusal_has_still_made_the_call(root: Path, tmp_path: Path) -> None:
    new = "items = list(values)\n    try:\n        getattr(items, 'so' + 'rt')()\n    except Exception:\n        pass"
    result = checked(root, tmp_path, plain.SORT, plain.solution(plain.SORT).replace("items = list(values)", new))
    assert {check["finding"]["kind"] for check in result["checks"]} == {"forbidden"}


def test_the_tiny_course_of_tensors_declares_its_library() -> None:
    assert tiny.COURSE.libraries == ("torch",)
    assert not plain.suite().course.computes_with_tensors
