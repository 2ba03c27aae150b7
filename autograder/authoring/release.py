"""Make a student's kit or a wheel with one, or examine a kit; refuse it if it would leak a solution or a secret."""

import io
import json
import lzma
import re
import shutil
import tarfile
import tempfile
import tomllib
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from string import Template
from typing import Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from autograder import DISTRIBUTION, __version__, ending
from autograder.answer_key import AnswerKey, CatalogueError, Keys, file_digest, to_record
from autograder.course import (
    CATALOGUE,
    COURSE_FILE,
    EXTRAS,
    KEY_FOLDER,
    KIT,
    LICENSE,
    MANIFEST,
    STUBS,
    Assignment,
    Course,
    Exercise,
    HuntFile,
    StubError,
    Suite,
    UsageError,
    catalogue,
    is_kit,
    key_file,
    kit_hunts,
    left_out,
    load_suite,
    nothing_to_hunt,
    write_atomically,
)
from autograder.formats import KEY
from autograder.protocol import Value, split_frame, write_frame
from autograder.report import kilobytes
from autograder.results import joined
from autograder.submission import NOTEBOOKS, handout_of

from .leaks import SHORTEST_SEED, Gate, Leak, copied_regions, files_in, files_of, grading_seed, secrets_of
from .oversights import is_leftover, missing_hints, reading_dates, reading_machines
from .programs import OnProgress, pool_of, with_keys

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


# Remove whole tables from a TOML text, or set its `take`; comments and everything else stay as written.

_OPENING = re.compile(r"^\[{1,2}\s*([\w.\"'-]+(?:\s*\.\s*[\w\"'-]+)*)\s*\]{1,2}")

_TAKE = re.compile(r"^take\s*=\s*\[[^\]]*\][ \t]*(?:#.*)?\n", re.MULTILINE)


class TableError(Exception):
    """A text whose table cannot be removed; the message is the rest of a sentence."""


def without_tables(text: str, names: Sequence[str]) -> str:
    """Return a TOML text without these tables, their inner tables, and the comments right above them.

    Raises `TableError` if the rest would change its meaning.
    """
    wanted = tomllib.loads(text)
    for name in names:
        _drop(wanted, name.split("."))
    kept: list[str] = []
    dropping = False
    for line in text.splitlines(keepends=True):
        header = _OPENING.match(line)
        if header:
            dropped, dropping = dropping, _within(header[1], names)
            if dropping and not dropped:
                _drop_comments(kept)
        if not dropping:
            kept.append(line)
    # The text is edited line by line, so the result is compared with what it should mean.
    made = "".join(kept).rstrip("\n") + "\n"
    if not _means(made, wanted):
        raise TableError(f"{' or '.join(names)} cannot be removed; write it as a table of its own, [{names[0]}]")
    return made


def with_take(text: str, take: Sequence[str]) -> str:
    """Return a TOML text whose `take` has these names, after the comments at its top. Raises `TableError`."""
    before = tomllib.loads(text)
    wanted = {**before, "take": list(take)}
    if not take:
        return text
    # Keys at the top come before all tables, so the first one is it.
    lines = (_TAKE.sub("", text, count=1) if "take" in before else text).splitlines(keepends=True)
    place = next((at for at, line in enumerate(lines) if line.strip() and not line.startswith("#")), len(lines))
    made = "".join([*lines[:place], f"take = {json.dumps(list(take))}\n", *lines[place:]])
    if not _means(made, wanted):
        raise TableError("take cannot be replaced; write it at the top, as take = [...]")
    return made


def _means(text: str, wanted: object) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _within(header: str, names: Sequence[str]) -> bool:
    plain = re.sub(r"[\s\"']", "", header)
    return any(plain == name or plain.startswith(f"{name}.") for name in names)


def _drop_comments(lines: list[str]) -> None:
    while lines and lines[-1].startswith("#"):
        lines.pop()


def _drop(table: dict[str, Any], path: Sequence[str]) -> None:
    for part in path[:-1]:
        table = table.get(part, {})
    table.pop(path[-1], None)


# The student's kit: stubs, checks, a public answer key and the engine. Equal courses give equal bytes.

IGNORED = "__pycache__/ *.egg-info/ .venv/ .pytest_cache/ .ipynb_checkpoints/ /submission.zip /hunt/ /arrange/"
PART = ".part"
"""The suffix of a file that is being written."""

PYCACHE = "__pycache__"

PLAY = "| `course play` | trains and uses what you have built |\n"
TORCH = """
On Linux, pip downloads torch with CUDA, which is several gigabytes. If you have no NVIDIA GPU, write
`PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu` before `pip`: the CPU build is much smaller.
"""
README = Path(__file__).with_name("student_readme.md")
AGENTS = "AGENTS.md"
"""What a coding agent reads in a folder: how to help there. A course may change it or leave it out."""

INSTALL = """
You need Python 3.11 to 3.14. In this folder, make an environment with `python3 -m venv .venv`
and `source .venv/bin/activate` (on Windows `.venv\\Scripts\\activate`). Then run:

```sh
pip install --constraint constraints.txt --editable .
course check
```
"""
INSTALLED = """
Everything is installed. Run `course` in this folder: it shows where you are, and the next command.
After you installed a newer version, run `course start`: it brings newer checks and lessons, and
keeps your code.
"""

EDITOR = Path(__file__).with_name("editor")
"""Tasks, settings and recommended extensions for VS Code."""


CHUNK = 1 << 16
"""The most bytes of an uncompressed chunk of LZMA2."""


class ReleaseError(Exception):
    """A course that cannot be released; the message is a sentence for its author."""


def texts_of(course: Course, more: Mapping[str, bytes] | None = None, *, in_wheel: bool = False) -> dict[str, bytes]:
    """Return the files of a kit that need no answer key: with its engine, also for a wheel. Raises `ReleaseError`."""
    return {**(more or {}), **engine_files(course), **_course(course, in_wheel), **_handed_out(course)}


def complete(
    suite: Suite,
    texts: Mapping[str, bytes],
    *,
    jobs: int = 1,
    cache: Path | None = None,
    on_keys: OnProgress = lambda *_: None,
) -> dict[str, bytes]:
    """Return a kit with these files, its answer keys and its manifest.

    `jobs` answer keys are made at a time; `on_keys(done, all)` follows them. Raises `ReleaseError`, and `GraderProblem`
    if a key cannot be made.
    """
    course = suite.course
    files = dict(sorted({**texts, **_keys(suite, jobs, cache, on_keys)}.items()))
    manifest = {
        "format": KEY.number,
        "engine": __version__,
        "seed": course.seed,
        "sizes": [dict(column) for column in course.sizes],
        "parts": {part.id: [dict(column) for column in part.sizes] for part in course.parts if part.sizes},
        "files": {name: file_digest(data) for name, data in files.items()},
    }
    return {**files, MANIFEST: f"{json.dumps(manifest, indent=1)}\n".encode()}


def _course(course: Course, in_wheel: bool = False) -> dict[str, bytes]:
    """Return the public files of a course."""
    checks = course.checks_dir.relative_to(course.root).as_posix()
    agents, licence = course.root / AGENTS, course.root / "LICENSE"
    texts = json.dumps(catalogue(course), indent=1, ensure_ascii=False)
    return {
        "course.toml": _public_toml(course),
        "README.md": _readme(course, in_wheel=in_wheel).encode(),
        ".gitignore": "".join(f"{pattern}\n" for pattern in IGNORED.split()).encode(),
        ".gitattributes": b"*.xz binary\n",
        **({AGENTS: agents.read_bytes()} if agents.is_file() else {}),
        f"{checks}/{CATALOGUE}": f"{texts}\n".encode(),
        **({"LICENSE": licence.read_bytes()} if licence.is_file() else {}),
        **{f".vscode/{file.name}": file.read_bytes() for file in sorted(EDITOR.glob("*.json"))},
        **{file.relative_to(course.root).as_posix(): file.read_bytes() for file in _public(course)},
    }


def _public(course: Course) -> list[Path]:
    """Return the files of a course that students get unchanged: checks, hints, reference parts, and the play folder.

    Of an exercise that the class does not take, that is only the reference part, if another one or an activity needs
    it. Checks that belong to no exercise of the course stay here.
    """
    needed = {need.id for exercise in course.exercises for need in course.with_all_needs(exercise)}
    needed |= {exercise.id for activity in course.play for exercise in course.used_by(activity)}
    checks = [file for file in sorted(course.checks_dir.rglob("*.py")) if not is_leftover(course, file)]
    hints = [file for exercise in course.exercises if (file := course.hints_file(exercise)).is_file()]
    play = [file for file in course.play_dir.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    parts = [file for file in sorted(course.reference_parts_dir.glob("*.json")) if file.stem in needed]
    return [*checks, *hints, *parts, *sorted(play if course.play else [])]


def _refused(suite: Suite, exercise: Exercise) -> Iterator[str]:
    """Yield a sentence for each reason that an exercise is not to be released for."""
    yield from missing_hints(suite, exercise)
    checks = suite.checks[exercise.id]
    sentences = (*reading_dates(checks), *reading_machines(checks), *copied_regions(suite.course, exercise))
    yield from (f"{exercise.id}: {sentence}" for sentence in sentences)


def _handed_out(course: Course) -> dict[str, bytes]:
    """Return the stubs and notebooks twice: to fill in, and to restore with `course reset`."""
    handout = handout_of(course).files
    missing = [file for file in course.files if file not in handout]
    if missing:
        raise ReleaseError(
            f"no stubs can be made for {', '.join(missing)}: their solutions are missing or have open regions; "
            "run `course build` for details"
        )
    exercises = course.exercises_dir.relative_to(course.root).as_posix()
    own = {f"{exercises}/{_place(name)}": data for name, data in handout.items()}
    return {**own, **{f"{STUBS}/{_place(name)}": data for name, data in handout.items()}}


def _place(name: str) -> str:
    return f"{NOTEBOOKS}/{name}" if name.endswith(".ipynb") else name


def _keys(suite: Suite, jobs: int, cache: Path | None, on_keys: OnProgress) -> dict[str, bytes]:
    """Return the answer keys. One that is known to be too large is refused before any other is made."""
    seed = suite.course.seed
    with Keys(suite, seed=seed, cache=cache) as keys:
        _refuse_large({exercise.id: keys.known_size(exercise) for exercise in suite.exercises})
    files = {}
    with pool_of(jobs) as pool:
        made = with_keys(pool, suite, packed, suite.exercises, seed=seed, cache=cache, on_progress=on_keys)
        for exercise, own in zip(suite.exercises, made, strict=True):
            _refuse_large({exercise.id: sum(map(len, own.values()))})
            files.update(own)
    return files


def _refuse_large(sizes: Mapping[str, int | None]) -> None:
    """Raise `ReleaseError` for keys whose sizes are above the budget of an exercise."""
    if problems := [problem for exercise, size in sizes.items() if (problem := problem_of(exercise, size))]:
        raise ReleaseError("\n".join(problems))


def _readme(course: Course, *, in_wheel: bool = False) -> str:
    rows = [f"| {exercise.number} | {exercise.title} | {exercise.points / 100:g} |" for exercise in course.exercises]
    table = "\n".join(["| | exercise | points |", "|---|---|--:|", *rows])
    text = Template(README.read_text("utf-8"))
    torch = "" if in_wheel or "torch" not in course.libraries else TORCH
    begin = INSTALLED if in_wheel else f"{INSTALL}{torch}"
    own = f'"{DISTRIBUTION}' if in_wheel else '--editable ".'
    play = PLAY if course.play else ""
    licence = _licence(course, in_wheel)
    return text.substitute(
        title=course.title, first=course.files[0], exercises=table, begin=begin, own=own, play=play, licence=licence
    )


def _licence(course: Course, in_wheel: bool) -> str:
    """Return who wrote a course and what its licence is, as the end of a README; of the engine only where it is."""
    by = f"Written by {joined(course.authors)}." if course.authors else ""
    where = ", whose text is in `LICENSE`" if (course.root / "LICENSE").is_file() else ""
    own = f"The licence of the lessons and checks is {course.license}{where}." if course.license else ""
    engine = "" if in_wheel else f"The engine in `autograder/` has a licence of its own, in `{ENGINE_LICENSE}`."
    sentences = " ".join(filter(None, [by, own, engine]))
    return f"\n## Licence\n\n{sentences}\n" if sentences else ""


def license_warning(course: Course) -> str:
    """Return a sentence if a course states no licence, else "". Raises `UsageError` for one that pip refuses."""
    if license_of(course):
        return ""
    return f'{COURSE_FILE} has no license, so the kit claims none for your texts: add one, like license = "CC-BY-4.0"'


def _public_toml(course: Course) -> bytes:
    """Return course.toml with what the class takes, and with no more of [grading] than which exercises are a bonus."""
    file = course.root / "course.toml"
    bonus = [exercise.id for exercise in course.exercises if course.grading and exercise.id in course.grading.bonus]
    taken = {exercise.id for exercise in course.exercises}
    dated = [one for one in course.assignments if taken.issuperset(one.exercises)]
    # A kit has no files of an exercise whose library is missing here: it must not be taken there either.
    take = [exercise.id for exercise in course.exercises] if left_out(course) else course.take
    try:
        text = with_take(without_tables(file.read_text("utf-8"), ["grading", "assignments"]), take)
    except TableError as error:
        raise ReleaseError(f"{file}: {error}") from error
    zone = [f'time_zone = "{course.grading.zone}"'] if course.grading and dated else []
    rules = [*zone, *([f"bonus = {json.dumps(bonus)}"] if bonus and len(bonus) < len(taken) else [])]
    tables = [["[grading]", *rules]] if rules else []
    tables += [_public_assignment(one) for one in dated]
    return "\n".join([text, *("\n".join([*table, ""]) for table in tables)]).encode()


def _public_assignment(assignment: Assignment) -> list[str]:
    """Return what students may know about an assignment: its title, its exercises, and when it is due."""
    due = assignment.grading.due
    lines = [f"{key} = {json.dumps(getattr(assignment, key), ensure_ascii=False)}" for key in ("id", "title")]
    lines.append(f"exercises = {json.dumps(list(assignment.exercises))}")
    return ["[[assignments]]", *lines, *([f"due = {due.isoformat()}"] if due else [])]


def write_kit(files: Mapping[str, bytes], folder: Path) -> None:
    """Write a kit, and replace an unchanged earlier one; `.git` stays. Raises `ReleaseError` and OSError.

    The manifest is replaced first, so that an interrupted kit is recognised by it, and half-written files by their
    suffix.
    """
    for name in earlier_files(folder):
        if name != MANIFEST:
            (folder / name).unlink(missing_ok=True)
    for cache in folder.rglob(PYCACHE):
        with suppress(OSError):  # it holds something else
            cache.rmdir()
    for name in (MANIFEST, *files):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with ending.temporary(partial(file.with_name, f"{file.name}{PART}")) as part:
            part.write_bytes(files[name])
            part.chmod(0o644)
            part.replace(file)


def earlier_files(folder: Path) -> list[str]:
    """Return the files of an earlier kit in a folder, with what Python compiled of them.

    Raises `ReleaseError` if the folder has other files.
    """
    if not folder.exists():
        return []
    if not folder.is_dir():
        raise ReleaseError(f"{folder} is a file, expected a folder that is new, empty or an earlier kit")
    there = sorted(file for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())
    names = [name for file in there if not (name := file.relative_to(folder).as_posix()).startswith(".git/")]
    try:
        known = dict(json.loads((folder / MANIFEST).read_bytes())["files"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        known = {}
    ours = {MANIFEST, *(f"{name}{PART}" for name in (MANIFEST, *known))}
    others = [name for name in names if name not in ours and not _is_compiled(folder / name)]
    strange = [name for name in others if known.get(name) != _digest_at(folder / name)]
    if strange:
        more = f" and {len(strange) - 1} more" if strange[1:] else ""
        raise ReleaseError(
            f"{folder} has {strange[0]}{more}, which is not from an earlier release or was changed since; "
            "choose a new folder, or move it away (nothing was written). To try a kit, run it in a copy"
        )
    return names


def _is_compiled(file: Path) -> bool:
    """Say whether a file is one that Python makes whenever it imports another."""
    return file.parent.name == PYCACHE and file.suffix == ".pyc" and not file.is_symlink()


def _digest_at(file: Path) -> str | None:
    return None if file.is_symlink() else file_digest(file.read_bytes())


def for_wheel(files: Mapping[str, bytes], course: Course) -> dict[str, bytes]:
    """Return the files of a kit that `course start` lays out: without the engine, and what installs it.

    Its keys are not compressed one by one: the archive compresses all of them together, to 94 % of the size.
    """
    installing = engine_files(course)
    kept = {name: data for name, data in files.items() if name not in installing}
    keys = {name: stored(lzma.decompress(data)) for name, data in kept.items() if name.endswith(".xz")}
    manifest = json.loads(files[MANIFEST])
    manifest["files"] |= {name: file_digest(data) for name, data in keys.items()}
    return {**kept, **keys, MANIFEST: f"{json.dumps(manifest, indent=1)}\n".encode()}


def stored(data: bytes) -> bytes:
    """Return an xz file that holds bytes uncompressed, which `lzma` can read and not write.

    https://tukaani.org/xz/xz-file-format.txt describes it: one block of LZMA2 chunks, and an index of that block.
    """
    blocks = [data[at : at + CHUNK] for at in range(0, len(data), CHUNK)]
    chunks = b"".join(
        bytes([1 + (at > 0)]) + (len(part) - 1).to_bytes(2, "big") + part for at, part in enumerate(blocks)
    )
    flags = b"\0\1"  # the check is a CRC32
    head = b"\2\0\x21\1\x16" + bytes(3)  # 12 bytes with its CRC32; LZMA2 with a window of 8 MiB
    block = head + _crc(head) + chunks + b"\0"
    unpadded = len(block) + 4
    index = b"\0\1" + _varint(unpadded) + _varint(len(data))
    index += bytes(-len(index) % 4)
    footer = ((len(index) + 4) // 4 - 1).to_bytes(4, "little") + flags
    whole = block + bytes(-len(block) % 4) + _crc(data) + index + _crc(index)
    return b"\xfd7zXZ\0" + flags + _crc(flags) + whole + _crc(footer) + footer + b"YZ"


def _crc(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def _varint(number: int) -> bytes:
    """Return a number in groups of 7 bits, the lowest first; all but the last have the eighth bit set."""
    groups = [number >> at & 127 for at in range(0, max(number.bit_length(), 1), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def archive(files: Mapping[str, bytes]) -> bytes:
    """Return files as one tar.xz: the smallest, as a stub, its notebook and their copies are compressed together."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return lzma.compress(stream.getvalue(), preset=9)


def write_wheel(files: Mapping[str, bytes], folder: Path) -> Path:
    """Build the wheel of the engine with the files of a kit in it, and return it. Raises `UsageError` and OSError.

    It is built from a copy, so that no kit is ever in the engine's own folder, whatever interrupts this.
    """
    from hatchling.builders.wheel import WheelBuilder

    with ending.temporary(lambda: Path(tempfile.mkdtemp(prefix="course-wheel-"))) as project:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ENGINE.parent / name, project)
        shutil.copytree(ENGINE, project / ENGINE.name, ignore=shutil.ignore_patterns(PYCACHE))
        (project / ENGINE.name / KIT.name).write_bytes(archive(files))
        [built] = WheelBuilder(str(project)).build(directory=str(project / "dist"), versions=["standard"])
        folder.mkdir(parents=True, exist_ok=True)
        wheel = folder / Path(built).name
        write_atomically(wheel, Path(built).read_bytes())
    return wheel


def require_project() -> None:
    """Raise `UsageError` if no wheel can be built here."""
    if not is_project():
        raise UsageError("--wheel builds the engine too, so it needs a clone of it: run it with the engine of a clone")
    if find_spec("hatchling") is None:
        raise UsageError("--wheel needs hatchling, which is not installed; run pip install hatchling")


@dataclass(frozen=True)
class Release:
    """The files of a kit by their paths, and its leaks: it is written only if there are none.

    `wheel` is the file that has the kit in it, if one was built.
    """

    files: Mapping[str, bytes]
    leaks: Sequence[Leak]
    wheel: Path | None = None

    @property
    def size(self) -> str:
        return megabytes(sum(map(len, self.files.values())))

    @property
    def key_size(self) -> str:
        """Return the size of the answer key as text."""
        return megabytes(sum(len(data) for name, data in self.files.items() if name.startswith(f"{KEY_FOLDER}/")))


def release_kit(
    course: Course,
    folder: Path,
    *,
    jobs: int,
    on_keys: OnProgress,
    hunted: Sequence[HuntFile] = (),
    in_wheel: bool = False,
) -> Release:
    """Write a kit to a folder if it leaks nothing. `on_keys(done, all)` follows the answer keys, `jobs` at a time.

    With `in_wheel`, the folder gets the engine's wheel with the kit in it, for `course start`. Texts are searched
    before any key is made, as keys take minutes. `hunted` has the programs to practise on that go into the kit. Raises
    `UsageError` for a course that cannot be released.
    """
    try:
        gate = Gate(secrets_of(course))
        suite = load_suite(course)
        if refused := [sentence for exercise in suite.exercises for sentence in _refused(suite, exercise)]:
            raise ReleaseError("\n".join(refused))
        named = [programs.exercise for programs in hunted]
        names = _hunt_files(course, [course.exercise(name) for name in named])
        hunts = dict(zip(names, (_fit(gate, one, named).to_json().encode() for one in hunted), strict=True))
        files: dict[str, bytes] = texts_of(course, hunts, in_wheel=in_wheel)
        leaks = gate.leaks(files_of(files, folder), named, hunts)
        if not leaks:
            searched, files = files, complete(suite, files, jobs=jobs, on_keys=on_keys)
            leaks = gate.leaks((name, data) for name, data in files.items() if searched.get(name) is not data)
        if not leaks and in_wheel:
            files = for_wheel(files, course)
            return Release(files, leaks, write_wheel(files, folder))
        if not leaks:
            write_kit(files, folder)
    except (ReleaseError, StubError, CatalogueError) as error:
        raise UsageError(str(error)) from error
    return Release(files, leaks)


def require_folder(folder: Path) -> None:
    """Raise `UsageError` if a kit cannot be written to a folder: a command says so before it makes any key."""
    try:
        earlier_files(folder)
    except ReleaseError as error:
        raise UsageError(str(error)) from error


def _fit(gate: Gate, programs: HuntFile, named: Sequence[str]) -> HuntFile:
    """Return the programs without those that have lines of exercises which are not named.

    Raises `UsageError` if none is left.
    """
    if not programs.hunts:
        raise UsageError(nothing_to_hunt(programs))
    right = {name: text for name, text in programs.right.items() if not _leaks(gate, text, named)}
    hunts = tuple(one for one in programs.hunts if one.variant in right and not _leaks(gate, one.source, named))
    if not hunts:
        raise UsageError(
            f"every program to practise {programs.exercise} on has lines of another exercise; name that one too"
        )
    return HuntFile(programs.exercise, right, hunts)


def _leaks(gate: Gate, text: str, named: Sequence[str]) -> bool:
    return bool(gate.leaks([("program.py", text.encode())], named, ["program.py"]))


def examine_kit(course: Course, folder: Path, hunted: Sequence[Exercise] = ()) -> Sequence[Leak]:
    """Return the leaks of a kit, in which programs of the `hunted` exercises may be.

    Raises `UsageError` if there is no such folder.
    """
    try:
        gate = Gate(secrets_of(course))
    except (StubError, CatalogueError) as error:
        raise UsageError(str(error)) from error
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder; give the kit that is to be looked through")
    return gate.leaks(files_in(folder), [exercise.id for exercise in hunted], _hunt_files(course, hunted))


def _hunt_files(course: Course, exercises: Sequence[Exercise]) -> list[str]:
    return [kit_hunts(course, exercise).relative_to(course.root).as_posix() for exercise in exercises]


def seed_warning(course: Course) -> str:
    """Return a warning if the seed of grading is easy to guess, else ""."""
    seed = grading_seed(course)
    if seed is None or (len(seed) >= SHORTEST_SEED and seed != str(course.seed)):
        return ""
    remedy = "remove .course/grading_seed, and `course grade` makes another one"
    return f"the seed of grading, {seed}, is no secret: {remedy}"


def megabytes(size: int) -> str:
    """Return a number of bytes as text: `6.9 MB`."""
    return f"{size / 1e6:.1f} MB"


# The public answer keys of a kit, compressed. Equal keys give equal bytes.

SMALLEST_WINDOW = 4096


def packed_key(key: AnswerKey) -> bytes:
    """Return the key of an exercise for a kit."""
    return _packed(to_record(key), align=2)


def packed_traces(traced: Value) -> bytes:
    """Return the intermediate results of the solution under one check, for a kit."""
    return _packed(traced, align=0)


def _packed(record: Value, align: int) -> bytes:
    """Compress a record; `align` is the binary logarithm of the size in bytes of most of its numbers.

    Its text and its numbers are two streams, as they are of different kinds; a decompressor joins them.
    """
    text, numbers = split_frame(write_frame(record))
    return _compressed(text, literal=3, align=0) + _compressed(numbers, literal=0, align=align)


def _compressed(data: bytes, *, literal: int, align: int) -> bytes:
    filters = [
        {
            "id": lzma.FILTER_LZMA2,
            "preset": 9,
            "dict_size": max(len(data), SMALLEST_WINDOW),  # the preset's own takes 64 MB and most of the time
            "lc": literal,
            "lp": align,
            "pb": align,
        }
    ]
    return lzma.compress(data, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)


# The size of an exercise's answer key in a kit, and its budget: a kit should stay a quick download.

MOST_KEY_BYTES = 600_000
"""The budget of one exercise. The kit of this course, with 36 exercises, has 8.9 MB of keys."""

WARNED_SHARE = 0.8
REMEDY = "use smaller [sizes] in course.toml, fewer checks of whole models, or observe less in the checks"


MOST_NAMED = 3
"""The largest checks that a sentence about a large key names."""


class KeySize(int):
    """The size in bytes of a key, and, if it is large, the largest checks with their sizes, the largest first."""

    largest: tuple[tuple[str, int], ...] = ()


def packed(exercise: Exercise, keys: Keys) -> dict[str, bytes]:
    """Return the answer key of an exercise as the files of a kit, and remember its size.

    Raises `GraderProblem` if the key cannot be made.
    """
    files = {key_file(exercise): packed_key(keys.get(exercise))}
    for check in keys.suite.checks[exercise.id]:
        files[key_file(exercise, check.id)] = packed_traces(keys.traced(exercise, check))
    keys.note_size(exercise, sum(map(len, files.values())))
    return files


def measured(exercise: Exercise, keys: Keys) -> KeySize:
    """Return the size of an exercise's key in a kit, which is made unless its size is known."""
    known = keys.known_size(exercise)
    size = KeySize(known if known is not None else sum(map(len, packed(exercise, keys).values())))
    if size >= WARNED_SHARE * MOST_KEY_BYTES:
        size.largest = _largest(exercise, keys)
    return size


def _largest(exercise: Exercise, keys: Keys) -> tuple[tuple[str, int], ...]:
    """Return the largest checks, as if a key held nothing but one of them."""
    key = keys.get(exercise)
    sizes = {
        check.id: len(packed_key(_only(key, check.id))) + len(packed_traces(keys.traced(exercise, check)))
        for check in keys.suite.checks[exercise.id]
    }
    return tuple(sorted(sizes.items(), key=lambda item: -item[1])[:MOST_NAMED])


def _only(key: AnswerKey, check: str) -> AnswerKey:
    """Return what a key holds for one check."""
    reference = {at: expected for at, expected in key.reference.items() if at[0] == check}
    outcomes = ({at: one for at, one in wrong.outcomes.items() if at[0] == check} for wrong in key.misconceptions)
    wrongs = (replace(wrong, outcomes=own) for wrong, own in zip(key.misconceptions, outcomes, strict=True))
    return AnswerKey(reference, tuple(wrongs))


def known_sizes(course: Course, exercises: Sequence[Exercise]) -> dict[str, int | None]:
    """Return the sizes in bytes of the answer keys in a kit by exercise; None for one that was not measured.

    In a kit they are those of its files.
    """
    if is_kit(course):
        folders = {exercise.id: (course.root / key_file(exercise)).parent for exercise in exercises}
        return {id_: sum(file.stat().st_size for file in folder.glob("*.xz")) for id_, folder in folders.items()}
    with Keys(load_suite(course, exercises), seed=course.seed) as keys:
        return {exercise.id: keys.known_size(exercise) for exercise in exercises}


def problem_of(exercise: str, size: int | None) -> str | None:
    """Return a sentence for a key that is too large for a kit."""
    if size is None or size <= MOST_KEY_BYTES:
        return None
    return f"the answer key of {exercise} has {of_budget(size)}, so `course release` refuses it{_named(size)}; {REMEDY}"


def warning_of(exercise: str, size: int | None) -> str | None:
    """Return a sentence for a key that fills its budget, or nearly."""
    if size is None or not WARNED_SHARE * MOST_KEY_BYTES <= size <= MOST_KEY_BYTES:
        return None
    fills = "fills" if kilobytes(size) == kilobytes(MOST_KEY_BYTES) else "nearly fills"
    return f"the answer key of {exercise} has {of_budget(size)}: it {fills} its budget{_named(size)}"


def _named(size: int) -> str:
    largest = size.largest if isinstance(size, KeySize) else ()
    listed = ", ".join(f"{check} {kilobytes(own)}" for check, own in largest)
    return f" (largest checks: {listed})" if listed else ""


def of_budget(size: int) -> str:
    """Return a size beside the budget: `92 kB of 600 kB`."""
    return f"{kilobytes(size)} of {kilobytes(MOST_KEY_BYTES)}"
