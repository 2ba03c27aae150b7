"""Example submissions for the tests: folders, zips, and zips with a field overwritten."""

import io
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.submission import Caps, Submission, read_submission

ONE, TWO = FILES = ("ex01_embeddings.py", "ex05_attention.py")
BOTH = {ONE: b"one = 1\n", TWO: b"two = 2\n"}
LIMIT = 256 * 1024

links = pytest.mark.skipif(sys.platform == "win32", reason="making links needs a privilege on Windows")


def laid_out(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def zipped(path: Path, files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """Return a zip as bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def patched(path: Path, local: int, central: int, value: bytes) -> Path:
    """Overwrite a field in the local header of a zip's only entry, and in its table of contents."""
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", local), (b"PK\x01\x02", central)):
        at = content.index(signature) + offset
        content[at : at + len(value)] = value
    path.write_bytes(content)
    return path


def read(path: Path, caps: Caps | None = None) -> Submission:
    return read_submission(path, FILES, caps)


def noted(submission: Submission, sentence: str) -> bool:
    return any(sentence in note for note in submission.notes)
