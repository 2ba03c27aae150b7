"""Search for a witness of a survivor: an input of a check on which it differs from the solution."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from autograder.checks import Judge, Key, Same, column_of, sizes_of
from autograder.comparison import Expected, passes
from autograder.course import Columns, Exercise, Suite
from autograder.edits import MAKERS, name_of
from autograder.runner import Observed, Runner

from .unusual_inputs import GRADIENTS, INTEGERS, KEPT

# A suite whose checks get unusual inputs: axes of size 1, equal axes, zeros, large numbers, open masks, no items.
#
# No verdict uses it. It only helps to find an input on which a mutant differs from the solution.

VALUES = {
    "zeros": "numbers that are all 0",
    "large": "numbers 1000 times as large",
    "smallest": "integers that are all the smallest",
    "open": "masks that are all True",
    "closed": "masks that are all False",
    "single": "one item",
    "empty": "no items",
    "float64": "float64 inputs and weights",
    "float16": "float16 inputs and weights",
    "strided": "tensors that are not contiguous",
    "training": "modules in training mode",
    "elsewhere": "inputs and modules on another device",
    **{family: f"whole numbers that are all {value}" for family, value in INTEGERS.items()},
    GRADIENTS: "the gradients of inputs and parameters",
    KEPT: "the inputs after the call",
}
"""Families of inputs, and what a message calls them. The last two have usual inputs, and observe other things."""

OF_TENSORS = ("float64", "float16", "strided", "training", "elsewhere", GRADIENTS)
"""Families that only a course with torch has."""

EQUAL = 4
"""The size of all axes, where they are equal. It can be divided by 2 and by itself."""

_SEPARATOR = " with "

# A worker cannot import this room, so the source is part of the file with the checks.
_SOURCE = Path(__file__).with_name("unusual_inputs.py").read_text("utf-8")


def edge_suite(suite: Suite) -> Suite:
    """Return a suite with unusual sizes, and each check once more for every family of inputs."""
    course = suite.course
    text = f"\n\n{_SOURCE}\ndeclare_families(globals(), {_SEPARATOR!r}, {[*VALUES]!r})\n".encode()
    names = {course.checks_file(exercise).name for exercise in suite.exercises}
    sources = {name: source + text if name in names else source for name, source in suite.sources.items()}
    parts = tuple(replace(part, sizes=_with_edges(part.sizes)) for part in course.parts)
    course = replace(course, sizes=_with_edges(course.sizes), parts=parts)
    return replace(suite, sources=sources, course=course)


def showing_inputs(suite: Suite) -> Suite:
    """Return a suite whose checks return descriptions of the inputs that they draw, in place of what they observe."""
    names = {suite.course.checks_file(exercise).name for exercise in suite.exercises}
    text = f"\n\n{_SOURCE}\nshow_inputs(globals(), {_SEPARATOR!r})\n".encode()
    return replace(suite, sources={name: own + text if name in names else own for name, own in suite.sources.items()})


def edge_trials(suite: Suite, edges: Suite, exercise: Exercise, seed: int) -> Iterator[Key]:
    """Yield the trials of an edge suite: every check with all unusual sizes, and with each family of inputs."""
    ordinary, columns = (len(owner.course.sizes_of(exercise)) for owner in (suite, edges))
    families = [family for family in VALUES if "torch" in suite.course.libraries or family not in OF_TENSORS]
    if b".number(" not in suite.sources[suite.course.checks_file(exercise).name]:
        families = [family for family in families if family not in INTEGERS]
    for check in suite.checks[exercise.id]:
        for trial in range(columns if columns > ordinary else 0):
            if column_of(columns, seed, exercise.id, check.id, trial) >= ordinary:
                yield check.id, trial
        for family in families:
            name = name_in_family(check.id, family)
            usual = (trial for trial in range(columns) if column_of(columns, seed, exercise.id, name, trial) < ordinary)
            yield name, next(usual, 0)


def name_in_family(check: str, family: str) -> str:
    """Return the id of a check with a family of inputs; with ordinary ones, its own id."""
    return f"{check}{_SEPARATOR}{family}" if family else check


def check_and_family(name: str) -> tuple[str, str | None]:
    """Return the id of a check, and the family of its inputs, None for ordinary ones."""
    check, _, family = name.partition(_SEPARATOR)
    return check, family or None


def _with_edges(columns: Columns) -> Columns:
    return (*columns, *_edge_columns(columns))


def _edge_columns(columns: Columns) -> Iterator[Mapping[str, int]]:
    if not columns or not columns[0]:
        return
    first = columns[0]
    for axis in first:
        yield {**first, axis: 1}
    yield dict.fromkeys(first, EQUAL)
    yield {axis: 2 * size for axis, size in first.items()}


# Programs that end where a detached value has a gradient: their runs show whether a `detach` changes anything.

_ENDS = """

def {name}(value):
    if {condition}:
        raise SystemExit
    return value
"""
# No `except Exception` of a solution or a check hides a SystemExit.

_NAME = "end_where_a_gradient_is"


def ending_programs(solution: str, mutant: str) -> tuple[str, str] | None:
    """Return two programs for a mutant that detaches a value: one ends at every such value, one at those with a graph.

    None for any other mutant.
    """
    tree = ast.parse(mutant)
    for node, calls in _pairs(ast.parse(solution), tree):
        if _detaches(calls, node):
            assert isinstance(calls, ast.Call)
            assert isinstance(calls.func, ast.Attribute)
            calls.args, calls.func = [calls.func.value], ast.Name(_NAME, ast.Load())
            text = ast.unparse(ast.fix_missing_locations(tree))
            conditions = ("True", "getattr(value, 'requires_grad', True)")
            always, with_graph = (text + _ENDS.format(name=_NAME, condition=condition) for condition in conditions)
            return always, with_graph
    return None


def _detaches(calls: ast.AST, node: ast.AST) -> bool:
    match calls:
        case ast.Call(ast.Attribute(value, "detach"), [], []):
            return ast.dump(value) == ast.dump(node)
    return False


def _pairs(one: ast.AST, other: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield the first nodes in which two programs differ, and their parents."""
    yield one, other
    ours, theirs = list(ast.iter_child_nodes(one)), list(ast.iter_child_nodes(other))
    if type(one) is type(other) and len(ours) == len(theirs):
        for mine, their in zip(ours, theirs, strict=True):
            if ast.dump(mine) != ast.dump(their):
                yield from _pairs(mine, their)


Reason = Literal["judge", "trial", "sizes", "values", "gradients", "kept"]

_REASONS: Mapping[str, Reason] = {KEPT: "kept", GRADIENTS: "gradients"}
"""The families that observe something of their own, and not what the check observes."""

BATCH = 40
"""Trials of a job. A larger job is not ended by the first difference, a smaller one costs more jobs."""


@dataclass(frozen=True)
class Witness:
    """An input on which a survivor differs: the trial of a check, its sizes, and why the course does not notice.

    The course has this trial, and the `judge` accepts the difference. Or it lacks the `trial`, its `sizes`, or its
    kind of `values`, or does not observe the `gradients`, or that the inputs are `kept`. `inputs` describe what the
    check drew, the values of small ones too.
    """

    reason: Reason
    check: str
    trial: int
    sizes: Mapping[str, int] = field(default_factory=dict)
    detail: str = ""
    family: str = ""
    inputs: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Where the survivor differs, as a sentence."""
        check = f"the check {self.check}"
        match self.reason:
            case "judge":
                return f"Differs in trial {self.trial + 1} of {check}, and its judge {self.detail} accepts this."
            case "trial":
                return f"Differs in trial {self.trial + 1} of {check}, which has only {self.detail}."
            case "sizes":
                sizes = " ".join(f"{axis}={size}" for axis, size in self.sizes.items())
                return f"Differs in {check} with other sizes: {sizes}."
            case "gradients":
                return f"Its gradients differ in {check}, and no check observes this."
            case "kept":
                return f"It changes an input of {check}, and no check observes this."
            case "values":
                return f"Differs in {check} with {self.detail}."


class Witnesses:
    """Searches for witnesses in one exercise. The solution's answers are computed once."""

    def __init__(
        self, suite: Suite, edges: Suite, exercise: Exercise, solutions: Mapping[str, bytes], *, seed: int, trials: int
    ) -> None:
        """`trials` is the number of trials to run of each check beyond its own."""
        self.suite = suite
        self.edges = edges
        self.exercise = exercise
        self.solutions = solutions
        self.seed = seed
        self.trials = trials
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self._expected: dict[Key, Expected | None] = {}
        self._at_edges: dict[Key, Expected | None] = {}

    def find(self, source: bytes, runner: Runner, at_edges: Runner) -> Witness | None:
        """Return the first witness of a program, None if none is found."""
        sources = {**self.solutions, self.exercise.file: source}
        for key in self._differing(sources, runner, self._own_trials(), self._expected, strict=True):
            return Witness("judge", *key, self._sizes(key), type(self.checks[key[0]].judge).__name__)
        for key in self._differing(sources, runner, self._more_trials(), self._expected):
            count = self.checks[key[0]].trials
            return Witness("trial", *key, self._sizes(key), f"{count} trials" if count > 1 else "1 trial")
        trials = list(edge_trials(self.suite, self.edges, self.exercise, self.seed))
        for name, trial in self._differing(sources, at_edges, trials, self._at_edges):
            check, family = check_and_family(name)
            sizes = sizes_of(self.edges.course.sizes_of(self.exercise), self.seed, self.exercise.id, name, trial)
            reason = _REASONS.get(family, "values") if family else "sizes"
            return Witness(reason, check, trial, sizes, VALUES.get(family or "", ""), family or "")
        return None

    def with_inputs(self, witness: Witness, inputs: Runner, at_edges: Runner) -> Witness:
        """Return a witness with its inputs. Both runners show the inputs of checks, `at_edges` the unusual ones."""
        runner = inputs if witness.reason in ("judge", "trial") else at_edges
        key = name_in_family(witness.check, witness.family), witness.trial
        outcome = runner.run(self.solutions, {self.exercise.id: [key]}).outcomes.get(self.exercise.id, {}).get(key)
        match outcome.value if isinstance(outcome, Observed) else None:
            case {"inputs": [*texts]}:
                return replace(witness, inputs=tuple(map(str, texts)))
        return witness

    def has_no_gradient(self, mutant: str, runner: Runner, at_edges: Runner) -> bool:
        """Return whether a mutant detaches a value that has a gradient in no trial: then it changes nothing.

        Also with inputs and parameters that have one; a statement that no such trial runs proves nothing.
        """
        programs = ending_programs(self.solutions[self.exercise.file].decode("utf-8"), mutant)
        if programs is None:
            return False
        always, with_graph = ({**self.solutions, self.exercise.file: text.encode()} for text in programs)
        edges = list(edge_trials(self.suite, self.edges, self.exercise, self.seed))
        with_gradients = [key for key in edges if check_and_family(key[0])[1] == GRADIENTS]
        own = [key for check in self.checks.values() for key in check.keys]
        runs = ((runner, own + self._more_trials(), self._expected), (at_edges, edges, self._at_edges))
        return any(self._differing(always, at_edges, with_gradients, self._at_edges)) and not any(
            key for one, trials, expected in runs for key in self._differing(with_graph, one, trials, expected)
        )

    def _own_trials(self) -> list[Key]:
        """Return the trials of the checks that accept other results than the solution's."""
        loose = (check for check in self.checks.values() if not isinstance(check.judge, Same))
        return [key for check in loose for key in check.keys]

    def _more_trials(self) -> list[Key]:
        """Return trials beyond those of the course: one of each check, then the next one of each."""
        return [(check.id, check.trials + number) for number in range(self.trials) for check in self.checks.values()]

    def _sizes(self, key: Key) -> Mapping[str, int]:
        return sizes_of(self.suite.course.sizes_of(self.exercise), self.seed, self.exercise.id, *key)

    def _judge(self, key: Key) -> Judge:
        check, family = check_and_family(key[0])
        return Same() if family in _REASONS else self.checks[check].judge

    def _differing(
        self,
        sources: Mapping[str, bytes],
        runner: Runner,
        trials: Sequence[Key],
        expected: dict[Key, Expected | None],
        *,
        strict: bool = False,
    ) -> Iterator[Key]:
        """Yield the trials in which a program differs from the solution; `strict` compares every number."""
        for start in range(0, len(trials), BATCH):
            keys = trials[start : start + BATCH]
            self._answer(runner, keys, expected)
            usable = [key for key in keys if expected[key] is not None]
            outcomes = runner.run(sources, {self.exercise.id: usable}).outcomes.get(self.exercise.id, {})
            for key in usable:
                right = expected[key]
                judge = Same() if strict else self._judge(key)
                if right is not None and not passes(outcomes[key], right, judge):
                    yield key

    def _answer(self, runner: Runner, keys: Sequence[Key], expected: dict[Key, Expected | None]) -> None:
        """Run the solution where its answers are missing; None stands for a trial that it cannot answer."""
        missing = [key for key in keys if key not in expected]
        plan = {self.exercise.id: missing}
        nominal = runner.run(self.solutions, plan).outcomes.get(self.exercise.id, {})
        exact = runner.run(self.solutions, plan, exact=True).outcomes.get(self.exercise.id, {})
        for key in missing:
            one, other = nominal[key], exact[key]
            expected[key] = None
            if isinstance(one, Observed) and isinstance(other, Observed):
                answer = Expected(one.value, other.value)
                if _accepts(self._judge(key), answer):
                    expected[key] = answer


def _accepts(judge: Judge, answer: Expected) -> bool:
    """Return whether a judge accepts the solution's own answer: on an unusual input its judge may not work."""
    try:
        return passes(Observed(answer.nominal), answer, judge)
    except Exception:  # a judge of the course's own may raise anything
        return False


# Values that have no gradient, by the text of a program alone: to detach them changes nothing.

NO_GRADIENT = {
    *("argmax", "argmin", "argsort", "bool", "long", "int", "eq", "ne", "lt", "le", "gt", "ge", "logical_and"),
    *("logical_or", "logical_not", "isnan", "isinf", "isfinite", "nonzero", "bincount", "multinomial", "all", "any"),
    *("randint", "randperm", "searchsorted", "bucketize", "size"),
}
"""Functions and methods whose result is never part of the graph, whatever goes into them."""

BUILT_IN = {"len", "all", "any", "int", "bool"}
OFF = ("no_grad", "inference_mode")
ON = ("enable_grad", "set_grad_enabled")

Values = Mapping[str, Sequence[ast.expr]]


def detaches_nothing(source: str, line: int) -> bool:
    """Whether the statement of a line detaches a value that cannot have a gradient: a mask, ids, or in `no_grad`.

    False where this is not certain.
    """
    may_be_on = any(word in source for word in ON)
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef) and function.lineno <= line <= (function.end_lineno or 0):
            for statement, is_off in _statements(function.body, any(map(_turns_off, function.decorator_list))):
                if statement.lineno <= line <= (statement.end_lineno or 0) and (value := _detached(statement)):
                    return (is_off and not may_be_on and _computes(value)) or _has_none(value, _values(function), ())
    return False


def _statements(body: Sequence[ast.stmt], is_off: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield every statement of a function, and whether the graph is not recorded there."""
    for statement in body:
        yield statement, is_off
        turned = isinstance(statement, ast.With) and any(_turns_off(item.context_expr) for item in statement.items)
        for block in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, block, []), is_off or turned)


def _turns_off(node: ast.expr) -> bool:
    return name_of(node.func if isinstance(node, ast.Call) else node) in OFF


def _detached(statement: ast.stmt) -> ast.expr | None:
    """Return the value whose `detach` a statement assigns or returns."""
    match statement:
        case ast.Assign(value=ast.Call(ast.Attribute(value, "detach"))) | ast.Return(
            ast.Call(ast.Attribute(value, "detach"))
        ):
            return value
    return None


def _computes(value: ast.expr) -> bool:
    """Whether a value is the result of an operation of torch; a name, or another call, may have a graph already."""
    match value:
        case ast.BinOp():
            return True
        case ast.Call(ast.Attribute(ast.Name("torch"))):
            return True
    return False


def _values(function: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Return what is assigned to the names that only plain assignments bind."""
    arguments = {part.arg for part in ast.walk(function) if isinstance(part, ast.arg)}
    values: dict[str, list[ast.expr]] = {}
    plain = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(target := node.targets[0], ast.Name):
            values.setdefault(target.id, []).append(node.value)
            plain.add(id(target))
    stored = (node for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    others = {node.id for node in stored if id(node) not in plain}
    return {name: found for name, found in values.items() if name not in arguments | others}


def _has_none(node: ast.expr, values: Values, seen: tuple[str, ...]) -> bool:
    """Whether an expression has no gradient, whatever its names are."""

    def rest(*nodes: ast.expr) -> bool:
        return all(_has_none(part, values, seen) for part in nodes)

    match node:
        case ast.Constant() | ast.Compare():
            return True
        case ast.UnaryOp(operand=value) | ast.Starred(value=value):
            is_logic = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert)
            return is_logic or rest(value)
        case ast.BinOp(left, op, right):
            return isinstance(op, ast.BitAnd | ast.BitOr) or rest(left, right)
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            return rest(*parts)
        case ast.IfExp(body=first, orelse=other):
            return rest(first, other)
        case ast.Name(id=name) if name in values:
            # A name that is computed from itself, as in `mask = mask & other`, adds nothing that has a gradient.
            return name in seen or all(_has_none(value, values, (*seen, name)) for value in values[name])
        case ast.Attribute(attr="shape" | "ndim" | "device" | "dtype"):
            return True
        case ast.Subscript(value=value):
            return rest(value)
        case ast.Call(func):
            return _call_has_none(node, func, rest)
    return False


def _call_has_none(node: ast.Call, func: ast.expr, rest: Callable[..., bool]) -> bool:
    name = name_of(func)
    if not isinstance(func, ast.Attribute):
        return name in BUILT_IN
    if name in NO_GRADIENT:
        return True
    if isinstance(func.value, ast.Name) and func.value.id == "torch":
        words = {keyword.arg for keyword in node.keywords}
        if name in MAKERS:
            return "requires_grad" not in words
        return name in MOVES and rest(*node.args)
    return name in MOVES and rest(func.value, *node.args)


MOVES = {
    *("unsqueeze", "squeeze", "view", "reshape", "expand", "expand_as", "repeat", "transpose", "permute", "flatten"),
    *("clone", "contiguous", "to", "float", "double", "half", "tril", "triu", "cat", "stack", "flip", "cumsum", "sum"),
}
"""Functions and methods whose result has a gradient only if one of their arguments has."""
