"""Read what an exercise forbids: dotted names, modules, builtins, methods of builtin types, and kinds of syntax."""

import builtins
import re
import sys
from collections.abc import Mapping, Sequence

from autograder.course.nearest import nearest
from autograder.course.section import Section, as_texts, quoted
from autograder.protocol.banned import PACKAGE, PREFIX, SYNTAX, is_package, is_syntax

NAME = re.compile(r"[^\W\d]\w*(\.(\w|\*)+)*")
"""A name, or a dotted one; after its first part, `*` matches anything."""

EXPECTED = "expected a builtin like sorted, a module like bisect, a dotted name like math.factorial, or syntax:for"

Groups = Mapping[str, Sequence[str]]


def read_forbidden(section: Section, groups: Groups, libraries: Sequence[str]) -> tuple[str, ...]:
    """Return what an exercise forbids, with the entries of the groups that it lists."""
    listed = section.value("forbidden", "a list of names and groups", as_texts, required=False) or ()
    for name in listed:
        if name not in groups and (problem := _problem(name, libraries, list(groups))):
            section.note("forbidden", f"forbidden lists {quoted(name)}, {problem}")
    return tuple(dict.fromkeys(entry for name in listed for entry in groups.get(name, (name,))))


def read_groups(top: Section, libraries: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return the groups of forbidden names, by the name under which exercises list them."""
    table = top.section("forbidden_groups")
    groups: dict[str, Sequence[str]] = {}
    for group in table.table:
        groups[group] = table.value(group, "a list of names", as_texts) or ()
        for name in groups[group]:
            if problem := _problem(name, libraries, ()):
                table.note(group, f"{group} lists {quoted(name)}, {problem}")
    return groups


def _problem(name: str, libraries: Sequence[str], groups: Sequence[str]) -> str:
    """Return why an entry cannot be decided, or an empty text."""
    if is_syntax(name):
        return _syntax_problem(name.removeprefix(PREFIX))
    if is_package(name):
        return "" if name.removeprefix(PACKAGE).isidentifier() else "expected the name of a package after it"
    if not NAME.fullmatch(name):
        return EXPECTED
    owner, _, rest = name.partition(".")
    if rest and isinstance(kind := vars(builtins).get(owner), type):
        return _method_problem(kind, rest)
    if rest and owner in vars(builtins):
        return f"but {owner} is a function and has no parts; forbid {owner}"
    if rest or owner in vars(builtins) or owner in sys.stdlib_module_names or owner in libraries:
        return ""
    if (near := nearest(name, groups)) is not None:
        return f"did you mean the group {near}?"
    known = (*groups, *dir(builtins), *sys.stdlib_module_names, *libraries)
    near = nearest(name, (word for word in known if not word.startswith("_")))
    package = f"or a package that Python does not bring along, as {PACKAGE}{name}"
    return f"did you mean {near}, {package}?" if near is not None else f"{EXPECTED}, {package}"


def _syntax_problem(kind: str) -> str:
    if kind in SYNTAX:
        return ""
    near = nearest(kind, list(SYNTAX))
    return f"did you mean {PREFIX}{near}?" if near is not None else f"expected one of {', '.join(SYNTAX)} after it"


def _method_problem(kind: type, method: str) -> str:
    """Return why a method cannot be refused: it does not exist, or Python calls it for an operator."""
    if method.startswith("__"):
        return f"but an operator calls it without its name; forbid the operator, like {PREFIX}power"
    if "*" in method or hasattr(kind, method):
        return "" if "*" not in method else f"expected one method of {kind.__name__}, without *"
    near = nearest(method, dir(kind))
    return f"did you mean {kind.__name__}.{near}?" if near is not None else f"but {kind.__name__} has no such method"
