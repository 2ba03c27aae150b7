"""Lay out the course that this installation brings, or bring a started folder up to date.

It never replaces a file that you changed. Run it again at any time, also after an interruption. The course comes from
the wheel. Instructors need its solutions too, which are in its repository only.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from autograder import DISTRIBUTION, __version__, ending
from autograder.answer_key import file_digest
from autograder.cli import CommandParser, Screen, confirmed, is_somebody_there, say, warn
from autograder.course import (
    COURSE_FILE,
    EXTRAS,
    FOLDER,
    KEY_FOLDER,
    KIT,
    MANIFEST,
    STUBS,
    Course,
    CourseError,
    Exercise,
    Part,
    UsageError,
    find_course,
    folder_lock,
    in_shell,
    make_folder,
    nearest,
    numbers_of,
    read_course,
    read_plain,
    read_text,
    remove,
    resolve_exercise,
    state_folder,
    trust_folder,
    trust_line,
    unknown,
    write_atomically,
)
from autograder.ending import PASS
from autograder.formats import Unreadable, decode, read_json
from autograder.progress import (
    Command,
    move_to,
    read_choices,
    read_progress,
    write_choices,
)
from autograder.report import plural
from autograder.submission import NOTEBOOKS

EDITORS = ("code", "cursor", "codium", "zed")
"""Editors that open a folder, in the order in which they are offered, before $VISUAL."""

NEWER = ".new"
"""The suffix of a newer kit file beside one that somebody edited."""

EARLIER = "-earlier-stub"
"""In `.course/backups`: the end of the name of a stub that a newer one replaced, so that the two can be compared."""

CPU_BUILD = "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
KINDS = (
    (MANIFEST, ""),
    (f"{KEY_FOLDER}/", "answer key file"),
    (f"{STUBS}/", ""),  # copies of the stubs
    ("exercises/", "stub"),
    ("tests/exercises/hints/", "file of hints"),
    ("tests/exercises/", "file of checks"),
    ("", "other file"),
)
"""The kinds of a kit's files, by the beginnings of their paths: those without a name are not counted."""


def add_options(parser: CommandParser) -> None:
    """Add the options of the command."""
    does = "the folder to make or to bring up to date (default: the one you are in, or one named after the course)"
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help=does)
    parser.add_argument("--part", metavar="ID", help="begin with this part of the course: one, two")
    does = "write nothing; show how stubs of exercises that you started have changed"
    parser.add_argument("--diff", action="store_true", help=does)
    parser.add_argument("--exercise", metavar="EX", help=f"begin with {parser.exercise}")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    screen = Screen.of(options)
    if not KIT.is_file():
        course = read_course(_clone(options.folder))
        screen.text(f"{course.title} is here already, in {course.root}.", indent=0)
        _begin(screen, course, options)
        _show_next(screen, course)
        return PASS
    kit = read_kit(KIT)
    with ending.temporary(lambda: Path(tempfile.mkdtemp(prefix="course-start-"))) as copy:
        described = _described(kit, copy)
        _chosen(described, options)
    folder = options.folder or _default_folder(described)
    if options.diff:
        return _show_diff(folder)
    require_folder(folder, kit, described)
    is_new = not (folder / MANIFEST).is_file()
    try:
        changes = lay_out(kit, folder)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        again = f"`course start {shlex.quote(str(folder))}` goes on from there"
        raise OSError(error.errno, f"{error.strerror or error}{where}; {again}") from error
    course = read_course(folder.resolve())
    (_show_new if is_new else _show_changes)(screen, course, folder, changes)
    _begin(screen, course, options)
    editor = _asked_editor(course, folder)
    _show_next(screen, course)
    _open(editor, folder)
    return PASS


# The kit, and the folder that it is for.


def read_kit(file: Path) -> dict[str, bytes]:
    """Return the files of a kit by path."""
    with tarfile.open(file, "r:xz") as tar:
        return {entry.name: stream.read() for entry in tar if (stream := tar.extractfile(entry)) is not None}


def _described(kit: Mapping[str, bytes], folder: Path) -> Course:
    """Return the course of a kit, before it is laid out: a folder gets what describes it, its lessons included."""
    (folder / "exercises").mkdir()
    for name, data in kit.items():
        if name == COURSE_FILE or name.startswith("exercises/ex"):
            (folder / name).write_bytes(data)
    return read_course(folder)


def _default_folder(course: Course) -> Path:
    """Return the started folder around the working folder; without one, a folder named after the course."""
    try:
        root = find_course()
    except CourseError:
        root = None
    if root is not None and (root / MANIFEST).is_file():
        return root
    return Path(_name(course))


def _name(course: Course) -> str:
    """Return the title of a course as the name of a folder."""
    return re.sub(r"[^a-z0-9]+", "-", course.title.lower()).strip("-") or "course"


def _clone(folder: Path | None) -> Path:
    """Return the folder of the course, for an engine without a kit. Raises `UsageError` if there is none."""
    own = Path(__file__).parents[2]
    for start in (folder, Path.cwd(), own):
        try:
            if start is not None:
                return find_course(start)
        except CourseError:
            if start is folder and (own / COURSE_FILE).is_file():
                there = "this engine runs from a clone and lays nothing out. The course is there already"
                raise UsageError(f"{there}: cd {in_shell(own)} && course") from None
    raise UsageError(
        "this installation has the engine and no course. Install the wheel of a course, or go to the folder of one"
    )


def require_folder(folder: Path, kit: Mapping[str, bytes], course: Course) -> None:
    """Raise `UsageError` with the next command if a kit cannot be laid out in a folder."""
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE", "")
    own = "~" if os.access(home, os.W_OK) else tempfile.gettempdir()
    elsewhere = f"choose a new folder: course start {own}/{_name(course)}"
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file, expected a folder; {elsewhere}")
    known = base_of(folder)
    if (folder / MANIFEST).is_file() and not (folder / "autograder").is_dir():
        exercises = {name for name in kit if name.startswith("exercises/")}
        if known and not exercises & {*known}:
            raise UsageError(f"{folder} holds another course than {course.title}; {elsewhere}")
        return
    if (folder / COURSE_FILE).is_file():
        raise UsageError(f"{folder} holds a course already; go there: cd {in_shell(folder)} && course")
    try:
        around = find_course(folder.resolve().parent)
    except CourseError:
        pass
    else:
        raise UsageError(f"{folder} would be inside the course in {around}; go there: cd {in_shell(around)} && course")
    try:
        there = [*folder.iterdir()] if folder.is_dir() else []
        if others := sorted(entry.name for entry in there if not _is_ignored(entry)):
            more = f" and {len(others) - 1} more" if others[1:] else ""
            raise UsageError(f"{folder} holds {others[0]}{more}, expected a new or empty folder; {elsewhere}")
        folder.mkdir(parents=True, exist_ok=True)
        with ending.temporary(lambda: Path(tempfile.mkdtemp(prefix=".start-", dir=folder))):
            pass
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}); {elsewhere}") from error


def _is_ignored(entry: Path) -> bool:
    """Say whether an entry of a folder may stand beside a course: a hidden one, or an environment."""
    return entry.name.startswith(".") or (entry / "pyvenv.cfg").is_file()


# Lay out a kit. What a folder was started with is in its manifest, so a file that differs from it was changed by hand.


@dataclass
class Changes:
    """What was done to a folder, by path: a file of a new folder is `added`.

    `kept` are files of exercises that the learner changed and that are new in the kit; `edited` are other files that
    somebody changed: those of the kit were written beside them. `own` are all changed exercise files.
    `before` is the version of the engine that the folder was started with.
    """

    before: str = __version__
    is_trusted: bool = False
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)


def base_of(folder: Path) -> dict[str, str]:
    """Return the digests of the files that a folder was started with; none if its manifest is missing or damaged.

    The folder may come from somebody else, so a path that leads out of it is ignored.
    """
    try:
        files = decode(dict[str, str], _manifest(folder).get("files", {}))
    except Unreadable:
        return {}
    return {name: digest for name, digest in files.items() if not _OUTSIDE.search(name)}


_OUTSIDE = re.compile(r"^/|(^|/)\.\.(/|$)|[\\:]")


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        return read_json(dict[str, Any], read_plain(folder / MANIFEST))
    except (OSError, Unreadable):
        return {}


def lay_out(kit: Mapping[str, bytes], folder: Path) -> Changes:
    """Write the files of a kit that are missing, or that nobody changed since the folder was started.

    A new folder is trusted: all its code is the kit's. Its manifest comes first, so that an interrupted folder is
    recognised; in a started one it comes last, so that every changed file is still known. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    is_new = not (folder / MANIFEST).is_file()
    is_trusted = is_new and trust_folder(folder) is not None
    with folder_lock(state_folder(folder)):
        changes = Changes(str(_manifest(folder).get("engine", __version__)), is_trusted)
        base = base_of(folder)
        if is_new:
            _write(folder, MANIFEST, kit[MANIFEST])
        # The copies of stubs come after the exercises: until then they show what these were.
        for name in sorted(kit, key=lambda name: (name == MANIFEST, name.startswith(STUBS), name)):
            _bring(folder, name, kit[name], base.get(name), changes)
        for name in base.keys() - kit.keys():
            if _digest(folder / name, folder) == base[name]:
                remove(folder / name)
                changes.removed.append(name)
    return changes


def _bring(folder: Path, name: str, data: bytes, before: str | None, changes: Changes) -> None:
    """Bring one file up to date; `before` is the digest that it was laid out with."""
    here, there = _digest(folder / name, folder), file_digest(data)
    is_changed = here is not None and here != before and not name.startswith((KEY_FOLDER, STUBS))
    if name.startswith("exercises/") and is_changed and before is not None:
        changes.own.append(name)
    if here == there:
        return
    if not is_changed:
        _write(folder, name, data)
        (changes.added if here is None else changes.replaced).append(name)
    elif not name.startswith("exercises/"):
        _write(folder, f"{name}{NEWER}", data)
        changes.edited.append(name)
    elif before != there:
        stub = _stub(name)
        if _digest(folder / stub, folder) == before:
            _write(folder, _earlier(name), read_plain(folder / stub, below=folder))
        changes.kept.append(name)


def _stub(name: str) -> str:
    """Return the path of the unchanged stub of an exercise's file."""
    return name.replace("exercises/", f"{STUBS}/", 1)


def _earlier(name: str) -> str:
    """Return the path of the copy of an earlier stub."""
    path = PurePosixPath(name)
    return f"{FOLDER}/backups/{path.stem}{EARLIER}{path.suffix}"


def _digest(file: Path, folder: Path) -> str | None:
    """Return the digest of a file, None if there is none, "" if it is no plain file."""
    try:
        return file_digest(read_plain(file, below=folder))
    except FileNotFoundError:
        return None
    except OSError:
        return ""


def _write(folder: Path, name: str, data: bytes) -> None:
    make_folder((folder / name).parent, below=folder)
    write_atomically(folder / name, data, below=folder)


# Where to begin.


def _chosen(course: Course, options: argparse.Namespace) -> tuple[Part | None, Exercise | None]:
    """Return the part and the exercise to begin with. Raises `UsageError`."""
    parts = {part.id: part for part, _ in course.sections}
    if options.part is not None and options.part not in parts:
        near = nearest(options.part, parts)
        listed = f"This course has the parts {', '.join(parts)}." if parts else "This course has no parts."
        raise UsageError(unknown("part", options.part, [near and f"course start --part {near}"], more=listed))
    exercise = resolve_exercise(course, options.exercise) if options.exercise is not None else None
    return parts.get(options.part), exercise


def _begin(screen: Screen, course: Course, options: argparse.Namespace) -> None:
    """Move to the part and the exercise that were asked for, and say what they need."""
    part, exercise = _chosen(course, options)
    progress = read_progress(course)
    if part is not None:
        write_choices(course, replace(read_choices(course), part=part.id))
        own = [course.exercise(id_) for id_ in part.exercises]
        exercise = exercise or next((one for one in own if not progress.of(one).passes_now), own[0])
        needed = {need.id for one in own for need in course.with_needs(one)} - {*part.exercises}
        earlier = [one for one in course.exercises if one.id in needed]
        screen.text(f"You begin with part {part.id}, {part.title}.", indent=0)
        if earlier:
            sections = {course.section_of(one)[0] for one in earlier}
            where = f" {sections.pop().strip()}" if len(sections) == 1 else ""
            instead = "Until yours pass, the checks use reference parts instead"
            screen.text(f"It builds on {numbers_of(earlier)}{where}. {instead}.", indent=0)
        for activity in course.play:
            if {*activity.needs} & {*part.exercises} and (needs := course.used_by(activity)):
                screen.text(f"`course play {activity.id}` needs your own code: {numbers_of(needs)}.", indent=0)
    if exercise is not None:
        warn(move_to(course, progress, exercise))
        screen.text(f"You are at {exercise.number} {exercise.title}.", indent=0)


# What is printed.


def _words_for(folder: Path) -> str:
    return "this folder" if folder.resolve() == Path.cwd() else str(folder)


def _show_new(screen: Screen, course: Course, folder: Path, changes: Changes) -> None:
    count = plural(len(course.exercises), "exercise")
    screen.text(f"{course.title} is in {_words_for(folder)}: {count} with their checks.", indent=0, style="bold")
    own = course.exercises_dir.name
    screen.text(f"Write in {own}/ or {own}/{NOTEBOOKS}/. Leave the other files as they are.", indent=0)
    if changes.is_trusted:
        screen.text("You trust this folder: `course` runs the programs in it without a question.", indent=0)
    else:
        screen.text("The list of trusted folders cannot be written. Before you go on, run:", indent=0)
        screen.line(f"  {trust_line(folder)}")
    _show_edited(screen, changes)


def _show_changes(screen: Screen, course: Course, folder: Path, changes: Changes) -> None:
    """Say what was brought up to date, and what stays as the learner has it."""
    groups = (("replaced", changes.replaced), ("added", changes.added), ("removed", changes.removed))
    counts = [f"{word}: {counted}" for word, names in groups if (counted := _counted(names))]
    versions = __version__ if changes.before == __version__ else f"{changes.before} to {__version__}"
    if not counts and not changes.kept:
        screen.text(f"{course.title} in {_words_for(folder)} is up to date ({versions}).", indent=0, style="bold")
    else:
        screen.text(f"{course.title} in {_words_for(folder)} was updated ({versions}).", indent=0, style="bold")
    if counts:
        screen.text(f"Files {'; '.join(counts)}.", indent=0)
    if changes.own:
        screen.text(f"Your code stays as it is: {_exercises(course, changes.own)}.", indent=0)
    if changes.kept:
        screen.text(f"After you started, the lesson or stub changed: {_exercises(course, changes.kept)}.", indent=0)
        screen.text(f"The new one is in {STUBS}. `course start --diff` shows what changed in it.", indent=0)
    _show_edited(screen, changes)


def _counted(names: Sequence[str]) -> str:
    """Return how many files of each kind there are: `3 stubs and 2 files of checks`."""
    kinds = Counter(next(kind for begin, kind in KINDS if name.startswith(begin)) for name in names)
    words = [_plural(kinds[kind], kind) for _, kind in KINDS if kind and kinds[kind]]
    return f"{', '.join(words[:-1])} and {words[-1]}" if words[1:] else "".join(words)


def _plural(count: int, kind: str) -> str:
    """Return a number of files of a kind: `3 files of checks`."""
    first, *rest = kind.split(" of ")
    return " of ".join([plural(count, first), *rest])


def _exercises(course: Course, names: Iterable[str]) -> str:
    """Return the exercises that some files belong to: `04 masks, 05 attention`."""
    ids = {PurePosixPath(name).stem for name in names}
    return ", ".join(f"{one.number} {one.title}" for one in course.every if one.id in ids)


def _show_edited(screen: Screen, changes: Changes) -> None:
    for name in changes.edited:
        newer = f"{PurePosixPath(name).name}{NEWER}"
        screen.text(f"Somebody edited {name}, so it stays. The file of the kit is beside it: {newer}.", indent=0)
    if changes.edited:
        screen.text("To take a file of the kit, delete yours and run `course start` again.", indent=0)


def missing_libraries(course: Course) -> list[Command]:
    """Return the commands that install what programs of the course need and this environment lacks."""
    missing = [library for library in course.libraries if find_spec(library) is None]
    named = (f'"{DISTRIBUTION}[{library}]"' if library in EXTRAS else library for library in missing)
    return [(f"pip install {name}", "your code needs it") for name in named]


def _show_next(screen: Screen, course: Course) -> None:
    """Print the next command; before it, how to install what is missing."""
    install = missing_libraries(course)
    if install and "torch" in course.libraries and sys.platform == "linux":
        screen.text("PyTorch is not installed. Without an NVIDIA GPU, choose the smaller CPU build:", indent=0)
        screen.line(f"  export {CPU_BUILD}")
    here = "" if course.root == Path.cwd() else f"cd {in_shell(Path(os.path.relpath(course.root)))} && "
    screen.gap()
    screen.next([*install, (f"{here}course", "what to do next")])


def _show_diff(folder: Path) -> int:
    """Print how the stubs of started exercises differ from those that the learner began with."""
    own = (name for name in base_of(folder) if name.startswith("exercises/"))
    pairs = [(_earlier(name), _stub(name)) for name in sorted(own) if (folder / _earlier(name)).is_file()]
    for pair in pairs:
        before, after = (read_text(folder / name, below=folder).splitlines() for name in pair)
        say("\n".join(unified_diff(before, after, *pair, lineterm="")))
    if not pairs:
        say("No stub of an exercise that you started has changed.")
    return PASS


# The editor.


def _found_editor() -> list[str]:
    """Return the command of an editor on this machine; nothing if there is none."""
    found = next((name for name in EDITORS if shutil.which(name)), "")
    words = [found] if found else shlex.split(os.environ.get("VISUAL", ""))
    return words if words and shutil.which(words[0]) else []


def _asked_editor(course: Course, folder: Path) -> list[str]:
    """Return the command of the editor that is to open the folder. It asks once, on a terminal only."""
    choices, found = read_choices(course), _found_editor()
    if choices.editor is None and found and is_somebody_there():
        choices = replace(choices, editor=confirmed(f"Open {folder} in {found[0]}?"))
        write_choices(course, choices)
    return found if choices.editor and is_somebody_there() else []


def _open(editor: Sequence[str], folder: Path) -> None:
    """Open a folder in an editor, and wait until its command ends."""
    if not editor:
        return
    try:
        process = ending.started(lambda: subprocess.Popen([*editor, str(folder)]))
    except OSError as error:
        warn(f"{editor[0]} cannot be started ({error.strerror}); open {folder} by hand")
        return
    process.wait()
    ending.forget(process)
