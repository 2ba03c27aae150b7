"""Read the `libraries` of course.toml: the modules that the programs of a course may use beside Python's own."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

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
    for folder in sys.path:
        for found in Path(folder).glob(f"{name}-*.dist-info"):
            return found.name.removeprefix(f"{name}-").removesuffix(".dist-info")
    from importlib import metadata  # which takes longer to load than the name of a folder takes to read

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        distributions = metadata.packages_distributions().get(name, [])
        return metadata.version(distributions[0]) if distributions else "none"


EXTRAS = frozenset({"torch"})
"""The libraries that the engine's distribution installs as an extra of that name, in a version that it supports."""
