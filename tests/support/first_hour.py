"""The first hour of a learner with the real course: what they write and type, and the screens they then see."""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.answer_key.keys import forget_old
from autograder.authoring.release import with_take
from autograder.course import Course, read_course, state_folder, taking, write_atomically
from tests.support import tiny
from tests.support.watching import SEQUENCES, Program, Watching

COURSE = read_course(tiny.REPOSITORY)
CACHE = COURSE.root / ".course" / "cache"
ROWS, COLUMNS = 40, 100
NOTEBOOK = "from autograder.notebook import check; check(1)"
BLOCK = re.compile(r"^( *)### BEGIN SOLUTION\n(.*?)^ *### END SOLUTION\n", re.MULTILINE | re.DOTALL)

Files = Mapping[str, str | None]
"""What a learner's exercises contain, by the number of the exercise; None is a file that they deleted."""


@dataclass(frozen=True)
class Situation:
    """What a learner has in their files, what they type one after the other, and the keys that they press in watch.

    Each key comes with words of the screen that answers it. A command may be preceded by other files, once it is run.
    """

    name: str
    files: Files = field(default_factory=dict)
    commands: Sequence[str] = ()
    watch: str = ""
    keys: Sequence[tuple[str, str]] = ()
    rows: int = ROWS
    columns: int = COLUMNS
    saves: Files = field(default_factory=dict)


def written(number: str, *blocks: int) -> str:
    """Return an exercise in which only these solutions are written, counted from 0; without any, all of them."""
    file = next(COURSE.solutions_dir.glob(f"ex{number}_*.py"))
    counted = iter(range(100))

    def fill(match: re.Match[str]) -> str:
        todo = f"{match[1]}raise NotImplementedError\n"
        return match[2] if next(counted) in blocks or not blocks else todo

    return BLOCK.sub(fill, file.read_text("utf-8"))


def changed(number: str, *changes: tuple[str, str]) -> str:
    """Return the solution of an exercise with parts of it replaced by a learner's."""
    text = written(number)
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in ex{number}"
        text = text.replace(old, new)
    return text


TABLE, LOOKUP, RETURN = (
    "nn.Embedding(vocab_size, d_model)",
    "        rows = self.embedding(ids)  # (B, T, D)\n",
    "        return rows * self.scale  # (B, T, D)\n",
)
UNSCALED = (RETURN, "        return rows\n")
PRINTED = (LOOKUP, f'        print("ids", ids.shape)\n{LOOKUP}')
EXITS = (LOOKUP, f'        print("before")\n        exit()\n{LOOKUP}')
SLEEPS = (LOOKUP, f'        __import__("time").sleep(600)\n{LOOKUP}')
PASSES = (LOOKUP + RETURN, "        pass\n")
UNCLOSED = (TABLE, "nn.Embedding(vocab_size, d_model")
SWAPPED = (TABLE, "nn.Embedding(d_model, vocab_size)")
NO_ROOT = ("math.sqrt(d_model)", "d_model")
RENAMED = ("class InputEmbeddings", "class InputEmbedding")
NO_SUPER = ("super().__init__()", "super().__init__")
MISSPELT = ("def forward(", "def foward(")
MISREAD = ("nn.Embedding(vocab", "nn.Embeding(vocab")
UNSET = ("        self.scale = math.sqrt(d_model)\n", "")
NO_RETURN = ("    return table\n", "    table\n")
AND = ("return padding & look_ahead", "return padding and look_ahead")
OTHER_SLICE = ("self.pe[:, :length]", "self.pe[:length]")
NO_SLICE = ("self.pe[:, :length]", "self.pe")
INVERTED = ("torch.tril(everywhere)", "torch.triu(everywhere)")
HANGS = ("    return torch.tril", '    __import__("time").sleep(600)\n    return torch.tril')
WRONG_AXIS = ("weights = torch.softmax(scores, dim=-1)", "weights = torch.softmax(scores, dim=-2)")
BIAS = "nn.Linear(d_model, d_model)"
BIASED = tuple((f"w_{name} = nn.Linear(d_model, d_model, bias=False)", f"w_{name} = {BIAS}") for name in "qkv")
MERGED = ("heads.transpose(1, 2).flatten(2)", "heads.reshape(query.shape)")
BY_FOLDER = ("from ex05_attention", "from exercises.ex05_attention")

CHECK_1 = ("course check 1",)
HINTED_1 = ("course check 1", "course hint 1")
FIRST = {"01": written("01")}
FIFTH = {"05": written("05")}


def first(*changes: tuple[str, str]) -> Files:
    """Return a first exercise with these mistakes."""
    return {"01": changed("01", *changes)}


STUBS = (
    Situation("fresh-course", commands=("course", "course list")),
    Situation("stub-check", commands=("course check",)),
    Situation("stub-hint", commands=("course check 1", "course hint", "course hint")),
    Situation("stub-why", commands=("course check 1", "course why")),
    Situation("stub-try", commands=("course try 1",)),
    Situation("stub-next", commands=("course check 1", "course next")),
    Situation("half-ex01", {"01": written("01", 0)}, ("course check 1", "course hint 1", "course list")),
    Situation("half-ex02-table", {"02": written("02", 0)}, ("course check 2", "course try 2")),
    Situation("half-ex04-one-of-three", {"04": written("04", 0)}, ("course check 4", "course hint 4")),
    Situation("half-ex04-two-of-three", {"04": written("04", 0, 1)}, ("course check 4",)),
    Situation("half-ex01-pass", first(PASSES), CHECK_1),
    Situation("deleted-file", {"01": None}, ("course check 1", "course")),
    Situation("wrong-words", commands=("course chekc", "course check 99", "course check atention", "course solution")),
    Situation("play-too-early", commands=("course play translate",)),
)

MISTAKES = (
    Situation("ex01-prints", first(PRINTED, UNSCALED), ("course check 1", "course diff 1")),
    Situation("ex01-prints-and-passes", first(PRINTED), ("course check 1", "course diff 1")),
    Situation("ex01-syntax-error", first(UNCLOSED), CHECK_1),
    Situation("ex01-wrong-scale", first(NO_ROOT), ("course check 1", "course why")),
    Situation("ex01-swapped-sizes", first(SWAPPED), CHECK_1),
    Situation("ex01-renamed-class", first(RENAMED), CHECK_1),
    Situation("ex01-renamed-attribute", {"01": written("01").replace("self.embedding", "self.table")}, CHECK_1),
    Situation("ex01-hints", first(UNSCALED), ("course check 1", "course hint", "course hint", "course hint --now")),
    Situation("ex01-time-out", first(SLEEPS), CHECK_1),
    Situation("ex01-no-super", first(NO_SUPER), HINTED_1),
    Situation("ex01-misspelt-forward", first(MISSPELT), HINTED_1),
    Situation("ex01-misspelt-layer", first(MISREAD), HINTED_1),
    Situation("ex01-unset-attribute", first(UNSET), HINTED_1),
    Situation("ex02-no-return", {**FIRST, "02": changed("02", NO_RETURN)}, ("course check 2", "course hint")),
    Situation("ex04-and", {"04": changed("04", AND)}, ("course check 4", "course hint")),
    Situation("ex01-exit", first(EXITS), CHECK_1),
    Situation("ex02-exception", {**FIRST, "02": changed("02", OTHER_SLICE)}, ("course check 2",)),
    Situation("ex02-missing-slice", {**FIRST, "02": changed("02", NO_SLICE)}, ("course check 2",)),
    Situation("ex04-inverted", {"04": changed("04", INVERTED)}, ("course check 4",)),
    Situation("ex04-hangs", {"04": changed("04", HANGS)}, ("course check 4",)),
    Situation("ex05-softmax-axis", {"05": changed("05", WRONG_AXIS)}, ("course check 5", "course diff 5")),
    Situation("ex06-bias", {**FIFTH, "06": changed("06", *BIASED)}, ("course check 6",)),
    Situation("ex06-two-mistakes", {**FIFTH, "06": changed("06", *BIASED, MERGED)}, ("course check 6",)),
    Situation("ex06-import-by-folder", {**FIFTH, "06": changed("06", BY_FOLDER)}, ("course check 6",)),
)

OTHERS = (
    Situation("ex01-passes", FIRST, ("course check 1", "course", "course check", "course next")),
    Situation("ex01-try", FIRST, ("course try 1",)),
    Situation("notebook", first(PRINTED, UNSCALED), (f"python -c {NOTEBOOK}",)),
    Situation(
        "watch-a-mistake",
        first(PRINTED, UNSCALED),
        watch="1",
        keys=(
            ("", "checked in"),
            ("h", "Press h again"),
            ("h", "Hint 2 of"),
            ("w", "Misconception"),
            ("d", "lines 1 to"),
            ("n", "once"),
            ("l", "exercises passed"),
            ("esc", "FAIL"),
            ("save", "PASS"),
            ("n", "NOT STARTED"),
        ),
        saves=FIRST,
    ),
    Situation(
        "watch-80x24",
        {"05": changed("05", WRONG_AXIS)},
        watch="5",
        keys=(("", "checked in"), ("h", "Press h again"), ("h", "Hint 2 of"), ("d", "lines 1 to"), ("?", "Keys")),
        rows=24,
        columns=80,
    ),
)

SITUATIONS = (*STUBS, *MISTAKES, *OTHERS)


def play(situation: Situation, root: Path) -> str:
    """Play a situation in a new copy of the course, and return its screens, each below what led to it."""
    course = fresh_course(root)
    save(course, situation.files)
    screens = [(f"$ {command}", wrapped(steady(run(course, command), root))) for command in situation.commands]
    if situation.watch:
        screens += [(key, steady(screen, root)) for key, screen in watch(course, situation)]
    keep_keys(root)
    return "\n\n".join(f"{typed}\n{screen}" for typed, screen in screens) + "\n"


def fresh_course(root: Path) -> Course:
    """Copy the course for a class that takes part one, with the answer keys that were made before."""
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("exercises", "tests/exercises", "solutions", "play"):
        shutil.copytree(COURSE.root / part, root / part, ignore=ignored)
    text = (COURSE.root / "course.toml").read_text("utf-8")
    (root / "course.toml").write_text(with_take(text, ["one"]), "utf-8")
    tiny.replaced(root / "course.toml", "wall_seconds = 15", "wall_seconds = 6")  # a program that hangs ends soon
    cache = state_folder(root, "cache")
    for exercise in taking(COURSE, ["one"]).exercises:
        for file in CACHE.glob(f"{exercise.id}-*"):
            with contextlib.suppress(FileNotFoundError):  # another process of tests has made a newer one
                tiny.linked(file, cache / file.name)
    return replace(COURSE, root=root)


def keep_keys(root: Path) -> None:
    """Take the answer keys that were made in a copy to the course, for the next copy."""
    for file in (root / ".course" / "cache").glob("ex*"):
        if not (CACHE / file.name).exists():
            write_atomically(state_folder(COURSE.root, "cache") / file.name, file.read_bytes())
            forget_old(CACHE / file.name)


def save(course: Course, files: Files) -> None:
    """Write a learner's files, at once, as an editor does."""
    for number, text in files.items():
        file = next(course.exercises_dir.glob(f"ex{number}_*.py"))
        if text is None:
            file.unlink()
        else:
            file.with_suffix(".new").write_text(text, "utf-8")
            file.with_suffix(".new").replace(file)


def run(course: Course, command: str) -> str:
    """Return what a terminal shows after a command, and its exit status if it is not 0."""
    name, *words = command.split(" ", 2) if command.startswith("python") else command.split()
    started = words if name == "python" else ["-m", "autograder", *words]
    with Program(course.root, *started, rows=ROWS, columns=COLUMNS, PYTHONPATH=str(tiny.REPOSITORY)) as program:
        status = program.ended()
    return lines_left(program.shown) + (f"\n[exit status {status}]" if status else "")


def watch(course: Course, situation: Situation) -> Iterator[tuple[str, str]]:
    """Yield each key that is pressed with the screen that answers it."""
    with Watching(course.root, situation.watch, rows=situation.rows, columns=situation.columns) as program:
        for key, words in situation.keys:
            if key == "save":
                save(course, situation.saves)
            elif key:
                program.press({"esc": "\x1b"}.get(key, key))
            yield f"[{key}]" if key else f"$ course watch {situation.watch}", program.frame(words)
        program.press("q")
        assert program.ended() == 0


LINE_TAKEN_AWAY = "\x1b[F\x1b[2K"
"""What takes the line above that of the cursor away."""


def lines_left(output: str) -> str:
    """Return the lines that are left on a terminal: a carriage return begins a line again, and some are taken away."""
    first, *more = output.replace("\r\n", "\n").split(LINE_TAKEN_AWAY)
    left = first.split("\n")
    for text in more:
        left = [*left[:-2], *text.split("\n")]
    lines = []
    for line in (SEQUENCES.sub("", line) for line in left):
        cells: list[str] = []
        for part in line.split("\r"):
            cells[: len(part)] = part
        lines.append("".join(cells).rstrip())
    return "\n".join(lines).strip("\n")


STEADY: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"\b\d+(\.\d+)? s\b(?!, the limit)", "N s"),
    (r"\b\d\d:\d\d:\d\d\b", "HH:MM:SS"),
    (r" {2,}(\d+ of \d+ done)", r"  \1"),
    (r"\d{4}-\d\d-\d\d", "YYYY-MM-DD"),
)


def wrapped(screen: str) -> str:
    """Return the lines of a screen as a terminal breaks them."""
    return "\n".join(
        line[at : at + COLUMNS] for line in screen.split("\n") for at in range(0, max(len(line), 1), COLUMNS)
    )


def steady(screen: str, root: Path) -> str:
    """Return a screen without what differs from run to run: times and the folder."""
    text = screen.replace(str(root), "COURSE").replace(os.path.relpath(root), "COURSE")
    for pattern, instead in STEADY:
        text = re.sub(pattern, instead, text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")
