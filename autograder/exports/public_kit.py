"""The student's kit, and scripts, for platforms that grade where everybody can read: nothing else may be in them."""

import zlib
from collections.abc import Mapping
from pathlib import Path

from autograder.answer_key import file_digest, read_manifest
from autograder.course import MANIFEST, Course, is_kit, read_course, write_atomically
from autograder.gradebook import ExportError
from autograder.submission import printable

MEGABYTE = 1 << 20


def public_kit(course: Course, kit: Path) -> dict[str, bytes]:
    """Return the files of a kit by their paths below `kit/`. Raises `ExportError` if it is no unchanged kit, or leaks.

    What was put beside the files of the release is left out.
    """
    where = printable(kit)
    if not (kit / "course.toml").is_file() or not is_kit(read := read_course(kit)):
        raise ExportError(f"{where} is not a kit, expected a folder that course release wrote")
    if {exercise.id for exercise in read.exercises} - {exercise.id for exercise in course.every}:
        raise ExportError(f"{where} is the kit of another course, expected one of {course.title}")
    files = {f"kit/{MANIFEST}": (kit / MANIFEST).read_bytes()}
    for name, digest in read_manifest(kit).files.items():
        file = kit / name
        data = file.read_bytes() if file.is_file() else b""
        if file_digest(data) != digest:
            raise ExportError(f"{where}/{printable(name)} is missing or changed; run course release into a new folder")
        files[f"kit/{name}"] = data
    from autograder.authoring import examine_kit  # an application beside this one

    leaks = [leak for leak in examine_kit(course, kit) if f"kit/{leak.file}" in files]
    if leaks:
        raise ExportError(f"{leaks[0].sentence}; nothing was written")
    return files


def write_files(to: Path, files: Mapping[str, bytes | str], most: int | None = None) -> int:
    """Write files below a folder, each atomically, and return their number. Scripts can be run.

    Raises `ExportError` if they are larger than `most` bytes when packed, or `to` is a file; and OSError.
    """
    if to.exists() and not to.is_dir():
        raise ExportError(f"{printable(to)} is a file, expected a folder; name another one")
    contents = {name: text.encode() if isinstance(text, str) else text for name, text in files.items()}
    size = sum(len(zlib.compress(data)) for data in contents.values())
    if most is not None and size > most:
        found = f"the files have {size / MEGABYTE:.1f} MB when packed, and the platform takes {most / MEGABYTE:g} MB"
        raise ExportError(f"{found}; release a part of the course with course release --take")
    for name, data in contents.items():
        file = to / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, data, mode=0o755 if name.endswith(".sh") else 0o644)
    return len(contents)


# The scripts and configurations that platforms run, each in a file of its own in scripts/.

_FOLDER = Path(__file__).parent / "scripts"


def script(name: str) -> str:
    """Return the text of a file in scripts/."""
    return (_FOLDER / name).read_text("utf-8")
