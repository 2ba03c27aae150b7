"""The language of checks, and the standard checks that almost every part has to pass.

`@check` declares one graded behaviour: a probe with a title, a share of the points and a judge. `@picture` declares
a picture of what a finished implementation does, `@step` a step of the lesson's worked example.
"""

import builtins
import difflib
import hashlib
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

# How an observation is judged, as data: the judge process reads these, the worker only carries them.
#
# A check that needs another criterion may pass a function `(yours, expected) -> str | None` of two plain values,
# which returns a sentence about the mistake, or None.


class DeclarationError(ValueError):
    """A check, a picture or a step is declared wrongly; the message is a sentence for its author."""


Kind = str | type[BaseException]
"""An exception, by its name or as its class."""


@dataclass(frozen=True)
class Same:
    """The observation equals that of the reference solution.

    `tolerance` bounds the difference, relative to the largest expected value of a tensor, in place of the default of
    its dtype. With `exact_zeros`, numbers that are zero in the reference must be zero.
    """

    tolerance: float | None = None
    exact_zeros: bool = False

    def __post_init__(self) -> None:
        _require_positive(self.tolerance)


@dataclass(frozen=True)
class SameInputs(Same):
    """The observation is made of arguments after the call, which are the same as before.

    A difference is reported as a change that the program made, never as numbers that it computed.
    """


@dataclass(frozen=True)
class Like:
    """A property holds between two tensors, and the numbers resemble the reference's. Other checks compare them.

    - Shapes, dtypes and devices equal the reference's, and a number is finite where the reference's is.
    - A list of two tensors of one shape holds two ways to the same numbers. They differ by at most `tolerance`,
      relative to the largest of the second, in place of the default of their dtypes. Nothing is compared where the
      second tensor of the reference has no finite number.
    - Each tensor correlates with the reference's by at least `likeness`, with either sign, so that numbers which were
      not computed do not pass. The fewer numbers, the higher the correlation has to be. Fewer than four numbers, or
      numbers that are all alike in the reference, have to equal it. The mean of all vectors of a tensor is ignored.
    - With a `spread`, the numbers vary as much as the reference's, within this factor.
    - With `exact_zeros`, a number is zero exactly where the number it is compared with is.
    - Parts named in `free` need not resemble the reference, but are finite where it is.
    """

    tolerance: float | None = None
    exact_zeros: bool = False
    likeness: float = 0.5
    spread: float | None = None
    free: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_positive(self.tolerance)


@dataclass(frozen=True)
class Raises:
    """`given.raises(...)` observed one of these exceptions, and its message contains all `mentions`.

    `types` are classes or their names, one or several; names are kept, as the judge never has a program's own classes.
    """

    types: tuple[str, ...]

    def __init__(self, types: Kind | Sequence[Kind] = "ValueError") -> None:
        kinds = tuple(types) if isinstance(types, list | tuple) else (types,)
        if not kinds:
            raise DeclarationError("Raises: types is empty, expected at least one exception")
        object.__setattr__(self, "types", tuple(map(_exception_name, kinds)))


@dataclass(frozen=True)
class Dropout:
    """The observation is a dict with `eval` and `train`, two tensors of one shape, and other entries.

    `train` is `eval` with a share of about `rate` zero, at positions that vary along every axis, and the rest scaled
    by 1 / (1 - rate). Every entry but `train` is judged by `Like` with `exact_zeros`.
    """

    rate: float


@dataclass(frozen=True)
class Within:
    """The observation has many random results of the same call, which are distributed as the reference's.

    It is a list or an array of results, or a dict of such lists. A result is a number, or a list or array of numbers.
    The mean of each number, and how much it varies, differ from the reference's by at most `standard_errors` of such a
    difference. So a right program may draw in another order, or from another generator.

    With 4 standard errors, about one right number in 8,000 fails by chance: half of them by the mean.
    """

    standard_errors: float = 4.0

    def __post_init__(self) -> None:
        if not self.standard_errors >= LEAST_ERRORS:
            raise DeclarationError(
                f"Within: standard_errors is {self.standard_errors}, expected at least {LEAST_ERRORS:g}: "
                "with fewer, right programs fail by chance"
            )


LEAST_ERRORS = 3.0
"""Beyond 3 standard errors is one right result in 370."""

LEAST_RESULTS = 50
"""Fewer random results say little about a mean, and nothing about how much they vary."""

Judge = Same | Like | Raises | Dropout | Within | Callable[[Any, Any], str | None]


def _exception_name(kind: object) -> str:
    if isinstance(kind, str) and not kind.isidentifier():
        words = [f'"{word.rpartition(".")[2]}"' for word in kind.replace(",", " ").split()] or ['"ValueError"']
        form = words[0] if len(words) == 1 else f"({', '.join(words)})"
        raise DeclarationError(f"Raises: types has the text {kind!r}, expected a name without its module, like {form}")
    known = getattr(builtins, kind, None) if isinstance(kind, str) else kind
    if isinstance(known, type) and issubclass(known, BaseException):
        return known.__name__
    if known is not None or not isinstance(kind, str):
        shown = kind.__name__ if isinstance(kind, type) else kind if isinstance(kind, str) else repr(kind)
        expected = 'expected exceptions, by name or class, like "KeyError" or (KeyError, IndexError)'
        raise DeclarationError(f"Raises: types has {shown}, which is no exception; {expected}")
    return kind


def _require_positive(tolerance: float | None) -> None:
    if tolerance is not None and not tolerance > 0:
        raise DeclarationError(
            f"tolerance is {tolerance}, expected a number above 0; omit it for the default of the dtype"
        )


Key = tuple[str, int]
"""A check's id and the number of the trial."""

Probe = Callable[[Any, Any], Any]
"""A function `(impl, given)` that runs an implementation on the inputs of a trial and returns an observation."""

PREFIX = "test_"
PICTURE_PREFIX = "picture_"
STEP_PREFIX = "step_"

LONGEST_TITLE = 76
"""Characters of a picture's title that fit into a terminal of 80 columns, with its margin."""

LONGEST_CHECK = 120
"""Characters of a check's title: it stands in one line of a report."""

MOST_TRIALS = 100
"""Every program of a proof runs every trial, so more would take hours and show no more mistakes."""

LONGEST_STEP = 26
"""Characters of a step's title that leave room for two small arrays in a terminal of 80 columns."""


DECLARED = "__declared__"
"""The name under which a file with checks lists its probes, so that one which another name replaces is noticed."""


@dataclass(frozen=True)
class Check:
    """One graded behaviour of an exercise.

    `points` is its share of the exercise's points. `of` names the function or class that the observation comes from,
    which locates a mistake. `trials` is how often it runs, each time on inputs of other sizes. A `bonus` check adds to
    the score and is not needed for full marks. With `requires_any` it counts only if at least one of these checks
    passes, so that a program that computes nothing earns nothing. `empty` states why an empty program may pass it.
    `hints` are used where the exercise has none. `kind` is that of a standard check. `line` is where it is declared.
    An `idea` check measures what the exercise is about: the other checks of its `of` count only if it passes.
    """

    id: str
    title: str
    probe: Probe
    points: float
    judge: Judge
    of: str | None
    trials: int
    bonus: bool = False
    requires_any: tuple[str, ...] = ()
    empty: str = ""
    hints: tuple[str, ...] = ()
    kind: str = ""
    idea: bool = False
    line: int = field(default=0, compare=False)

    @property
    def keys(self) -> list[Key]:
        """Its trials."""
        return [(self.id, trial) for trial in range(self.trials)]


@dataclass(frozen=True)
class Drawing:
    """A picture of what a finished implementation does: worth no points, and shown to those who pass a self-check.

    Its probe returns a tensor of two axes, or a tuple of such a tensor, labels of its rows and labels of its columns,
    which may be empty. `rows` and `columns` name the axes in one word.
    """

    id: str
    title: str
    probe: Probe
    rows: str
    columns: str


@dataclass(frozen=True)
class Step:
    """A step of the lesson's worked example: worth no points, and shown by `course try`.

    Its probe returns a number, a list or a tensor of at most two axes. `paper` has the numbers that the lesson prints
    for it: a line for each row, with as many digits as the lesson has. An `inside` step looks into a module: if all
    other steps are as on paper, a program that computes it in another way is right too.
    """

    id: str
    title: str
    probe: Probe
    paper: str
    inside: bool = False


def check(
    title: str,
    *,
    points: float = 1,
    judge: Judge | None = None,
    of: str | None = None,
    trials: int = 2,
    bonus: bool = False,
    requires_any: Sequence[str] = (),
    empty: str = "",
    idea: bool = False,
) -> Callable[[Probe], Probe]:
    """Declare the function `test_ID(impl, given)` as the probe of a check; `title` states what passes."""
    _require_title("check", title, LONGEST_CHECK)
    if problem := _amount_problem(points, trials):
        raise DeclarationError(f"check {title!r}: {problem}")
    if isinstance(requires_any, str):
        raise DeclarationError(
            f"check {title!r}: requires_any is the text {requires_any!r}, expected a tuple of checks"
        )
    if bonus and idea:
        raise DeclarationError(f"check {title!r} is an idea and a bonus; full marks must not need bonus points")
    if problem := _judge_problem(judge):
        raise DeclarationError(f"check {title!r}: {problem}")

    def declared(id_: str, probe: Probe) -> Check:
        line, needed = probe.__code__.co_firstlineno, tuple(requires_any)
        given = (id_, title, probe, points, judge or Same(), of, trials, bonus, needed, empty)
        return Check(*given, idea=idea, line=line)

    return _declare("check", PREFIX, "so that pytest finds it", declared)


def _require_title(kind: str, title: object, most: int) -> None:
    """Raise `DeclarationError` for a decorator above a function without its parentheses, or without a fitting title."""
    if isinstance(title, FunctionType):
        line, name = title.__code__.co_firstlineno, title.__name__
        raise DeclarationError(f'@{kind} above {name} (line {line}) has no title: write @{kind}("...")')
    if not isinstance(title, str) or not title.strip():
        raise DeclarationError(f"the title of a {kind} is {title!r}, expected a text")
    if len(lines := title.splitlines()) > 1:
        raise DeclarationError(f"the title of a {kind} has {len(lines)} lines, expected one: {lines[0]!r}, ...")
    if len(title) > most:
        raise DeclarationError(f"{kind} {title!r}: the title has {len(title)} characters, expected at most {most}")


def _amount_problem(points: object, trials: object) -> str:
    is_number = isinstance(points, int | float) and not isinstance(points, bool)
    if not (is_number and 0 < points < math.inf):  # type: ignore[operator]
        return f"points is {points!r}, expected a number above 0, such as 2 or 0.5"
    if not isinstance(trials, int) or isinstance(trials, bool) or not 1 <= trials <= MOST_TRIALS:
        return f"trials is {trials!r}, expected an integer from 1 to {MOST_TRIALS}"
    return ""


def _judge_problem(judge: object) -> str:
    """Return why a judge cannot be used: it is no judge, or its name without its parentheses."""
    if isinstance(judge, type):
        return f"judge is the class {judge.__name__}, expected {judge.__name__}() with its parentheses"
    if judge is None or isinstance(judge, Same | Like | Raises | Dropout | Within) or callable(judge):
        return ""
    return f"judge is {judge!r}, expected a judge like Same() or Raises(), or a function (yours, expected)"


def picture(title: str, *, rows: str = "", columns: str = "") -> Callable[[Probe], Probe]:
    """Declare the function `picture_ID(impl, given)` as the probe of a picture; `title` states what it shows."""
    _require_title("picture", title, LONGEST_TITLE)
    why = "because it makes a picture"
    return _declare("picture", PICTURE_PREFIX, why, lambda id_, probe: Drawing(id_, title, probe, rows, columns))


def step(title: str, paper: str, *, inside: bool = False) -> Callable[[Probe], Probe]:
    """Declare the function `step_ID(impl, given)` as the probe of a step; `paper` has the numbers of the lesson."""
    _require_title("step", title, LONGEST_STEP)
    if not paper.split():
        raise DeclarationError(f"step {title!r} has no numbers on paper")
    why = "because it is a step"
    return _declare("step", STEP_PREFIX, why, lambda id_, probe: Step(id_, title, probe, paper, inside))


def _declare(mark: str, prefix: str, why: str, make: Callable[[str, Probe], object]) -> Callable[[Probe], Probe]:
    """Return a decorator that makes something of a probe and its id, and says `why` the probe needs its prefix.

    It notes the probe among the names of the file that declares it: `__names__` of a standard check's probe.
    """

    def declare(probe: Probe) -> Probe:
        name = probe.__name__
        if not name.startswith(prefix):
            raise DeclarationError(f"the probe {name} must be named {prefix}{name}, {why}")
        setattr(probe, f"__{mark}__", make(name.removeprefix(prefix), probe))
        names: dict[str, Any] = getattr(probe, "__names__", probe.__globals__)
        names.setdefault(DECLARED, []).append(probe)
        return probe

    return declare


def declaration_problems(module: ModuleType) -> list[str]:
    """Return a sentence for each probe of a file that another name replaces, and for each function that is no probe."""
    named = vars(module)
    probes = named.get(DECLARED, [])
    kept = {id(value) for value in named.values()}
    problems = [_loss_of(probe, named.get(probe.__name__)) for probe in probes if id(probe) not in kept]
    for name, mark in ((PREFIX, "check"), (PICTURE_PREFIX, "picture"), (STEP_PREFIX, "step")):
        for function in named.values():
            is_own = isinstance(function, FunctionType) and function.__module__ == module.__name__
            if is_own and function.__name__.startswith(name) and not hasattr(function, f"__{mark}__"):
                line, own = function.__code__.co_firstlineno, function.__name__
                problems.append(f"{own} (line {line}) is no {mark}: write @{mark}(...) above it, or rename it")
    return problems


def _loss_of(probe: Any, other: Any) -> str:
    """Return what happens to a probe whose name another one has, or that has none."""
    if isinstance(other, FunctionType):
        lines = f"lines {_line_of(probe)} and {_line_of(other)}"
        return f"two functions are named {probe.__name__} ({lines}), so the first is lost; rename one of them"
    remedy = f"give it a name that no other one has, like {probe.__name__}_2 = ..."
    return f"the check {probe.__name__.removeprefix(PREFIX)} (line {_line_of(probe)}) is lost; {remedy}"


def _line_of(probe: Any) -> int:
    declared = getattr(probe, "__check__", None)
    return declared.line if declared is not None else int(probe.__code__.co_firstlineno)


def checks_in(module: ModuleType) -> list[Check]:
    """Return the checks a module declares, in the order it declares them."""
    marks = (getattr(value, "__check__", None) for value in vars(module).values())
    return [check for check in marks if isinstance(check, Check)]


def missing_ideas(check: Check, checks: Sequence[Check], passing: Collection[str]) -> list[Check]:
    """Return the ideas that must pass before a check counts, and do not."""
    return [other for other in checks if other.idea and other.of == check.of and other.id not in passing]


def counted_checks(checks: Sequence[Check], passing: Collection[str]) -> frozenset[str]:
    """Return which of the passing checks count: their idea passes, and they require nothing or a check that counts."""
    left = [check for check in checks if check.id in passing and not missing_ideas(check, checks, passing)]
    counted: set[str] = set()
    while more := {check.id for check in left if not check.requires_any or counted & set(check.requires_any)} - counted:
        counted |= more
    return frozenset(counted)


def pictures_in(module: ModuleType) -> list[Drawing]:
    """Return the pictures a module declares, in the order it declares them."""
    marks = (getattr(value, "__picture__", None) for value in vars(module).values())
    return [picture for picture in marks if isinstance(picture, Drawing)]


def steps_in(module: ModuleType) -> list[Step]:
    """Return the steps a module declares, in the order it declares them."""
    marks = (getattr(value, "__step__", None) for value in vars(module).values())
    return [step for step in marks if isinstance(step, Step)]


# Derive the seed and the sizes of each trial from the seed of the run.
#
# A worker gets the derived values and never the seed of the run, so a program that sees the inputs of one trial
# cannot compute those of another.


@lru_cache(maxsize=1 << 13, typed=True)
def derived_seed(*parts: object) -> int:
    """Return a seed of 32 bits that depends on every part, and reveals none of them."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big")


def column_of(columns: int, seed: int, exercise: str, check: str, trial: int) -> int:
    """Return the column of sizes a trial uses: consecutive columns, from a start that depends on seed and check."""
    return (derived_seed(seed, exercise, check) + trial) % columns


def sizes_of(
    columns: Sequence[Mapping[str, int]], seed: int, exercise: str, check: str, trial: int
) -> Mapping[str, int]:
    """Return the column of sizes a trial uses."""
    return columns[column_of(len(columns), seed, exercise, check, trial)]


# What the code of a check names, with the functions of its file that it uses.


def names_any(probe: Callable[..., Any], names: Collection[str]) -> bool:
    """Say whether a probe, or a function that it uses, has one of these names of attributes, functions or methods.

    Where it uses `getattr`, the texts that its file has under a name are names too.
    """
    functions = list(functions_of(probe))
    used = {name for function in functions for name in names_in(function.__code__)}
    if "getattr" in used:
        held = (function.__globals__.get(name) for function in functions for name in names_in(function.__code__))
        used.update(value for value in held if isinstance(value, str))
    return not used.isdisjoint(names)


def functions_of(probe: Callable[..., Any]) -> Iterator[FunctionType]:
    """Yield a probe and the functions that it uses, each once."""
    seen: set[FunctionType] = set()
    left: list[Any] = [probe]
    while left:
        function = left.pop()
        if not isinstance(function, FunctionType) or function in seen:
            continue
        seen.add(function)
        yield function
        held = [cell.cell_contents for cell in function.__closure__ or ()]
        used = map(function.__globals__.get, names_in(function.__code__))
        left += [*held, *(getattr(value, "make", None) for value in held), *used]


def names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes in code, and in all code within it."""
    return {name for part in parts_of(code) for name in part.co_names}


def parts_of(code: CodeType) -> Iterator[CodeType]:
    """Yield code and all code in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from parts_of(constant)


def nearest_name(name: str, names: Iterable[str], least: float = 0.6) -> str | None:
    """Return the name most similar to `name`, the first of equally similar ones, or None if none is similar.

    `least` is how similar it must be, from 0 to 1.
    """
    typed = name.lower().replace("_", "")
    plain = {candidate.lower().replace("_", ""): candidate for candidate in names}
    ratios = {word: difflib.SequenceMatcher(None, word, typed).ratio() for word in plain}
    best = max(ratios, key=ratios.__getitem__, default=None)
    # 0.6 is difflib's own default: it finds a slip of a few letters.
    return plain[best] if best is not None and ratios[best] >= least else None


# Standard checks: what almost every part must hold, whatever it computes, with hints that fit them all.
#
#     LAYER = standard_checks(of="Layer", make=layer_and_input)
#
#     test_inputs_kept = LAYER.inputs_kept()
#     test_device = LAYER.device(points=2, requires_any=("values",))
#
# `make(impl, given, dtype)` returns what is called, a function or a module, and its inputs by name. Each method returns
# a probe for a name `test_ID`; all options of `@check` can be given. Hints of the exercise replace the default ones.

Make = Callable[[Any, Any, str], tuple[Any, Mapping[str, Any]]]
"""A function `(impl, given, dtype)` that returns what is called, and its inputs by name."""

DTYPES = ("float64", "bfloat16", "float16")

SLOPE = "slope along the parameters"
"""One number that depends on every gradient. Other checks judge its value."""

HINTS = {
    "inputs_kept": (
        "Which of your lines write into a tensor that the caller handed to you?",
        "A caller may use an input again after the call, so a function must leave its inputs as they are.",
        "Replace `x += y` and calls that end with `_` by ones that make a new tensor, such as `x = x + y`.",
    ),
    "dtypes": (
        "Which tensors do you make yourself, and what dtype do they have?",
        "The result takes the dtype of the input. A tensor of another dtype changes it, or raises an error.",
        "Make new tensors with `dtype=x.dtype`, or cast them with `.to(x.dtype)` before you combine them.",
    ),
    "device": (
        "On which device is each tensor that you make yourself?",
        "Tensors that are used together must be on one device. A new tensor is on the CPU unless you name another.",
        "Pass `device=x.device` to each call that makes a tensor, or keep a constant with `register_buffer`.",
    ),
    "leading_axes": (
        "How do you count the axes: from the first one, or from the last one?",
        "The part works on the last axes. Any number of other axes may come before them.",
        "Use negative axes such as `dim=-1`, and `x.size(-1)` in place of names for all sizes of the shape.",
    ),
    "training": (
        "In which mode, training or evaluation, does your module drop elements?",
        "`model.train()` and `model.eval()` switch every submodule, so dropout must be a registered `nn.Dropout`.",
        "Create `nn.Dropout` with the given rate in `__init__`, and call it in `forward`.",
    ),
    "gradients": (
        "Does any of your lines leave the graph that autograd records?",
        "A gradient flows only through operations that autograd knows, from the result back to each input.",
        "Remove `.detach()`, `.data`, `.item()` and `torch.no_grad()` between the inputs and the result.",
    ),
    "parameters": (
        "Which numbers should your module train, and are all of them registered?",
        "A module trains the `nn.Parameter`s and submodules that are its attributes. Buffers are not trained.",
        "Assign each parameter or layer to `self` in `__init__`, use all of them in `forward`, and no others.",
    ),
}
"""The hints of each kind of check: a question, the principle, the step."""


@dataclass(frozen=True)
class StandardChecks:
    """The standard checks of one function or class. Each method declares one check, under its own name or `id`."""

    of: str
    make: Make

    def inputs_kept(self, *, title: str = "the inputs are not modified", **options: Any) -> Probe:
        """Observe the inputs after the call."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            call(*inputs.values())
            return {f"{name} after the call": value for name, value in inputs.items()}

        return self._declared("inputs_kept", title, probe, {"judge": SameInputs(), **options})

    def dtypes(
        self,
        *,
        title: str = "float64, bfloat16 and float16 inputs keep their dtype",
        dtypes: Sequence[str] = DTYPES,
        features: int | None = None,
        **options: Any,
    ) -> Probe:
        """Observe the result for several dtypes; `features` is how many numbers of the last axis are compared."""

        def probe(impl: Any, given: Any) -> Any:
            return {dtype: _first(_called(*self._made(impl, given, dtype)), features) for dtype in dtypes}

        return self._declared("dtypes", title, probe, {"judge": Like(), **options})

    def device(
        self, *, title: str = "new tensors are on the device of the input", features: int | None = None, **options: Any
    ) -> Probe:
        """Observe the result on another device beside the one on the CPU, and the gradients of the parameters."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            parameters = getattr(call, "parameters", None)

            def run(device: Any) -> Any:
                there = call if parameters is None else call.to(device)
                return there(*(value.clone().to(device) for value in inputs.values()))

            here = run("cpu")  # a tensor kept from this call must not be used on the other device
            with given.another_device() as device:
                there = run(device)
                seen = {"output": [_first(there, features), _first(here, features)]}
                return seen if parameters is None else {**seen, SLOPE: given.slope(there, *parameters())}

        # Another device adds up in another order, and a gradient adds up the whole batch.
        judge = Like(tolerance=1e-4, free=(SLOPE,))
        return self._declared("device", title, probe, {"trials": 1, "judge": judge, **options})

    def leading_axes(
        self, *, title: str = "the inputs may have any number of axes before the last two", **options: Any
    ) -> Probe:
        """Observe the result without the first axis of all inputs, and with one more."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            return {
                "one axis fewer": call(*(value[0].clone() for value in inputs.values())),
                "one axis more": call(*(value[None].clone() for value in inputs.values())),
            }

        return self._declared("leading_axes", title, probe, options)

    def training(self, rate: float, *, title: str = "dropout acts only in training", **options: Any) -> Probe:
        """Observe the result of a module in both modes, for a dropout of this rate on the result."""

        def probe(impl: Any, given: Any) -> Any:
            module, inputs = self._made(impl, given, "float32")
            return {"eval": _called(module.eval(), inputs), "train": _called(module.train(), inputs)}

        return self._declared("training", title, probe, {"judge": Dropout(rate), **options})

    def gradients(self, *, title: str = "the gradients of the inputs are right", **options: Any) -> Probe:
        """Observe the gradients of all inputs of floating-point numbers."""

        def probe(impl: Any, given: Any) -> Any:
            call, inputs = self._made(impl, given, "float32")
            leaves = {name: x.requires_grad_() for name, x in inputs.items() if x.is_floating_point()}
            result = call(*(leaves[name].clone() if name in leaves else x for name, x in inputs.items()))
            found = given.gradients(result, *leaves.values())
            return {f"gradient of the {name}": gradient for name, gradient in zip(leaves, found, strict=True)}

        # Gradients add up the whole batch, so they round more than outputs.
        return self._declared("gradients", title, probe, {"judge": Same(tolerance=1e-4), **options})

    def parameters(self, *, title: str = "all parameters are trained and used", **options: Any) -> Probe:
        """Observe how many numbers a module trains, how many get a gradient, and how many its state has."""

        def probe(impl: Any, given: Any) -> Any:
            module, inputs = self._made(impl, given, "float32")
            trained = [weight for weight in module.parameters() if weight.requires_grad]
            found = given.gradients(_called(module, inputs), *trained)
            reached = sum(one.numel() for one, gradient in zip(trained, found, strict=True) if gradient is not None)
            saved = sum(value.numel() for value in module.state_dict().values())
            return {
                **given.trainable(module),
                "numbers that a gradient reaches": reached,
                "numbers in the state": saved,
            }

        return self._declared("parameters", title, probe, options)

    def _made(self, impl: Any, given: Any, dtype: str) -> tuple[Any, Mapping[str, Any]]:
        """Return what is called, and its inputs. Raises TypeError if `make` returns something else."""
        made = self.make(impl, given, dtype)
        parts: Sequence[Any] = made if isinstance(made, tuple | list) else [made]
        if len(parts) == 2 and isinstance(parts[1], Mapping):
            return parts[0], parts[1]
        found = " and ".join(type(part).__name__ for part in parts)
        raise TypeError(
            f"make of the standard checks of {self.of} returns {found}, expected what is called and a dict of "
            f'its inputs, like `return impl.{self.of}, {{"x": x}}`'
        )

    def _declared(self, kind: str, title: str, probe: Probe, given: Mapping[str, Any]) -> Probe:
        options = {"of": self.of, **given}
        frame = sys._getframe(2)  # of the file with the checks, which called the method of this kind
        probe.__name__ = f"{PREFIX}{options.pop('id', kind)}"
        probe.__names__ = frame.f_globals  # type: ignore[attr-defined]
        declared: Check = check(title, **options)(probe).__check__  # type: ignore[attr-defined]
        mine = replace(declared, hints=HINTS[kind], kind=kind, line=frame.f_lineno)
        probe.__check__ = mine  # type: ignore[attr-defined]
        return probe


def standard_checks(*, of: str, make: Make) -> StandardChecks:
    """Return the standard checks of the function or class `of`; `make` returns what is called, and its inputs."""
    return StandardChecks(of, make)


def _first(result: Any, features: int | None) -> Any:
    """Return the first numbers of the last axis, or the whole result, which may have no axes then."""
    return result if features is None else result[..., :features]


def _called(call: Any, inputs: Mapping[str, Any]) -> Any:
    """Call with copies of the inputs: one check alone judges writes into them."""
    return call(*(value.clone() for value in inputs.values()))
