"""Turn a wrong program into a catalogue entry: a patch of the solution, with texts to write.

For each standard check that no misconception fails, a default one has its texts already.
"""

import ast
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from autograder.answer_key import Keys
from autograder.checks import HINTS, Check, Key, Raises
from autograder.comparison import Expected, passes
from autograder.course import Course, Exercise, Suite, UsageError, write_atomically
from autograder.edits import Slot, Variant, is_axis, is_text, name_of, variants
from autograder.protocol import first_line
from autograder.report import plural
from autograder.runner import Fault, Observed, Outcome, Runner

from .mutants import Mutant, mutants_of, patch_of
from .programs import programs_of

Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Patch = tuple[str, str]

ENTRY = """
# {origin} {todo}, then run `course validate {number}`.
[{id}]
name = {name}
explanation = {explanation}
hint = {hint}
{patches}
"""

Texts = tuple[str, str, str]
"""The name, the explanation and the hint of a misconception."""

TO_WRITE: Texts = (
    "TODO: what is wrong, in a few words",
    "TODO: why it is wrong.",
    "TODO: a question that leads to the mistake.",
)


def entry_of(exercise: Exercise, id_: str, origin: str, patches: Sequence[Patch], texts: Texts | None = None) -> str:
    """Return the entry as TOML; `origin` is a sentence that says where the misconception comes from.

    Without `texts`, the author writes them.
    """
    todo = "Check the three texts and write a better id" if texts else "Write the three texts and a better id"
    name, explanation, hint = map(_basic, texts or TO_WRITE)
    if len(patches) == 1:
        patched = "\n".join(
            f"{key} = {_literal(text)}" for key, text in zip(("find", "replace"), patches[0], strict=True)
        )
    else:
        lines = (f"    {{find = {_literal(find)}, replace = {_literal(replace)}}}," for find, replace in patches)
        patched = "\n".join(("patches = [", *lines, "]"))
    return ENTRY.format(
        origin=origin,
        todo=todo,
        number=exercise.number,
        id=id_,
        name=name,
        explanation=explanation,
        hint=hint,
        patches=patched,
    )


def append_entry(course: Course, exercise: Exercise, name: str, entry: str) -> Path:
    """Append an entry to the catalogue of an exercise; raises `UsageError` if there is one of this name."""
    file = course.catalogue_file(exercise)
    catalogue = file.read_text("utf-8") if file.is_file() else ""
    if f"[{name}]" in catalogue:
        raise UsageError(f"{file.relative_to(course.root)} has {name} already; write its texts there")
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, f"{catalogue.rstrip()}\n{entry}".lstrip("\n"))
    return file


# Rewrite the patches of a catalogue that a reworded solution has in other words.

_TABLE = re.compile(r"^\[", re.MULTILINE)
_VALUE = re.compile(
    r"""(?:^|[{,])\s*(?P<key>find|replace)\s*=\s*(?P<value>'{3}.*?'{3,5}|"{3}(?:[^\\]|\\.)*?"{3,5}|'[^'\n]*'|"(?:[^"\\\n]|\\.)*")""",
    re.DOTALL | re.MULTILINE,
)


def with_patches(text: str, id_: str, patches: Sequence[Patch]) -> str:
    """Return the text of a catalogue with other patches of one misconception, and everything else as it was.

    Raises `UsageError` if it is not written so that they can be replaced.
    """
    wanted = tomllib.loads(text)
    entry = wanted[id_]
    for table, (find, replace) in zip(entry.get("patches", [entry]), patches, strict=True):
        table.update(find=find, replace=replace)
    header = re.search(rf'^\[(?:{re.escape(id_)}|"{re.escape(id_)}")\]', text, re.MULTILINE)
    start = header.end() if header else 0
    following = _TABLE.search(text, start)
    end = following.start() if following else len(text)
    values = [one for patch in patches for one in patch]
    found = list(_VALUE.finditer(text, start, end))
    keys = [match["key"] for match in found]
    parts, at = [], 0
    for match, value in zip(found, _in_order(keys, values), strict=False):
        parts += [text[at : match.start("value")], _quoted(value, like=match["value"])]
        at = match.end("value")
    made = "".join([*parts, text[at:]])
    # The text is edited, not written anew, so the result is compared with what it should mean.
    if len(found) != len(values) or _trimmed(tomllib.loads(made)) != _trimmed(wanted):
        raise UsageError(f"the patches of {id_} cannot be rewritten where they stand; write them as find = ... lines")
    return made


def _quoted(text: str, like: str) -> str:
    """Return a text as TOML, in the quotes of another one where they fit."""
    if "\n" in text:
        return _literal(text)
    return f"'{text}'" if like.startswith("'") and "'" not in text else _basic(text)


def _in_order(keys: Sequence[str], values: Sequence[str]) -> Iterator[str]:
    """Yield each find and replace in the order in which a catalogue has them: some have replace first."""
    for at in range(0, len(values) - 1, 2):
        yield from reversed(values[at : at + 2]) if keys[at : at + 1] == ["replace"] else values[at : at + 2]


def _trimmed(data: object) -> object:
    """Return the tables of a catalogue without the line end that its longer texts have."""
    match data:
        case dict():
            return {key: _trimmed(value) for key, value in data.items()}
        case list():
            return [_trimmed(value) for value in data]
        case str():
            return data.removesuffix("\n")
    return data


def patches_of(solution: str, source: str | bytes, parts: Iterable[str]) -> tuple[Patch, ...]:
    """Return the patches from a solution to a student's program, in these functions and classes and all they use.

    The student's comments and docstrings are left out. Raises `UsageError` if there is no difference, or the file is
    not valid Python.
    """
    ours = ast.parse(solution)
    try:
        return _patches(solution, ours, ast.parse(source), parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        too_deep = isinstance(error, RecursionError)
        problem = "nested too deeply" if too_deep else f"not valid Python ({type(error).__name__})"
        raise UsageError(f"the student's file is {problem}, so no patch can be made") from None


def _patches(solution: str, ours: ast.Module, theirs: ast.Module, parts: Iterable[str]) -> tuple[Patch, ...]:
    own, right = _defined(theirs), _defined(ours)
    used = [name for name in _used(own, parts) if name in own]
    changed = [name for name in used if name in right and _plain(own[name]) != _plain(right[name])]
    new = [name for name in used if name not in right]
    # What the solution imports may be written anew: then only a function that uses it shows where it belongs.
    users = changed or [name for name in right if _names(right[name]) & set(new)]
    if not users:
        raise UsageError("the student's functions equal those of the solution; the mistake is elsewhere")
    added = [*_imports(theirs, ours, [own[name] for name in used]), *(_text(own[name]) for name in new)]
    patches = [patch for name in changed for patch in _differences(solution, right[name], own[name])]
    if added:
        first = min((right[name] for name in users), key=lambda part: part.lineno)
        patches = _with(patches, solution, first, "\n".join(added))
    return tuple(patches)


def _defined(module: ast.Module) -> dict[str, ast.stmt]:
    """Return the last definition of each function, class and constant of a module, by name.

    An assignment to the name of a function, like `f = decorator(f)`, does not replace its definition.
    """
    defined: dict[str, ast.stmt] = {}
    for node in module.body:
        if isinstance(node, Defined):
            defined[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            defined |= {name: node for name in names if not isinstance(defined.get(name), Defined)}
    return defined


def _used(defined: Mapping[str, ast.stmt], parts: Iterable[str]) -> list[str]:
    """Return these parts and the names of the module they use, in the order of the module."""
    seen: set[str] = set()
    left = [part.split(".")[0] for part in parts]
    while left:
        name = left.pop()
        if name in seen or name not in defined:
            continue
        seen.add(name)
        left += _names(defined[name])
    return [name for name in defined if name in seen]


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _imports(theirs: ast.Module, ours: ast.Module, used: Sequence[ast.stmt]) -> list[str]:
    """Return the imports that the student's parts need and the solution lacks."""
    names = {name for part in used for name in _names(part)}
    known = {bound for node in ours.body for bound, _ in imports_of(node)}
    wanted = (line for node in theirs.body for bound, line in imports_of(node) if bound in names and bound not in known)
    return list(dict.fromkeys(wanted))


def imports_of(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds, each with a line that binds it alone."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for name in statement.names:
            copied = type(statement)(**{**vars(statement), "names": [name]})
            yield (name.asname or name.name).split(".")[0], ast.unparse(copied)


def _differences(solution: str, right: ast.stmt, wrong: ast.stmt) -> list[Patch]:
    """Return the patches of one definition: of the methods or lines that differ, or else of all of it."""
    if isinstance(right, ast.ClassDef) and isinstance(wrong, ast.ClassDef):
        ours, theirs = _members(right), _members(wrong)
        if (
            ours is not None
            and theirs is not None
            and list(ours) == list(theirs)
            and _opening(right) == _opening(wrong)
        ):
            pairs = [(ours[name], theirs[name]) for name in ours if _plain(ours[name]) != _plain(theirs[name])]
            return [patch for one, other in pairs for patch in _differences(solution, one, other)]
    if isinstance(right, ast.FunctionDef) and isinstance(wrong, ast.FunctionDef) and _opening(right) == _opening(wrong):
        patch = _lines(solution, _without_docstring(right.body), _without_docstring(wrong.body))
        if patch is not None:
            return [patch]
    return [_replaced(solution, [right], [wrong])]


def _members(part: ast.ClassDef) -> dict[str, ast.stmt] | None:
    """Return the methods of a class by name; None if it has anything else."""
    body = _without_docstring(part.body)
    methods = {node.name: node for node in body if isinstance(node, Defined)}
    return dict(methods) if len(methods) == len(body) else None


def _lines(solution: str, ours: Sequence[ast.stmt], theirs: Sequence[ast.stmt]) -> Patch | None:
    """Return the fewest statements to replace, extended until they occur only once in the solution."""
    same = [_plain(one) == _plain(other) for one, other in zip(ours, theirs, strict=False)]
    start = same.index(False) if False in same else len(same)
    ended = [
        _plain(one) == _plain(other)
        for one, other in zip(reversed(ours[start:]), reversed(theirs[start:]), strict=False)
    ]
    end = ended.index(False) if False in ended else len(ended)
    stop, last = len(ours) - end, len(theirs) - end
    while True:
        # A patch must find text that occurs once, so it grows to both sides until it does.
        if start < stop and start < last:
            patch = _replaced(solution, ours[start:stop], theirs[start:last])
            if solution.count(patch[0]) == 1:
                return patch
        if start == 0 and stop == len(ours):
            return None
        start, stop, last = (start - 1, stop, last) if start else (start, stop + 1, last + 1)


def _replaced(solution: str, ours: Sequence[ast.stmt], theirs: Sequence[ast.stmt]) -> Patch:
    lines = solution.split("\n")[first_line(ours[0]) - 1 : ours[-1].end_lineno]
    return "\n".join(lines), indent("\n".join(map(_text, theirs)), " " * ours[0].col_offset)


def _with(patches: list[Patch], solution: str, first: ast.stmt, added: str) -> list[Patch]:
    """Add lines above a definition: in its patch if it is replaced as a whole, or else in a new patch."""
    line = solution.split("\n")[first_line(first) - 1]
    for at, (find, replace) in enumerate(patches):
        if find.split("\n")[0] == line:
            return [*patches[:at], (find, f"{added}\n\n\n{replace}"), *patches[at + 1 :]]
    return [(line, f"{added}\n\n\n{line}"), *patches]


def _plain(node: ast.AST) -> str:
    return ast.dump(_stripped(node))


def _text(node: ast.AST) -> str:
    return ast.unparse(_stripped(node))


def _stripped(node: ast.AST) -> ast.AST:
    """Return a copy without docstrings and type annotations."""
    copied = ast.parse(ast.unparse(node))
    for part in ast.walk(copied):
        if isinstance(part, ast.arg):
            part.annotation = None
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            part.returns = None
        if isinstance(part, Defined):
            part.body = _without_docstring(part.body) or [ast.Pass()]
    return copied


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return body[1:] if body and is_text(body[0]) else body


def _opening(part: Defined) -> str:
    """Return a definition without its body."""
    return _text(type(part)(**{**vars(part), "body": [ast.Pass()]}))


def _literal(text: str) -> str:
    plain = "'''" not in text and not text.endswith("'") and not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text)
    return f"'''\n{text}\n'''" if plain else _basic(text)


def _basic(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


# The operators behind the default misconceptions of standard checks: what learners do wrong in almost every part.
#
# Those for a device, a dtype, a write into the input and the graph of autograd are operators of `course mutate`, too.

FIXED_AXES, MODE_IGNORED, NOT_TRAINED, IN_PLACE = "fixed axes", "mode ignored", "not trained", "in place"
"""The names of the operators that are only here, and of one that has more variants here."""

OPERATORS = {
    "inputs_kept": IN_PLACE,
    "dtypes": "dtype",
    "device": "device",
    "leading_axes": FIXED_AXES,
    "training": MODE_IGNORED,
    "gradients": "gradient",
    "parameters": NOT_TRAINED,
}
"""The operator that makes programs which a kind of standard check catches."""

COUNTS = (3, 4, 2)
"""How many axes a learner may count from the first one: batch, position and feature, with heads, or no batch."""

HOLDERS = {"Parameter", "ModuleList", "ModuleDict", "ParameterList"}


def standard_variants(slot: Slot, imported: Collection[str]) -> Iterator[Variant]:
    """Yield the wrong nodes for standard checks that may replace a node."""
    node, parent = slot.node, slot.parent
    yield from (found for found in variants(slot, imported) if found[0] in OPERATORS.values())
    match node:
        case ast.Return(ast.expr() as value) if slot.place.parameters:
            written = ast.Attribute(ast.Name(slot.place.parameters[0], ast.Load()), "copy_", ast.Load())
            yield IN_PLACE, ast.Return(ast.Call(written, [value], []))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self")) as part, args=[_, *_]) if "drop" in part.attr:
            always = ast.Call(ast.Attribute(part, "train", ast.Load()), [], [])
            yield MODE_IGNORED, ast.Call(always, node.args, node.keywords)
        case ast.Attribute(value=ast.Name(id="self"), attr="training", ctx=ast.Load()):
            yield MODE_IGNORED, ast.Constant(True)
        case ast.Call(func=func, args=[value, *_]) if name_of(func) in HOLDERS and isinstance(parent, ast.Assign):
            yield NOT_TRAINED, value
        case ast.Call(func=ast.Attribute(attr="transpose" | "mean" | "sum" | "softmax" | "var"), args=[_, *_]):
            yield from _of_axes(node)
    if _negative(node) is not None and is_axis(slot):
        yield from ((FIXED_AXES, ast.Constant(count + value)) for count, value in _counted(node))
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "mH"):
        swap = ast.Attribute(node.value, "transpose", ast.Load())
        yield FIXED_AXES, ast.Call(swap, [ast.Constant(1), ast.Constant(2)], [])
    if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Constant) and part.value is ... for part in node.elts):
        yield FIXED_AXES, ast.Tuple([axis for part in node.elts for axis in _spelled_out(part)], node.ctx)


def _of_axes(node: ast.Call) -> Iterator[Variant]:
    """Yield the call with all its axes counted from the first one."""
    if sum(_negative(part) is not None for part in node.args) > 1:
        for count in COUNTS:
            other = copy(node)
            other.args = [
                part if (value := _negative(part)) is None else ast.Constant(count + value) for part in node.args
            ]
            yield FIXED_AXES, other


def _counted(node: ast.AST) -> Iterator[tuple[int, int]]:
    value = _negative(node)
    yield from ((count, value) for count in COUNTS if value is not None and count + value >= 0)


def _negative(node: ast.AST) -> int | None:
    """Return a whole number below 0 that is written as one; None for any other node."""
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(value=int() as value)) if value:
            return -value
    return None


def _spelled_out(index: ast.expr) -> list[ast.expr]:
    """Return an index; two whole axes in place of an ellipsis."""
    is_dots = isinstance(index, ast.Constant) and index.value is ...
    return [ast.Slice(None, None, None), ast.Slice(None, None, None)] if is_dots else [index]


# Texts of misconceptions that are alike in every exercise, by the operator that makes them.

TEXTS: dict[str, Texts] = {
    "device": (
        "a new tensor is made on the CPU",
        "A new tensor is on the CPU unless you name a device, so the code fails for inputs on an accelerator.",
        HINTS["device"][0],
    ),
    "dtype": (
        "a tensor has a fixed dtype",
        "The result then has another dtype than the input, or loses precision on the way.",
        HINTS["dtypes"][0],
    ),
    "gradient": (
        "the graph of autograd is cut",
        "No gradient flows back through this value, so nothing before it can learn.",
        HINTS["gradients"][0],
    ),
    "in place": (
        "a tensor is changed in place",
        "Everyone who holds this tensor sees the change: the caller, a parameter, or the graph that gradients need.",
        HINTS["inputs_kept"][0],
    ),
    FIXED_AXES: (
        "axes are counted from the first one",
        "With another number of axes before the last ones, a fixed number names another axis.",
        HINTS["leading_axes"][0],
    ),
    MODE_IGNORED: (
        "dropout acts in evaluation too",
        "`model.eval()` must turn dropout off. Else the result of a trained model changes from call to call.",
        HINTS["training"][0],
    ),
    NOT_TRAINED: (
        "a parameter or a part is not registered",
        "A tensor or a list of layers that is no parameter or submodule is neither trained nor saved.",
        HINTS["parameters"][0],
    ),
}
"""The name, the explanation and the hint. For other operators the author writes them."""

EXAMPLES = {
    "inputs_kept": "an in-place operation on an input: `x += y`, `x.mul_(2)` or `x[..., 0] = 0`",
    "dtypes": "a fixed dtype: `x.float()`, or a new tensor without `dtype=x.dtype`",
    "device": "a tensor on the CPU: `x.cpu()`, or a new tensor without `device=x.device`",
    "leading_axes": "axes counted from the first one: `dim=1` or `transpose(1, 2)`",
    "training": "dropout in evaluation: `nn.functional.dropout(x, p)`",
    "gradients": "a cut graph: `x.detach()`, `x.data` or `torch.no_grad()`",
    "parameters": "a tensor that is no `nn.Parameter`, or layers in a plain list",
}
"""What an author may write by hand for a kind of standard check, where no small change of the solution fails it."""


OnProgress = Callable[[int, int], None]

MAY_RAISE = frozenset({"device", "dtypes", "leading_axes"})
"""The kinds of standard checks in which a typical mistake raises, as tensors of two devices do."""


@dataclass(frozen=True)
class Defaults:
    """The entries that were added by the check that they fail, and the standard checks without one that fits.

    `tried` is the number of programs that were run for each check.
    """

    entries: Mapping[str, str]
    without: tuple[Check, ...]
    tried: Mapping[str, int]

    @property
    def advice(self) -> list[str]:
        """Return a sentence for each check without an entry: what was tried, and what the author may write."""
        return [
            f"no default misconception fails {check.id}. {plural(self.tried[check.id], 'program')} tried in which "
            f"{TEXTS[OPERATORS[check.kind]][0]}. Write {EXAMPLES[check.kind]}"
            for check in self.without
        ]


def add_defaults(suite: Suite, exercise: Exercise, *, on_progress: OnProgress = lambda *_: None) -> Defaults:
    """Add a misconception to an exercise for every standard check that none fails; each was run, and fails its check.

    Of several programs, the one that fails the fewest other checks is taken. `on_progress(done, total)` is called for
    each program that was run.
    """
    with Keys(suite, seed=suite.course.seed) as keys, Runner(suite, seed=suite.course.seed, shared=True) as runner:
        trier = _Trier(suite, exercise, runner, keys.reference(exercise).reference)
        idle = trier.idle()
        candidates = trier.candidates({check.kind for check in idle})
        chosen: dict[str, Mutant] = {}
        fewest: dict[str, int] = {}
        for done, mutant in enumerate(candidates, 1):
            outcomes = trier.outcomes(mutant.source, suite.checks[exercise.id])
            failed = trier.failed(outcomes)
            for check in idle:
                is_better = len(failed) < fewest.get(check.id, len(trier.checks) + 1)
                is_fit = OPERATORS[check.kind] == mutant.operator and not trier.only_crashes(check, outcomes)
                if check.id in failed and is_fit and is_better:
                    chosen[check.id], fewest[check.id] = mutant, len(failed)
            on_progress(done, len(candidates))
    entries = {check.id: _add(suite, exercise, check, chosen[check.id]) for check in idle if check.id in chosen}
    made = Counter(mutant.operator for mutant in candidates)
    tried = {check.id: made[OPERATORS[check.kind]] for check in idle}
    return Defaults(entries, tuple(check for check in idle if check.id not in chosen), tried)


class _Trier:
    """Runs programs of one exercise on some of its checks."""

    def __init__(self, suite: Suite, exercise: Exercise, runner: Runner, reference: Mapping[Key, Expected]) -> None:
        self.suite = suite
        self.exercise = exercise
        self.runner = runner
        self.reference = reference
        self.checks = {check.id: check for check in suite.checks[exercise.id]}
        self.base = next(iter(programs_of(suite, exercise))).sources
        self.solution = self.base[exercise.file].decode("utf-8")

    def idle(self) -> list[Check]:
        """Return the standard checks that no misconception fails."""
        left = [check for check in self.checks.values() if check.kind in OPERATORS]
        wrong = [program for program in programs_of(self.suite, self.exercise) if program.kind == "misconception"]
        for program in wrong:
            failed = self.failed(self.outcomes(program.sources[self.exercise.file].decode("utf-8"), left))
            left = [check for check in left if check.id not in failed]
        return left

    def candidates(self, kinds: set[str]) -> list[Mutant]:
        """Return the programs that these kinds of checks may catch, without those of the catalogue."""
        operators = {OPERATORS[kind] for kind in kinds}
        made = mutants_of(self.solution, self.exercise.number, standard_variants)
        return [mutant for mutant in made if mutant.operator in operators]

    def outcomes(self, source: str, checks: Sequence[Check]) -> Mapping[Key, Outcome]:
        """Return the outcomes of every trial of these checks for a program."""
        trials = [key for check in checks for key in check.keys]
        sources = {**self.base, self.exercise.file: source.encode()}
        run = self.runner.run(sources, {self.exercise.id: trials}) if trials else None
        return run.outcomes.get(self.exercise.id, {}) if run is not None else {}

    def failed(self, outcomes: Mapping[Key, Outcome]) -> set[str]:
        """Return the ids of the checks that fail with these outcomes."""
        judges = {name: check.judge for name, check in self.checks.items()}
        pairs = outcomes.items()
        return {key[0] for key, outcome in pairs if not passes(outcome, self.reference[key], judges[key[0]])}

    def only_crashes(self, check: Check, outcomes: Mapping[Key, Outcome]) -> bool:
        """Say whether a program teaches nothing about a check: it raises where the mistake itself raises nothing."""
        crashes = [
            _is_crash(outcome)
            for (name, _), outcome in outcomes.items()
            if not isinstance(self.checks[name].judge, Raises)  # these observe every exception
        ]
        return all(crashes) if check.kind in MAY_RAISE else any(crashes)


def _is_crash(outcome: Outcome) -> bool:
    """Say whether a trial ended without a result. A missing parameter is no crash: the message names it."""
    return not isinstance(outcome, Observed) and not (isinstance(outcome, Fault) and outcome.kind == "structure")


def _add(suite: Suite, exercise: Exercise, check: Check, mutant: Mutant) -> str:
    """Add a program to the catalogue with the texts of its operator; return the entry."""
    solution = (suite.course.solutions_dir / exercise.file).read_text("utf-8")
    name = f"{exercise.id[5:]}-{check.id}".replace("_", "-")
    origin = f"A default misconception of the standard check {check.id}."
    entry = entry_of(exercise, name, origin, [patch_of(solution, mutant.source)], TEXTS[mutant.operator])
    append_entry(suite.course, exercise, name, entry)
    return entry
