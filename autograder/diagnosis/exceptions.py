"""Checks without a result: exceptions, calls that are not allowed, and checks that wait or whose worker ended."""

import importlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from autograder.checks import NEAR, nearest_name
from autograder.protocol import in_words, lines_of
from autograder.results import Evidence, Fact, FindingKind, Place, Todo, joined, opened, sentence
from autograder.runner import (
    NO_SURVEY,
    Fault,
    Survey,
    WorkerFailure,
    found_in,
    library_reason,
    split_at_lines,
    without_file,
)

from .judgement import Diagnosis, Line


@dataclass(frozen=True)
class Cause:
    """Why an exception was raised, where the code shows it: its id, the name in the code, and a name beside it.

    An attribute is unset in a class, another one has nearly its name, or `self.` is missing before it, where it is read
    or where it is set. A function returns nothing, or has no `self`. A name is not imported: `beside` is the import.
    """

    id: Literal[
        "unset_attribute",
        "misspelt_attribute",
        "without_self",
        "set_without_self",
        "self_not_taken",
        "returns_nothing",
        "not_imported",
    ]
    name: str
    beside: str = ""

    def words(self) -> str:
        """Return the cause as a clause."""
        return {
            "unset_attribute": f"no line of {self.beside} sets `self.{self.name}`",
            "misspelt_attribute": f"no line sets `self.{self.name}`, but one sets `self.{self.beside}`",
            "without_self": f"`{self.name}` is an attribute of `self`: write `self.{self.name}`",
            "set_without_self": f"you wrote `{self.name} = …` in `__init__`; `self.` is missing before it",
            "self_not_taken": f"`self` is missing: write it as the first parameter of {self.name}()",
            "not_imported": f"add `{self.beside}` at the top of the file",
            "returns_nothing": f"{self.name}() returns nothing",
        }[self.id]


AT_IMPORT = " while it was imported"
"""The words of an exception that costs the whole file."""


@dataclass(frozen=True)
class Raised:
    """The code raised an exception, in a function or at import.

    `file` is named where it is not the one shown, `line` where another line than that one is shown. `reason` says in
    plain words why a library raises it, and `cause` why the code makes it do so.
    """

    type: str
    at_import: bool
    function: str | None = None
    file: str | None = None
    line: Line | None = None
    reason: str = ""
    cause: Cause | None = None

    @property
    def fact(self) -> Fact:
        """The fact in words."""
        where = f" in {self.function}()" if self.function else ""
        where += f" of {self.file}" if self.function and self.file else ""
        where = AT_IMPORT if self.at_import else where
        line = f", {'called in' if self.file else 'in'} {self.line}" if self.line else ""
        why = self.cause.words() if self.cause is not None else self.reason
        id_ = self.cause.id if self.cause is not None else self.type
        return Fact(id_, f"Your code raised {self.type}{where}{line}", (why,) if why else (), whole=True, data=self)


@dataclass(frozen=True)
class SyntaxInvalid:
    """Python cannot read the file; `reason` is what Python says, with the lines that it speaks of as data.

    `imports` is what to write where a name with a dot stands behind `import`.
    """

    type: str
    file: str
    reason: tuple[str | Line, ...]
    imports: str = ""

    @property
    def fact(self) -> Fact:
        """The fact in words."""
        write = f": write `{self.imports}`" if self.imports else ""
        says = f"Python cannot read {self.file}: {''.join(map(str, self.reason))}{write}"
        return Fact("dotted_import" if self.imports else self.type, says, whole=True, data=self)


@dataclass(frozen=True)
class ExitCalled:
    """The code ends the process, in a function or at import."""

    at_import: bool = False

    @property
    def fact(self) -> Fact:
        """The fact in words."""
        says = "Your code calls exit() instead of returning"
        if self.at_import:
            says = f"Your code calls exit(){AT_IMPORT}, so nothing below that line was run"
        return Fact("SystemExit", says, whole=True, data=self)


def wrong_structure(reason: str, more: tuple[str, ...] = (), *, is_registered: bool = True) -> Fact:
    """A check refused what it got, in its own words: a sentence, and more of them."""
    return Fact("structure" if is_registered else "unregistered", opened(reason), more, whole=True)


def mixed_devices(tensor: str | None) -> Fact:
    """A tensor stays on the CPU while the others are on another device; `tensor` is its name, if it has one."""
    says = f"{tensor or 'A tensor'} stays on the CPU while the others are on another device"
    return Fact("device", says, ("make it, or keep it, where they are",), whole=True, data=tensor)


NONE_GIVEN = Fact("none", "Your code returned None where a value is expected: is a return missing?", whole=True)
"""A check got None where it needs a value."""


def wrong_signature(cause: Cause | None = None) -> Fact:
    """A check cannot call the code; `cause` says why, if the code shows it."""
    why = cause.words() if cause is not None else "compare its parameters with the stub's"
    return Fact("signature", "Your code cannot be called as its stub says", (why,), whole=True)


def unusable_result(type_: str, reason: str = "") -> Fact:
    """A check cannot use what the code returned; `reason` says why, if the message of the exception is known."""
    says = f"What your code returned cannot be used ({type_}): does it have the type that the stub names?"
    return Fact(type_, f"The check fails on what your code returned: {reason}" if reason else says, whole=True)


def returned_count(expected: int, *, more: bool) -> Fact:
    """The code returned another number of values than a check takes apart."""
    count = f"one value or more than {expected}" if more else f"fewer than {expected} values"
    says = f"Your code returned {count}, where {expected} are expected"
    return Fact("count", says, ("return what the stub names, in its order",), whole=True)


def unused_argument(argument: str) -> Fact:
    """The code never uses an argument that the check is about."""
    return Fact("argument_unused", f"Your code never uses the argument `{argument}`", whole=True)


def lacking_attribute(type_: str, attribute: str) -> Fact:
    """A check got an object of a type that lacks what the check reads."""
    says = f"Your code gives a {type_} where an object with `{attribute}` is needed"
    return Fact("type", says, ("return the type that the stub names",), whole=True)


def exceeded_memory(type_: str, limit: int) -> Fact:
    """The code asked for more memory (MiB) than there is."""
    return Fact(type_, f"Your code asked for more than the {limit} MiB of memory there are", whole=True)


def forbidden_call(name: str) -> Fact:
    """A call would skip the exercise."""
    if (syntax := in_words(name)) is not None:
        return Fact(name, f"This exercise asks you to do without {syntax}", whole=True)
    return Fact(name, f"This exercise asks you to write it yourself: {name} must not be used here", whole=True)


# The imports that programs of learners often lack, by the name that Python then does not know.

_MODULES: Mapping[str, str] = {
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "optim": "from torch import optim",
    "plt": "import matplotlib.pyplot as plt",
    "torch": "import torch",
}
_STANDARD = frozenset(
    [
        *("bisect", "collections", "copy", "csv", "datetime", "functools", "heapq", "inspect", "io", "itertools"),
        *("json", "math", "operator", "os", "pathlib", "random", "re", "statistics", "string", "struct", "sys"),
        *("time", "typing", "unicodedata", "warnings"),
    ]
)
_NAMES: Mapping[str, str] = {
    "torch": "Tensor",
    "torch.nn": "Embedding Linear Module ModuleList Parameter Sequential",
    "typing": "Any Dict Final List Literal NamedTuple Optional Set Tuple TypeVar Union",
    "collections.abc": "Callable Iterable Iterator Mapping Sequence",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "dataclasses": "dataclass",
    "functools": "lru_cache partial reduce",
    "math": "ceil floor inf pi sqrt",
    "pathlib": "Path",
}
_BY_NAME = {name: f"from {module} import {name}" for module, names in _NAMES.items() for name in names.split()}


def import_of(name: str, line: str, libraries: Collection[str]) -> str | None:
    """Return the import that a line lacks which reads an unknown name, if it reads it as one that is well known.

    `libraries` are those that programs of the course use. A module is read before a dot, so a variable is none.
    """
    found = _BY_NAME.get(name)
    read = re.findall(rf"(?<![\w.]){re.escape(name)}\.(\w+)", line)
    if name in _MODULES and read:
        found = _MODULES[name]
    elif name in _STANDARD and any(hasattr(importlib.import_module(name), attribute) for attribute in read):
        found = f"import {name}"
    needs_torch = found is not None and found.split()[1].split(".")[0] == "torch"
    return None if needs_torch and "torch" not in libraries else found


# Causes of an exception that the code shows: an attribute that no line sets, a missing import, a missing `return`.


def cause_of(
    fault: Fault, place: Place | None, file: str, source: bytes, survey: Survey, libraries: Collection[str] = ()
) -> Cause | None:
    """Return the cause of an exception at a place in the exercise's own file; None if its code does not show one.

    `libraries` are those that programs of the course use.
    """
    if place is None or place.file != file:
        return None
    if (found := found_in(fault.message, "unknown")) is not None:
        unknown = found[1]
        lacks_self = _lacks_self(unknown, place, survey)
        lines = lines_of(source)
        line = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
        missing = import_of(unknown, line, libraries)
        return lacks_self or (Cause("not_imported", unknown, missing) if missing is not None else None)
    if found_in(fault.message, "None"):
        return _returns_nothing(place, source, survey)
    if (without := self_not_taken(fault.message, source, survey)) is not None:
        return without[0]
    lacked = found_in(fault.message, "attribute")
    return _is_unset(lacked[1], lacked[2], source, survey) if lacked is not None else None


def self_not_taken(message: str, source: bytes, survey: Survey) -> tuple[Cause, int] | None:
    """Return that a method which gets an argument too many has no `self`, and the line of its definition.

    A file without any `self` has another name for it.
    """
    found = found_in(message, "arguments")
    if found is None or int(found[3]) != int(found[2]) + 1:
        return None
    line = next((function.line for function in survey.functions if function.name == found[1]), None)
    lines = lines_of(source)
    if line is None or not 0 < line <= len(lines):
        return None
    name = found[1].rpartition(".")[2]
    text = " ".join(lines[line - 1 : line + 1])  # the first parameter may be on the next line
    first = re.match(rf"\s*def\s+{re.escape(name)}\s*\(\s*(\w*)\s*[,):=]", text)
    is_static = line > 1 and lines[line - 2].lstrip().startswith("@")
    if first is None or is_static or first[1] in ("self", "cls") or not re.search(rb"\bself\b", source):
        return None
    return Cause("self_not_taken", name), line


def set_without_self(owner: str, name: str, survey: Survey) -> int | None:
    """Return the line on which `__init__` of a class gives a value to a variable of this name, where it is one line."""
    lines = [line for of, variable, line in survey.assignments if (of, variable) == (f"{owner}.__init__", name)]
    return lines[0] if len(lines) == 1 else None


def _is_unset(owner: str, name: str, source: bytes, survey: Survey) -> Cause | None:
    """Return that no line of a class sets an attribute; None if some line may, or if the class is not the learner's."""
    own = [attribute.removeprefix("self.") for of, attribute, _ in survey.assignments if of == owner]
    methods = [function.name for function in survey.functions if function.name.startswith(f"{owner}.")]
    # A name in quotes may be a buffer, a parameter or a module that a call registers.
    if (
        not methods
        or name in own
        or f"{owner}.{name}" in methods
        or re.search(rb"[\"']%b[\"']" % name.encode(), source)
    ):
        return None
    if set_without_self(owner, name, survey) is not None:
        return Cause("set_without_self", name)
    near = nearest_name(name, own, NEAR)
    if near is not None:
        return Cause("misspelt_attribute", name, near)
    return Cause("unset_attribute", name, owner)


def _lacks_self(name: str, place: Place, survey: Survey) -> Cause | None:
    """Return that a method names an attribute or a method of its own class without `self.`."""
    owner, _, method = (place.function or "").rpartition(".")
    has_attribute = any(of == owner and attribute == f"self.{name}" for of, attribute, _ in survey.assignments)
    has_method = any(function.name == f"{owner}.{name}" for function in survey.functions)
    return Cause("without_self", name) if owner and method and (has_attribute or has_method) else None


def _returns_nothing(place: Place, source: bytes, survey: Survey) -> Cause | None:
    """Return which function of the file, called where it was raised, has no `return`; None if that may be several."""
    around = next((one for one in survey.functions if one.line <= place.line <= one.end), None)
    if around is None:
        return None
    text = "\n".join(lines_of(source)[around.line : around.end])  # without its own definition
    silent = {
        function.name.rpartition(".")[2]
        for function in survey.functions
        if len(survey.places.get(function.name, ())) == 1 and not function.name.endswith("__") and function != around
    }
    # A call that is a whole line is made for what it does: nothing reads its result.
    read = [
        re.compile(rf"^(?!\s*(?:self\.)?{re.escape(name)}\([^()]*\)\s*(?:#|$)).*\b{re.escape(name)}\(", re.M)
        for name in sorted(silent)
    ]
    called = [name for name, pattern in zip(sorted(silent), read, strict=True) if pattern.search(text)]
    return Cause("returns_nothing", called[0]) if len(called) == 1 else None


# Diagnoses what did not end with an observation: an exception, or a worker process that ended.


def of_fault(
    fault: Fault, file: str, source: bytes, survey: Survey = NO_SURVEY, libraries: Collection[str] = ()
) -> Diagnosis:
    """Diagnose an exception: the last line of the learner's that ran, and the library's own words.

    The line is of the exercise's own file, if any of its functions was running; of an import it is outside of all
    functions. `survey` is that of this file, and `libraries` are those that programs of the course use.
    """
    fault = replace(fault, near=_near(fault, file, source, survey) or fault.near)
    deepest = fault.frames[-1] if fault.frames else None
    own = [frame for frame in fault.frames if frame.file == file]
    functions = {function.name for function in survey.functions}
    outside = [frame for frame in own if frame.function not in functions] if fault.at_import else []
    is_called = bool(outside) and outside[-1] != deepest
    place = next(reversed(outside or own), deepest)
    if place is not None:
        place = in_characters(place, source) if place.file == file else _whole_line(place)
    if fault.kind == "structure":
        return _of_structure(fault, place, file, source, survey)
    if fault.kind == "device":
        return Diagnosis("device", mixed_devices(fault.tensor), quoted=fault.full_message, place=place)
    if not fault.frames and not fault.at_import:
        return _of_misfit(fault, file, source, survey)
    if "SyntaxError" in fault.bases and place:
        imports = _dotted_import(place, source)
        says = tuple(Line(int(part)) if at % 2 else part for at, part in enumerate(split_at_lines(fault.message)))
        invalid = SyntaxInvalid(fault.type, place.file, says, imports)
        return Diagnosis("exception", invalid.fact, place=place)
    if fault.type == "SystemExit":
        return Diagnosis("exception", ExitCalled(fault.at_import).fact, place=place)
    shown = fault.values if not is_called else ()
    rows = tuple((name, "", value) for of, name, value in shown if place is not None and of == place.file)
    evidence = Evidence(_title(place, rows), rows=rows) if rows else None
    raised = _raised(fault, deepest, place)
    quoted = without_file(fault.full_message)
    if (cause := cause_of(fault, deepest, file, source, survey, libraries)) is not None:
        raised, quoted = replace(raised, cause=cause), without_file(fault.message)  # the cause says what to write
    return Diagnosis("exception", raised.fact, quoted=quoted, place=place, evidence=evidence)


def _title(place: Place | None, rows: Iterable[tuple[str, str, str]]) -> str:
    """Return the title of what stood in the code when it raised: tensors with their shapes, or plain values."""
    kind = "tensors" if all(value.startswith("(") for _, _, value in rows) else "values"  # a shape and a dtype
    return f"the {kind} in {place.function}()" if place is not None and place.function else f"the {kind} there"


def _near(fault: Fault, file: str, source: bytes, survey: Survey) -> str | None:
    """Return the argument or variable of a function that was probably meant by an unknown name there."""
    unknown, place = found_in(fault.message, "unknown"), fault.frames[-1] if fault.frames else None
    if unknown is None or place is None or place.file != file or not fault.near:
        return None
    function = next((one for one in survey.functions if one.name == place.function), None)
    if function is None:
        return None
    head = " ".join(lines_of(source)[function.line - 1 : function.body - 1])
    arguments = re.findall(r"[(,]\s*\*{0,2}(\w+)", head)
    variables = (name for of, name, _ in survey.assignments if of == function.name and "." not in name)
    return nearest_name(unknown[1], [*arguments, *variables], NEAR)


def _of_structure(fault: Fault, place: Place | None, file: str, source: bytes, survey: Survey) -> Diagnosis:
    """Diagnose what a check refused; an attribute that it lacks may be a variable of `__init__`."""
    more = [refusal.sentence for refusal in fault.refusals[1:]]
    refusal, name = fault.refusal, fault.refusal.name.split(".")[0]
    is_lacking = refusal.lacks in ("parameter", "attribute") and place is None
    line = set_without_self(refusal.owner, name, survey) if is_lacking else None
    if line is not None:
        place = Place(file, line, f"{refusal.owner}.__init__")
        more = [Cause("set_without_self", name).words(), *more]
    if refusal.lacks == "method":
        heads = re.compile(rf"\s*def\s+{re.escape(name)}\s*\(")
        found = [at + 1 for at, text in enumerate(lines_of(source)) if heads.match(text)]
        within = next((one.name for one in survey.functions if one.line < found[0] <= one.end), None) if found else None
        is_outside = len(found) == 1 and any((one.name, one.line) == (name, found[0]) for one in survey.functions)
        if len(found) == 1 and (within or is_outside):
            place = Place(file, found[0])
            more = [f"you define it inside {within}" if within else "you define it outside of the class", *more]
    is_registered = all(one.lacks != "registration" for one in fault.refusals)
    fact = wrong_structure(refusal.sentence, tuple(more), is_registered=is_registered)
    return Diagnosis("structure", fact, place=place)


_DOTTED = re.compile(r"\s*from\s+([\w.]+)\s+import\s+(?:\w+\s*,\s*)*((?:\w+\.)+)(\w+)")


def _dotted_import(place: Place, source: bytes) -> str:
    """Return what to write in place of `from a import b.c`, if that is what Python cannot read; else ""."""
    lines = lines_of(source)
    found = _DOTTED.match(lines[place.line - 1]) if 0 < place.line <= len(lines) else None
    return f"from {found[1]}.{found[2][:-1]} import {found[3]}" if found is not None else ""


def _reason(fault: Fault) -> str:
    """Return why a library raised an exception, with the import to write for a name that is in another module."""
    words, missing = library_reason(fault.message, fault.type), found_in(fault.message, "elsewhere")
    other = import_of(missing[1], "", ("torch",)) if missing is not None else None
    is_elsewhere = other is not None and missing is not None and f"from {missing[2]} " not in other
    return f"{words}; write `{other}`" if is_elsewhere else words


def _raised(fault: Fault, deepest: Place | None, place: Place | None) -> Raised:
    """Return what was raised in which function, and in which file where that is not the one shown."""
    why = _reason(fault)
    if fault.at_import or deepest is None:
        return Raised(fault.type, fault.at_import, reason=why)
    other = deepest.file if place is not None and place.file != deepest.file else None
    return Raised(fault.type, False, deepest.function, other, reason=why)


def in_characters(place: Place, source: bytes) -> Place:
    """Return a place whose columns, which Python counts in bytes, are counted in characters."""
    lines = lines_of(source)
    if place.column is None or place.end is None or not 0 < place.line <= len(lines):
        return _whole_line(place)
    data = lines[place.line - 1].encode("utf-8")  # Python's columns are bytes of this, whatever the file is in
    column, end = (len(data[:at].decode("utf-8", "replace")) for at in (place.column, place.end))
    return replace(place, column=column, end=end)


def _whole_line(place: Place) -> Place:
    return replace(place, column=None, end=None)


def _of_misfit(fault: Fault, file: str, source: bytes, survey: Survey) -> Diagnosis:
    """Diagnose an exception outside the student's code: the check could not use what it got."""
    kind: FindingKind = "structure"
    place = None
    if found_in(fault.message, "NoneType"):
        fact = NONE_GIVEN
    elif (count := found_in(fault.message, "count")) is not None:
        fact = returned_count(int(count[2]), more=count[1] == "too many")
    elif fault.type == "TypeError":
        without = self_not_taken(fault.message, source, survey)
        cause, place = (without[0], Place(file, without[1])) if without is not None else (None, None)
        fact = wrong_signature(cause)
    elif (lacked := found_in(fault.message, "attribute")) is not None:
        fact = lacking_attribute(lacked[1], lacked[2])
    else:
        kind, fact = "exception", unusable_result(fault.type, library_reason(fault.message))
    return Diagnosis(kind, fact, quoted=fault.full_message, place=place)


def of_death(died: WorkerFailure) -> Diagnosis:
    """Diagnose a worker process that ended."""
    return Diagnosis("exception", ended_worker(died.status, died.sentence, died.ran), place=died.place)


# Checks that did not run, that wait, or whose worker process ended.


def ended_worker(status: str, reason: str, ran: bool = True) -> Fact:
    """The worker process ended; `reason` is the sentence about it, `status` the status of the check.

    If not `ran`, it ended before this check.
    """
    return Fact(status if ran else "not_run", opened(reason), whole=True)


def missing_file(file: str, unread: str) -> Fact:
    """The file of the exercise was not found; `unread` names what of the submission could not be read."""
    if unread:
        says = f"{file} was not found, and a part of the submission could not be read"
        return Fact("missing", says, asks=f"{unread}.", whole=True)
    return Fact("missing", f"There is no file {file}", whole=True)


def unread_file(reason: str) -> Fact:
    """The file of the exercise is there and could not be read, for a reason."""
    return Fact("unread", reason, asks="None of its checks was run.", whole=True)


NOTHING_READ = Fact(
    "held",
    "No file of the assignment could be read in your hand-in",
    asks="It has no score until your teacher decides.",
    whole=True,
)
"""No file of the submission could be read."""


def work_elsewhere(reason: str) -> Fact:
    """The file that counts has no work, or less than another one; `reason` is the sentence about both."""
    return Fact("held", reason, asks="It has no score until your teacher decides.", whole=True)


def failed_grader(reason: str) -> Fact:
    """The kit itself failed."""
    return Fact("grader", "The grader itself failed; this is not your fault", asks=reason, whole=True)


def wrong_course_file(reason: str) -> Fact:
    """A file that the author of the course wrote is wrong."""
    return Fact("course_file", "A file of this course is wrong; this is not your fault", asks=reason, whole=True)


@dataclass(frozen=True)
class EarlierUnwritten:
    """The code uses another file that is not written yet."""

    file: str
    earlier: str

    @property
    def fact(self) -> Fact:
        """The fact in words."""
        return Fact("waits", f"{self.file} uses {self.earlier}, which is not written yet", whole=True, data=self)


def required_checks(checks: Sequence[tuple[str, str]]) -> Fact:
    """A check that passes counts only if one of these passes too: their ids, with their titles."""
    names = [f"`{name}`" for name, _ in checks]
    which = names[0] if len(names) == 1 else f"one of {joined(names, 'or')}"
    titles = "\n".join(f"`{name}`: {title}" for name, title in checks)
    return Fact("waits", f"This counts as soon as {which} passes", asks=titles, whole=True)


UNJUDGED_DEVICE = Fact("waits", "Other checks fail, so the device is not judged yet", whole=True)
"""A check of the device failed for another reason than a device, and other checks fail too."""


# The next function to write in an exercise.

NOTHING_YET = "You have not written anything yet."
PASSES_SO_FAR = "What you have written so far passes."


def to_write(todo: Todo, *, nothing_yet: bool = False, passes: bool = False) -> str:
    """Return what to do about the first TODO that is not complete.

    `nothing_yet` says that no other one is begun, `passes` that all which is written passes.
    """
    line = todo.place.line_name
    if todo.state == "started":
        return f"{todo.name} has code, and {line} still raises NotImplementedError. Delete that line."
    if todo.state == "empty":
        returns = "" if todo.name.endswith(".__init__") else ", so it returns None"
        return f"{todo.name} has no code yet{returns}. Write it at {line}."
    before = NOTHING_YET if nothing_yet else PASSES_SO_FAR if passes else ""
    verb = "Begin with" if nothing_yet else "Next, write"
    return f"{before} {verb} {todo.name}, {line}.".strip()


# Misconceptions: their authors' texts as messages.

MORE = "There may be one more mistake."

BESIDE = "There may be a mistake beside it."


def named(name: str, functions: Collection[str] = ()) -> str:
    """Return the name of a misconception as a sentence; the name of a function keeps its small first letter."""
    return sentence(opened(name, functions))


def alike(name: str, *, raised: bool = False) -> str:
    """Return what is sure where results equal those of a misconception, and nothing else of it was seen."""
    begins = "Your code fails like a program in which" if raised else "Your results equal those of a program in which"
    return sentence(f"{begins} {name}")


def explained(explanation: str, convention: str = "") -> str:
    """Return the explanation of a misconception, or of the convention of somebody, which is no mistake."""
    return f"This is the convention of {convention}. {explanation}" if convention else explanation


def more(convention: str = "") -> str:
    """Say that a misconception, or the convention of somebody, is not all that is wrong."""
    return BESIDE if convention else MORE
