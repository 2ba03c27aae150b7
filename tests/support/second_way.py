"""The answers of questions, found in a second way: values with a debugger's hook, edits by checks.

Nothing of the recordings is used here. An edited program is written from the text of the question alone.
"""

import importlib
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from autograder.checks import checks_in, derived_seed, steps_in
from autograder.checks.plain_given import Implementation, PlainGiven
from autograder.course import Course, Exercise, describe
from autograder.judge import Grader
from autograder.questions import Question
from autograder.questions.quiz import NONE_FAILS
from autograder.runner import Runner
from autograder.submission import Submission, digest


def problems_of(question: Question, submission: Submission, grader: Grader, runner: Runner) -> list[str]:
    """Return what the second way finds wrong with a question; nothing if its answer alone is right."""
    exercise = grader.suite.course.exercise(question.exercise)
    course = grader.suite.course
    if unfair := [problem for problem, is_so in _unfair(question, submission) if is_so]:
        return [f"{question}: {', '.join(unfair)}"]
    if question.kind in ("shape", "value"):
        return _alone(_value_problems, question, submission, course, exercise)
    edited = edited_by(question, submission)
    if question.kind == "input":
        return _alone(_input_problems, question, submission, edited, course, exercise)
    report = grader.report(edited, [exercise], runner)
    checks = report.exercises[0].checks
    if question.kind == "check":
        failing = {check.title for check in checks if check.status in ("fail", "error")}
        found = [option for option in question.options if option in failing] or [NONE_FAILS]
    else:
        named = {check.finding.id for check in checks if check.status in ("fail", "error") and check.finding}
        pages = [describe(grader.suite.course, name) for name in named]
        found = sorted({page.name if page else "?" for page in pages})
    return [] if found == [question.answer] else [f"{question}: {found}"]


def _unfair(question: Question, submission: Submission) -> Iterator[tuple[str, bool]]:
    """Yield what the text of a question alone may have wrong, and whether it has."""
    lines = submission.sources[question.file].decode().split("\n")
    options = [re.sub(r"\W", "", option) for option in question.options]
    shown = lines[question.line - 1].strip() if question.line <= len(lines) else ""
    own = question.code[0].partition("  ")[2]
    before = "\n".join(lines[: question.line])
    function = re.findall(r"def (\w+)", before)[-1:]
    yield "another line is shown", not own or not shown.startswith(own)
    yield "two options are one", len(options) != len({*options})
    yield "the answer is no option", bool(options) and question.answer not in question.options
    yield "the answer is all ones", question.kind == "shape" and {*re.findall(r"\d+", question.answer)} == {"1"}
    yield "weights are set", question.answer == NONE_FAILS and function in (["__init__"], ["from_reference"])
    yield "other quotation marks", "'" not in shown and "'" in "".join(question.code[1:])


@cache
def _process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def _alone(way: Callable[..., list[str]], *arguments: object) -> list[str]:
    """Return what a second way finds in a process of its own: other tests change torch and the hooks of this one."""
    return _process().submit(way, *arguments).result()


def edited_by(question: Question, submission: Submission) -> Submission:
    """Return the submission after the edit that a question describes in words."""
    lines = submission.sources[question.file].decode().split("\n")
    numbers = [int(number) for number in re.findall(r"[Ll]ines? (\d+)(?: and (\d+))?", question.text)[0] if number]
    at = numbers[0] - 1
    pad = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    if "is left out" in question.text:
        lines[at] = f"{pad}pass"
    elif "change places" in question.text:
        lines[at], lines[numbers[1] - 1] = lines[numbers[1] - 1], lines[at]
    else:
        lines[at] = pad + question.code[1].partition("→ ")[2]
    sources = {**submission.sources, question.file: "\n".join(lines).encode()}
    return Submission("edited", submission.files, sources, digest(sources), ())


def _value_problems(question: Question, submission: Submission, course: Course, exercise: Exercise) -> list[str]:
    part = re.findall(r"`([^`]+)`", question.text)[0]
    wanted = ", ".join(question.given)
    seen: list[str] = []

    def on_line(frame: FrameType, given: str, before: int | None) -> None:
        if given == wanted and before == question.line:
            value = eval(part, {}, dict(frame.f_locals))
            seen.append(str(tuple(value.shape)) if question.kind == "shape" else _number(value))

    steps = question.kind == "value"
    with _running(submission, course, exercise, steps=steps, whole=steps, on_line=on_line):
        pass
    found = sorted(set(seen))
    return [] if found == [question.answer] else [f"{question}: {found}"]


def _number(value: Any) -> str:
    return f"{float(value):.4g}" if hasattr(value, "item") else repr(value)


def _input_problems(
    question: Question, submission: Submission, edited: Submission, course: Course, exercise: Exercise
) -> list[str]:
    results: list[dict[str, list[tuple[_Call, Any]]]] = [{}, {}]
    for own, program in zip(results, (submission, edited), strict=True):

        def on_return(trial: str, call: _Call, value: Any, own: dict[str, list[tuple[_Call, Any]]] = own) -> None:
            if _called(call.text) == _called(question.answer):
                own.setdefault(trial, []).append((call, value))

        with _running(program, course, exercise, steps=False, whole=False, on_return=on_return):
            pass
    differs: dict[str, set[bool]] = {}
    for trial, calls in results[0].items():
        pairs = zip(_in_order(calls), _in_order(results[1].get(trial, [])), strict=False)
        for (call, one), (other_call, other) in pairs:
            if call != other_call:
                break
            differs.setdefault(call.text, set()).add(not _are_equal(one, other))
    found = [option for option in question.options if True in differs.get(option, ())]
    return [] if found == [question.answer] else [f"{question}: {found}"]


class _Call(NamedTuple):
    """A call in a trial: which it is, what a question says of it, and a hash of the numbers that it gets."""

    order: int
    text: str
    numbers: int


def _in_order(calls: list[tuple[_Call, Any]]) -> list[tuple[_Call, Any]]:
    """Return calls with their results in the order in which they began: that within another one returns before it."""
    return sorted(calls, key=lambda one: one[0].order)


def _called(call: str) -> list[str]:
    """Return the name of the function that a call is of, or of the class and the method."""
    return [call.partition("(")[0], *re.findall(r"\)\.(\w+)\(", call)[:1]]


def _are_equal(one: Any, other: Any) -> bool:
    if hasattr(one, "shape"):
        same = hasattr(other, "shape") and tuple(one.shape) == tuple(other.shape)
        return bool(same and ((one - other).abs() <= 1e-4 if one.dtype.is_floating_point else one == other).all())
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(_are_equal(*pair) for pair in zip(one, other, strict=True))
    return bool(one == other)


def _numbers(value: Any) -> str:
    """Return the numbers of a tensor, nothing of any other value."""
    return str(value.tolist()) if hasattr(value, "tolist") else ""


@contextmanager
def _running(
    submission: Submission,
    course: Course,
    exercise: Exercise,
    *,
    steps: bool,
    whole: bool,
    on_line: Callable[[FrameType, str, int | None], None] = lambda *_: None,
    on_return: Callable[[str, _Call, Any], None] = lambda *_: None,
) -> Iterator[None]:
    """Run the checks or steps of an exercise here, and report each line of its functions with what the call got."""
    with tempfile.TemporaryDirectory() as folder, _modules():
        for file, source in submission.sources.items():
            (Path(folder) / file).write_bytes(source)
        sys.path.insert(0, folder)
        try:
            program = importlib.import_module(exercise.id)
            watch = _Watch(str(Path(folder) / exercise.file), on_line, on_return, whole=whole)
            checks = course.steps_file(exercise) if steps else course.checks_file(exercise)
            namespace = ModuleType("probes")
            exec(compile(checks.read_bytes(), str(checks), "exec"), vars(namespace))
            sizes = course.sizes_of(exercise)
            for probe in steps_in(namespace) if steps else checks_in(namespace):
                for trial in range(getattr(probe, "trials", 1)):
                    seed = derived_seed(course.seed, exercise.id, probe.id, trial)
                    column = (derived_seed(course.seed, exercise.id, probe.id) + trial) % len(sizes)
                    watch.restart(f"{probe.id} {trial}")
                    given = _given(course, seed, sizes[column])
                    sys.settrace(watch.on_call)
                    with suppress(Exception):
                        probe.probe(Implementation(program), given)
                    sys.settrace(None)
            yield
        finally:
            sys.path.remove(folder)


def _given(course: Course, seed: int, sizes: Mapping[str, int]) -> Any:
    random.seed(seed)
    if "torch" not in course.libraries:
        return PlainGiven(seed, sizes, "cpu", exact=False, traced=False)
    from autograder.checks.given import Given, seed_torch  # torch, which a plain course does not have

    seed_torch(seed)
    return Given(seed, sizes, "cpu", exact=False, traced=False)


@contextmanager
def _modules() -> Iterator[None]:
    before = dict(sys.modules)
    for name in [name for name in sys.modules if re.match(r"ex\d\d_", name)]:
        del sys.modules[name]
    try:
        yield
    finally:
        for name in [name for name in sys.modules if re.match(r"ex\d\d_", name)]:
            del sys.modules[name]
        sys.modules.update({name: module for name, module in before.items() if re.match(r"ex\d\d_", name)})


class _Watch:
    """A hook of a debugger: it notes what each call of the program got, and the first run of each of its lines."""

    def __init__(self, file: str, on_line: Callable[..., None], on_return: Callable[..., None], *, whole: bool) -> None:
        self.file = file
        self.on_line = on_line
        self.on_return = on_return
        self.whole = whole
        self.restart("")

    def restart(self, trial: str) -> None:
        """Forget the objects of the trial before."""
        self.trial = trial
        self.calls = 0
        self.made: dict[int, str] = {}
        self.kept: list[Any] = []

    def on_call(self, frame: FrameType, event: str, _: Any) -> Any:
        """Begin to follow a function of the program."""
        code = frame.f_code
        if event != "call" or code.co_filename != self.file or code.co_name.startswith("<"):
            return None
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        values = {name: frame.f_locals[name] for name in names if name != "self"}
        arguments = ", ".join(self._text(name, value) for name, value in values.items())
        owner = frame.f_locals.get("self")
        if code.co_name == "__init__" and owner is not None:
            self.kept.append(owner)
            self.made[id(owner)] = f"{type(owner).__name__}({arguments})"
        made = self.made.get(id(owner), "") if owner is not None else ""
        gets = f"{code.co_name} gets {arguments}"
        given = f"{made}, {gets}" if made else gets
        text = f"{made}.{code.co_name}({arguments})" if made else f"{code.co_name}({arguments})"
        call = _Call(self.calls, text, hash(tuple(map(_numbers, values.values()))))
        self.calls += 1
        before: list[int | None] = [None]
        seen: set[int] = set()

        def follow(frame: FrameType, event: str, value: Any) -> Any:
            if event in ("line", "return") and before[0] is not None and before[0] not in seen:
                seen.add(before[0])
                with suppress(NameError):
                    self.on_line(frame, given, before[0])
            if event == "line":
                before[0] = frame.f_lineno
            if event == "return":
                self.on_return(self.trial, call, value)
            return follow

        return follow

    def _text(self, name: str, value: Any) -> str:
        if hasattr(value, "shape"):
            whole = self.whole and value.numel() <= 24
            kind = " of bool" if str(value.dtype).endswith("bool") else ""
            return f"{name}={self._rows(value)}" if whole else f"{name} {tuple(value.shape)}{kind}"
        if value is None or isinstance(value, bool | int | float | str):
            return f"{name}={value!r}"
        if isinstance(value, list | tuple):
            plain = len(value) <= 6 and all(self._is_plain(part) for part in value)
            return f"{name}={self._whole(value)}" if plain else f"{name}: a {type(value).__name__} of {len(value)}"
        return f"{name}: {type(value).__name__}"

    def _is_plain(self, value: Any) -> bool:
        if self.whole and isinstance(value, list | tuple):
            return len(value) <= 6 and all(map(self._is_plain, value))
        is_small = self.whole and hasattr(value, "shape") and value.numel() <= 24
        return is_small or value is None or isinstance(value, int | float | str)

    def _whole(self, value: Any) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(self._whole, value))}]"
        return self._rows(value) if hasattr(value, "shape") else repr(value)

    def _rows(self, value: Any) -> str:
        if not value.ndim:
            return str(bool(value)) if str(value.dtype).endswith("bool") else f"{float(value):.4g}"
        return f"[{', '.join(self._rows(part) for part in value)}]"
