"""What an activity gets, and how it runs: the student's modules, the screen, a checkpoint, and its ways to end."""

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn, TextIO

import torch
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from autograder.course import (
    Activity,
    Course,
    CourseError,
    UsageError,
    Value,
    exists,
    new_notes,
    open_plain,
    parts_of_others,
    read_course,
    read_plain,
    remove,
    replacing,
    require,
    state_folder,
)
from autograder.ending import ENVIRONMENT, FAIL, GRADER, INTERRUPTED, PASS, SIGNALS, USAGE
from autograder.progress import QUIT, Keyboard, keyboard, write_json
from autograder.report import duration, glyphs_for, one_line, plural, report_console, show_sentence
from autograder.submission import Submission, read_own
from autograder.worker import Sources, build

# Save and load a training, so that it can go on. A checkpoint of other code or sizes is refused.

SEED = "--seed"
"""The seed is stored with the digests of what made a checkpoint, under this name."""


class CheckpointError(Exception):
    """A checkpoint cannot be used. The message says why, and what to do.

    `found` is the reason alone. `say` is an option with which the checkpoint could be used, or "".
    """

    def __init__(self, found: str, say: str = "") -> None:
        self.found, self.say = found, say
        instead = f"say {say} to use it, or --fresh" if say else "say --fresh"
        super().__init__(f"{found}; {instead} to start over and replace it")


@dataclass(frozen=True)
class Checkpoint:
    """A file. `made_by` has a digest of everything a training depends on; another checkpoint is refused."""

    file: Path
    made_by: Mapping[str, str]

    def load(self, sizes: Mapping[str, int | float | str] | None = None) -> dict[str, Any] | None:
        """Return the saved data, or None. Raises `CheckpointError`, and OSError if the file cannot be read.

        `sizes` are options of the activity. If given, they must equal those of the checkpoint.
        """
        if not exists(self.file):
            return None
        try:
            with os.fdopen(open_plain(self.file), "rb") as stream:
                kept = torch.load(stream, map_location="cpu", weights_only=True)
            made_by, made_with, data = dict(kept["made_by"]), dict(kept["sizes"]), dict(kept["data"])
        except OSError:
            raise
        except Exception as error:  # torch raises many types for a file that is not its own
            reason = (str(error).splitlines() or [type(error).__name__])[0][:80]
            raise CheckpointError(f"the checkpoint {self.file} cannot be read ({reason})") from None
        others = [name for name in {**made_by, **self.made_by} if made_by.get(name) != self.made_by.get(name)]
        if others == [SEED]:
            raise self._made_with(SEED, made_by.get(SEED), self.made_by.get(SEED))
        if others:
            changed = f"was made by other code: {', '.join(others)} changed since"
            raise CheckpointError(f"the checkpoint {self.file} {changed}")
        sizes = made_with if sizes is None else sizes
        for name in {**made_with, **sizes}:
            if made_with.get(name) != sizes.get(name):
                raise self._made_with(f"--{name}", made_with.get(name), sizes.get(name))
        return data

    def _made_with(self, option: str, made_with: object, this: object) -> CheckpointError:
        """Return the error for an option that differs. A value with a space is a name and a digest, not an option."""
        found = f"the checkpoint {self.file} was made with {option} {made_with}, this is {option} {this}"
        value = str(made_with)
        return CheckpointError(found, "" if made_with is None or " " in value else f"{option} {value}")

    def save(self, data: Mapping[str, Any], sizes: Mapping[str, int | float | str]) -> None:
        """Write the file whole, or keep the old one. Raises OSError."""
        kept = {"made_by": dict(self.made_by), "sizes": dict(sizes), "data": dict(data)}
        with replacing(self.file, 0o600) as stream:
            torch.save(kept, stream)

    def remove(self) -> None:
        """Delete the file, if there is one."""
        remove(self.file)


def rng_states(device: str) -> dict[str, Any]:
    """Return the states of the random generators of torch, for a checkpoint."""
    states: dict[str, Any] = {"cpu": torch.get_rng_state()}
    if torch.device(device).type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def set_rng_states(states: Mapping[str, Any], device: str) -> None:
    """Restore the random generators of torch."""
    torch.set_rng_state(states["cpu"])
    if "cuda" in states and torch.device(device).type == "cuda":
        torch.cuda.set_rng_state(states["cuda"], device)


def digest(data: bytes) -> str:
    """Return a short digest of some bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


# Display a training: a block that is redrawn on a terminal, or one line per report.

DRAW_SECONDS = 0.25
"""How often a terminal is redrawn."""

LINE_SECONDS = 10.0
"""How often a log gets a line."""

MEASURE_SECONDS, MEASURE_STEPS = 3.0, 5
"""An estimate needs so much time and so many steps, after the first one, which is slow."""

WORTH_SECONDS = 20.0
"""A shorter training needs no estimate."""

CURVE = "▁▂▃▄▅▆▇█"

Row = tuple[str, str, bool | None]
"""A sample: the input, the output, and whether the output is correct, or None if unknown."""


class LiveDisplay:
    """The display of a training of so many steps, for `with`. Call `show` at every step: it draws now and then.

    Once it has measured a few steps, it says how long the rest takes. If `stoppable`, the key `q` sets `enough`.
    """

    def __init__(
        self, console: Console, steps: int, *, plain: bool, spell: Callable[[str], str], stoppable: bool = False
    ) -> None:
        self._console = console
        self._steps = steps
        self._spell = spell
        self._redraws = console.is_terminal and not plain
        self._rows: Sequence[Row] = ()
        self._curve: list[float] = []
        self._drawn = self._started = time.monotonic()
        self._first: int | None = None
        self._measured: float | None = None
        self._has_estimate = False
        self._keys = keyboard(plain=False) if stoppable else Keyboard()
        self.enough = False
        self._stack = ExitStack()
        self._live: Live | None = None

    def __enter__(self) -> "LiveDisplay":
        self._stack.enter_context(self._keys)
        if self._redraws:
            self._live = self._stack.enter_context(
                Live(console=self._console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, where)

    def show(
        self, step: int, figures: Mapping[str, str], *, curve: float | None = None, rows: Sequence[Row] | None = None
    ) -> None:
        """Show a step: its figures by name, and new samples if `rows` is given; old ones stay.

        `curve` is the figure to plot over time.
        """
        if self._first is None:
            self._first = step - 1
        if self._keys and QUIT in self._keys.wait(0):
            self.enough = True
        self._estimate(step)
        if curve is not None:
            self._curve.append(curve)
        now = time.monotonic()
        due = now - self._drawn >= (DRAW_SECONDS if self._live else LINE_SECONDS)
        if not due and rows is None and step < self._steps:
            return
        self._drawn = now
        if self._live:
            self._rows = self._rows if rows is None else rows
            self._live.update(self._block(step, figures), refresh=True)
            return
        values = "; ".join(f"{name} {value}" for name, value in figures.items())
        self._print(f"Step {step} of {self._steps}: {values}.")
        for source, answer, _ in rows or ():
            self._print(f"  {source} -> {answer}")

    def _estimate(self, step: int) -> None:
        """Print once how long the rest takes, by the steps after the first."""
        if self._has_estimate or self._first is None:
            return
        now = time.monotonic()
        if self._measured is None:
            self._measured = now
            return
        done, passed = step - self._first - 1, now - self._measured
        if done < MEASURE_STEPS or passed < MEASURE_SECONDS:
            return
        self._has_estimate = True
        left = (self._steps - step) * passed / done
        if left > WORTH_SECONDS:
            stops = " Press q to stop earlier, and use what the model has learned." if self._keys else ""
            self._print(f"The training takes about {duration(left)} on this machine.{stops}")

    def _print(self, text: str) -> None:
        show_sentence(self._console, Text(self._spell_line(text)))

    def _spell_line(self, text: str) -> str:
        indent = len(text) - len(text.lstrip())
        return " " * indent + self._spell(text)

    def _block(self, step: int, figures: Mapping[str, str]) -> RenderableType:
        passed = time.monotonic() - self._started
        done = step - (self._first or 0)
        left = (self._steps - step) * passed / max(done, 1)
        head = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=self._steps, completed=step, width=24)
        head.add_row(f"step {step:,} of {self._steps:,}", bar, f"{duration(passed)}, about {duration(left)} left")
        values = Text(self._spell(", ".join(f"{name} {value}" for name, value in figures.items())))
        parts: list[RenderableType] = [head, values]
        if curve := self._curve_text(min(self._console.width - 2, 60)):
            parts.append(Text(curve, "cyan"))
        if self._rows:
            parts += [Text(), self._table()]
        return Group(*parts)

    def _curve_text(self, width: int) -> str:
        """Return the figure over time as bars, each a mean; "" if the terminal cannot show them."""
        if len(self._curve) < 2 or self._spell("…") != "…":
            return ""
        parts = min(width, len(self._curve))
        cuts = [len(self._curve) * at // parts for at in range(parts + 1)]
        means = [sum(self._curve[a:b]) / (b - a) for a, b in pairwise(cuts)]
        low, high = min(means), max(means)
        size = (high - low) or 1.0
        return "".join(CURVE[round((mean - low) / size * (len(CURVE) - 1))] for mean in means)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        marks = {True: ("✓", "green"), False: ("✗", "red"), None: ("", "")}
        for source, answer, right in self._rows:
            mark, style = marks[right]
            table.add_row(
                Text(self._spell(source)),
                Text(self._spell(answer), overflow="ellipsis", no_wrap=True),
                Text(mark, style),
            )
        return table


class FaultyExercise(Exception):
    """An activity cannot go on, because an exercise is faulty. The message says what was observed."""

    def __init__(self, exercise: str, message: str) -> None:
        super().__init__(message)
        self.exercise = exercise


class Stopped(Exception):
    """Somebody stopped the activity. Its checkpoint is saved."""


@dataclass
class Stage:
    """The surroundings of one run of an activity.

    `steps` is None if the activity decides. `say` has texts to answer instead of typed lines. `options` are the
    activity's own. `faults` has the exercises known to be faulty, each with a sentence; it is empty unless the student
    said `--anyway`, now or when the training started. `checkpoint_of` returns the checkpoint of another activity.

    In an activity with milestones, reference parts stand in for exercises. `passing` are those of the student that
    pass, and `use` makes the student's modules of some of them importable, with reference parts for all others.
    """

    course: Course
    activity: Activity
    console: Console
    stdout: TextIO
    checkpoint: Checkpoint
    checkpoint_of: Callable[[str], Checkpoint]
    device: str
    seed: int
    steps: int | None
    say: Sequence[str]
    options: Mapping[str, Value]
    plain: bool
    anyway: bool
    stop: threading.Event
    faults: list[tuple[str, str]] = field(default_factory=list)
    passing: Sequence[str] = ()
    use: Callable[[Collection[str]], None] = lambda _: None

    def own(self, exercise: str) -> Any:
        """Return the student's module of an exercise: `stage.own("ex05_attention").scaled_dot_product_attention`.

        Raises `FaultyExercise` if it does not exist, which only happens with `--anyway`.
        """
        try:
            return importlib.import_module(exercise)
        except ModuleNotFoundError as error:
            if error.name != exercise:
                raise
            raise FaultyExercise(exercise, f"{exercise}.py does not exist, and this activity needs it") from None

    def print(self, text: str, style: str = "") -> None:
        """Print one line or paragraph. It is safe for texts that a student's code made."""
        line = Text(self.spell(text), style)
        if self.plain:
            show_sentence(self.console, line)
        else:
            self.console.print(line)

    def spell(self, text: str) -> str:
        """Replace the characters that this terminal cannot show."""
        return glyphs_for("ascii" if self.plain else self.console.encoding).spell(one_line(text))

    def report_fault(self, exercise: str, message: str) -> None:
        """Report that an exercise is faulty: raises `FaultyExercise`; with `--anyway` prints it and goes on."""
        if not self.anyway:
            raise FaultyExercise(exercise, message)
        self.faults.append((exercise, message))
        self.print(f"{self.course.exercise(exercise).number} {self.course.exercise(exercise).title}: {message}", "red")

    def live(self, steps: int, *, stoppable: bool = False) -> LiveDisplay:
        """Return the display of a training of so many steps, for `with`.

        If `stoppable`, the activity must end the training as soon as `enough` of the display is set.
        """
        return LiveDisplay(self.console, steps, plain=self.plain, spell=self.spell, stoppable=stoppable)

    def stopped(self) -> NoReturn:
        """End the activity at a signal, after the checkpoint was saved."""
        raise Stopped

    def inputs(self, prompt: str) -> Iterator[str]:
        """Yield the texts to answer: those of `--say`, or typed lines up to an empty one."""
        if self.say:
            yield from self.say
            return
        if sys.stdin is None:
            return
        if sys.stdin.isatty():
            _enable_line_editing()
        while not self.stop.is_set():
            try:
                with redirect_stdout(self.stdout), _interruptible():
                    line = input(prompt if sys.stdin.isatty() else "").strip()
            except (EOFError, KeyboardInterrupt):
                return
            if not line:
                return
            yield line


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a signal interrupt `input`: there is no step after which it could stop."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _enable_line_editing() -> None:
    """Make `input` a line that can be edited, if the system can."""
    try:
        import readline  # noqa: F401
    except ImportError:
        return


# Stop an activity at Ctrl-C, or at a signal from `course play`: after a step, with its checkpoint saved.

INTERRUPTED_STATUS = 128 + signal.SIGINT


class Stopping:
    """Makes a signal set an event, and a second Ctrl-C end the process at once.

    Other second signals are ignored: `course play` sends SIGTERM after a Ctrl-C that both processes may have got, and
    kills this one if it takes too long.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._is_stopping = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Stopping":
        self._before = {number: signal.signal(number, self._set) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the handlers; after a first signal, a second Ctrl-C must still end the process."""
        if self._is_stopping:
            return
        for number, before in self._before.items():
            signal.signal(number, before)

    def _set(self, number: int, _frame: FrameType | None) -> None:
        """Set the event and write, no more: the interrupted code may hold a lock. Files are whole at any moment."""
        if not self._is_stopping:
            self._is_stopping = True
            self._stop.set()
            os.write(2, b"\ncourse: stopping after this step; press Ctrl-C again to stop at once\n")
        elif number == signal.SIGINT:
            os._exit(INTERRUPTED_STATUS)


MOST_PRINTED = 4000
"""Characters. Only the first line is shown."""

MOST_THREADS = 4
"""The models are small: more threads only wait for each other."""


class CapturedOutput(io.TextIOBase):
    """Captures what a student's code prints, which would tear up the screen: the beginning, and a count of lines."""

    def __init__(self) -> None:
        self.text = ""
        self.lines = 0

    def writable(self) -> bool:
        """Return True: it is a stream to write to."""
        return True

    def write(self, text: str) -> int:
        """Keep the first characters of the output, and count all lines."""
        self.text += text[: MOST_PRINTED - len(self.text)]
        self.lines += text.count("\n")
        return len(text)

    def fileno(self) -> int:
        """Return the program's own stdout: rich redirects it when its reader has gone."""
        return 1


def main(request: str) -> NoReturn:
    """Run the requested activity, and exit with its status."""
    status = run(json.loads(request))
    for note in new_notes():
        print(f"course: {note}", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(status)  # unloading torch can take seconds, in which a signal would look like a crash


def run(request: Mapping[str, Any]) -> int:
    """Run an activity. Return its status, after a sentence if that is not 0."""
    try:
        course = read_course(Path(request["root"]))
        torch.set_num_threads(min(torch.get_num_threads(), MOST_THREADS))
        torch.zeros(1, device=request["device"])
    except CourseError as error:
        return _fail(ENVIRONMENT, str(error))
    except (RuntimeError, AssertionError) as error:
        reason = (str(error).splitlines() or [""])[0]
        sentence = f"the device {request['device']} cannot be used here ({reason}); leave --device out to use the CPU"
        return _fail(ENVIRONMENT, sentence)
    submission = read_own(course, folder=Path(request["submission"]) if request["submission"] else None)
    stdout, stderr = sys.stdout, sys.stderr
    stage = _stage(course, submission, request, io.StringIO() if request["json"] == "-" else stdout)
    captured = CapturedOutput()
    sources = Sources(submission.sources, parts_of_others(course))
    try:
        sys.stdout = sys.stderr = captured
        if not stage.activity.milestones:
            sources.install()
        with Stopping(stage.stop):
            status, figures = _play(stage, request, sources, stderr)
    finally:
        sys.stdout, sys.stderr = stdout, stderr
    if captured.lines:
        first = one_line(captured.text.strip().partition("\n")[0])[:100]
        stage.print(f"Your code printed {plural(captured.lines, 'line')}, hidden here. The first: {first}")
    if figures is not None:
        data = {"activity": request["activity"], "wrong": [list(fault) for fault in stage.faults], "figures": figures}
        try:
            write_json(request["json"], data)
        except OSError as error:
            return _fail(ENVIRONMENT, f"the figures cannot be written to {request['json']}: {error.strerror or error}")
    return status


def _play(
    stage: Stage, request: Mapping[str, Any], sources: Sources, stderr: TextIO
) -> tuple[int, dict[str, Any] | None]:
    """Return the status, and the figures of an activity that came to its end."""
    again = "the same command without --fresh" if request["fresh"] else "the same command"
    try:
        if request["fresh"]:
            stage.checkpoint.remove()
        torch.manual_seed(stage.seed)
        activity = _activity(stage.course, stage.activity.id)
        return PASS, activity.play(stage)
    except FaultyExercise as error:
        return _report_faulty(stage, error.exercise, str(error)), None
    except Stopped:
        stage.print(f"Stopped. The training so far is saved. Next: {again} goes on from here.", "yellow")
        return INTERRUPTED, None
    except KeyboardInterrupt:
        return INTERRUPTED, None
    except (CheckpointError, UsageError) as error:
        return _fail(USAGE, str(error), stderr), None
    except torch.cuda.OutOfMemoryError:
        return _fail(ENVIRONMENT, f"{stage.device} does not have enough memory; try --device cpu", stderr), None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        return _fail(ENVIRONMENT, f"{error.strerror or error}{where}", stderr), None
    except Exception as error:
        return _report_exception(stage, error, sources, stderr), None


def _report_faulty(stage: Stage, id_: str, message: str) -> int:
    exercise = stage.course.exercise(id_)
    stage.print(f"{exercise.number} {exercise.title}: {message}", "red")
    stage.print(f"Next: course check {exercise.number}", "cyan")
    return FAIL


def _report_exception(stage: Stage, error: Exception, sources: Sources, stderr: TextIO) -> int:
    """Print an exception with the student's line, or the exercise that probably caused it. Return the status."""
    from autograder.worker import describe  # only for a failure

    fault = describe(error, sources.names)
    text = f"{fault['type']}: {one_line(fault['message'])[:200]}"
    if fault["frames"]:
        place = fault["frames"][-1]
        exercise = place["file"].removesuffix(".py")
        numbers = {known.id: known.number for known in stage.course.exercises}
        stage.print(f"{place['file']}, line {place['line']}: your code raised {text}", "red")
        stage.print(f"Next: course check {numbers.get(exercise, exercise)}", "cyan")
        return FAIL
    if stage.faults:  # with --anyway: most likely one of them is the cause
        named = next((exercise for exercise, _ in stage.faults if exercise in text), stage.faults[0][0])
        return _report_faulty(stage, named, f"this exercise fails, and the activity cannot go on: {text}")
    return _fail(GRADER, f"{stage.activity.id} itself failed ({text}); please report it", stderr)


def _fail(status: int, sentence: str, stream: TextIO | None = None) -> int:
    print(f"course: {sentence}", file=stream or sys.stderr)
    return status


def _stage(course: Course, submission: Submission, request: Mapping[str, Any], stdout: TextIO) -> Stage:
    activities = {activity.id: activity for activity in course.play}
    folder = state_folder(course.root, "play")

    def checkpoint_of(name: str) -> Checkpoint:
        file = name if request["submission"] is None else f"{name}-{submission.student}"
        return Checkpoint(folder / f"{file}.pt", _made_by(course, activities[name], submission, request["seed"]))

    console = report_console(plain=request["plain"], color=request["color"])
    console.file = stdout  # the console must keep this stream while sys.stdout is replaced
    return Stage(
        course=course,
        activity=activities[request["activity"]],
        console=console,
        stdout=stdout,
        checkpoint=checkpoint_of(request["activity"]),
        checkpoint_of=checkpoint_of,
        device=request["device"],
        seed=request["seed"],
        steps=request["steps"],
        say=request["say"],
        options=request["options"],
        plain=request["plain"],
        anyway=request["anyway"],
        stop=threading.Event(),
        faults=[(exercise, message) for exercise, message in request["wrong"]],
        passing=request.get("own", ()),
        use=PartsInPlace(course, activities[request["activity"]], submission.sources).use,
    )


class PartsInPlace:
    """Makes exercises importable: some as the student's files, the others as reference parts.

    A part is compiled with copies of the earlier parts that it calls. Here it calls the modules of those exercises
    instead, so that a student's attention runs inside the reference model.
    """

    def __init__(self, course: Course, activity: Activity, files: Mapping[str, bytes]) -> None:
        self._course, self._exercises, self._files = course, course.used_by(activity), files
        self._installed = Sources({}, {})

    def use(self, own: Collection[str]) -> None:
        """Take these exercises of the student's, and no others. Raises OSError, and what their import raises."""
        self._installed.uninstall()
        replaced = {exercise.file: b"" for exercise in self._exercises if exercise.id not in own}
        sources = self._installed = Sources({**self._files, **replaced}, {})
        sys.meta_path.insert(0, sources)
        owners: dict[str, str] = {}
        for exercise in self._exercises:
            table = json.loads(read_plain(self._course.reference_parts_dir / f"{exercise.id}.json"))
            if exercise.id not in own:
                names = [table["pool"][name] for _, name, *_ in table["items"]]
                for entry in table["pool"]:  # `[number]` of an item becomes `["ex05_attention.name"]`
                    if isinstance(entry, list) and isinstance(entry[0], int) and names[entry[0]] in owners:
                        entry[0] = owners[names[entry[0]]]
                sources.parts[exercise.file] = build(json.dumps(table).encode(), exercise.id)
            owners.update({name: f"{exercise.id}.{name}" for name in table["exports"]})


def _made_by(course: Course, activity: Activity, submission: Submission, seed: int) -> dict[str, str]:
    """Return digests of what a training depends on: the student's files, the activity's code and data, the seed."""
    needed = {exercise.file for id_ in activity.needs for exercise in course.with_needs(course.exercise(id_))}
    made_by = {file: _digest(source) for file, source in submission.sources.items() if file in needed}
    for file in sorted(path for path in course.play_dir.rglob("*") if path.suffix in (".py", ".toml")):
        name = file.relative_to(course.root).as_posix()
        if "/." not in name and file.is_file():
            made_by[name] = _digest(read_plain(file))
    return {**made_by, SEED: str(seed)}


def _digest(source: bytes) -> str:
    """Return a digest of what a source does: comments and white space do not count."""
    try:
        return digest(ast.dump(ast.parse(source)).encode())
    except (SyntaxError, ValueError, RecursionError):
        return digest(source)


def _activity(course: Course, name: str) -> Any:
    """Return the module play/NAME.py of a course. It is in the package `play`, even if another one has that name."""
    require(course.root)
    folder = course.play_dir
    spec = importlib.util.spec_from_file_location(
        "play", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None or not (folder / f"{name}.py").is_file():
        raise FileNotFoundError(2, "an activity of course.toml has no file", str(folder / f"{name}.py"))
    package = importlib.util.module_from_spec(spec)
    sys.modules["play"] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"play.{name}")
