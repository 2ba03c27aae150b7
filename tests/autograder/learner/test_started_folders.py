"""`course start` lays out the kit of the wheel, and brings a started folder up to date without a loss."""

import json
import shutil
import tempfile
import tomllib
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from autograder import __version__
from autograder.answer_key import file_digest
from autograder.authoring.release import archive, for_wheel, texts_of
from autograder.cli.program import run_command
from autograder.course import KEY_FOLDER, MANIFEST, STUBS, is_trusted, read_course, trust_line
from autograder.ending import ENVIRONMENT, PASS, USAGE
from autograder.learner import command_start
from autograder.learner.command_start import EARLIER, NEWER, lay_out, read_kit
from autograder.progress import read_choices, read_progress
from tests.support import tiny

Kit = dict[str, bytes]
STUB = f"exercises/{tiny.FILES[0]}"
CHECKS = f"tests/exercises/test_{tiny.FILES[0]}"
WORK = b"# what a learner wrote\n"


def made(files: Kit, version: str = __version__) -> Kit:
    """Return a kit with these files and their manifest."""
    digests = {name: file_digest(data) for name, data in files.items()}
    manifest = {"format": 1, "engine": version, "seed": 11, "sizes": [], "files": digests}
    return {**files, MANIFEST: json.dumps(manifest).encode()}


@pytest.fixture(scope="module")
def kit() -> Kit:
    """A kit of the tiny course in two parts; its keys are no keys."""
    texts = for_wheel(made(texts_of(tiny.COURSE, in_wheel=True)), tiny.COURSE)
    del texts[MANIFEST]
    toml = texts["course.toml"].decode()
    for part, id_ in (("one", tiny.FIRST), ("two", tiny.SECOND)):
        toml = toml.replace(f'id = "{id_}"', f'id = "{id_}"\npart = "{part}"')
        toml += f'\n[[parts]]\nid = "{part}"\ntitle = "Part {part}"\n'
    keys = {f"{KEY_FOLDER}/{tiny.FIRST}/key.xz": b"key"}
    return made({**texts, **keys, "course.toml": toml.encode()})


TASKS = ".vscode/tasks.json"


@pytest.fixture
def newer(kit: Kit) -> Kit:
    """A later kit, in which much is new."""
    files = {name: data for name, data in kit.items() if name not in (MANIFEST, TASKS)}
    for name in (CHECKS, tiny.HINTS, "README.md", f"{KEY_FOLDER}/{tiny.FIRST}/key.xz", ".gitattributes"):
        files[name] += b"\n# new\n"
    for name in tiny.FILES:
        files[f"exercises/{name}"] += b"\n# new\n"
        files[f"{STUBS}/{name}"] += b"\n# new\n"
    return made({**files, "play/new.py": b"# new\n"}, "0.9.9")


@pytest.fixture(autouse=True)
def place(kit: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, in which the engine has a kit, and nothing is trusted."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("COURSE_TRUST")
    monkeypatch.delenv("VISUAL", raising=False)
    bring(kit, tmp_path, monkeypatch)
    return here


def bring(kit: Kit, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a kit that of the engine."""
    file = folder / "kit.tar.xz"
    file.write_bytes(archive(kit))
    monkeypatch.setattr(command_start, "KIT", file)


def files_of(folder: Path) -> Kit:
    """Return the files of a started folder that are no state of the learner."""
    own = {"lock", "choices.json", "events.jsonl", "progress.json", ".gitignore"}
    files = [file for file in folder.rglob("*") if file.is_file()]
    kept = [file for file in files if not (file.parent.name == ".course" and file.name in own)]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in kept}


def words(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was printed, as one line."""
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


def test_a_kit_of_a_wheel_has_neither_engine_nor_solution(kit: Kit, place: Path) -> None:
    assert read_kit(place.parent / "kit.tar.xz") == kit
    assert archive(kit) == archive(dict(reversed(kit.items())))
    outside = [
        name for name in kit if name.startswith(("autograder/", "solutions/")) or name.endswith("pyproject.toml")
    ]
    assert not outside
    assert b"pip install --constraint" not in kit["README.md"]
    assert b'pip install "build-a-transformer[notebook]"' in kit["README.md"]


def test_a_started_folder_has_all_files_and_is_trusted(kit: Kit, place: Path, capsys: Any) -> None:
    assert run_command(["start"]) == PASS
    folder = place / "two-little-functions"
    assert files_of(folder) == kit
    assert is_trusted(folder)
    said = words(capsys)
    assert "Two little functions is in two-little-functions: 2 exercises with their checks." in said
    assert said.endswith("Next cd two-little-functions && course what to do next")
    assert run_command(["start"]) == PASS
    assert f"Two little functions in two-little-functions is up to date ({__version__})." in words(capsys)
    assert files_of(folder) == kit


def test_a_home_that_cannot_be_written_is_no_reason_to_stop(
    place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.parent / "config").write_text("no folder", "utf-8")
    monkeypatch.setenv("HOME", str(place.parent / "missing"))
    folder = place / "two-little-functions"
    assert run_command(["start", "config/inside"]) == PASS
    line = trust_line(place / "config" / "inside")
    assert f"The list of trusted folders cannot be written. Before you go on, run: {line} Next" in words(capsys)
    (place / "file").touch()
    assert run_command(["start", "file/inside"]) == USAGE
    assert f"choose a new folder: course start {tempfile.gettempdir()}/{folder.name}" in words(capsys)
    assert run_command(["trust", "config/inside"]) == ENVIRONMENT
    assert f"the list of trusted folders cannot be written; instead, run: {line}" in words(capsys)
    monkeypatch.setenv("COURSE_TRUST", line.split("=")[1])
    assert is_trusted(place / "config" / "inside")


def test_a_folder_with_a_repository_and_an_environment_is_as_good_as_empty(place: Path, capsys: Any) -> None:
    (place / "venv").mkdir()
    (place / "venv" / "pyvenv.cfg").touch()
    (place / ".git").mkdir()
    (place / ".gitignore").write_text("own\n")
    assert run_command(["start", "."]) == PASS
    assert (place / ".gitignore").read_text() == "own\n"
    said = words(capsys)
    assert "Two little functions is in this folder" in said
    assert "Somebody edited .gitignore, so it stays. The file of the kit is beside it: .gitignore.new." in said
    assert said.endswith("Next course what to do next")


def test_a_newer_kit_replaces_what_nobody_changed(kit: Kit, newer: Kit, tmp_path: Path) -> None:
    lay_out(kit, tmp_path / "course")
    changes = lay_out(newer, tmp_path / "course")
    assert files_of(tmp_path / "course") == newer
    assert changes.before == __version__
    assert (changes.added, changes.removed, changes.kept) == (["play/new.py"], [TASKS], [])


def test_a_folder_from_elsewhere_is_updated_and_not_trusted(kit: Kit, newer: Kit, tmp_path: Path) -> None:
    lay_out(kit, tmp_path / "course")
    copy = Path(shutil.copytree(tmp_path / "course", tmp_path / "copy"))
    lay_out(newer, copy)
    assert files_of(copy) == newer
    assert not is_trusted(copy)


@pytest.mark.parametrize("name", ["../victim", "exercises/../../victim", "/victim", "..\\victim", "C:victim"])
def test_a_manifest_cannot_lead_out_of_its_folder(name: str, kit: Kit, newer: Kit, tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(WORK)
    lay_out(kit, tmp_path / "course")
    name = name.replace("/victim", f"{tmp_path}/victim") if name == "/victim" else name
    (tmp_path / "course" / MANIFEST).write_bytes(made({name: WORK})[MANIFEST])
    lay_out(newer, tmp_path / "course")
    assert (tmp_path / "victim").read_bytes() == WORK


@pytest.mark.parametrize("manifest", ['{"files": []}', '{"files": {"a": 1}}', "[]", "", "[" * 100_000])
def test_a_damaged_manifest_is_made_anew(manifest: str, kit: Kit, tmp_path: Path) -> None:
    lay_out(kit, tmp_path / "course")
    (tmp_path / "course" / MANIFEST).write_text(manifest)
    (tmp_path / "course" / STUB).write_bytes(WORK)
    lay_out(kit, tmp_path / "course")
    assert files_of(tmp_path / "course") == kit | {STUB: WORK}


def test_what_was_written_or_edited_stays_and_is_named(
    kit: Kit, newer: Kit, place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place / "two-little-functions"
    lay_out(kit, folder)
    edited = (STUB, CHECKS, "README.md")
    for name in edited:
        (folder / name).write_bytes(WORK)
    (folder / tiny.HINTS).unlink()
    (folder / ".gitattributes").write_bytes(kit[".gitattributes"].replace(b"\n", b"\r\n"))
    (folder / f"{KEY_FOLDER}/{tiny.FIRST}/key.xz").write_bytes(b"damaged")
    bring(newer, place.parent, monkeypatch)
    monkeypatch.chdir(folder / "exercises")
    assert run_command(["start"]) == PASS
    expected = newer | dict.fromkeys(edited, WORK) | {f"{name}{NEWER}": newer[name] for name in edited[1:]}
    earlier = f".course/backups/{tiny.FIRST}{EARLIER}.py"
    assert files_of(folder) == expected | {earlier: kit[STUB]}
    said = words(capsys)
    assert "was updated (0.9.9 to" not in said
    assert "Files replaced: 1 answer key file, 1 stub and 1 other file; added: " in said
    assert "Your code stays as it is: 01 running mean." in said
    assert "After you started, the lesson or stub changed: 01 running mean." in said
    assert f"The new one is in {STUBS}. `course start --diff` shows what changed in it." in said
    assert f"Somebody edited {CHECKS}, so it stays." in said
    assert run_command(["start"]) == PASS
    said = words(capsys)
    assert f"is up to date (0.9.9 to {__version__})" in said
    assert f"Somebody edited {CHECKS}, so it stays." in said
    assert files_of(folder) == expected | {earlier: kit[STUB]}
    assert run_command(["start", "--diff"]) == PASS
    assert capsys.readouterr().out.endswith("\n+\n+# new\n")
    for name in edited[1:]:
        (folder / name).unlink()
    assert run_command(["start"]) == PASS
    assert "Somebody edited" not in words(capsys)
    assert (folder / CHECKS).read_bytes() == newer[CHECKS]


def test_without_a_changed_stub_there_is_no_difference(kit: Kit, place: Path, capsys: Any) -> None:
    lay_out(kit, place / "two-little-functions")
    assert run_command(["start", "--diff"]) == PASS
    assert words(capsys) == "No stub of an exercise that you started has changed."


@pytest.mark.parametrize("is_started", [False, True])
@pytest.mark.parametrize("moment", [0, 1, 5, 8])
def test_after_an_interruption_at_any_moment_it_goes_on(
    moment: int, is_started: bool, kit: Kit, newer: Kit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "course"
    if is_started:
        lay_out(kit, folder)
        (folder / STUB).write_bytes(WORK)
    calls, write = count(), command_start.write_atomically

    def stopping(*arguments: Any, **options: Any) -> None:
        if next(calls) == moment:
            raise KeyboardInterrupt
        write(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(command_start, "write_atomically", stopping)
        with pytest.raises(KeyboardInterrupt):
            lay_out(newer, folder)
    changes = lay_out(newer, folder)
    there = files_of(folder)
    earlier = {f".course/backups/{tiny.FIRST}{EARLIER}.py": kit[STUB]} if is_started else {}
    assert there == (newer | {STUB: WORK} if is_started else newer) | earlier
    assert changes.kept == ([STUB] if is_started else [])


def test_a_full_disk_is_a_sentence_with_the_command_that_goes_on(
    place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device", "a file")

    monkeypatch.setattr(command_start, "write_atomically", full)
    assert run_command(["start"]) == ENVIRONMENT
    assert words(capsys) == (
        "course: No space left on device (a file); `course start two-little-functions` goes on from there; "
        "free some space, then run the same command again"
    )


def refused(place: Path, name: str, kit: Kit) -> Path:
    """Return a folder in which a course cannot be started."""
    folder = place / name
    if name == "file":
        folder.touch()
    if name == "file/inside":
        folder.parent.touch()
    if name == "full":
        folder.mkdir()
        (folder / "notes.txt").touch()
    if name == "clone":
        shutil.copytree(tiny.ROOT, folder)
    if name == "clone/inside":
        shutil.copytree(tiny.ROOT, folder.parent)
    if name == "other":
        lay_out(made({"exercises/ex01_other.py": b"", "course.toml": b""}), folder)
    if name == "with-engine":
        lay_out(kit, folder)
        (folder / "autograder").mkdir()
    return folder


REFUSALS = {
    "file": "is a file, expected a folder; choose a new folder: course start ~/two-little-functions",
    "file/inside": "cannot be written (Not a directory); choose a new folder: course start ~/two-little-functions",
    "full": "holds notes.txt, expected a new or empty folder; choose a new folder: course start ~/two-little-functions",
    "clone": "holds a course already; go there: cd clone && course",
    "clone/inside": "would be inside the course in",
    "other": "holds another course than Two little functions; choose a new folder: course start ~/two-little-functions",
    "with-engine": "holds a course already; go there: cd with-engine && course",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_folder_that_cannot_be_one_is_refused_with_the_next_command(
    name: str, kit: Kit, place: Path, capsys: Any
) -> None:
    folder = refused(place, name, kit)
    before = sorted(place.rglob("*"))
    assert run_command(["start", str(folder.relative_to(place))]) == USAGE
    assert REFUSALS[name] in words(capsys)
    assert sorted(place.rglob("*")) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--part", "tow"], "There is no part `tow`. Did you mean `course start --part two`?"),
        (["--part", "nine"], "This course has the parts one, two."),
        (["--exercise", "9"], "There is no exercise"),
        (["--exercise", "multiplied"], "You find this word in exercise 02."),
    ],
)
def test_an_unknown_part_or_exercise_is_refused_before_anything_is_written(
    options: list[str], sentence: str, place: Path, capsys: Any
) -> None:
    assert run_command(["start", *options]) == USAGE
    assert sentence in words(capsys)
    assert not [*place.iterdir()]


def test_a_part_is_where_lists_and_progress_begin(place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_command(["start", "--part", "two"]) == PASS
    said = words(capsys)
    assert "You begin with part two, Part two. It builds on exercise 01 of part one. Until yours pass," in said
    assert "You are at 02 matrix power." in said
    monkeypatch.chdir(place / "two-little-functions")
    assert run_command(["list"]) == PASS
    listed = words(capsys)
    assert listed.index("Part two") < listed.index("02 matrix power") < listed.index("01 running mean")
    assert run_command(["status"]) == PASS
    shown = words(capsys)
    assert shown.index("Part two") < shown.index("Part one")
    assert run_command(["start", "--part", "one"]) == PASS
    assert "You are at 01 running mean." in words(capsys)
    assert read_choices(read_course(Path())).part == "one"


def test_an_exercise_is_the_current_one(place: Path, capsys: Any) -> None:
    assert run_command(["start", "--exercise", "power"]) == PASS
    assert "You are at 02 matrix power." in words(capsys)
    assert read_progress(read_course(place / "two-little-functions")).here == tiny.SECOND


def test_in_a_clone_the_course_is_here_already(
    place: Path, course: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_start, "KIT", place / "none")
    monkeypatch.chdir(course)
    assert run_command(["start"]) == PASS
    assert words(capsys) == f"Two little functions is here already, in {course}. Next course what to do next"
    monkeypatch.chdir(place)
    assert run_command(["start", str(place / "new")]) == USAGE
    assert f"The course is there already: cd {tiny.REPOSITORY} && course" in words(capsys)
    assert not [*place.iterdir()]


def test_what_is_not_installed_is_named_with_the_command(
    place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_start, "find_spec", lambda _: None)
    monkeypatch.setattr(command_start.sys, "platform", "linux")
    assert run_command(["start"]) == PASS
    said = words(capsys)
    assert "PyTorch is not installed. Without an NVIDIA GPU, choose the smaller CPU build:" in said
    assert "export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu" in said
    assert 'Next pip install "build-a-transformer[torch]" your code needs it' in said


@pytest.mark.parametrize("answer", [True, False])
def test_an_editor_is_offered_once_and_the_answer_is_kept(
    answer: bool, place: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    opened: list[list[str]] = []
    monkeypatch.setattr(command_start, "is_somebody_there", lambda: True)
    monkeypatch.setattr(command_start, "confirmed", lambda question: asked.append(question) or answer)
    monkeypatch.setattr(command_start.shutil, "which", lambda name: f"/bin/{name}" if name == "codium" else None)
    monkeypatch.setattr(command_start.subprocess, "Popen", lambda words: opened.append(words) or Mock())
    for _ in range(2):
        assert run_command(["start"]) == PASS
    assert asked == ["Open two-little-functions in codium?"]
    assert opened == [["codium", "two-little-functions"]] * 2 * answer
    assert read_choices(read_course(place / "two-little-functions")).editor is answer


def test_a_folder_of_somebody_elses_names_no_program_to_start(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_command(["start"]) == PASS
    kept = place / "two-little-functions" / ".course" / "choices.json"
    kept.write_text('{"version": 1, "part": null, "editor": "touch stolen", "brief": false}\n', "utf-8")
    monkeypatch.setattr(command_start, "is_somebody_there", lambda: True)
    monkeypatch.setattr(command_start, "confirmed", lambda _: False)
    monkeypatch.setattr(command_start.subprocess, "Popen", lambda _: pytest.fail("a program is started"))
    assert run_command(["start"]) == PASS


def test_without_a_terminal_no_editor_is_offered(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_start, "confirmed", lambda _: pytest.fail("a question"))
    monkeypatch.setenv("VISUAL", "true")
    assert run_command(["start"]) == PASS
    assert read_choices(read_course(place / "two-little-functions")).editor is None


def test_the_toml_of_this_kit_has_two_parts(kit: Kit) -> None:
    assert [part["id"] for part in tomllib.loads(kit["course.toml"].decode())["parts"]] == ["one", "two"]
