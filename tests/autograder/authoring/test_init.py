"""`course init` writes a course, or a sentence why it cannot; test_package.py proves the course."""

import json
import tomllib
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from autograder import DISTRIBUTION, __version__
from autograder.authoring import command_new as init
from autograder.authoring import release
from autograder.authoring.command_build import find_stale
from autograder.authoring.command_new import new_course
from autograder.authoring.proof import validate
from autograder.authoring.release import engine_files, requirement
from autograder.cli.program import run_command
from autograder.course import Course, UsageError, load_suite, read_course, with_steps
from autograder.ending import PASS
from tests.support import tiny

COURSE = tiny.COURSE


def with_libraries(*libraries: str) -> Course:
    return replace(COURSE, libraries=libraries)


@pytest.mark.parametrize("kind", ["plain", "numpy", "torch"])
def test_a_new_course_has_texts_for_everything_and_no_mark_is_left(tmp_path: Path, kind: str) -> None:
    files = new_course(tmp_path / "sorting-and-searching", kind)
    course = read_course(tmp_path / "sorting-and-searching")
    assert (course.title, course.libraries) == ("Sorting and searching", () if kind == "plain" else (kind,))
    assert not [file for file in files if "{{" in file.read_text("utf-8").replace("${{", "")]
    [exercise] = course.exercises
    assert list(init.rescaled_points(course)) == []
    assert sorted(exercise.hints) == ["inputs", "one", "refused", "values"]
    extras = "author,torch" if kind == "torch" else "author"
    assert f"{DISTRIBUTION}[{extras}]=={__version__}" in (course.root / "requirements.txt").read_text("utf-8")


@pytest.mark.worker
def test_the_files_that_a_new_course_will_get_are_named(tmp_path: Path) -> None:
    new_course(tmp_path / "course", "plain")
    course = read_course(tmp_path / "course")
    made = [file.relative_to(course.root).as_posix() for file in find_stale(course, write_parts=False).new]
    build, validates = init.files_to_come(init.EXAMPLE)
    assert len(made) == 2
    assert all(name in build for name in made)
    assert f"solutions/misconceptions/{init.EXAMPLE}.json" in validates


@pytest.mark.worker
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_new_course_with_a_library_is_proved_as_it_is(tmp_path: Path, library: str) -> None:
    assert run_command(["init", str(tmp_path / "course"), f"--{library}"]) == PASS
    suite = with_steps(load_suite(read_course(tmp_path / "course")))
    result = validate(suite, seed=1, jobs=1, cache=tmp_path / "cache")
    assert result.problems == []
    assert [(one.misconceptions, one.alone, one.accepted_full) for one in result.exercises] == [(9, 9, 2)]


@pytest.mark.parametrize("tensors", [True, False])
def test_a_new_course_has_a_list_of_what_gets_a_flag(tmp_path: Path, tensors: bool) -> None:
    new_course(tmp_path / "course", "torch" if tensors else "plain")
    usual = read_course(tmp_path / "course").usual
    own = {entry: why for why, entries in read_course(tiny.REPOSITORY).usual.odd for entry in entries}
    odd = {entry: why for why, entries in usual.odd for entry in entries}
    assert odd.items() <= own.items()
    assert ("torch.jit" in odd) == ("torch.nn" in usual.names) == tensors
    assert {"way:unlisted", "way:computed-name", "exec", "gc"} <= set(odd)


def test_a_new_course_asks_coding_agents_to_help_without_solving(tmp_path: Path) -> None:
    new_course(tmp_path / "course", "plain")
    assert (tmp_path / "course" / "AGENTS.md").read_bytes() == (tiny.REPOSITORY / "AGENTS.md").read_bytes()


def test_what_practice_writes_is_not_committed(tmp_path: Path) -> None:
    new_course(tmp_path / "course", "plain")
    private = {"/roster.csv", "/adjustments.csv", "/accepted/"}
    assert private <= {*(tiny.REPOSITORY / ".gitignore").read_text("utf-8").split()}
    assert {"/hunt/", "/arrange/"} | private <= {*(tmp_path / "course" / ".gitignore").read_text("utf-8").split()}


def test_the_title_may_be_anything_on_one_line(tmp_path: Path) -> None:
    new_course(tmp_path / "a", "plain", title='Ä "course" \\ {{seed}}')
    assert read_course(tmp_path / "a").title == 'Ä "course" \\ {{seed}}'
    for title in ("", " ", "a\nb", "x" * 61):
        with pytest.raises(UsageError, match="is not one line of 1 to 60 characters; give --title TEXT"):
            new_course(tmp_path / "b", "plain", title=title)
    assert not (tmp_path / "b").exists()


def test_an_empty_folder_and_a_new_repository_are_filled(tmp_path: Path) -> None:
    (tmp_path / "a" / ".git").mkdir(parents=True)
    assert new_course(tmp_path / "a", "plain")


def test_a_folder_that_cannot_hold_a_course_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file, expected a new or empty folder; nothing was written"):
        new_course(tmp_path / "file", "plain")
    with pytest.raises(UsageError, match="has file, expected a new or empty folder; nothing was written"):
        new_course(tmp_path, "plain")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    outer = tiny.copied(tmp_path / "outer")
    with pytest.raises(UsageError, match=f"would be inside the course {outer}.*choose a folder outside"):
        new_course(outer / "new", "plain")
    assert not (outer / "new").exists()


def test_the_engine_of_a_kit_begins_no_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "SKELETON", tmp_path / "missing")
    with pytest.raises(UsageError, match="the engine of a kit has no course to begin with"):
        new_course(tmp_path / "new", "plain")
    assert not [name for name in engine_files(COURSE) if "skeleton" in name]


def test_an_engine_from_git_is_required_by_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    class FromGit:
        def read_text(self, name: str) -> str:
            assert name == "direct_url.json"
            return json.dumps({"url": "https://example.org/kit", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}})

    monkeypatch.setattr(release, "distribution", lambda _: FromGit())
    assert requirement("author") == f"{DISTRIBUTION}[author] @ git+https://example.org/kit@c0ffee"


def test_a_kit_installs_what_its_course_declares_and_no_tools_of_authors() -> None:
    plain, tensors = (
        tomllib.loads(engine_files(with_libraries(*libraries))["pyproject.toml"].decode())["project"]
        for libraries in ((), ("torch",))
    )
    assert [entry for entry in tensors["dependencies"] if entry not in plain["dependencies"]] == ["torch<2.16,>=2.4"]
    assert sorted(plain["optional-dependencies"]) == ["lsp", "mcp", "nbgrader", "notebook", "review"]
    assert sorted(tensors["optional-dependencies"]) == ["lsp", "mcp", "nbgrader", "notebook", "review", "torch"]


def test_a_kit_pins_what_it_was_released_with() -> None:
    pins = engine_files(with_libraries("torch"))["constraints.txt"].decode().splitlines()
    for name in ("numpy", "torch", "rich", "pytest", "pluggy"):
        version = metadata.version(name).split("+")[0]
        assert f"{name}=={version}" in pins
    assert "mypy" not in "\n".join(pins)


@pytest.mark.parametrize("libraries", [(), ("torch",)])
def test_a_kit_pins_only_what_its_own_requirements_need(libraries: tuple[str, ...]) -> None:
    files = engine_files(with_libraries(*libraries))
    pins = {line.partition("==")[0] for line in files["constraints.txt"].decode().splitlines()[1:]}
    declared = tomllib.loads(files["pyproject.toml"].decode())["project"]["dependencies"]
    needed = {Requirement(text).name for text in declared}
    assert needed <= pins
    assert not pins & {"nbgrader", "ipykernel", "jupyter-core", "pygls"}
