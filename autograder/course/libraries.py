"""Read the `libraries` of course.toml: the modules that the programs of a course may use beside Python's own."""

import re
import sys
from collections.abc import Iterable
from importlib import metadata

from autograder.course.section import Section, as_texts, quoted

MODULE = re.compile(r"[^\W\d]\w*")


def read_libraries(top: Section) -> tuple[str, ...]:
    """Return the libraries of a course; none if it needs only Python."""
    expected = 'a list of modules, like ["torch"] or ["numpy"]'
    libraries = top.value("libraries", expected, as_texts, required=False) or ()
    for name in libraries:
        if not MODULE.fullmatch(name):
            top.note("libraries", f"libraries lists {quoted(name)}, expected the name that `import` takes, like numpy")
        elif name in sys.stdlib_module_names:
            top.note("libraries", f"libraries lists {name}, which is a part of Python; remove it")
        elif libraries.count(name) > 1:
            top.note("libraries", f"libraries lists {name} twice; remove one")
    return tuple(dict.fromkeys(libraries))


def versions_of(libraries: Iterable[str]) -> dict[str, str]:
    """Return the versions of some libraries and of NumPy, on which numbers depend; "none" of one without a version."""
    return {name: _version(name) for name in dict.fromkeys([*libraries, "numpy"])}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        distributions = metadata.packages_distributions().get(name, [])
        return metadata.version(distributions[0]) if distributions else "none"


EXTRAS = frozenset({"torch"})
"""The libraries that the engine's distribution installs as an extra of that name, in a version that it supports."""


def requirements_of(libraries: Iterable[str]) -> str:
    """Return what `pip install` takes in the folder of a kit: the engine and the libraries."""
    extras = sorted(EXTRAS.intersection(libraries))
    others = [name for name in libraries if name not in EXTRAS and name != "numpy"]  # the engine needs NumPy itself
    return " ".join([f'".[{",".join(extras)}]"' if extras else ".", *others])
