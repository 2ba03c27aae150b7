"""The outcome of one trial of a check, as the judge holds it: read from a worker's event, and what its texts tell."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from autograder import protocol
from autograder.checks import Key
from autograder.results import Place, function_name

if TYPE_CHECKING:
    from autograder.edits import Edit

    from .traces import RecordedTrace


# Validate the fields of a worker's answer: each function raises TypeError or ValueError for a value out of bounds.


def as_text(value: Any, most: int = protocol.MOST_NAME) -> str:
    """Return a text of at most `most` characters."""
    if not isinstance(value, str) or len(value) > most:
        raise ValueError("a text of the wrong type or length")
    return value


def as_dotted(value: Any) -> str:
    """Return a dotted name of Python, such as `module.name`."""
    text = as_text(value)
    if not all(part.isidentifier() for part in text.split(".")):
        raise ValueError("a text of the wrong type: it is no name")
    return text


def as_integer(value: Any, most: int, least: int = 0) -> int:
    """Return an integer from `least` to `most`. A bool is none, although it is an int in Python."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError("a number of the wrong type or size")
    return value


def as_line(value: Any) -> int:
    """Return a line or column number."""
    return as_integer(value, protocol.MOST_LINE)


def as_number(value: Any, most: float) -> float:
    """Return a number from 0 to `most`; NaN is out of bounds."""
    if type(value) not in (int, float) or not 0 <= value <= most:
        raise ValueError("a number of the wrong type or size")
    return float(value)


def as_list(value: Any, most: int) -> Sequence[Any]:
    """Return a list of at most `most` items."""
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("a list of the wrong type or length")
    return value


def as_dict(value: Any, most: int) -> Mapping[str, Any]:
    """Return a dict of at most `most` names."""
    if not isinstance(value, dict) or len(value) > most:
        raise ValueError("a dict of the wrong type or length")
    return value


def as_observation(value: protocol.Value) -> protocol.Value:
    """Return the observation of a check, if it has the depth, lengths and types that a worker can send.

    Raises `TooLarge` if it has too many parts.
    """
    count = _count_parts(value, 0)
    if count > protocol.MAX_NODES:
        raise protocol.TooLarge(f"a value of {count:,} parts, more than {protocol.MAX_NODES:,}")
    return value


def _count_parts(value: protocol.Value, depth: int) -> int:
    """Return the number of parts in a value, and validate each."""
    count = 1
    match value:
        case None | bool() | float() | protocol.Opaque():
            pass
        case int():
            as_integer(value, (1 << protocol.INT_BITS) - 1, 1 - (1 << protocol.INT_BITS))
        case str():
            as_text(value, protocol.OBSERVATION_TEXT)
        case bytes():
            if len(value) > protocol.OBSERVATION_TEXT:
                raise ValueError("bytes beyond the limit")
        case protocol.Array():
            if math.prod(value.shape) > protocol.OBSERVATION_ELEMENTS:
                raise ValueError("an array of too many elements")
        case list() if depth < protocol.OBSERVATION_DEPTH:
            for part in as_list(value, protocol.OBSERVATION_PARTS):
                count += _count_parts(part, depth + 1)
        case dict() if depth < protocol.OBSERVATION_DEPTH:
            for key, part in as_dict(value, protocol.OBSERVATION_PARTS).items():
                as_text(key, protocol.OBSERVATION_KEY)
                count += _count_parts(part, depth + 1)
        case _:
            raise ValueError("an observation of the wrong type or depth")
    return count


@dataclass(frozen=True)
class Observed:
    """The probe returned."""

    value: protocol.Value
    seconds: float = 0.0


@dataclass(frozen=True)
class Fault:
    """The probe, or the import, raised. `frames` are in the student's files, the outermost first.

    `kind` distinguishes exceptions of the kit and an unfinished TODO from all others. `refusals` are what a `structure`
    fault is about, and `near` is a name of the program that was probably meant. `tensor` names the tensor on the
    wrong device in a `device` fault. `values` are file, name and shape of the tensors in the innermost frame of each
    file. `probe_line` is the line of the file with the checks.
    """

    type: str
    bases: tuple[str, ...]
    message: str
    kind: Literal["structure", "device", "forbidden", "todo", "other"]
    frames: tuple[Place, ...]
    values: tuple[tuple[str, str, str], ...] = ()
    tensor: str | None = None
    at_import: bool = False
    seconds: float = 0.0
    probe_line: int | None = None
    refusals: tuple[protocol.Refusal, ...] = ()
    near: str | None = None

    @property
    def refusal(self) -> protocol.Refusal:
        """The first refusal; of another exception its message alone."""
        return self.refusals[0] if self.refusals else protocol.Refusal(self.message)

    @property
    def full_message(self) -> str:
        """The message, with the name that was probably meant, in the words of Python's own traceback."""
        stop = "" if self.message.endswith((".", "?", "!")) else "."
        return f"{self.message}{stop} Did you mean: '{self.near}'?" if self.near else self.message


@dataclass(frozen=True)
class WorkerFailure:
    """The worker ended, timed out, or sent invalid data; `sentence` is the message to the student.

    If not `ran`, an earlier trial ended the worker, and this one was left out.
    """

    status: Literal["error", "timeout", "memory", "grader_error"]
    sentence: str
    place: Place | None = None
    at_import: bool = False
    seconds: float = 0.0
    ran: bool = True


Outcome = Observed | Fault | WorkerFailure


@dataclass(frozen=True)
class Survey:
    """The syntax of a file: the lines of definition and returns by name, forbidden calls, statements and assignments.

    A statement is its hash and its first line; an assignment is its function or class, its name and its line. The
    `functions` say which of them are still a TODO. `helpers` are names of replaced files that are the student's own.
    `running` has the first and last line of every statement but imports and the heads of functions and classes.
    `words` has the words that each function and class at the top level uses.
    A flag is a file, a line, what was found there, and why that is odd.
    """

    places: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    forbidden: tuple[tuple[str, int], ...] = ()
    statements: tuple[tuple[str, int], ...] = ()
    assignments: tuple[tuple[str, str, int], ...] = ()
    functions: tuple[protocol.Function, ...] = ()
    helpers: tuple[str, ...] = ()
    running: tuple[tuple[int, int], ...] = ()
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    flags: tuple[tuple[str, int, str, str], ...] = ()

    @cached_property
    def hashes(self) -> frozenset[str]:
        """The hashes of all statements."""
        return frozenset(hash_ for hash_, _ in self.statements)

    def runs(self, line: int) -> bool:
        """Whether a call can compute something on a line: it is no import, head of a function, docstring or comment."""
        return any(first <= line <= last for first, last in self.running)


NO_SURVEY = Survey()
"""Nothing is known of the syntax: Python cannot read the file, or its worker ended before any trial."""


def read_fault(data: Any, *, at_import: bool = False, seconds: float = 0.0) -> Fault:
    """Return a fault from a worker's data; raises LookupError, TypeError or ValueError if it is out of bounds."""
    if data["kind"] not in ("structure", "device", "forbidden", "todo", "other"):
        raise ValueError("a fault of an unknown kind")
    values, refusals = (
        as_list(data["values"], protocol.FAULT_VALUES),
        as_list(data["refusals"], protocol.FAULT_REFUSALS),
    )
    return Fault(
        type=as_text(data["type"]),
        bases=tuple(as_text(name) for name in as_list(data["bases"], protocol.FAULT_BASES)),
        message=as_text(data["message"], protocol.FAULT_MESSAGE),
        kind=data["kind"],
        tensor=as_text(data["tensor"]) if data["tensor"] is not None else None,
        frames=read_frames(data["frames"]),
        values=tuple((as_text(file), as_text(name), as_text(shape)) for file, name, shape in values),
        at_import=at_import,
        seconds=seconds,
        probe_line=as_line(data["probe_line"]) if data.get("probe_line") is not None else None,
        refusals=tuple(_refusal(*refusal) for refusal in refusals),
        near=as_text(data["near"]) if data["near"] is not None else None,
    )


def _refusal(sentence: Any, lacks: Any, *names: Any) -> protocol.Refusal:
    if lacks not in ("", "definition", "attribute", "method", "parameter", "shape", "base", "registration"):
        raise ValueError("a refusal of an unknown kind")
    return protocol.Refusal(as_text(sentence, protocol.FAULT_MESSAGE), lacks, *map(as_text, names))


def read_frames(data: Any) -> tuple[Place, ...]:
    """Return the frames in the student's files from a worker's data."""
    return tuple(
        Place(
            as_text(frame["file"]),
            as_line(frame["line"]),
            function_name(as_text(frame["function"] or "")) or None,
            *_columns(frame),
        )
        for frame in as_list(data, protocol.FAULT_FRAMES)
    )


def _columns(data: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    column, end = data.get("column"), data.get("end")
    return (as_line(column), as_line(end)) if column is not None and end is not None else (None, None)


def read_survey(event: Mapping[str, Any]) -> Survey:
    """Return a survey from a worker's event; raises LookupError, TypeError or ValueError if it is out of bounds."""
    statements = as_list(event["statements"], protocol.SURVEY_STATEMENTS)
    assignments = as_list(event["assignments"], protocol.SURVEY_ASSIGNMENTS)
    return Survey(
        {
            as_text(name): tuple(as_line(line) for line in as_list(lines, protocol.SURVEY_RETURNS))
            for name, lines in as_dict(event["places"], protocol.SURVEY_PLACES).items()
        },
        tuple((as_text(name), as_line(line)) for name, line in as_list(event["forbidden"], protocol.SURVEY_FORBIDDEN)),
        tuple((as_text(hash_, protocol.STATEMENT_HASH), as_line(line)) for hash_, line, *_ in statements),
        tuple((as_text(owner), as_text(name), as_line(line)) for owner, name, line in assignments),
        tuple(
            protocol.Function(as_text(name), *map(as_line, lines))
            for name, *lines in as_list(event["functions"], protocol.SURVEY_FUNCTIONS)
        ),
        tuple(as_dotted(name) for name in as_list(event["helpers"], protocol.SURVEY_HELPERS)),
        tuple((as_line(first), as_line(last)) for _, first, last, runs in statements if runs is True),
        {
            as_text(owner): frozenset(as_text(word) for word in as_list(found, protocol.SURVEY_WORDS))
            for owner, found in as_dict(event["words"], protocol.SURVEY_OWNERS).items()
        },
        tuple(
            (as_text(file), as_line(line), as_text(found), as_text(why, protocol.SURVEY_REASON))
            for file, line, found, why in as_list(event["flags"], protocol.SURVEY_FLAGS)
        ),
    )


def read_edits(event: Mapping[str, Any], source: str, most: int) -> "list[Edit]":
    """Return the edits of a worker's event; raises LookupError, TypeError or ValueError for one out of bounds."""
    from autograder.edits import LONGEST, Edit  # only where a mistake is proved

    size = len(source)
    return [
        Edit(
            as_line(line),
            as_integer(start, size),
            as_integer(end, size, as_integer(start, size)),
            as_text(text, LONGEST),
        )
        for line, start, end, text in as_list(event["edits"], most)
    ]


# The types of a run of a program: its plan, its outcomes, and the reasons why it may not take place.


class EnvironmentProblem(Exception):
    """This machine cannot run the checks; the message says what to do."""


class GraderProblem(Exception):
    """The kit itself failed, which is never the student's fault."""


class CourseProblem(GraderProblem):
    """A file that the course's author wrote is wrong; the message names it."""


class Cancelled(Exception):
    """A run was cancelled from another thread."""


MOST_LOG = 1 << 18
"""Characters of the output of all workers of a run."""

Prints = Mapping[Key | None, str]
"""What a program printed, by the trial that printed it; None stands for the import of the exercise."""


@dataclass
class Run:
    """The outcomes of one program, by exercise and trial; `problem` states why there are none.

    `prints` has what the exercises printed, if the run was to keep it, and `log` the whole output of the workers.
    """

    outcomes: dict[str, dict[Key, Outcome]] = field(default_factory=dict)
    surveys: dict[str, Survey] = field(default_factory=dict)
    traces: dict[str, "dict[Key, RecordedTrace]"] = field(default_factory=dict)
    prints: dict[str, Prints] = field(default_factory=dict)
    log: str = ""
    problem: str | None = None

    def add_log(self, log: bytes, plan: "Plan") -> None:
        """Add the log of a job. What a trial printed replaces what it printed in an earlier job that died."""
        self.log = (self.log + log.decode("utf-8", "replace"))[:MOST_LOG]
        found: dict[str, dict[Key | None, list[str]]] = {}
        for section in protocol.sections(log):
            key = (section.check, section.trial) if section.check else None
            if section.exercise in plan and (key is None or key in plan[section.exercise]):
                found.setdefault(section.exercise, {}).setdefault(key, []).append(section.text)
        for exercise, texts in found.items():
            joined = {key: "".join(parts) for key, parts in texts.items()}  # a program may print many labels itself
            self.prints[exercise] = {**self.prints.get(exercise, {}), **joined}

    def put(self, exercise: str, key: Key, outcome: Outcome) -> None:
        self.outcomes.setdefault(exercise, {})[key] = outcome


Probes = Literal["checks", "pictures", "steps"]
"""What a plan names."""

Plan = dict[str, list[Key]]
Where = tuple[str, Key | None]
"""An exercise, and the trial of a check in it if one has begun."""

Parts = Mapping[str, Collection[str]]
"""By exercise, the earlier exercises that a reference part can replace when it runs again."""

Owners = Mapping[str, Mapping[str, str]]
"""By exercise and check, the function or class that the check is about."""

Surveyor = Callable[[str, Mapping[str, Any]], Survey]
"""Returns the survey of an exercise's file: a trusted one if there is one, else that of an event."""


# What Python, NumPy and torch say in their exceptions, read in this one place.
#
# Nothing else reads an English text. A fact that the kit itself finds out travels as a field beside its sentence. A
# message that is not known here gets no words: the library's own text is always shown too.

# What ran out, by parts of the messages of torch and Python: memory, threads and files, which a whole process shares.

OUT_OF_MEMORY = ("can't allocate memory", "not enough memory", "out of memory", "Cannot allocate memory")
OUT_OF_MORE = ("can't start new thread", "Too many open files")


def is_out_of_memory(fault: Fault) -> bool:
    """Say whether the memory ran out."""
    return "MemoryError" in fault.bases or any(words in fault.message for words in OUT_OF_MEMORY)


def is_exhausted(fault: Fault) -> bool:
    """Say whether memory, threads or files ran out, which another exercise in the same process may hold."""
    return is_out_of_memory(fault) or any(words in fault.message for words in OUT_OF_MORE)


# Common exceptions in plain words: what was combined, with which sizes, and why that is refused.

Words = str | Callable[[re.Match[str]], str]


def _view(found: re.Match[str]) -> str:
    sizes = [int(size) for size in re.findall(r"-?\d+", found[1])]
    if -1 in sizes:
        return f"the {found[2]} elements of the tensor do not fill the shape [{found[1]}]"
    return f"the shape [{found[1]}] has {prod(sizes)} elements, the tensor has {found[2]}"


def _too_many(found: re.Match[str]) -> str:
    more = int(found[2]) - int(found[1])
    return f"a call passes {more} {'argument' if more == 1 else 'arguments'} too many"


_REASONS: tuple[tuple[str, Words], ...] = (
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)",
        r"a matrix of \1 cannot be multiplied by one of \2: the inner sizes differ",
    ),
    (
        r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        r"on axis \3, one tensor has size \1 and the other \2, so they cannot be combined",
    ),
    (
        r"Expected size for first two dimensions of batch2 tensor to be: \[(.+?)\] but got: \[(.+?)\]",
        r"a batched matrix product needs a second tensor that begins with [\1], and gets [\2]",
    ),
    (r"shape '\[(.+?)\]' is invalid for input of size (\d+)", _view),
    (
        r"view size is not compatible with input tensor's size and stride",
        "`view` needs the numbers in memory in their order, and a transpose changes that order; `reshape` does not",
    ),
    (
        r"[Ee]xpected (?:object of )?scalar type (\w+) but (?:found|got) (?:scalar type )?(\w+)",
        r"two tensors of different dtypes are combined: \1 and \2",
    ),
    (
        r"mat1 and mat2 must have the same dtype, but got (\w+) and (\w+)",
        r"two tensors of different dtypes are combined: \1 and \2",
    ),
    (
        r"value cannot be converted to type \S+ without overflow",
        "a number is too large for the dtype of the tensor that it is put into",
    ),
    (r"index out of range in self", "an id is looked up that has no row in the table"),
    (
        r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)",
        r"axis \3 does not exist: the tensor has axes \1 to \2",
    ),
    (
        r"Boolean value of Tensor with more than one value is ambiguous",
        "`and`, `or` and `if` need one truth value; `&` and `|` combine tensors element by element",
    ),
    (
        r"a leaf Variable that requires grad is being used in an in-place operation",
        "a parameter is changed in place while its gradient is recorded",
    ),
    (
        r"modified by an inplace operation",
        "a value that the backward pass needs was changed in place",
    ),
    (
        r"element 0 of tensors does not require grad",
        "`backward` starts from a value that no gradient flows to",
    ),
    (
        r"a Tensor with (\d+) elements cannot be converted to Scalar",
        r"`.item()` needs a tensor of one number, and this one has \1",
    ),
    (
        r"probability tensor contains either `inf`, `nan` or element < 0",
        "the probabilities to sample from contain NaN, an infinity or a negative number",
    ),
    (
        r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)",
        r"index \1 does not exist on axis \2, which has size \3",
    ),
    (r"selected index k out of range", "`topk` is asked for more numbers than the axis has"),
    (
        r"PyTorch is not linked with support for (\w+) devices",
        r"the code names the device `\1`, and the machine that checks it has none",
    ),
    (
        r"No module named 'google(?:\.colab)?'|/content/drive",
        "Colab's own modules and drive exist only there: delete the lines that use them",
    ),
    (r"0\.0 cannot be raised to a negative power", "0 is raised to a negative power"),
    (
        r"(\w+)\(\) got an unexpected keyword argument '(\w+)'",
        r"a call passes `\2`, and \1() has no such parameter",
    ),
    (
        r"(\w+)\(\) missing \d+ required positional arguments?: (.+)",
        r"a call of \1() does not pass \2",
    ),
    (r"'NoneType'|\bnot NoneType", "a value is None where an object is needed"),
    (
        r"unsupported operand type\(s\) for (\S+): '(\w+)' and '(\w+)'",
        r"`\1` cannot combine a value of type \2 and one of type \3",
    ),
    (r"'(\w+)' object is not callable", r"a value of type \1 is called like a function"),
    (r"'(\w+)' object is not subscriptable", r"a value of type \1 has no elements to choose with `[ ]`"),
    (r"cannot access local variable '(\w+)'", r"`\1` is read before a line of this function gives it a value"),
    (
        r"'super' object has no attribute '_\w+__init'",
        "write `super().__init__()`, with two underscores behind `init` too",
    ),
    (r"maximum recursion depth exceeded", "functions call each other, or one calls itself, without an end"),
    (r"(list|tuple|string|deque) index out of range", r"the index is beyond the end of the \1"),
    (r"No module named '([\w.]+)'", r"no module `\1` is installed where your code runs"),
    (r"cannot import name '(\w+)' from '([\w.]+)'", r"the module `\2` has no name `\1`"),
    (r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were) given", _too_many),
    (r"cannot assign \w+ before Module\.__init__\(\) call", "`super().__init__()` has to be called before that line"),
    (r'Module \[(\w+)\] is missing the required "forward" function', r"the class \1 has no method forward"),
    (
        r"not enough values to unpack \(expected (\d+), got (\d+)\)",
        r"\1 values are unpacked, and there are \2",
    ),
    (r"too many values to unpack \(expected (\d+)", r"\1 values are unpacked, and there are more"),
)


def library_reason(message: str, type_: str = "") -> str:
    """Return in a clause why a library raised an exception of a type with this message; "" if that is not known."""
    if type_ == "KeyError":  # its message is the key alone
        return "a key is looked up that is not there"
    for pattern, words in _REASONS:
        if (found := re.search(pattern, message)) is not None:
            return words(found) if callable(words) else found.expand(words)
    return ""


# Facts in a message.

What = Literal["count", "unknown", "elsewhere", "arguments", "attribute", "None", "NoneType", "brackets"]

_FACTS: Mapping[What, re.Pattern[str]] = {
    # another number of values than expected: in which way, and the expected number
    "count": re.compile(r"^(too many|not enough) values to unpack \(expected (\d+)"),
    # a name that Python does not know
    "unknown": re.compile(r"^name '(\w+)' is not defined"),
    # a name, and the module that does not have it
    "elsewhere": re.compile(r"cannot import name '(\w+)' from '([\w.]+)'"),
    # a method with its class, the number of its parameters, and that of the arguments
    "arguments": re.compile(
        r"^(?:[\w.<>]+\.)?(\w+\.\w+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) "
    ),
    # a type, and the attribute that its object does not have
    "attribute": re.compile(r"^'([\w.]+)' object has no attribute '(\w+)'"),
    # None where an object is needed, and any message that names the type of None
    "None": re.compile(r"'NoneType'|\bnot NoneType"),
    "NoneType": re.compile(r"NoneType"),
    # a bracket, a quote or a colon that is missing or too many
    "brackets": re.compile(r"closed|unmatched|unterminated|does not match|expected|invalid syntax|EOF|comma"),
}
_FILE = re.compile(r" \((?:/|[A-Z]:\\)[^()]*\)$")
_LINE = re.compile(r"\bline (\d+)\b")


def found_in(message: str, what: What) -> re.Match[str] | None:
    """Return the match of a fact that Python tells in a message, with its parts as groups; None if it is not there."""
    return _FACTS[what].search(message)


def without_file(message: str) -> str:
    """Return a message without the file of the library that an import names at its end."""
    return _FILE.sub("", message)


def split_at_lines(message: str) -> list[str]:
    """Return the parts of Python's message on its syntax; every second one is the number of a line that it names."""
    return _LINE.split(message)


# A warning among what a program prints.

_WARNING = re.compile(r"(?P<file>\S.*?):(?P<line>\d+): (?P<says>\w*Warning: .*)|\[W[^\]]*\] Warning: (?P<native>.*)")
_TRIGGERED = re.compile(r" \(Triggered internally at .*| \(function \w+\)$")


def warning_in(line: str) -> tuple[str, str, str] | None:
    """Return the file, the line and the text of a warning of Python or torch; one of torch's own code has no file."""
    found = _WARNING.fullmatch(line)
    if found is None:
        return None
    says = _TRIGGERED.sub("", found["says"] or f"Warning: {found['native']}")
    return found["file"] or "", found["line"] or "", says


# What to look at, by the library's own text.

_STEPS: Mapping[str, str] = {
    "before Module.__init__() call": "Begin `__init__` with `super().__init__()`, with its brackets.",
    "Boolean value of Tensor": "Write `a & b` for two masks: `a and b` asks for one truth value.",
    "view size is not compatible": "Write `reshape` in place of `view`: it copies the numbers where it has to.",
    "'NoneType'": "A function without `return` gives None. Find out where that value comes from.",
}


def library_step(message: str) -> str:
    """Return what to do about an exception of a library; "" if that is not known."""
    return next((step for part, step in _STEPS.items() if part in message), "")
