"""Exceptions in a learner's code, and calls that it must not make."""

from dataclasses import dataclass, field
from typing import Literal

from autograder.messages.locations import Line
from autograder.messages.wording import Fact, Wording, opened
from autograder.protocol.banned import in_words

TENSORS = "the tensors in that line's function"
VALUES = "the values in that line's function"
"""The titles of what stood in the code when it raised: tensors with their shapes, or plain values."""


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


class Raised(Fact):
    """The code raised an exception, in a function or at import.

    `file` is named where it is not the one shown, `line` where another line than that one is shown. `reason` says in
    plain words why a library raises it, and `cause` why the code makes it do so.
    """

    type: str
    at_import: bool
    function: str | None = None
    file: str | None = None
    line: Line | None = None
    reason: str = field(default="", compare=False)
    cause: Cause | None = field(default=None, compare=False)

    @property
    def id(self) -> str:
        return self.cause.id if self.cause is not None else self.type

    def wording(self) -> Wording:
        where = f" in {self.function}()" if self.function else ""
        where += f" of {self.file}" if self.function and self.file else ""
        where = AT_IMPORT if self.at_import else where
        line = f", in {self.line}" if self.line else ""
        why = self.cause.words() if self.cause is not None else self.reason
        also = (why,) if why else ()
        return Wording(f"Your code raised {self.type}{where}{line}", also, whole=True)


class SyntaxInvalid(Fact):
    """Python cannot read the file; `reason` is what Python says, with the lines that it speaks of as data."""

    type: str
    file: str
    reason: tuple[str | Line, ...]

    @property
    def id(self) -> str:
        return self.type

    def wording(self) -> Wording:
        return Wording(f"Python cannot read {self.file}: {''.join(map(str, self.reason))}", whole=True)


class ExitCalled(Fact):
    """The code ends the process, in a function or at import."""

    at_import: bool = False

    id = "SystemExit"

    def wording(self) -> Wording:
        if self.at_import:
            return Wording(f"Your code calls exit(){AT_IMPORT}, so nothing below that line was run", whole=True)
        return Wording("Your code calls exit() instead of returning", whole=True)


class StructureWrong(Fact):
    """A check refused what it got, in its own words: a sentence, and more of them."""

    reason: str
    more: tuple[str, ...] = ()

    id = "structure"

    def wording(self) -> Wording:
        return Wording(opened(self.reason), self.more, whole=True)


class DevicesMixed(Fact):
    """A tensor stays on the CPU while the others are on another device; `tensor` is its name, if it has one."""

    tensor: str | None

    id = "device"

    def wording(self) -> Wording:
        says = f"{self.tensor or 'A tensor'} stays on the CPU while the others are on another device"
        return Wording(says, ("make it, or keep it, where they are",), whole=True)


class NoneGiven(Fact):
    """A check got None where it needs a value."""

    id = "none"

    def wording(self) -> Wording:
        return Wording("Your code returned None where a value is expected: is a return missing?", whole=True)


class SignatureWrong(Fact):
    """A check cannot call the code; `cause` says why, if the code shows it."""

    cause: Cause | None = field(default=None, compare=False)

    id = "signature"

    def wording(self) -> Wording:
        says = "Your code cannot be called as its stub says"
        why = self.cause.words() if self.cause is not None else "compare its parameters with the stub's"
        return Wording(says, (why,), whole=True)


class ResultUnusable(Fact):
    """A check cannot use what the code returned; `reason` says why, if the message of the exception is known."""

    type: str
    reason: str = ""

    @property
    def id(self) -> str:
        return self.type

    def wording(self) -> Wording:
        if self.reason:
            return Wording(f"The check fails on what your code returned: {self.reason}", whole=True)
        says = f"What your code returned cannot be used ({self.type}): does it have the type that the stub names?"
        return Wording(says, whole=True)


class CountReturned(Fact):
    """The code returned another number of values than a check takes apart."""

    expected: int
    more: bool

    id = "count"

    def wording(self) -> Wording:
        count = f"one value or more than {self.expected}" if self.more else f"fewer than {self.expected} values"
        says = f"Your code returned {count}, where {self.expected} are expected"
        return Wording(says, ("return what the stub names, in its order",), whole=True)


class AttributeLacking(Fact):
    """A check got an object of a type that lacks what the check reads."""

    type: str
    attribute: str

    id = "type"

    def wording(self) -> Wording:
        says = f"Your code gives a {self.type} where an object with `{self.attribute}` is needed"
        return Wording(says, ("return the type that the stub names",), whole=True)


class MemoryExceeded(Fact):
    """The code asked for more memory (MiB) than there is."""

    type: str
    limit: int

    @property
    def id(self) -> str:
        return self.type

    def wording(self) -> Wording:
        return Wording(f"Your code asked for more than the {self.limit} MiB of memory there are", whole=True)


class CallForbidden(Fact):
    """A call would skip the exercise."""

    name: str

    @property
    def id(self) -> str:
        return self.name

    def wording(self) -> Wording:
        if (syntax := in_words(self.name)) is not None:
            return Wording(f"This exercise asks you to do without {syntax}", whole=True)
        return Wording(f"This exercise asks you to write it yourself: {self.name} must not be used here", whole=True)
