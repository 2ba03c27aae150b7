"""What Python, NumPy and torch say in their exceptions, read in this one place.

No other module reads an English text. A fact that the kit itself finds out travels as a field beside its sentence. A
message that is not known here gets no words: the library's own text is always shown too.
"""

import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Literal

from .outcomes import Fault

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


def _product(found: re.Match[str]) -> str:
    return f"a matrix of {found[1]} cannot be multiplied by one of {found[2]}: the inner sizes differ"


def _too_many(found: re.Match[str]) -> str:
    more = int(found[2]) - int(found[1])
    return f"a call passes {more} {'argument' if more == 1 else 'arguments'} too many"


_REASONS: tuple[tuple[str, Words], ...] = (
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+x\d+) and (\d+x\d+)\)", _product),
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
