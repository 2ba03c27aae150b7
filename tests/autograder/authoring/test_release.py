"""The student's kit: its content, its commands without the solutions, and its messages when it is damaged."""

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from autograder.answer_key import Keys, open_keys
from autograder.answer_key.keys import KitKeys
from autograder.authoring import MOST_KEY_BYTES
from autograder.authoring.leaks import leaking_texts
from autograder.authoring.release import (
    CHUNK,
    ENGINE,
    ReleaseError,
    TableError,
    _readme,
    engine_files,
    for_wheel,
    license_of,
    license_problems,
    license_warning,
    measured,
    problem_of,
    release_kit,
    require_project,
    stored,
    warning_of,
    without_tables,
    write_kit,
)
from autograder.cli.program import run_command
from autograder.course import KIT, MANIFEST, UsageError, read_course
from autograder.ending import USAGE
from autograder.judge import Grader
from autograder.learner.command_start import lay_out, read_kit
from autograder.runner import EnvironmentProblem, GraderProblem, Runner
from autograder.submission import read_submission
from tests.support import tiny
from tests.support.kits import kit_of

SEED = tiny.COURSE.seed
WRONG = tiny.mean_with("return x.cumsum(dim=-1)")

Kit = dict[str, bytes]


@pytest.fixture(scope="module")
def files(key_cache: Path) -> Kit:
    """The files of the tiny course's kit."""
    return kit_of(tiny.SUITE, cache=key_cache)


@pytest.fixture
def kit(files: Kit, tmp_path: Path) -> Path:
    """A kit that a test may damage."""
    write_kit(files, tmp_path / "kit")
    return tmp_path / "kit"


def test_a_kit_holds_what_is_to_be_written_what_checks_it_and_what_installs_it(files: Kit) -> None:
    own = {name for name in files if not name.startswith("autograder/")}
    exercises = {f"{folder}/{name}" for folder in ("exercises", ".course/stubs") for name in tiny.FILES}
    checks = {f"tests/exercises/test_{name}" for name in tiny.FILES}
    hints = {f"tests/exercises/hints/{exercise.id}.toml" for exercise in tiny.COURSE.exercises}
    keys = {f"key/{exercise.id}/key.xz" for exercise in tiny.COURSE.exercises}
    traces = {
        f"key/{exercise.id}/traces-{one.id}.xz"
        for exercise in tiny.COURSE.exercises
        for one in tiny.SUITE.checks[exercise.id]
    }
    others = {
        "course.toml",
        "README.md",
        "pyproject.toml",
        "constraints.txt",
        "LICENSE.engine",
        ".gitignore",
        ".gitattributes",
        *(f".vscode/{name}.json" for name in ("extensions", "settings", "tasks")),
    }
    catalogue = {"tests/exercises/misconceptions.json", "key/manifest.json"}
    assert own == exercises | checks | hints | keys | traces | others | catalogue
    assert files["autograder/answer_key/keys.py"]
    assert not [name for name in files if "__pycache__" in name]


def test_a_kit_is_the_same_bytes_again_though_its_keys_are_made_anew(files: Kit, tmp_path: Path) -> None:
    root = tiny.copied(tmp_path / "elsewhere")
    suite = tiny.suite_at(root)
    assert kit_of(suite, jobs=2) == files


def test_of_course_toml_only_what_is_the_instructors_is_missing(course: Path, key_cache: Path) -> None:
    text = (course / "course.toml").read_text("utf-8")
    own = "# when it is due, and what late days cost\n[grading]\ndue = 2026-03-01T23:59:00Z\nbonus = []\n\n"
    (course / "course.toml").write_text(text.replace("[[exercises]]", f"{own}[[exercises]]", 1), "utf-8")
    suite = tiny.suite_at(course)
    made = kit_of(suite, cache=key_cache)
    assert made["course.toml"].decode() == text
    assert "tool" in tomllib.loads(made["pyproject.toml"].decode())
    assert set(tomllib.loads(made["pyproject.toml"].decode())["tool"]) == {"hatch"}


def test_a_kit_knows_its_bonus_exercises_and_nothing_else_of_the_policy(course: Path, key_cache: Path) -> None:
    own = f'[grading]\ndue = 2026-03-01T23:59:00Z\nbonus = ["{tiny.FIRST}"]\n\n'
    tiny.replaced(course / "course.toml", "[limits]", f"{own}[limits]")
    suite = tiny.suite_at(course)
    made = kit_of(suite, cache=key_cache)
    assert tomllib.loads(made["course.toml"].decode())["grading"] == {"bonus": [tiny.FIRST]}


def test_a_kit_has_the_name_the_authors_and_the_licence_of_its_own_course(course: Path, key_cache: Path) -> None:
    stated = 'title = "Zahlen & Maße"\nlicense = "CC-BY-4.0"\nauthors = ["Ada \\"Countess\\" Lovelace", "李"]\n'
    toml = (course / "course.toml").read_text("utf-8")
    (course / "course.toml").write_text(
        re.sub(r"^title = .*\n", lambda _: stated, toml, count=1, flags=re.MULTILINE), "utf-8"
    )
    (course / "LICENSE").write_text("Use it, and say whose it is.\n", "utf-8")
    made = kit_of(tiny.suite_at(course), cache=key_cache)
    project = tomllib.loads(made["pyproject.toml"].decode())["project"]
    assert (project["name"], project["description"]) == ("zahlen-mae-kit", "Zahlen & Maße")
    assert [one["name"] for one in project["authors"]] == ['Ada "Countess" Lovelace', "李"]
    assert (project["license"], project["license-files"]) == ("CC-BY-4.0 AND MIT", ["LICENSE*"])
    assert made["LICENSE"] == (course / "LICENSE").read_bytes()
    assert made["LICENSE.engine"] == (tiny.REPOSITORY / "LICENSE").read_bytes()
    assert "checks is CC-BY-4.0, whose text is in `LICENSE`. The engine in `autograder/`" in made["README.md"].decode()


def test_a_kit_of_a_course_without_a_licence_claims_none(files: Kit) -> None:
    project = tomllib.loads(files["pyproject.toml"].decode())["project"]
    assert {"license", "authors"}.isdisjoint(project)
    assert project["name"] == "two-little-functions-kit"
    assert "LICENSE" not in files
    readme = files["README.md"].decode()
    assert readme.endswith("## Licence\n\nThe engine in `autograder/` has a licence of its own, in `LICENSE.engine`.\n")
    assert "course.toml has no license, so the kit claims none" in license_warning(tiny.COURSE)


@pytest.mark.parametrize("license", ["CC-BY-9.9", "MIT OR", "free for all"])
def test_a_licence_that_pip_refuses_is_refused_before_students_have_it(license: str) -> None:
    stated = replace(tiny.COURSE, license=license)
    sentence = f'license of course.toml is "{license}", which pip does not know; expected an identifier of spdx.org'
    assert next(license_problems(stated)).startswith(sentence)
    with pytest.raises(UsageError, match="which pip does not know"):
        license_of(stated)


@pytest.mark.parametrize(
    ("license", "whole"),
    [
        ("mit", "MIT"),
        ("Apache-2.0 OR MIT", "(Apache-2.0 OR MIT) AND MIT"),
        ("LicenseRef-Ours", "LicenseRef-Ours AND MIT"),
    ],
)
def test_the_licence_of_a_kit_names_that_of_its_engine_too(license: str, whole: str) -> None:
    assert license_of(replace(tiny.COURSE, license=license)) == whole


def test_a_table_that_cannot_be_left_out_is_no_silent_leak() -> None:
    assert without_tables("[a]\nx = 1\n[a.b]\ny = 2\n[c]\nz = 3\n", ["a"]) == "[c]\nz = 3\n"
    assert without_tables('a = 1\n\n# of b\n["b"]\nx = 2\n', ["b"]) == "a = 1\n"
    with pytest.raises(TableError, match="cannot be removed"):
        without_tables('[b]\nx = """\n[c]\n"""\n', ["b"])
    with pytest.raises(TableError, match=r"write it as a table of its own, \[a\]"):
        without_tables("a.x = 1\nb = 2\n", ["a"])


def graded(course: Path, text: str, runner: Runner) -> list[object]:
    suite = tiny.suite_at(course)
    with Grader(suite, seed=SEED, evidence=True) as grader:
        report = grader.grade(tiny.submitted(text), None, runner)
    return [(check.status, check.score, check.finding) for exercise in report.exercises for check in exercise.checks]


@pytest.mark.parametrize("text", [tiny.MEAN, WRONG, tiny.MEAN.replace("raise ValueError", "return ValueError")])
def test_a_kit_says_of_a_program_what_the_course_says(kit: Path, course: Path, text: str, runner: Runner) -> None:
    assert graded(kit, text, runner) == graded(course, text, runner)


def test_a_kit_decides_by_the_key_of_the_course(kit: Path, key_cache: Path) -> None:
    exercise = tiny.COURSE.exercises[0]
    with Keys(tiny.SUITE, seed=SEED, cache=key_cache) as keys, open_keys(tiny.suite_at(kit), seed=SEED) as brought:
        assert isinstance(brought, KitKeys)
        assert brought.get(exercise) == keys.get(exercise)
        for check in tiny.SUITE.checks[exercise.id]:
            here, there = keys.traces(exercise, check), brought.traces(exercise, check)
            assert here.keys() == there.keys()
            assert all(here[at].steps == there[at].steps for at in here)
            assert all((here[at].prints == there[at].prints).all() for at in here)


def test_zeros_are_wrong_in_a_kit_as_in_the_course(kit: Path, course: Path, runner: Runner) -> None:
    zeros = tiny.mean_with("return x * 0")
    assert graded(kit, zeros, runner) == graded(course, zeros, runner)
    assert "pass" not in {status for status, _, _ in graded(kit, zeros, runner)[:1]}


def kit_keys(kit: Path, **options: object) -> KitKeys:
    return KitKeys(tiny.suite_at(kit), **{"seed": SEED, **options})


BREAKS = {
    "check": (
        "tests/exercises/test_ex01_running_mean.py",
        "shift=1.0",
        "shift=2.0",
        "test_ex01_running_mean.py is not",
    ),
    "sizes": ("course.toml", "T = [7, 9, 5, 11]", "T = [7, 9, 5, 13]", r"\[sizes\] in course.toml is not what"),
    "manifest": ("key/manifest.json", '"seed": 11', '"seed": x', "key/manifest.json cannot be read"),
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_kit_that_was_changed_says_what_no_longer_fits_and_what_to_do(kit: Path, what: str) -> None:
    name, old, new, sentence = BREAKS[what]
    tiny.replaced(kit / name, old, new)
    with pytest.raises(EnvironmentProblem, match=f"{sentence}.*take it out of the kit anew"):
        kit_keys(kit)


def test_another_engine_another_seed_and_a_damaged_key_have_their_own_messages(kit: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"for the seed 11 only, not for 12.*leave --seed out"):
        kit_keys(kit, seed=12)
    with pytest.raises(EnvironmentProblem, match=r"made on the CPU, and those for cuda .* leave --device out"):
        kit_keys(kit, device="cuda")
    (kit / "key" / tiny.FIRST / "key.xz").write_bytes(b"x")
    with pytest.raises(GraderProblem, match=f"key/{tiny.FIRST}/key.xz cannot be read .it is not the file"):
        kit_keys(kit).get(tiny.COURSE.exercises[0])
    (kit / "key" / tiny.FIRST / "key.xz").unlink()
    with pytest.raises(GraderProblem, match="No such file"):
        kit_keys(kit).get(tiny.COURSE.exercises[0])
    manifest = kit / "key" / "manifest.json"
    data = json.loads(manifest.read_text())
    data["files"]["autograder/answer_key/keys.py"] = "0"
    manifest.write_text(json.dumps(data))
    with pytest.raises(EnvironmentProblem, match=r"autograder/answer_key/keys.py of the engine that runs here"):
        kit_keys(kit)


def test_ends_of_lines_and_hints_may_change(kit: Path) -> None:
    for file in (kit / "tests" / "exercises").glob("*.py"):
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    tiny.replaced(kit / tiny.HINTS, "Sum along dim=-1.", "Sum along the last axis.")
    assert kit_keys(kit).get(tiny.COURSE.exercises[0]).reference


def test_every_command_of_a_learner_works_in_a_kit(kit: Path) -> None:
    tiny.handed_in(kit / "exercises", WRONG, None)
    done = tiny.run_course(kit, "check", "1", "--plain")
    assert done.returncode == 1
    assert "Misconception: mean-not-divided." in done.stdout
    assert "Place: ex01_running_mean.py line" in done.stdout
    assert tiny.run_course(kit, "why").returncode == 0
    assert tiny.COURSE.exercises[0].hints["values"][1] in tiny.run_course(kit, "hint", "1", "--now").stdout
    assert tiny.run_course(kit, "diff", "1").returncode == 0
    for command in ("", "status", "list", "next"):
        assert tiny.run_course(kit, *command.split()).returncode == 0
    doctor = tiny.run_course(kit, "doctor", "--plain")
    assert "answer keys: 2 of 2 came with this kit" in doctor.stdout
    seeded = tiny.run_course(kit, "check", "1", "--seed", "3")
    assert (seeded.returncode, "leave --seed out" in seeded.stderr) == (3, True)
    reset = tiny.run_course(kit, "reset", "1", "--yes")
    assert reset.returncode == 0
    assert (kit / "exercises" / tiny.FILES[0]).read_bytes() == (tiny.ROOT / "exercises" / tiny.FILES[0]).read_bytes()
    solution = tiny.run_course(kit, "solution", "1")
    assert (solution.returncode, "does not carry the solution" in solution.stderr) == (2, True)
    assert tiny.run_course(kit, "check", "1", "--device", "cpu:0").returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        "release another",
        "validate",
        "validate 1",
        "build",
        "build --check",
        "new ex03_more",
        "export gradescope-autograder --to a.zip",
        "export nbgrader-course --to a",
        "grade class --out out",
        "grade class --out out --seed 3",
    ],
)
def test_what_needs_the_solutions_says_so_in_a_kit_and_writes_nothing(kit: Path, command: str) -> None:
    tiny.handed_in(kit / "class" / "ada", WRONG)
    before = sorted(kit.rglob("*"))
    done = tiny.run_course(kit, *command.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert "course: this is a kit, and course " in done.stderr
    assert " needs the solutions" in done.stderr
    assert "run it in the course it was released from" in done.stderr
    assert sorted(kit.rglob("*")) == before


def test_a_kit_grades_with_the_public_seed(kit: Path) -> None:
    tiny.handed_in(kit / "class" / "ada", WRONG)
    done = tiny.run_course(kit, "grade", "class", "--out", "out", "--seed", str(SEED), *tiny.TRUSTED)
    assert done.returncode == 0, done.stderr
    assert "mean-not-divided" in (kit / "out" / "reports" / "ada.json").read_text("utf-8")


@pytest.mark.slow
def test_pytest_checks_a_kit(kit: Path) -> None:
    tiny.handed_in(kit / "exercises", tiny.mean_with("return (x.cumsum(dim=-1) / count).float()"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/exercises", "-q", "-p", "no:cacheprovider", "-k", "running_mean"],
        cwd=kit,
        env=tiny.environment({}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "passed" in done.stdout
    assert "mean" in done.stdout
    assert "INTERNAL" not in done.stdout


@pytest.mark.parametrize(("libraries", "named"), [(("numpy", "torch"), True), (("numpy",), False)])
def test_the_readme_says_how_to_get_the_small_torch(course: Path, libraries: tuple[str, ...], named: bool) -> None:
    text = _readme(replace(read_course(course), libraries=libraries))
    assert ("PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu" in text) is named
    assert "\n\n\n" not in text
    assert "$" not in text


@pytest.mark.slow
def test_the_two_commands_of_the_readme_install_a_kit_and_check_it(kit: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    [site] = (tmp_path / "venv").glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "others.pth").write_text("\n".join(others))  # where torch is: nothing is fetched for a test
    [block] = re.findall(r"```sh\n(.*?)```", (kit / "README.md").read_text("utf-8"), re.DOTALL)
    install, check = block.splitlines()
    assert install.startswith("pip install ")
    assert check == "course check"
    python = tmp_path / "venv" / "bin" / "python"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
    ]
    unasked = {**tiny.environment({}), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INDEX": "1"}
    subprocess.run([*pip, *install.split()[2:]], cwd=kit, env=unasked, check=True)
    done = subprocess.run(
        [python.parent / "course", "check"], cwd=kit, env=unasked, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "NOT STARTED" in done.stdout
    where = subprocess.run(
        [python, "-c", "import autograder; print(autograder.__file__)"],
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(where.stdout.strip()).is_relative_to(kit.resolve())


@pytest.mark.smoke
def test_release_writes_a_kit_and_says_what_it_is(course: Path, tmp_path: Path, files: Kit) -> None:
    assert "AGENTS.md" not in files
    (course / "AGENTS.md").write_text("Ask, and do not solve.\n", "utf-8")
    done = tiny.run_course(course, "release", str(tmp_path / "kit"))
    said = [f"course: {license_warning(tiny.COURSE)}"]
    assert (done.returncode, tiny.without_counts(done.stderr)) == (0, said)
    assert "nothing of the solutions is in them" in done.stdout
    made = {file.relative_to(tmp_path / "kit").as_posix() for file in (tmp_path / "kit").rglob("*") if file.is_file()}
    assert made == {*files, "AGENTS.md"}
    checked = tiny.run_course(course, "release", str(tmp_path / "kit"), "--check")
    assert (checked.returncode, tiny.without_counts(checked.stderr)) == (0, [])


def released(course: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `course release` in this process, which has read the engine for lines that are public."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        patch.chdir(course)
        status = run_command(["release", *arguments])
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


PLANTS = {
    "a check": (
        "tests/exercises/test_ex01_running_mean.py",
        "\n# count = torch.arange(1, x.size(-1) + 1, device=x.device)\n",
    ),
    "course.toml": ("course.toml", "\n# the seed of grading is 3141592653589793238\n"),
    "a notebook": (
        "exercises/notebooks/ex01_running_mean.ipynb",
        json.dumps({"cells": [{"metadata": {"was": "count = torch.arange(1, x.size(-1) + 1, device=x.device)"}}]}),
    ),
}


@pytest.mark.worker
@pytest.mark.parametrize("where", PLANTS)
def test_nothing_is_written_where_the_course_itself_leaks(course: Path, tmp_path: Path, where: str) -> None:
    name, text = PLANTS[where]
    (course / ".course" / "grading_seed").write_text("3141592653589793238\n")
    (course / name).parent.mkdir(exist_ok=True)
    with (course / name).open("a", encoding="utf-8") as file:
        file.write(text)
    done = released(course, str(tmp_path / "kit"))
    assert done.returncode == 1
    assert f"course: {name} has " in done.stderr
    assert not (tmp_path / "kit").exists()


LINE = "count = torch.arange(1, x.size(-1) + 1, device=x.device)"


@pytest.mark.parametrize(
    ("name", "before", "place"),
    [
        (tiny.HINTS, "Divide the running sum by", f"a hint of the check values of {tiny.FIRST}"),
        (
            f"solutions/misconceptions/{tiny.FIRST}.toml",
            "How many numbers are in the first sum",
            "the hint of the misconception mean-divided-by-length",
        ),
    ],
)
def test_a_leak_in_a_hint_is_named_by_the_hint_before_any_key_is_made(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, before: str, place: str
) -> None:
    monkeypatch.setattr(Keys, "get", lambda *_: pytest.fail("a key is made"))
    text = (course / name).read_text("utf-8")
    assert before in text
    (course / name).write_text(text.replace(before, f"{LINE} {before}", 1), "utf-8")
    made = release_kit(tiny.course_at(course), tmp_path / "kit", jobs=1, on_keys=lambda *_: None)
    [leak] = made.leaks
    assert f"has line 18 of solutions/{tiny.FIRST}.py in {place}: count = torch" in leak.sentence
    [early] = leaking_texts(tiny.course_at(course), tiny.course_at(course).exercises[0])
    assert early == f"{leak.sentence}; `course release` refuses this"
    assert not list(leaking_texts(tiny.course_at(course), tiny.course_at(course).exercises[1]))


def test_texts_of_every_exercise_that_a_kit_may_have_are_no_early_leak() -> None:
    assert [list(leaking_texts(tiny.COURSE, exercise)) for exercise in tiny.COURSE.exercises] == [[], []]


@pytest.mark.worker
def test_two_hints_of_a_file_are_two_leaks_in_one_file(course: Path, tmp_path: Path) -> None:
    for hint in ("Divide the running sum by", "Sum along"):
        tiny.replaced(course / tiny.HINTS, hint, f"{LINE} {hint}")
    done = released(course, str(tmp_path / "kit"))
    assert "hint of the check values" in done.stderr
    assert "hint of the check axes" in done.stderr
    assert "1 file has what students must not get" in done.stderr


def test_a_leak_that_came_later_is_found_by_check(course: Path, kit: Path) -> None:
    shutil.copy(course / "solutions" / tiny.FILES[0], kit / "exercises" / "old.txt")
    done = released(course, str(kit), "--check")
    assert done.returncode == 1
    assert "exercises/old.txt has line 16 of solutions/ex01_running_mean.py in line 16" in done.stderr
    assert "1 file has what students must not get; take it out of there" in done.stderr


def test_an_earlier_kit_is_replaced_and_what_anybody_changed_is_not(kit: Path, files: Kit) -> None:
    (kit / ".git").mkdir()
    (kit / ".git" / "config").write_text("")
    write_kit({**{name: data for name, data in files.items() if name != "constraints.txt"}}, kit)
    assert not (kit / "constraints.txt").exists()
    assert (kit / ".git" / "config").exists()
    write_kit(files, kit)
    (kit / "README.md").write_text("mine")
    with pytest.raises(ReleaseError, match=r"has README.md, which is not from an earlier release or was changed since"):
        write_kit(files, kit)
    assert (kit / "README.md").read_text() == "mine"
    assert (kit / "constraints.txt").exists()


def test_what_python_compiled_of_a_kit_is_removed_and_nothing_else(kit: Path, files: Kit) -> None:
    cache = kit / "exercises" / "__pycache__"
    cache.mkdir()
    (cache / "ex01.cpython-311.pyc").write_bytes(b"x")
    write_kit(files, kit)
    assert not cache.exists()
    cache.mkdir()
    (cache / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseError, match=r"has exercises/__pycache__/notes.txt, which .* To try a kit, run it in a"):
        write_kit(files, kit)


def test_a_folder_that_is_not_free_is_named_before_any_key_is_made(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = tmp_path / "kit"
    kit.mkdir()
    (kit / "notes.txt").write_text("mine")
    monkeypatch.chdir(course)
    monkeypatch.setattr(
        "autograder.authoring.command_release.release_kit", lambda *_, **__: pytest.fail("keys are made")
    )
    assert run_command(["release", str(kit)]) == USAGE
    assert "has notes.txt, which is not from an earlier release" in capsys.readouterr().err


def test_a_kit_is_not_written_over_anything_else(tmp_path: Path, files: Kit) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseError, match=r"has notes.txt, which is not from an earlier release"):
        write_kit(files, tmp_path)
    with pytest.raises(ReleaseError, match="is a file, expected a folder"):
        write_kit(files, tmp_path / "notes.txt")


def test_a_release_that_was_interrupted_is_written_again(kit: Path, files: Kit) -> None:
    for name in ("README.md", f"key/{tiny.FIRST}/key.xz"):
        (kit / name).unlink()
    write_kit(files, kit)
    assert all((kit / name).read_bytes() == data for name, data in files.items())


@pytest.mark.slow
@pytest.mark.parametrize("what", ["unlink", "write_bytes", "replace"])
def test_a_release_that_ends_at_any_moment_is_written_again(
    kit: Path, files: Kit, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    for moment in (0, 1, 2, len(files) // 2):
        with monkeypatch.context() as until:
            until.setattr(Path, what, ended_at(moment, getattr(Path, what)))
            with pytest.raises(KeyboardInterrupt):
                write_kit(files, kit)
        write_kit(files, kit)
        assert {file.relative_to(kit).as_posix() for file in kit.rglob("*") if file.is_file()} == set(files)


def ended_at(moment: int, method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that does half of what it should, and ends the program, when it was called so often before."""
    calls = count()

    def ended(self: Path, *arguments: Any, **options: Any) -> Any:
        if next(calls) < moment:
            return method(self, *arguments, **options)
        if arguments and isinstance(arguments[0], bytes):
            method(self, arguments[0][: len(arguments[0]) // 2])
        raise KeyboardInterrupt

    return ended


@pytest.mark.parametrize("manifest", ['{"files": []}', '{"files": 1}', "[]", "[" * 100_000])
def test_a_manifest_that_is_none_knows_no_file(manifest: str, kit: Path, files: Kit) -> None:
    (kit / MANIFEST).write_text(manifest)
    with pytest.raises(ReleaseError, match="which is not from an earlier release"):
        write_kit(files, kit)


def test_a_key_above_its_budget_is_refused_by_name_before_others_are_made(
    key_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = shutil.copytree(key_cache, tmp_path / "cache")
    with Keys(tiny.SUITE, seed=SEED, cache=cache) as keys:
        sizes = [measured(exercise, keys) for exercise in tiny.COURSE.exercises]
        assert sizes == [keys.known_size(exercise) for exercise in tiny.COURSE.exercises]
    monkeypatch.setattr("autograder.authoring.release.MOST_KEY_BYTES", sizes[0] - 1)
    monkeypatch.setattr(Keys, "get", lambda *_: pytest.fail("a key is made"))
    with pytest.raises(ReleaseError, match=f"the answer key of {tiny.FIRST} has .* kB of .* kB, so .* refuses it"):
        kit_of(tiny.SUITE, cache=cache)


def test_a_key_gets_a_warning_from_80_percent_of_its_budget() -> None:
    most = MOST_KEY_BYTES
    sizes = {"none": None, "small": most * 4 // 5 - 1, "large": most * 4 // 5, "full": most, "over": most + 1}
    assert [name for name, size in sizes.items() if warning_of(name, size)] == ["large", "full"]
    assert [name for name, size in sizes.items() if problem_of(name, size)] == ["over"]


def test_a_warning_of_a_large_key_names_the_largest_checks(key_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exercise = tiny.COURSE.exercises[0]
    with Keys(tiny.SUITE, seed=SEED, cache=key_cache) as keys:
        small = measured(exercise, keys)
        monkeypatch.setattr("autograder.authoring.release.MOST_KEY_BYTES", small * 10 // 9)
        large = measured(exercise, keys)
    assert (small.largest, large) == ((), small)
    assert [check for check, _ in large.largest] == ["axes", "dtype", "values"]
    said = warning_of(tiny.FIRST, large)
    assert said is not None
    assert re.search(r"fills its budget \(largest checks: axes .* kB, dtype .* kB, values .* kB\)$", said)


def test_a_key_of_the_whole_budget_does_not_nearly_fill_it() -> None:
    assert (
        warning_of("large", MOST_KEY_BYTES - 1) == "the answer key of large has 600 kB of 600 kB: it fills its budget"
    )


@pytest.mark.parametrize("size", [0, 1, 4, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_an_uncompressed_xz_file_holds_its_bytes(size: int) -> None:
    data = bytes(at * at % 251 for at in range(size))
    assert lzma.decompress(stored(data), format=lzma.FORMAT_XZ) == data
    assert data in stored(data) or size > CHUNK


def test_the_kit_of_a_wheel_has_the_same_keys_and_decides_alike(files: Kit, tmp_path: Path) -> None:
    kept = for_wheel(files, tiny.COURSE)
    lay_out(kept, tmp_path / "started")
    exercise = tiny.COURSE.exercises[0]
    write_kit(files, tmp_path / "kit")
    started, kit = kit_keys(tmp_path / "started"), kit_keys(tmp_path / "kit")
    assert started.get(exercise) == kit.get(exercise)
    assert {*files} - {*kept} == {*engine_files(tiny.COURSE)}


@pytest.mark.slow
@pytest.mark.worker
def test_a_wheel_has_the_engine_and_the_kit_and_leaves_nothing_behind(course: Path, tmp_path: Path) -> None:
    before = [*Path(tempfile.gettempdir()).glob("course-wheel-*")]
    done = released(course, str(tmp_path / "dist"), "--wheel")
    assert (done.returncode, "nothing of the solutions is in it" in done.stdout) == (0, True), done.stderr
    [wheel] = (tmp_path / "dist").iterdir()
    with zipfile.ZipFile(wheel) as contents:
        (tmp_path / "kit").write_bytes(contents.read(f"autograder/{KIT.name}"))
        engine = {name for name in contents.namelist() if name.startswith("autograder/")}
    assert engine > {f"autograder/{file.relative_to(ENGINE).as_posix()}" for file in ENGINE.rglob("*.py")}
    assert b"Two little functions" in read_kit(tmp_path / "kit")["course.toml"]
    assert not KIT.exists()
    assert [*Path(tempfile.gettempdir()).glob("course-wheel-*")] == before
    again = wheel.read_bytes()
    assert tiny.run_course(course, "release", str(tmp_path / "dist"), "--wheel").returncode == 0
    assert wheel.read_bytes() == again


@pytest.mark.worker
def test_a_wheel_that_would_leak_is_not_written(course: Path, tmp_path: Path) -> None:
    with (course / tiny.HINTS).open("a", encoding="utf-8") as hints:
        hints.write(f"# {tiny.RUNNING}\n# {tiny.RUNNING}\n# {tiny.RUNNING}\n")
    done = released(course, str(tmp_path / "dist"), "--wheel")
    assert (done.returncode, (tmp_path / "dist").exists()) == (1, False), done.stdout + done.stderr


def test_a_wheel_needs_a_clone_and_hatchling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autograder.authoring.release.find_spec", lambda _: None)
    with pytest.raises(UsageError, match="run pip install hatchling"):
        require_project()
    monkeypatch.setattr("autograder.authoring.release.is_project", lambda: False)
    with pytest.raises(UsageError, match="needs a clone"):
        require_project()


@pytest.mark.worker
def test_a_course_without_a_solution_is_not_released(course: Path, tmp_path: Path) -> None:
    (course / "solutions" / tiny.FILES[1]).unlink()
    done = released(course, str(tmp_path / "kit"))
    assert done.returncode in (2, 3)
    assert tiny.FILES[1] in done.stderr
    assert not (tmp_path / "kit").exists()


@pytest.mark.worker
def test_a_seed_of_grading_that_is_no_secret_is_reported(course: Path, tmp_path: Path) -> None:
    (course / ".course" / "grading_seed").write_text(f"{SEED}\n")
    done = released(course, str(tmp_path / "kit"))
    assert done.returncode == 0
    assert "the seed of grading, 11, is no secret: remove .course/grading_seed" in done.stderr


@pytest.fixture
def begun(kit: Path) -> Path:
    (kit / "exercises" / tiny.FILES[0]).write_text(WRONG, "utf-8")
    return kit


def test_submit_packs_the_same_bytes_for_the_same_work_and_says_what_it_is(begun: Path, tmp_path: Path) -> None:
    done = tiny.run_course(begun, "submit", "--plain")
    assert (done.returncode, done.stderr) == (0, "")
    packed = (begun / "submission.zip").read_bytes()
    again = tiny.run_course(begun, "submit", "--json", "-", "--out", str(tmp_path / "again.zip"))
    facts = json.loads(again.stdout)
    assert (tmp_path / "again.zip").read_bytes() == packed
    with zipfile.ZipFile(begun / "submission.zip") as archive:
        assert sorted(archive.namelist()) == sorted(tiny.FILES)
    read = read_submission(begun / "submission.zip", tiny.FILES)
    assert facts["digest"] == read.digest
    assert read.digest in done.stdout
    assert (facts["files"], facts["not_started"], facts["missing"]) == ([tiny.FILES[0]], [tiny.FILES[1]], [])
    assert facts["bytes"] == len(packed)


def test_submit_takes_only_the_files_of_the_course_and_names_what_is_missing(begun: Path) -> None:
    (begun / "exercises" / "diary.txt").write_text("mine")
    (begun / "exercises" / tiny.FILES[1]).unlink()
    done = tiny.run_course(begun, "submit", "--plain")
    assert f"missing, so not packed: {tiny.FILES[1]}" in done.stdout
    with zipfile.ZipFile(begun / "submission.zip") as archive:
        assert archive.namelist() == [tiny.FILES[0]]


def test_submit_takes_the_code_of_a_notebook_that_was_written_in(kit: Path) -> None:
    name = tiny.FILES[0].replace(".py", ".ipynb")
    stub = tiny.notebook((kit / "exercises" / tiny.FILES[0]).read_text("utf-8"))
    for folder in (kit / ".course" / "stubs", kit / "exercises"):
        (folder / "notebooks").mkdir()
        (folder / "notebooks" / name).write_bytes(stub)
    (kit / "exercises" / tiny.FILES[0]).unlink()
    assert tiny.run_course(kit, "submit").returncode == 1, "nothing was written in it"
    (kit / "exercises" / "notebooks" / name).write_bytes(tiny.notebook(WRONG))
    done = tiny.run_course(kit, "submit", "--plain")
    assert done.returncode == 0
    assert f"{tiny.FILES[0]} is the code of notebooks/{name}" in done.stdout
    with zipfile.ZipFile(kit / "submission.zip") as archive:
        assert archive.read(tiny.FILES[0]).decode().strip() == WRONG.strip()


def test_submit_packs_nothing_where_nothing_was_begun(kit: Path) -> None:
    done = tiny.run_course(kit, "submit")
    assert done.returncode == 1
    assert "every file is still the stub" in done.stdout
    assert not (kit / "submission.zip").exists()


def test_submit_says_where_it_cannot_write(begun: Path) -> None:
    folder = tiny.run_course(begun, "submit", "--out", "exercises")
    assert (folder.returncode, "is a folder, expected the name of the zip" in folder.stderr) == (2, True)
    nowhere = tiny.run_course(begun, "submit", "--out", os.path.join("a", "b.zip"))  # noqa: PTH118
    assert (nowhere.returncode, "does not exist; make it" in nowhere.stderr) == (2, True)
