"""Checks that did not run, that wait, or whose worker process ended."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder.results import Fact, Todo, joined, opened, sentence
from autograder.runner import found_in, library_step


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


# Advice on a failure for which an exercise has no hints: what to look at, by what happened.

_BY_STATUS: Mapping[str, str] = {
    "timeout": "A `while` needs a line that ends it. One call on a tensor is faster than a loop over its elements.",
    "memory": "Look for a tensor with an axis too many, or for a list that grows in a loop.",
}
_BY_ID: Mapping[str, str] = {
    "IndentationError": "Compare the spaces at the beginning of that line with those of the lines around it.",
    "TabError": "Indent every line with spaces only, as the stub does.",
    "ModuleNotFoundError": "Check the spelling of the name behind `import`. The imports of the stub are enough.",
    "ImportError": "Check the spelling of the names behind `import`. The imports of the stub are enough.",
    "NameError": "Python does not know that name. Compare its spelling with the line that assigns or imports it.",
    "UnboundLocalError": "That name has no value yet when the line runs. Assign it before, in every case.",
    "AttributeError": "Check the spelling of that name, and what kind of object stands before its dot.",
    "misspelt_attribute": "Compare the spelling of that name with the line that sets it.",
    "unset_attribute": "Give it a value in `__init__`, with `self.` before its name.",
    "set_without_self": "Write `self.` before that name in `__init__`: a name without it is gone when `__init__` ends.",
    "self_not_taken": "Python passes the object as the first argument of a method. By custom its name is `self`.",
    "not_imported": "A file knows only the modules and names that it imports itself.",
    "without_self": "Write `self.` before that name: what belongs to an object is reached through it.",
    "returns_nothing": "Let that function end with `return` and its result. Without one it gives None.",
    "type": "Read the type behind `->` in the stub. Make an object of that type from your values, and return it.",
    "count": "Read what the stub returns, and in which order. Your `return` needs the same values.",
    "dotted_import": "Behind `import` stand names without a dot. What is before the dot belongs behind `from`.",
    "SystemExit": "Remove that call: a function ends with `return`.",
}
_OF_CAUSES = ("misspelt_attribute", "unset_attribute", "without_self", "set_without_self", "returns_nothing")
_OF_BRACKETS = "Look for a bracket, a quote or a colon that is missing or too many, there or in the line above."
_OF_SYNTAX = "Python cannot read that line, and ran nothing of your file. Compare it with the stub."
_OF_EXCEPTION = "Print the shapes of what stands in that line. The next check shows what your code prints."
_OF_A_CALL = "Write that part yourself, with the operations of the lesson."
_OF_STRUCTURE = "Compare names and sizes with those in the stub. An attribute needs `self.` before its name."
_OTHERWISE = "Change just that, and check again."


def advice(status: str, kind: str, id_: str, message: str, quoted: str = "") -> str:
    """Return what to look at, for a check with this status and a finding of this kind, which says `message`.

    `quoted` is the text of the library that raised an exception.
    """
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if id_ == "SyntaxError":
        return _OF_BRACKETS if found_in(message, "brackets") else _OF_SYNTAX
    if kind == "exception":
        step = library_step(quoted) if id_ not in _OF_CAUSES else ""
        return step or _BY_ID.get(id_, _OF_EXCEPTION)
    if kind == "structure" and id_ in _BY_ID:
        return _BY_ID[id_]
    return {"forbidden": _OF_A_CALL, "structure": _OF_STRUCTURE}.get(kind, _OTHERWISE)


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
