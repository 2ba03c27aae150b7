"""The running engine as a distribution: its files, and what pip needs to install it again on another machine."""

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from itertools import chain
from pathlib import Path
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from autograder import DISTRIBUTION, __version__
from autograder.course import COURSE_FILE, EXTRAS, KIT, LICENSE, Course, UsageError

ENGINE = Path(__file__).parents[1]
"""The folder of the package: in a checkout, in a kit or where pip installed it."""

SKELETON = Path(__file__).with_name("skeleton")
"""The course that `course init` makes."""

ENGINE_LICENSE = "LICENSE.engine"
"""The file of a kit with the licence of its engine: LICENSE, if there is one, is that of its course."""

LICENSE_OF_ENGINE = "MIT"

OF_STUDENTS = ("lsp", "mcp", "notebook", "nbgrader", "review")
"""The extras that every kit has."""

PYPROJECT = """\
# Installs the engine of this kit from this folder. `course release` made it.
# The lessons and checks are the course's; the engine in autograder/ has a licence of its own, {engine_license}.

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "{name}"
description = {description}
{about}license-files = ["LICENSE*"]
requires-python = "{python}"
dynamic = ["version"]
dependencies = {dependencies}

[project.optional-dependencies]
{extras}

[project.scripts]
course = "autograder.cli:main"

[project.entry-points.pytest11]
autograder = "autograder.pytest_plugin"

[tool.hatch.version]
path = "autograder/__init__.py"

[tool.hatch.build.targets.wheel]
packages = ["autograder"]
"""

CONSTRAINTS = "# What the course was released with: `pip install --constraint constraints.txt` installs the same.\n"


def requirement(*extras: str) -> str:
    """Return the line for a requirements file that installs this engine: its commit, if pip got it from git."""
    name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
    source = json.loads(_installed().read_text("direct_url.json") or "{}")
    git = source.get("vcs_info", {})
    if git.get("vcs") == "git":
        return f"{name} @ git+{source['url']}@{git['commit_id']}"
    return f"{name}=={__version__}"


def engine_files(course: Course) -> dict[str, bytes]:
    """Return the files of a kit that install the engine and the libraries of its course.

    They are the sources, pyproject.toml, the installed versions as constraints, and the engine's licence. What only an
    extra needs has no constraint: a kit is installed without them, and pip finds their versions. Raises `UsageError`
    for a license of the course that pip would refuse.
    """
    libraries = course.libraries
    python, licence, declared = _declared()
    needed = [*_wanted(declared), *chain(*(_library(declared, library) for library in libraries))]
    chosen = (*OF_STUDENTS, *sorted(EXTRAS.intersection(course.every_library)))
    extras = {name: list(_wanted(declared, name)) for name in chosen}
    return {
        **{f"{ENGINE.name}/{file.relative_to(ENGINE).as_posix()}": file.read_bytes() for file in _sources()},
        "pyproject.toml": _pyproject(course, python, needed, extras).encode(),
        "constraints.txt": (CONSTRAINTS + "".join(f"{pin}\n" for pin in _pins(needed))).encode(),
        ENGINE_LICENSE: licence.encode(),
    }


def _sources() -> list[Path]:
    """Return the files of the package, without the solutions in the course that `course init` makes."""
    return sorted(
        file
        for file in ENGINE.rglob("*")
        if file.is_file()
        and "__pycache__" not in file.parts
        and not file.is_relative_to(SKELETON)
        and file != KIT  # of another course
    )


def _installed() -> Distribution:
    try:
        return distribution(DISTRIBUTION)
    except PackageNotFoundError:
        raise UsageError(f"{DISTRIBUTION} is not installed here; install it: pip install -e {ENGINE.parent}") from None


def _declared() -> tuple[str, str, list[str]]:
    """Return the versions of Python, the licence and the requirements that the engine declares.

    A checkout says so itself: what pip keeps about it is as old as its installation.
    """
    table = _project()
    if "optional-dependencies" not in table:
        installed = _installed()
        licence = installed.read_text("licenses/LICENSE") or ""
        return installed.metadata["Requires-Python"], licence, list(installed.requires or ())
    extras = table["optional-dependencies"].items()
    optional = [
        f'{text}{" and" if ";" in text else ";"} extra == "{extra}"' for extra, texts in extras for text in texts
    ]
    file = next(file for name in (ENGINE_LICENSE, "LICENSE") if (file := ENGINE.parent / name).is_file())
    licence = file.read_text("utf-8")
    return table["requires-python"], licence, [*table["dependencies"], *optional]


def is_project() -> bool:
    """Say whether the engine runs from its own project, a clone, where it can be built."""
    return _project().get("name") == DISTRIBUTION


def _project() -> dict[str, Any]:
    file = ENGINE.parent / "pyproject.toml"
    return tomllib.loads(file.read_text("utf-8")).get("project", {}) if file.is_file() else {}


def _pyproject(
    course: Course, python: str, needed: Iterable[Requirement], extras: Mapping[str, Iterable[Requirement]]
) -> str:
    """Return the pyproject.toml of a kit: what students need, and no tools of developers.

    It has the name of the course, its authors, and a licence only if the course states one.
    """
    license_ = license_of(course)
    about = [f"license = {json.dumps(license_)}"] if license_ else []
    people = ", ".join(f"{{name = {json.dumps(name, ensure_ascii=False)}}}" for name in course.authors)
    about += [f"authors = [{people}]"] if people else []
    return PYPROJECT.format(
        engine_license=ENGINE_LICENSE,
        name=_name_of(course),
        description=json.dumps(" ".join(course.title.split()), ensure_ascii=False),
        about="".join(f"{line}\n" for line in about),
        python=SpecifierSet(python),
        dependencies=_array(needed),
        extras="\n".join(f"{name} = {_array(requirements)}" for name, requirements in extras.items()),
    )


def license_of(course: Course) -> str:
    """Return the licence of a kit, in which the engine has its own; "" if the course states none.

    Raises `UsageError` for one that pip does not know: students could not install the kit.
    """
    for problem in license_problems(course):
        raise UsageError(problem)
    if not course.license:
        return ""
    own = canonicalize_license_expression(course.license)
    if own == LICENSE_OF_ENGINE:
        return own
    return f"{f'({own})' if ' OR ' in own else own} AND {LICENSE_OF_ENGINE}"


def license_problems(course: Course) -> Iterator[str]:
    """Yield a sentence if pip does not know the licence of a course."""
    try:
        canonicalize_license_expression(course.license or LICENSE_OF_ENGINE)
    except InvalidLicenseExpression:
        yield f"license of {COURSE_FILE} is {json.dumps(course.license)}, which pip does not know; expected {LICENSE}"


def _name_of(course: Course) -> str:
    """Return the name of a kit for pip, from the title; the end keeps it apart from what the kit requires."""
    plain = unicodedata.normalize("NFKD", course.title).encode("ascii", "ignore").decode().lower()
    return "-".join([*re.findall("[a-z0-9]+", plain), "kit"])


def _library(declared: Sequence[str], library: str) -> list[Requirement]:
    """Return what a library of a course needs: the extra of that name, or else the distribution that has the module."""
    if library in EXTRAS:
        return list(_wanted(declared, library))
    return [Requirement(packages_distributions().get(library, [library])[0])] if library != "numpy" else []


def _array(requirements: Iterable[Requirement]) -> str:
    """Return requirements as an array of TOML, without the extra that they belong to."""
    texts = sorted(f"{needed.name}{_extras(needed)}{needed.specifier}" for needed in requirements)
    return json.dumps(texts)


def _extras(needed: Requirement) -> str:
    return f"[{','.join(sorted(needed.extras))}]" if needed.extras else ""


def _wanted(declared: Iterable[str], extra: str = "") -> Iterator[Requirement]:
    """Yield what a distribution needs on this machine: always, or only with an extra."""
    for text in declared:
        needed = Requirement(text)
        always = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if (
            always
            if not extra
            else not always and needed.marker is not None and needed.marker.evaluate({"extra": extra})
        ):
            yield needed


def _pins(needed: Iterable[Requirement]) -> list[str]:
    """Return the installed versions of all that is needed, directly or not."""
    pins: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    left = list(needed)
    while left:
        next_one = left.pop()
        try:
            found = distribution(next_one.name)
        except PackageNotFoundError:
            continue  # of an extra that is not installed here
        name = canonicalize_name(next_one.name)
        pins[name] = f"{name}=={Version(found.version).public}"
        for extra in {"", *next_one.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            left += _wanted(found.requires or (), extra)
    return sorted(pins.values())
