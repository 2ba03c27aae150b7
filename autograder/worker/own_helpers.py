"""Find what a student's code uses of an earlier exercise beside the names that its reference part replaces."""

from collections.abc import Collection, Mapping

from autograder.protocol.bounds import MOST_NAME, SURVEY_HELPERS
from autograder.worker.package import short_name
from autograder.worker.syntax import dotted_names


def own_helpers(files: Mapping[str, bytes], parts: Mapping[str, Collection[str]], exercise: str) -> list[str]:
    """Return `module.name` of what an exercise uses of replaced files beside the names of their parts.

    It follows the imports of files that are not replaced, since their code runs too.
    """
    found, seen = set[str](), set[str]()
    waiting = [exercise]
    while waiting:
        module = waiting.pop()
        seen.add(module)
        for name in _names(files.get(f"{module}.py", b"")):
            owner, _, inner = short_name(name).partition(".")
            helper = inner.partition(".")[0]
            if (part := parts.get(f"{owner}.py")) is None:
                waiting += [owner] if f"{owner}.py" in files and owner not in seen else []
            elif helper.isidentifier() and helper not in part and len(f"{owner}.{helper}") <= MOST_NAME:
                found.add(f"{owner}.{helper}")
    return sorted(found)[:SURVEY_HELPERS]


def _names(source: bytes) -> Collection[str]:
    try:
        return dotted_names(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
