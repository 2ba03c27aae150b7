"""Wrong programs made from a right one, each with one node changed, and the run that tells which no check notices."""

import ast
import contextlib
import hashlib
import json
import math
import platform
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from textwrap import dedent, indent
from typing import Any

from autograder.answer_key import AnswerKey, Keys
from autograder.checks import Key
from autograder.comparison import passes
from autograder.course import (
    BEGIN,
    END,
    Course,
    Exercise,
    Suite,
    UsageError,
    digest_of_parts,
    engine_digest,
    read_plain,
    state_folder,
    suggestion,
    versions_of,
    write_atomically,
)
from autograder.edits import Slot, Text, Variant, imported_names, is_text, pairs, slots, variants
from autograder.formats import Unreadable, read_json
from autograder.protocol import first_line
from autograder.runner import GraderProblem, Observed, Runner, Timeouts

from .witness import Witness, Witnesses, detaches_nothing, edge_suite, showing_inputs

ID_DIGITS = 6
BODY_ALONE = "its body alone"
"""What a `with` or `try` becomes whose body runs as if it stood there alone."""

AFTER = "after: "
"""What a statement becomes that changes places with the next one, before the text of that one."""


Variants = Callable[[Slot, Collection[str]], Iterator[Variant]]
"""Yields the wrong nodes that may replace one, each with the name of its operator."""


@dataclass(frozen=True)
class Mutant:
    """A wrong program: its function or class, the statement that is changed, and its replacement.

    The texts of both statements are in a normal form, so that comments and line breaks do not matter. `nth` counts
    the mutants of a program with equal texts. `id` depends on these texts and on the exercise.
    """

    id: str
    operator: str
    where: str
    line: int
    was: str
    becomes: str
    nth: int
    source: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What the mutant does, independent of all other lines of the solution."""
        return self.where, self.was, self.becomes, self.nth


def changes_of(slot: Slot, imported: Collection[str]) -> Iterator[Variant]:
    """Yield the wrong nodes of all operators: also of those that the search for an edit which mends does not use."""
    yield from variants(slot, imported)
    yield from _ignored_arguments(slot)


def _ignored_arguments(slot: Slot) -> Iterator[Variant]:
    """Yield the first statement of a function after one that ignores an optional argument if another one is given."""
    node, function = slot.node, slot.parent
    if not isinstance(node, ast.stmt) or not isinstance(function, ast.FunctionDef) or slot.name != "body":
        return
    if node is not next(statement for statement in function.body if not is_text(statement)):
        return
    defaults = {name: value for name, value in _defaults(function) if name not in slot.place.unused}
    for name, default in defaults.items():
        for other, absent in defaults.items():
            if name != other:
                is_none = isinstance(absent, ast.Constant) and absent.value is None
                given = ast.Compare(ast.Name(other, ast.Load()), [ast.IsNot() if is_none else ast.NotEq()], [absent])
                ignored = ast.Assign([ast.Name(name, ast.Store())], default)
                yield "argument ignored", ast.If(given, [ignored, node], [node])


def _defaults(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the optional arguments of a function with their defaults."""
    arguments, defaults = [*function.args.posonlyargs, *function.args.args], function.args.defaults
    for argument, default in zip(reversed(arguments), reversed(defaults), strict=False):
        yield argument.arg, default
    for argument, value in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if value is not None:
            yield argument.arg, value


def mutants_of(solution: str, number: str, changed: Variants = changes_of) -> list[Mutant]:
    """Return every mutant of what students write, in the order of its lines; no two are the same program.

    A program without marks of the solution is changed everywhere. `number` is that of the exercise, with which the
    ids begin. `changed` yields what may replace a node.
    """
    module = ast.parse(solution)
    imported = imported_names(module)
    lines = lines_of(solution)
    written = _written(lines)
    counts: Counter[tuple[str, str, str]] = Counter()
    ids: set[str] = set()
    made = []
    for node in module.body:
        first, last = first_line(node) - 1, node.end_lineno
        block = "".join(lines[first:last])
        for operator, slot, text, becomes in _changes(block, imported, changed):
            statement = slot.place.statement
            assert statement is not None
            line = first + getattr(slot.node, "lineno", statement.lineno)
            if line not in written:
                continue
            inside = [statement.name] if isinstance(statement, ast.FunctionDef | ast.ClassDef) else []
            where, was = ".".join([*slot.place.where, *inside]), _header(statement)
            counts[where, was, becomes] += 1
            nth = counts[where, was, becomes]
            id_ = _id(number, where, was, becomes, nth, ids)
            source = "".join([*lines[:first], text, *lines[last:]])
            made.append(Mutant(id_, operator, where, line, was, becomes, nth, source))
    return made


def _written(lines: Sequence[str]) -> Collection[int]:
    """Return the numbers of the lines that a stub lacks; all lines if there are no marks."""
    found: set[int] = set()
    start = 0
    for number, line in enumerate(lines, 1):
        if line.strip() == BEGIN:
            start = number
        elif line.strip() == END and start:
            found |= set(range(start, number))
            start = 0
    return found or range(1, len(lines) + 1)


def patch_of(solution: str, mutated: str) -> tuple[str, str]:
    """Return the lines of a solution that a mutant changes, and the lines that it puts in their place.

    The lines are extended until they occur only once in the solution, as a misconception needs it.
    """
    ours, theirs = lines_of(solution), lines_of(mutated)
    start, end = _equal_ends(ours, theirs)
    while True:
        parts = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
        find, replace = ("".join(part).removesuffix("\n") for part in parts)
        if solution.count(find) == 1 or not (start or end):
            return find, replace
        start, end = (start - 1, end) if start else (start, end - 1)


def changed_lines(solution: str, mutated: str) -> tuple[list[str], list[str]]:
    """Return the lines that a mutant changes, and those in their place, both without the indent that all share."""
    ours, theirs = lines_of(solution), lines_of(mutated)
    start, end = _equal_ends(ours, theirs)
    parts = ours[start : len(ours) - end], theirs[start : len(theirs) - end]
    shown = dedent("".join(f"{line.rstrip()}\n" for part in parts for line in part)).split("\n")[:-1]
    return shown[: len(parts[0])], shown[len(parts[0]) :]


def _equal_ends(ours: Sequence[str], theirs: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of equal lines at the beginning and at the end of two programs."""
    start = next((at for at, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other), len(theirs))
    most = min(len(ours), len(theirs)) - start
    pairs = zip(reversed(ours), reversed(theirs), strict=False)
    return start, next((at for at, (one, other) in enumerate(pairs) if one != other or at == most), most)


def lines_of(text: str) -> list[str]:
    """Return the lines of a program as Python counts them, with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _changes(source: str, imported: Collection[str], changed: Variants) -> Iterator[tuple[str, Slot, str, str]]:
    """Yield the operator, the place, the new text of the block and the new statement of every change of a block."""
    tree, block = ast.parse(source), Text(source)
    seen = {ast.unparse(tree)}
    for slot in list(slots(tree)):
        for operator, other in changed(slot, imported):
            slot.put(other)
            try:
                plain = ast.unparse(ast.fix_missing_locations(tree))
                becomes = _becomes(slot, other)
            finally:
                slot.put(slot.node)
            if plain not in seen:
                seen.add(plain)
                yield operator, slot, _text(block, slot, other, plain), becomes
    yield from _orders(block, tree, seen)


def _orders(block: Text, tree: ast.Module, seen: set[str]) -> Iterator[tuple[str, Slot, str, str]]:
    """Yield a change for every two statements that can change places."""
    for first, second in pairs(tree):
        first.put(second.node)
        second.put(first.node)
        plain = ast.unparse(tree)
        first.put(first.node)
        second.put(second.node)
        if plain not in seen:
            seen.add(plain)
            edited = block.exchanged(first.node, second.node).applied(block.source)
            text = edited if _parsed(edited) == ast.dump(ast.parse(plain)) else f"{plain}\n"
            assert second.place.statement is not None
            yield "order", first, text, f"{AFTER}{_header(second.place.statement)}"


def _text(block: Text, slot: Slot, other: ast.AST, plain: str) -> str:
    """Return the text of a block with one node replaced, all other text kept where Python reads it as intended."""
    wanted = ast.dump(ast.parse(plain))
    text, statement = ast.unparse(other), slot.place.statement
    edits: list[tuple[ast.AST, str]] = []
    if isinstance(slot.node, ast.expr):
        edits = [(slot.node, text), (slot.node, f"({text})")]
    if isinstance(other, ast.stmt) and statement is not None:
        edits = [(statement, indent(text, " " * statement.col_offset).lstrip())]
    elif statement is not None and not hasattr(statement, "body"):
        slot.put(other)
        edits.append((statement, indent(ast.unparse(statement), " " * statement.col_offset).lstrip()))
        slot.put(slot.node)
    for node, replacement in edits:
        edited = block.changed(1, [(node, replacement)]).applied(block.source)
        if _parsed(edited) == wanted:
            return edited
    return f"{plain}\n"


def _parsed(text: str) -> str | None:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


def _becomes(slot: Slot, other: ast.AST) -> str:
    """Return the statement with a node replaced: another one, nothing, or what stood inside it."""
    assert slot.place.statement is not None
    if slot.node is not slot.place.statement:
        return _header(slot.place.statement)
    if isinstance(other, ast.Pass):
        return ""
    if isinstance(slot.node, ast.With | ast.Try) and isinstance(other, ast.If):
        return BODY_ALONE
    if isinstance(other, ast.FunctionDef | ast.ClassDef):
        left = [ast.unparse(decorator) for decorator in other.decorator_list]
        return "\n".join([*(f"@{decorator}" for decorator in left), _header(other)])
    assert isinstance(other, ast.stmt)
    return _header(other)


def _header(statement: ast.stmt) -> str:
    """Return a statement in normal form, a compound one by its first line."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        statement = copy(statement)
        statement.decorator_list = []
    text = ast.unparse(statement)
    return text if not hasattr(statement, "body") else text.split("\n")[0]


def _id(number: str, where: str, was: str, becomes: str, nth: int, taken: set[str]) -> str:
    digest = hashlib.sha256("\0".join((number, where, was, becomes, str(nth))).encode()).hexdigest()
    digits = next(length for length in range(ID_DIGITS, 64) if digest[:length] not in taken)
    taken.add(digest[:digits])
    return f"{number}-{digest[:digits]}"


# The list of equivalent mutants of an exercise: those that no check can catch, each with the reason.
#
# An entry names a statement and what it becomes, or an operator and perhaps a function or class:
#
#     [[equivalent]]
#     in = "Model.forward"
#     line = "mask = make_mask(ids)"
#     becomes = ["mask = make_mask(ids).detach()"]
#     reason = "A mask has no gradient."
#
#     [[equivalent]]
#     operator = "gradient"
#     reason = "Masks have no gradient."

SHORTEST_REASON = 3
"""Words. A shorter reason convinces nobody."""

_TEXTS = {"in", "line", "operator", "reason"}

_ENTRY = """
[[equivalent]]
in = {where}
line = {was}
becomes = [{becomes}]
{nth}reason = {reason}
"""


@dataclass(frozen=True)
class Equivalent:
    """One entry, for one replacement of a statement, or for all mutants of an operator."""

    reason: str
    where: str | None
    operator: str | None = None
    was: str = ""
    becomes: str = ""
    nth: int = 1

    def covers(self, mutant: Mutant) -> bool:
        """Return whether the entry is about this mutant."""
        if self.operator is not None:
            return self.operator == mutant.operator and self.where in (None, mutant.where)
        return (self.where, self.was, self.becomes, self.nth) == mutant.key

    def __str__(self) -> str:
        where = f" in {self.where}" if self.where else ""
        if self.operator is not None:
            return f"the operator {self.operator}{where}"
        return f"{self.was!r}{where}, changed to {self.becomes!r}"


def equivalents_file(course: Course, exercise: Exercise) -> Path:
    """Return the file with the equivalent mutants of an exercise; students never get it."""
    return course.solutions_dir / "equivalents" / f"{exercise.id}.toml"


def read_equivalents(file: Path) -> tuple[Equivalent, ...]:
    """Read a list; a missing file is an empty list. Raises `UsageError` for entries that cannot be understood."""
    if not file.is_file():
        return ()
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}") from error
    entries = data.pop("equivalent", [])
    if data or not isinstance(entries, list):
        raise UsageError(f"{file} has {', '.join(data) or 'no list'}, expected only [[equivalent]]")
    problems = [f"{file}: entry {number}: {problem}" for number, problem in _problems(entries)]
    if problems:
        raise UsageError("\n".join(problems))
    return tuple(found for entry in entries for found in _read(entry))


def is_equivalent(mutant: Mutant, entries: Iterable[Equivalent]) -> bool:
    """Return whether a mutant is listed, or changes by its text nothing that a check should see."""
    return any(entry.covers(mutant) for entry in entries) or changes_nothing(mutant)


# What the text of a mutant shows: it changes nothing that the contract of the exercise is about.


def changes_nothing(mutant: Mutant) -> bool:
    """Whether a mutant words an error in another way, detaches what has no gradient, or moves what has no device."""
    if mutant.operator == "gradient":
        return detaches_nothing(mutant.source, mutant.line)
    if mutant.operator == "device":
        return _takes_no_tensor(mutant)
    raised, loses_numbers = _raised(mutant.was), "{" in mutant.was and "{" not in mutant.becomes
    return raised is not None and raised == _raised(mutant.becomes) and not loses_numbers


def _raised(statement: str) -> str | None:
    """Return the exception that a statement raises, without its message."""
    try:
        body = ast.parse(statement).body
    except (SyntaxError, ValueError):  # the head of a compound statement
        return None
    match body:
        case [ast.Raise(ast.Call(exception))] | [ast.Raise(ast.Name() as exception)]:
            return ast.unparse(exception)
    return None


PLAIN_TYPES = {
    *("int", "float", "bool", "str", "bytes", "None"),
    *("list", "tuple", "dict", "set", "Sequence", "Iterable", "Mapping"),
}
"""The words of annotations of parameters that are on no device."""


def _takes_no_tensor(mutant: Mutant) -> bool:
    """Whether the function of a mutant has plain parameters only, so that no caller can want another device."""
    function = None if "." in mutant.where else _function_of(mutant)
    if function is None:
        return False
    parameters = [part for part in ast.walk(function.args) if isinstance(part, ast.arg)]
    types = [set(re.findall(r"\w+", ast.unparse(part.annotation))) if part.annotation else set() for part in parameters]
    return all(words and words <= PLAIN_TYPES for words in types)


_AXIS = re.compile(r"(?:dim=|axis=|shape\[|size\()(-?\d+)")
_SHAPE = re.compile(r"\(([A-Za-z]\w*(?:, ?[A-Za-z]\w*)*),?\)")
"""An axis that is given by its number, and a shape in a docstring: `(N, D)`."""


def counts_from_the_other_end(mutant: Mutant) -> bool:
    """Whether a mutant names the same axis by its other number, for every shape in the docstring of its function.

    A docstring with `...` promises other numbers of axes.
    """
    function = _function_of(mutant)
    text = (ast.get_docstring(function) or "") if function is not None else ""
    was, becomes = ([int(axis) for axis in _AXIS.findall(part)] for part in (mutant.was, mutant.becomes))
    changed = [(one, other) for one, other in zip(was, becomes, strict=False) if one != other]
    if "..." in text or len(changed) != 1 or _AXIS.sub("", mutant.was) != _AXIS.sub("", mutant.becomes):
        return False
    [(one, other)] = changed
    axes = {shape.count(",") + 1 for shape in _SHAPE.findall(text)}
    return min(one, other) < 0 <= max(one, other) and abs(one - other) in axes


def _function_of(mutant: Mutant) -> ast.FunctionDef | None:
    """Return the innermost function of the line that a mutant changes."""
    functions = [node for node in ast.walk(ast.parse(mutant.source)) if isinstance(node, ast.FunctionDef)]
    around = [node for node in functions if node.lineno <= mutant.line <= (node.end_lineno or 0)]
    return max(around, key=lambda node: node.lineno, default=None)


def stale(
    entries: Iterable[Equivalent], mutants: Iterable[Mutant], caught: Mapping[str, str | None]
) -> Iterator[tuple[Equivalent, str]]:
    """Yield each entry that is no longer true, with what is wrong. `caught` has the mutants that were run."""
    made = list(mutants)
    for entry in entries:
        covered = [mutant for mutant in made if entry.covers(mutant)]
        catchers = {catcher for mutant in covered if (catcher := caught.get(mutant.id)) is not None}
        if not covered:
            yield entry, "no such mutant exists"
        elif all(caught.get(mutant.id) is not None for mutant in covered):
            yield entry, f"caught by {', '.join(sorted(catchers))}"


def add_equivalents(file: Path, mutants: Iterable[Mutant], reason: str) -> list[Mutant]:
    """Append an entry for each of these mutants that is not listed, and return those that are.

    Raises `UsageError` if there is no reason, or all of them are listed.
    """
    if len(reason.split()) < SHORTEST_REASON:
        raise UsageError(f"the reason {reason!r} is too short; say in a sentence why no check can catch it")
    listed = read_equivalents(file)
    text = file.read_text("utf-8") if file.is_file() else ""
    wanted = list(dict.fromkeys(mutants))
    before = [mutant for mutant in wanted if any(entry.covers(mutant) for entry in listed)]
    if len(before) == len(wanted):
        raise UsageError(f"{file} lists {', '.join(mutant.id for mutant in before)} already")
    for mutant in (mutant for mutant in wanted if mutant not in before):
        nth = f"nth = {mutant.nth}\n" if mutant.nth > 1 else ""
        texts = {"where": mutant.where, "was": mutant.was, "becomes": mutant.becomes, "reason": reason}
        quoted = {
            name: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F") for name, value in texts.items()
        }
        text = f"{text.rstrip()}\n{_ENTRY.format(nth=nth, **quoted)}".lstrip("\n")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, text)
    return before


def _read(entry: Mapping[str, Any]) -> Iterator[Equivalent]:
    if "operator" in entry:
        yield Equivalent(entry["reason"], entry.get("in"), entry["operator"])
    for becomes in entry.get("becomes", ()):
        yield Equivalent(entry["reason"], entry["in"], None, entry["line"], becomes, entry.get("nth", 1))


def _problems(entries: Iterable[Any]) -> Iterator[tuple[int, str]]:
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            yield number, "is no table"
            continue
        known = (*_TEXTS, "becomes", "nth")
        for key in sorted(set(entry) - {*known}):
            hint = suggestion(key, known, f"expected {', '.join(known)}")
            yield number, f"has {key}, which means nothing here; {hint}"
        if not all(isinstance(entry[key], str) for key in _TEXTS & set(entry)):
            yield number, "in, line, operator and reason are texts"
        elif len(entry.get("reason", "").split()) < SHORTEST_REASON:
            yield number, "has no reason"
        becomes = entry.get("becomes")
        if "operator" in entry:
            if {"line", "becomes", "nth"} & set(entry):
                yield number, "has an operator and a line; use one of them"
        elif not {"in", "line"} <= set(entry) or not isinstance(becomes, list) or not becomes:
            yield number, "needs in, line and a list `becomes`, or an operator"
        elif not all(isinstance(text, str) for text in becomes) or type(entry.get("nth", 1)) is not int:
            yield number, "becomes is a list of texts, and nth a whole number"


# Run the mutants of a course until the first failing trial, and list those that no check notices.

# The outcomes of mutants, kept in `.course`: a run that was stopped goes on where it ended.


@dataclass(frozen=True)
class Outcomes:
    """The check that catches each mutant, None for a survivor, and the witnesses of survivors.

    `digest` is that of everything that decides what is caught, `search` that of the search for witnesses. After a
    change of the first, nothing is kept but the `hints`: which check caught a mutant before. `without_gradient` has the
    survivors that detach a value which has a gradient in no trial.
    """

    digest: str
    search: str
    caught: dict[str, str | None] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)
    witnesses: dict[str, Witness | None] = field(default_factory=dict)
    without_gradient: list[str] = field(default_factory=list)

    def save(self, file: Path) -> None:
        """Write the outcomes, whole or not at all. A folder that cannot be written only costs time."""
        copied = Outcomes(**{name: copy(value) for name, value in vars(self).items()})  # other threads add meanwhile
        with contextlib.suppress(OSError):
            write_atomically(file, json.dumps(asdict(copied)))


def outcomes_of(suite: Suite, exercise: Exercise, seed: int, *, trials: int = 0, fresh: bool = False) -> Outcomes:
    """Return what is known of the mutants of an exercise; with `fresh`, nothing is.

    Witnesses are known if they were searched in as many `trials`.
    """
    digest = _digest(suite, exercise, seed)
    search = hashlib.sha256(engine_digest("authoring", "edits") + str(trials).encode()).hexdigest()
    kept = read_outcomes(_outcomes_file(suite.course, exercise))
    if kept is None:
        return Outcomes(digest, search)
    if fresh or kept.digest != digest:
        caught = {id_: check for id_, check in kept.caught.items() if check is not None}
        return Outcomes(digest, search, hints=kept.hints | caught)
    return kept if kept.search == search else Outcomes(digest, search, kept.caught, kept.hints)


def read_outcomes(file: Path) -> Outcomes | None:
    """Return the outcomes of an earlier run; None where they are missing, damaged or no plain file."""
    with contextlib.suppress(OSError, Unreadable):
        return read_json(Outcomes, read_plain(file))
    return None


def _outcomes_file(course: Course, exercise: Exercise) -> Path:
    return state_folder(course.root, "cache") / f"mutants-{exercise.id}.json"


def _digest(suite: Suite, exercise: Exercise, seed: int) -> str:
    """Return the digest of everything that decides whether a mutant is caught, beside the mutant."""
    course = suite.course
    needed = [course.solutions_dir / need.file for need in course.with_all_needs(exercise)]
    versions = versions_of((*course.libraries, *exercise.libraries))
    parts = [
        engine_digest(),
        repr((seed, course.sizes_of(exercise), exercise.forbidden, platform.python_version(), versions)).encode(),
        suite.sources[course.checks_file(exercise).name],
        *(read_plain(file) for file in needed),
    ]
    return digest_of_parts(parts)


STAGES = (1, 4)
"""How many checks run in the first jobs of a mutant, the likeliest to catch it first. The rest follow in one job."""

TIMES_SLOWER = 5
"""A mutant may take as many times as long as the slowest trial of the solution, and at least a second."""

SAVE_SECONDS = 5.0
"""How often the outcomes are written: so much work is lost if the program is killed."""

SEARCHED = 10
"""Trials of each check beyond its own in which a witness is searched."""


@dataclass(frozen=True)
class Survivor:
    """A mutant that passes every check, and an input on which it differs, if one was found."""

    mutant: Mutant
    witness: Witness | None


@dataclass(frozen=True)
class ExerciseMutants:
    """The mutants of an exercise. `left` were not run for lack of time; `problems` are entries that are not true."""

    exercise: Exercise
    mutants: int
    left: int
    caught: int
    equivalent: int
    survivors: tuple[Survivor, ...]
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Return whether every mutant is caught, or listed with a reason that holds."""
        return not (self.left or self.survivors or self.problems)


@dataclass
class Bench:
    """The workers of one job: for the checks as they are, for unusual inputs, and for the inputs of both alone."""

    runner: Runner
    at_edges: Runner
    inputs: Runner
    inputs_at_edges: Runner


class Hunt:
    """Runs the mutants of one exercise. Which checks caught others decides which run first."""

    def __init__(self, suite: Suite, exercise: Exercise, key: AnswerKey, solutions: Mapping[str, bytes]) -> None:
        self.suite = suite
        self.exercise = exercise
        self.key = key
        self.solutions = solutions
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self.killers: Counter[tuple[str, str]] = Counter()

    def catcher(self, mutant: Mutant, runner: Runner, hint: str | None) -> str | None:
        """Return the check that catches a mutant, None if it passes all of them."""
        sources = {**self.solutions, self.exercise.file: mutant.source.encode()}
        for keys in self._stages(mutant, hint):
            patience = Timeouts(self.suite.course.limits, careful=True)  # a hang then costs one worker, not two
            run = runner.run(sources, {self.exercise.id: keys}, patience=patience)
            survey = run.surveys.get(self.exercise.id)
            if survey is None or survey.forbidden:
                return "forbidden"
            outcomes = run.outcomes[self.exercise.id]
            for key in keys:
                if not passes(outcomes[key], self.key.reference[key], self.checks[key[0]].judge):
                    self.killers[mutant.where, key[0]] += 1
                    return key[0]
        return None

    def _stages(self, mutant: Mutant, hint: str | None) -> Iterator[list[Key]]:
        """Yield all trials in a few jobs: first those of the checks that are likely to catch the mutant."""
        owner = mutant.where.split(".")[0]
        overall: Counter[str] = Counter()
        for (_, check), count in [*self.killers.items()]:
            overall[check] += count

        def likely(check: str) -> tuple[bool, int, bool, int]:
            own = self.killers[mutant.where, check]
            return check == hint, own, self.checks[check].of == owner, overall[check]

        order = sorted(self.checks, key=likely, reverse=True)
        start = 0
        for count in STAGES:
            if chosen := order[start : start + count]:
                yield [(check, 0) for check in chosen]
            start += count
        rest = [key for check in order for key in self.checks[check].keys]
        early = set(order[:start])
        if left := [key for key in rest if key[1] or key[0] not in early]:
            yield left


@dataclass(frozen=True)
class _Part:
    """What is needed to run the mutants of one exercise."""

    exercise: Exercise
    mutants: Sequence[Mutant]
    listed: tuple[Equivalent, ...]
    outcomes: Outcomes
    hunt: Hunt
    witnesses: Witnesses

    def is_open(self, mutant: Mutant) -> bool:
        """Say whether a mutant is to be run, or survives without a search for a witness."""
        caught, witnesses = self.outcomes.caught, self.outcomes.witnesses
        if mutant.id not in caught:
            return True
        return caught[mutant.id] is None and mutant.id not in witnesses and not is_equivalent(mutant, self.listed)


@dataclass(frozen=True)
class Options:
    """How the mutants are run: the seed, the number of jobs, and the second at which no other mutant begins.

    `fresh` runs what was run before.
    """

    seed: int
    jobs: int
    until: float = math.inf
    trials: int = SEARCHED
    fresh: bool = False


def mutate_each(
    suite: Suite, options: Options, *, on_progress: Callable[[str, int, int], None] = lambda *_: None
) -> Iterator[ExerciseMutants]:
    """Yield the result of each exercise; calls `on_progress(exercise, done, all)`.

    Raises `GraderProblem` if a solution fails its own checks, and `UsageError` for a list that cannot be read.
    """
    edges = edge_suite(suite)
    with Keys(suite, seed=options.seed) as keys, Runner(suite, seed=options.seed, shared=True) as first:
        parts = [_part(suite, edges, exercise, keys, options) for exercise in suite.exercises]
        pending = {part.exercise.id: list(filter(part.is_open, part.mutants)) for part in parts}
        busy = [part for part in parts if pending[part.exercise.id]]
        slowest = max((_seconds(part, first) for part in busy), default=0.0)
    limited, edges = (_limited(one, slowest) for one in (suite, edges))
    for part in parts:
        part.hunt.suite = limited
    with _Pool(limited, edges, options) as pool:
        for part in parts:
            _run(part, pending[part.exercise.id], pool, options, on_progress)
            yield _result(part)


def _part(suite: Suite, edges: Suite, exercise: Exercise, keys: Keys, options: Options) -> _Part:
    course = suite.course
    solutions = {need.file: (course.solutions_dir / need.file).read_bytes() for need in course.with_all_needs(exercise)}
    witnesses = Witnesses(suite, edges, exercise, solutions, seed=options.seed, trials=options.trials)
    return _Part(
        exercise,
        mutants_of(solutions[exercise.file].decode("utf-8"), exercise.number),
        read_equivalents(equivalents_file(course, exercise)),
        outcomes_of(suite, exercise, options.seed, trials=options.trials, fresh=options.fresh),
        Hunt(suite, exercise, keys.reference(exercise), solutions),
        witnesses,
    )


def _seconds(part: _Part, runner: Runner) -> float:
    """Return the time of the slowest trial of a solution. Raises `GraderProblem` if the solution fails a check."""
    plan = runner.suite.plan([part.exercise])
    outcomes = runner.run(part.hunt.solutions, plan).outcomes[part.exercise.id]
    for key, outcome in outcomes.items():
        if not passes(outcome, part.hunt.key.reference[key], part.hunt.checks[key[0]].judge):
            raise GraderProblem(f"the solution of {part.exercise.id} fails the check {key[0]}; run `course validate`")
    return max(outcome.seconds for outcome in outcomes.values() if isinstance(outcome, Observed))


def _limited(suite: Suite, slowest: float) -> Suite:
    """Return the suite with a shorter time limit: a mutant that loops for ever should cost little."""
    limits = suite.course.limits
    seconds = min(limits.cpu_seconds, max(1, math.ceil(TIMES_SLOWER * slowest)))
    return replace(suite, course=replace(suite.course, limits=replace(limits, cpu_seconds=seconds)))


class _Pool(contextlib.ExitStack):
    """Runs the mutants of all exercises, several at a time. Its workers start when they are needed."""

    def __init__(self, suite: Suite, edges: Suite, options: Options) -> None:
        super().__init__()
        self._benches: SimpleQueue[Bench] = SimpleQueue()
        for _ in range(options.jobs):
            suites = (suite, edges, showing_inputs(suite), showing_inputs(edges))
            runners = (Runner(one, seed=options.seed, shared=True) for one in suites)
            self._benches.put(Bench(*map(self.enter_context, runners)))
        self._threads = self.enter_context(ThreadPoolExecutor(options.jobs))

    def map(self, work: Callable[[Mutant, Bench], bool], mutants: Sequence[Mutant]) -> Iterator[bool]:
        """Yield the results in the order of the mutants."""

        def run(mutant: Mutant) -> bool:
            bench = self._benches.get()
            try:
                return work(mutant, bench)
            finally:
                self._benches.put(bench)

        return self._threads.map(run, mutants)


def _run(
    part: _Part,
    pending: Sequence[Mutant],
    pool: _Pool,
    options: Options,
    on_progress: Callable[[str, int, int], None],
) -> None:
    """Run mutants until the time is over, and keep the outcomes."""
    outcomes, file = part.outcomes, _outcomes_file(part.hunt.suite.course, part.exercise)

    def work(mutant: Mutant, bench: Bench) -> bool:
        if time.monotonic() > options.until:
            return False
        if mutant.id not in outcomes.caught:
            outcomes.caught[mutant.id] = part.hunt.catcher(mutant, bench.runner, outcomes.hints.get(mutant.id))
        if part.is_open(mutant):
            found = part.witnesses.find(mutant.source.encode(), bench.runner, bench.at_edges)
            if found is not None:
                found = part.witnesses.with_inputs(found, bench.inputs, bench.inputs_at_edges)
            elif mutant.operator == "gradient" and part.witnesses.has_no_gradient(
                mutant.source, bench.runner, bench.at_edges
            ):
                outcomes.without_gradient.append(mutant.id)
            outcomes.witnesses[mutant.id] = found
        return True

    saved, before = time.monotonic(), len(part.mutants) - len(pending)
    try:
        for done, was_run in enumerate(pool.map(work, pending), 1):
            if was_run:
                on_progress(part.exercise.id, before + done, len(part.mutants))
            if time.monotonic() - saved > SAVE_SECONDS:
                outcomes.save(file)
                saved = time.monotonic()
    finally:
        outcomes.save(file)


def _result(part: _Part) -> ExerciseMutants:
    caught, witnesses = part.outcomes.caught, part.outcomes.witnesses
    alive = [mutant for mutant in part.mutants if caught.get(mutant.id, "") is None]
    unseen = {
        *part.outcomes.without_gradient,
        *(one.id for one in alive if not witnesses.get(one.id, True) and counts_from_the_other_end(one)),
    }
    listed = {mutant.id for mutant in alive if mutant.id in unseen or is_equivalent(mutant, part.listed)}
    survivors = [Survivor(mutant, witnesses.get(mutant.id)) for mutant in alive if mutant.id not in listed]
    return ExerciseMutants(
        exercise=part.exercise,
        mutants=len(part.mutants),
        left=sum(mutant.id not in caught for mutant in part.mutants),
        caught=sum(caught.get(mutant.id) is not None for mutant in part.mutants),
        equivalent=len(listed),
        survivors=tuple(sorted(survivors, key=_unlikeliness)),
        problems=tuple(f"{entry}: {why}" for entry, why in stale(part.listed, part.mutants, caught)),
    )


LIKELY = (
    *("boolean", "factor", "comparison", "arithmetic", "term dropped", "axis", "condition", "swapped", "call dropped"),
    *("dtype", "sign", "gradient", "in place", "argument dropped", "another name", "order", "transpose", "off by one"),
    *("slice", "mask", "loop", "argument ignored", "constant", "device", "block dropped", "statement dropped"),
)
"""Operators, those first whose mutants are most often misconceptions of this project's courses."""


def _unlikeliness(survivor: Survivor) -> tuple[bool, int]:
    """Return the order of survivors: those that show on an input first, and of these what learners write most."""
    operator = survivor.mutant.operator
    return survivor.witness is None, LIKELY.index(operator) if operator in LIKELY else len(LIKELY)


# The mutants of an exercise as data, for `course mutate --json`.


def to_json(result: ExerciseMutants) -> dict[str, Any]:
    """Return the result of an exercise as data."""

    def survivor(found: Survivor) -> dict[str, Any]:
        mutant = {name: value for name, value in asdict(found.mutant).items() if name != "source"}
        return {**mutant, "witness": asdict(found.witness) if found.witness else None}

    names = ("mutants", "left", "caught", "equivalent", "problems", "ok")
    return {
        "id": result.exercise.id,
        **{name: getattr(result, name) for name in names},
        "survivors": [survivor(found) for found in result.survivors],
    }
