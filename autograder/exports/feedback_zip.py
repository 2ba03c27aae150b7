"""All feedback pages in one zip, named so that Canvas or Moodle gives each to its student.

Moodle  *Upload multiple feedback files in a zip* takes NAME_PARTICIPANT_assignsubmission_file_/FILE: see
        is_valid_filename_for_import in mod/assign/feedback/file/importziplib.php.
Canvas  *Upload submissions* takes NAME_USER_ATTACHMENT_FILE, where ATTACHMENT is a file that the student handed in:
        see infer_comment_context_from_filename in app/models/abstract_assignment.rb. It shows the comment's file under
        the name of that attachment, so a page is of the same type: a zip for a zip, else comments or a text cell.
"""

import io
import json
import re
import zipfile
from pathlib import Path

from autograder.course import UsageError, replacing
from autograder.gradebook import ExportError, Graded, Mark, named
from autograder.report import plural
from autograder.submission import Clue, Upload, canvas_uploads, printable

from .feedback import feedback, markdown
from .filling import with_moodle_id
from .formats import ExportOptions, ExportResult, Format, write_each

TIME = (1980, 1, 1, 0, 0, 0)
"""The same time for every page, so that equal pages give an equal zip."""

PAGE = "feedback.html"
TYPES = (".zip", ".py", ".ipynb")
"""The types of attachments that a page can have, the best first."""


def write_archive(graded: Graded, platform: str, into: Path | None, to: Path) -> tuple[int, list[str]]:
    """Write the zip for `canvas` or `moodle`. Return the number of pages, and the students whose page has no place.

    `into` is the download of Canvas: the folder, or its submissions.zip.
    """
    if to.suffix != ".zip":
        raise ExportError(f"{printable(to)} is not the name of a zip, expected one like feedback.zip")
    if (platform == "canvas") != (into is not None):
        needs = (
            "needs --into FILE, the submissions.zip that you downloaded there" if into is None else "takes no --into"
        )
        raise UsageError(f"course export feedback --for {platform} {needs}")
    uploads = _uploads(graded, into) if into is not None else {}
    without = []
    with replacing(to) as stream, zipfile.ZipFile(stream, "w") as archive:
        for mark in graded.to_show:
            found = _canvas(graded, mark, uploads.get(mark.student)) if into is not None else _moodle(graded, mark)
            if found is None:
                without.append(mark.student)
            else:
                _add(archive, *found)
    return len(graded.to_show) - len(without), without


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, TIME), data, zipfile.ZIP_DEFLATED)


def _moodle(graded: Graded, mark: Mark) -> tuple[str, bytes] | None:
    row = with_moodle_id(mark.row)
    if not (row.lms_id.isascii() and row.lms_id.isdigit()):
        return None
    return f"{_letters(row.name)}_{row.lms_id}_assignsubmission_file_/{PAGE}", feedback(graded, mark).encode()


def _canvas(graded: Graded, mark: Mark, upload: Upload | None) -> tuple[str, bytes] | None:
    if upload is None:
        return None
    kind = Path(upload.rest).suffix.lower()
    if kind == ".zip":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            _add(archive, PAGE, feedback(graded, mark).encode())
        data = stream.getvalue()
    elif kind == ".py":
        data = "".join(f"# {line}".rstrip() + "\n" for line in markdown(graded, mark).splitlines()).encode()
    else:
        cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": markdown(graded, mark)}
        data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}).encode()
    return f"{_letters(mark.row.name)}_{upload.user}_{upload.file}_feedback{kind}", data


def _names_in(archive: Path) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def _uploads(graded: Graded, into: Path) -> dict[str, Upload]:
    """Return the attachment of each student that the page replaces: the last one of the best type."""
    try:
        names = [file.name for file in into.iterdir()] if into.is_dir() else _names_in(into)
    except (OSError, zipfile.BadZipFile):
        wanted = "the submissions.zip that Canvas gave you, or the folder with its files"
        raise ExportError(f"{printable(into)} cannot be read, expected {wanted}; download it again") from None
    best: dict[str, Upload] = {}
    for name in names:
        readings = canvas_uploads(name.rpartition("/")[2])
        if len(readings) != 1 or Path(readings[0].rest).suffix.lower() not in TYPES or not readings[0].user.isdigit():
            continue
        (upload,) = readings
        owners = graded.policy.roster.find(Clue(upload.user, name=upload.name, lms_id=upload.user)) or (upload.user,)
        if len(owners) == 1 and _rank(upload) > _rank(best.get(owners[0])):
            best[owners[0]] = upload
    return best


def _rank(upload: Upload | None) -> tuple[int, int]:
    return (-TYPES.index(Path(upload.rest).suffix.lower()), upload.file) if upload else (-len(TYPES), 0)


def _letters(name: str) -> str:
    """Return a name without `_`, digits and punctuation: both platforms read the numbers behind it."""
    return " ".join(re.sub(r"[\W\d_]+", " ", name).split()) or "student"


def _feedback(options: ExportOptions, graded: Graded) -> ExportResult:
    if options.platform is not None:
        return _archive(options, graded, options.platform)
    if options.into is not None or Path(options.to).suffix == ".zip":
        raise UsageError("course export feedback takes a zip and --into only with --for canvas or --for moodle")
    return write_each(options, graded, feedback, ".html")


def _archive(options: ExportOptions, graded: Graded, platform: str) -> ExportResult:
    pages, without = write_archive(graded, platform, options.into, Path(options.to))
    can_answer = f"no .zip, .py or .ipynb of theirs in {options.into}, and Canvas takes a page for no other file"
    reason = can_answer if options.into else "no participant number in roster.csv (lms_id)"
    notes = [f"{plural(len(without), 'page')} left out: {named(without)}; {reason}"] if without else []
    line = f"Written: {Path(options.to)}, {plural(pages, 'page')} for {platform.capitalize()}"
    return ExportResult([line], notes, len(without))


FORMATS = (Format("feedback", _feedback, options=("into", "platform"), of_a_term=True),)
