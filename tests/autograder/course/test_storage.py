"""Nothing in `.course` makes a command write elsewhere, wait, fill the memory or lose work."""

import contextlib
import json
import os
import resource
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.answer_key import keys as cache
from autograder.authoring.mutants import Outcomes, read_outcomes
from autograder.course import Course, UsageError, outline_of_stub, read_hunts, storage
from autograder.gradebook import grading_seed
from autograder.learner.command_reset import reset_exercise
from autograder.play import CheckpointError
from autograder.play.stage import Checkpoint
from autograder.practice.command_hunt import changing, read_practice
from autograder.progress import Event, LastReport, keep_brief, read_progress, save_events
from autograder.progress.events import delete_last, read_last, save_last
from tests.support import tiny

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")

EXERCISE = tiny.COURSE.exercises[0]
EVENT = Event("2026-01-01T10:00:00.000Z", "next", EXERCISE.id, "next")
NOON = "2026-01-01T1200"
MOST_GROWTH = 300 << 10
"""KiB by which the memory of this process may grow: the largest file that may be read has 64 MiB."""


def use_progress(course: Course) -> None:
    read_progress(course)
    if save_events(course, [EVENT]).problem is None:
        assert read_progress(course).here == EXERCISE.id


def use_practice(course: Course) -> None:
    read_practice(course)
    with changing(course) as practice:
        practice.hunts["a"] = {"misconception": "b"}


def use_last(course: Course) -> None:
    read_last(course, EXERCISE)
    delete_last(course, EXERCISE)
    save_last(course, EXERCISE, LastReport({}, "", None, []))


def use_cache(course: Course) -> None:
    file = course.root / ".course" / "cache" / "ex01-1.key"
    cache.read(file, dict)
    cache.store(file, {"a": 1})


def use_mutants(course: Course) -> None:
    file = course.root / ".course" / "cache" / "mutants-ex01.json"
    read_outcomes(file)
    Outcomes("a", "b").save(file)


def use_checkpoint(course: Course) -> None:
    checkpoint = Checkpoint(storage.state_folder(course.root, "play") / "grow.pt", {})
    try:
        checkpoint.load()
    finally:
        checkpoint.remove()
        checkpoint.save({"step": 1}, {})
        assert checkpoint.load({}) == {"step": 1}


def use_seed(course: Course) -> None:
    assert grading_seed(course, None, course.root / "out") == grading_seed(course, None, course.root / "out")


def use_reset(course: Course) -> None:
    work = b"# hours of work\n"
    try:
        done = reset_exercise(course, EXERCISE, b"# stub\n", work)
    except OSError:
        assert (course.exercises_dir / EXERCISE.file).read_bytes() == work
        raise
    assert done.backup is not None
    assert done.backup.read_bytes() == work


USES: dict[str, Callable[[Course], object]] = {
    "": use_progress,
    "progress.json": use_progress,
    "events.jsonl": use_progress,
    "lock": use_progress,
    "choices.json": lambda course: keep_brief(course, True),
    ".gitignore": use_progress,
    "practice.json": use_practice,
    "last": use_last,
    f"last/{EXERCISE.id}.json": use_last,
    "cache": use_cache,
    "cache/.gitignore": use_cache,
    "cache/ex01-1.key": use_cache,
    "cache/mutants-ex01.json": use_mutants,
    "cache/hunts/ex01-1.json": lambda course: read_hunts(course.root / ".course" / "cache" / "hunts" / "ex01-1.json"),
    "play": use_checkpoint,
    "play/grow.pt": use_checkpoint,
    "grading_seed": use_seed,
    "backups": use_reset,
    f"backups/{EXERCISE.id}-{NOON}.py": use_reset,
    "stubs": lambda course: outline_of_stub(course, EXERCISE),
    f"stubs/{EXERCISE.file}": lambda course: outline_of_stub(course, EXERCISE),
}
"""Every file and folder in `.course`, and what reads and writes it."""


def link_to(target: str) -> Callable[[Path, Path], None]:
    return lambda place, elsewhere: place.symlink_to(target.replace("ELSEWHERE", str(elsewhere)))


def huge(place: Path, _: Path) -> None:
    with place.open("wb") as stream:
        stream.truncate(1 << 40)


HAZARDS: dict[str, Callable[[Path, Path], None]] = {
    "a link to a file": link_to("ELSEWHERE/precious.txt"),
    "a link to a folder": link_to("ELSEWHERE"),
    "a link to nothing": link_to("ELSEWHERE/nothing"),
    "a link to itself": lambda place, _: place.symlink_to(place.name),
    "a link to endless zeros": link_to("/dev/zero"),
    "a link to a pipe": link_to("ELSEWHERE/pipe"),
    "a pipe": lambda place, _: os.mkfifo(place),
    "a folder": lambda place, _: place.mkdir(),
    "a huge file": huge,
    "no text": lambda place, _: place.write_bytes(b"\xff\xfe\x00"),
    "broken JSON": lambda place, _: place.write_text('{"version": 1, "exercises": {"a"'),
    "deep JSON": lambda place, _: place.write_text("[" * 100_000),
    "JSON with absurd numbers": lambda place, _: place.write_text(
        '{"exercises": {}, "events": {"read": Infinity, "opening": -1e999}}'
    ),
}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    storage.notes.clear()
    monkeypatch.setattr(time, "strftime", lambda *_: NOON)
    return tiny.course_at(tiny.copied(tmp_path / "course"))


def laid(place: Path, kind: str, elsewhere: Path) -> dict[str, str | None]:
    """Put a hazard into a place; return what is elsewhere."""
    elsewhere.mkdir()
    (elsewhere / "precious.txt").write_text("4711\n")
    (elsewhere / f"{EXERCISE.id}.json").write_text("{}")
    os.mkfifo(elsewhere / "pipe")
    place.parent.mkdir(parents=True, exist_ok=True)
    HAZARDS[kind](place, elsewhere)
    return contents(elsewhere)


def contents(folder: Path) -> dict[str, str | None]:
    return {path.name: path.read_text() if path.is_file() else None for path in folder.iterdir()}


@pytest.mark.parametrize("kind", HAZARDS)
@pytest.mark.parametrize("name", USES)
def test_a_hazard_in_the_state_folder_costs_nothing_outside_it(
    course: Course, tmp_path: Path, name: str, kind: str
) -> None:
    place = course.root / ".course" / name
    (course.exercises_dir).mkdir(exist_ok=True)
    (course.exercises_dir / EXERCISE.file).write_bytes(b"# hours of work\n")
    (course.solutions_dir / EXERCISE.file).unlink()  # then the stub is the copy in .course
    before = laid(place, kind, tmp_path / "elsewhere")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    said = ""
    try:
        USES[name](course)
    except (OSError, UsageError, CheckpointError) as error:
        said = str(error)
    assert contents(tmp_path / "elsewhere") == before
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MOST_GROWTH
    if kind.startswith("a link"):
        is_left_alone = name == ".gitignore" or name.startswith("stubs")  # never opened: not missing, and no file
        assert is_left_alone or str(place) in said + str(storage.new_notes())


@pytest.mark.parametrize("name", ["practice.json", "progress.json"])
@pytest.mark.parametrize("kind", ["no text", "broken JSON", "deep JSON", "a huge file"])
def test_a_damaged_file_is_kept_beside_the_new_one(course: Course, tmp_path: Path, name: str, kind: str) -> None:
    place = course.root / ".course" / name
    laid(place, kind, tmp_path / "elsewhere")
    size, start = place.stat().st_size, place.open("rb").read(100)
    USES[name](course)
    kept = place.with_name(f"{name}.damaged")
    assert (kept.stat().st_size, kept.open("rb").read(100)) == (size, start)
    assert json.loads(place.read_text())
    assert any(f"{name}.damaged" in note for note in storage.new_notes())


def test_the_folders_above_may_be_links(course: Course, tmp_path: Path) -> None:
    (tmp_path / "home").symlink_to(course.root, target_is_directory=True)
    linked = tiny.course_at(tmp_path / "home")
    for use in (use_progress, use_practice, use_last, use_cache, use_checkpoint, use_seed):
        use(linked)
    assert not storage.notes


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["progress.json", "events.jsonl", "practice.json"])
def test_a_file_that_may_not_be_read_is_named(course: Course, name: str) -> None:
    USES[name](course)
    (course.root / ".course" / name).chmod(0)
    with contextlib.suppress(OSError):
        USES[name](course)
    assert any(name in note for note in storage.notes)


def test_without_descriptors_of_folders_links_are_refused_too(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_HAS_DESCRIPTORS", False)
    use_progress(course)
    use_cache(course)
    assert not storage.notes
    for name in ("progress.json", "cache/ex01-1.key"):
        place = course.root / ".course" / name
        place.unlink()
        place.symlink_to(tmp_path / "elsewhere.txt")
        USES[name](course)
        assert any(str(place) in note for note in storage.notes)
    assert not (tmp_path / "elsewhere.txt").exists()


@pytest.mark.parametrize("folder", ["hunt", "arrange", "exercises"])
def test_a_program_is_not_written_through_a_link(course: Course, tmp_path: Path, folder: str) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("mine")
    for place, target in ((course.root / folder / EXERCISE.file, precious), (course.root / "linked", tmp_path)):
        place.parent.mkdir(exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(target)
        file = place if target is precious else place / EXERCISE.file
        with pytest.raises(OSError, match="it is a link"):
            storage.write_atomically(file, "a program", below=course.root)
        with pytest.raises(OSError, match="it is a link"):
            storage.read_plain(file, below=course.root)
    assert precious.read_text() == "mine"
    assert not (tmp_path / EXERCISE.file).exists()


@pytest.mark.parametrize("kind", ["a link to endless zeros", "a link to a pipe", "a pipe", "a huge file"])
@pytest.mark.parametrize("name", ["course.toml", f"exercises/{EXERCISE.file}", f"solutions/{EXERCISE.file}"])
@pytest.mark.worker
def test_a_file_of_a_clone_neither_fills_the_memory_nor_waits(
    course: Course, tmp_path: Path, name: str, kind: str
) -> None:
    place = course.root / name
    place.unlink(missing_ok=True)
    laid(place, kind, tmp_path / "elsewhere")
    for command in (["check", "1", "--plain"], ["list"], ["reset", "1", "--yes"]):
        done = limited(course.root, *command)
        assert "itself failed" not in done.stderr
        assert done.returncode in (0, 1, 2, 3), done.stderr
        if done.returncode > 1:
            assert done.stderr.startswith("course: ")


def limited(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program with 4 GiB of address space, far below what a read without a limit takes."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); "
        "from autograder.cli import main; import sys; sys.exit(main())"
    )
    return tiny.run_course(root, *arguments, program=("-c", program), PYTHONPATH=str(tiny.REPOSITORY))


WATCH = """
import os, sys
seen = []
def hook(event, details):
    if event in ("open", "os.mkdir", "os.remove", "os.rename", "os.symlink", "os.truncate"):
        seen.extend(f"{event} {path}" for path in details[:2] if isinstance(path, str) and "/.course/" in path)
sys.addaudithook(hook)
from autograder.cli import main
status = main(sys.argv[1:])
print(*seen, sep="\\n", file=sys.stderr)
sys.exit(7 if seen else 0)
"""


@pytest.mark.slow
@pytest.mark.worker
def test_every_command_opens_the_state_folder_by_its_descriptor(course: Course) -> None:
    wrong = tiny.mean_with("return x")
    (course.exercises_dir).mkdir(exist_ok=True)
    (course.exercises_dir / EXERCISE.file).write_text(wrong)
    commands = ["check 1 --plain", "hint 1", "diff 1", "list", "next 2", "hunt 1", "review", "doctor", "reset 1 --yes"]
    for command in commands:
        done = tiny.run_course(course.root, *command.split(), program=("-c", WATCH), PYTHONPATH=str(tiny.REPOSITORY))
        assert done.returncode != 7, f"course {command} opens a path in .course itself:\n{done.stderr}"
