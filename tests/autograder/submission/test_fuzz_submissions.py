"""Whatever a submission contains, reading it ends in sources and notes, or in the one declared error."""

import io
import json
import os
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as some

from autograder.cli import LAYOUTS
from autograder.gradebook import commit_time, list_submissions
from autograder.submission import Caps, SubmissionError, read_submission
from autograder.submission.submission import READERS
from tests.support.fuzzing import bounded, seeds

FILES = ("ex01_embeddings.py", "ex05_attention.py")
CAPS = Caps(source_kib=1, entries=60, depth=4)


def packed() -> bytes:
    """Return a sound zip with a file of each kind, and one more zip in it."""
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr(FILES[0], b"inner = 1\n")
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FILES[0], b"one = 1\n" * 40)
        archive.writestr(f"übung/{FILES[1]}", b"two = 2\n", zipfile.ZIP_STORED)
        archive.writestr("inner.zip", inner.getvalue())
        archive.writestr("empty/", b"")
        archive.comment = b"packed by hand"
    return outer.getvalue()


def notebook() -> bytes:
    """Return a sound notebook with cells of each kind, and outputs."""
    outputs = [{"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]}]
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": ["# ex01\n", "text"]},
        {"cell_type": "code", "id": "b", "metadata": {"exercise": "ex01_embeddings"}, "source": "one = 1\n"},
        {"cell_type": "code", "id": "c", "metadata": {}, "source": [f"%%writefile {FILES[1]}\n", "two = 2\n"]},
        {"cell_type": "raw", "id": "d", "metadata": {}, "source": []},
    ]
    for cell in cells[1:3]:
        cell |= {"outputs": outputs, "execution_count": 1}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}, indent=1).encode()


COMMIT = b"tree %b\nauthor a <a> 1 +0000\ncommitter a <a> 1772409599 +0000\n\nwork\n" % (b"1" * 40)
COMMITTED = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
BASE, NAME = b"\x11" * 20, b"\x77" * 20


def pack() -> tuple[bytes, bytes]:
    """Return a pack and its index (gitformat-pack(5)): a commit as a difference to an object before it."""
    size, half = len(COMMIT), len(COMMIT) // 2
    varint = bytes([size & 0x7F | 0x80, size >> 7])
    delta = varint * 2 + bytes([0x90, half, size - half]) + COMMIT[half:]
    objects = [b"PACK" + struct.pack(">II", 2, 2)]
    objects.append(bytes([0x90 | size & 0xF, size >> 4]) + zlib.compress(COMMIT))
    second = len(b"".join(objects))
    objects.append(bytes([0xE0 | len(delta) & 0xF, len(delta) >> 4, len(objects[1])]) + zlib.compress(delta))
    fanout = b"".join(struct.pack(">I", (at >= BASE[0]) + (at >= NAME[0])) for at in range(256))
    index = b"\xfftOc" + struct.pack(">I", 2) + fanout + BASE + NAME + bytes(8) + struct.pack(">II", 12, second)
    return b"".join(objects) + bytes(20), index + bytes(40)


LOOSE: Mapping[str, bytes] = {
    "HEAD": b"ref: refs/heads/main\n",
    "refs/heads/main": f"{NAME.hex()}\n".encode(),
    f"objects/{NAME.hex()[:2]}/{NAME.hex()[2:]}": zlib.compress(b"commit %d\0" % len(COMMIT) + COMMIT),
}
PACKED: Mapping[str, bytes] = {
    "HEAD": b"ref: refs/heads/main\n",
    "packed-refs": f"# pack-refs with: peeled\n{NAME.hex()} refs/heads/main\n".encode(),
    "objects/pack/pack-1.idx": pack()[1],
    "objects/pack/pack-1.pack": pack()[0],
}

SAMPLES: Mapping[str, Callable[[], bytes]] = {
    "ada.zip": packed,
    f"ada/{FILES[1].removesuffix('.py')}.ipynb": notebook,
}
"""A sound file of each kind that submissions are read from, to be damaged."""

PIECES = (
    *(b"\0", b"\xff" * 4, b"PK\3\4", b"PK\1\2", b"PK\5\6", b"PK\6\6", b"PK\6\7", b"../", b"C:", b"/" * 300),
    *(b"null", b"{}", b"[" * 2000, b'"\\ud800"', b"1e999", b"-1", b'"cells"', b"NaN", b"\n", b'"source": 3'),
    *(b"9" * 5000, b"\xff\xfe"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def sound_or_refused(path: Path) -> None:
    """Read a submission; any exception but `SubmissionError` fails the test."""
    try:
        submission = read_submission(path, FILES, CAPS)
    except SubmissionError as error:
        messages: tuple[str, ...] = (str(error),)
    else:
        messages = submission.notes
        assert set(submission.sources) <= set(FILES)
        assert all(len(source) <= CAPS.source_bytes for source in submission.sources.values())
        assert SECRET not in submission.sources.values()
    assert all(sentence and sentence.isprintable() for sentence in messages)


def test_every_kind_of_file_that_is_read_has_a_sample_here() -> None:
    assert set(READERS) <= {Path(sample).suffix for sample in SAMPLES}


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sound_sample_is_read(folder: Path, sample: str) -> None:
    assert read_submission(put(folder, sample, SAMPLES[sample]()), FILES, CAPS).sources


@pytest.mark.long
@pytest.mark.parametrize("sample", SAMPLES)
@bounded(400)
@given(seed=seeds, changes=some.integers(1, 6))
def test_a_damaged_file_is_read_or_refused(folder: Path, sample: str, seed: int, changes: int) -> None:
    submission = put(folder, sample, damaged(Random(seed), SAMPLES[sample](), changes))
    sound_or_refused(submission)
    listed_or_refused(submission if submission.suffix else folder, None)  # a zip may be of a whole class, too


def put(folder: Path, sample: str, content: bytes) -> Path:
    """Write a sample, and return the submission it is, or is in."""
    (folder / sample).parent.mkdir(exist_ok=True)
    (folder / sample).write_bytes(content)
    return folder / Path(sample).parts[0]


def damaged(random: Random, content: bytes, changes: int) -> bytes:
    """Return some bytes with so many changes."""
    for _ in range(changes):
        at, other = sorted(random.randrange(len(content) + 1) for _ in range(2))
        match random.choice(("byte", "byte", "insert", "cut", "copy", "end")):
            case "byte":
                content = content[:at] + bytes([random.randrange(256)]) + content[at + 1 :]
            case "insert":
                content = content[:at] + random.choice(PIECES) + content[at + random.randint(0, 8) :]
            case "cut":
                content = content[:at] + content[at + random.randint(1, 40) :]
            case "copy":
                content = content[:other] + content[at:]
            case "end" if random.random() < 0.2:
                content = content[:at]
    return content


@pytest.mark.parametrize("git", [LOOSE, PACKED], ids=["loose", "packed"])
def test_the_time_of_a_sound_repository_is_read(tmp_path: Path, git: Mapping[str, bytes]) -> None:
    assert commit_time(cloned(tmp_path, git)) == COMMITTED


@bounded(300)
@given(seeds, some.integers(1, 5), some.sampled_from([LOOSE, PACKED]))
def test_a_damaged_repository_has_a_time_or_none(seed: int, changes: int, git: Mapping[str, bytes]) -> None:
    random = Random(seed)
    broken = dict(git)
    for _ in range(changes):
        name = random.choice(sorted(git))
        broken[name] = damaged(random, broken[name], 1)
        if git is LOOSE and name.startswith("objects") and random.random() < 0.5:
            broken[name] = zlib.compress(damaged(random, zlib.decompress(git[name]), changes))
    with TemporaryDirectory() as folder:
        found = commit_time(cloned(Path(folder), broken))
    assert found is None or found.tzinfo is UTC


def cloned(folder: Path, git: Mapping[str, bytes]) -> Path:
    """Write the files of a repository."""
    for name, content in git.items():
        (folder / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / ".git" / name).write_bytes(content)
    return folder


NAMES = (
    *(*FILES, "ex05_attention.PY", "Ex05_attention.py", "ex05_attention (1).py", "a.ipynb", "b.zip", "__pycache__"),
    *("lovelaceada_LATE_123_4567_ex05_attention-1.py", "anon_aB3_45_ex05_attention.py", "turing_7_8_a.zip"),
    *("a_1_text.html", "Ada Lovelace_123_assignsubmission_file", "Ada_9_assignsubmission_file_ex05_attention.py"),
    *("Participant_7_assignsubmission_file_", "class-ada", "class-alan", "timestamp.txt", "all"),
    *(".git", "__MACOSX", "venv", "übung", "\N{RIGHT-TO-LEFT OVERRIDE}x", "new\nline", "\x1b[2J", " ", "..."),
    *("a" * 200, os.fsdecode(b"\xff\xfe")),
)

TIMES = (b"2026-03-01 23:59:59 UTC", b"2026-03-29 02:30 Europe/Berlin", b"9999-12-31 23:59 +2359", b"2026-13-01 1:1")

SECRET = b"a file beside the submission"


def plant(random: Random, folder: Path, links: Sequence[Path], depth: int = 0) -> None:
    """Put anything at all into a new folder: files, folders, pipes, sockets, odd names, and links to where `links` say.

    Nothing that is there is ever opened: what was planted before may be a pipe, or a link that leads out.
    """
    folder.mkdir()
    for _ in range(random.randint(0, 5)):
        path = folder / random.choice(NAMES)
        with suppress(OSError):
            match random.choice(("file", "file", "file", "folder", "folder", "link", "pipe", "socket")):
                case "file":
                    with path.open("xb") as file:
                        file.write(random.choice((*PIECES, *TIMES)) * random.choice((0, 1, 1, 600)))
                case "folder" if depth < 6:
                    plant(random, path, links, depth + 1)
                case "link":
                    path.symlink_to(random.choice((*links, Path(), Path(".."), Path(path.name), Path(FILES[0]))))
                case "pipe":
                    os.mkfifo(path)
                case "socket":
                    with socket.socket(socket.AF_UNIX) as made:
                        made.bind(str(path))


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="pipes, sockets and any names there are on POSIX alone")
@bounded(200)
@given(seeds)
def test_any_folder_is_read_or_refused(seed: int) -> None:
    with TemporaryDirectory() as name:
        inbox = Path(name)
        (inbox / "secret.py").write_bytes(SECRET)
        os.mkfifo(inbox / "pipe")
        random, links = Random(seed), (inbox / "secret.py", inbox / "pipe", inbox)
        plant(random, inbox / "ada", links)
        sound_or_refused(inbox / "ada")
        plant(random, inbox / "class", links)
        for layout in (None, *LAYOUTS):
            listed_or_refused(inbox / "class", layout)


def listed_or_refused(folder: Path, layout: str | None) -> None:
    """List a folder of submissions and read each; any exception but `SubmissionError` fails the test."""
    try:
        found = list_submissions(folder, FILES, layout)
    except SubmissionError as error:
        messages: tuple[str, ...] = (str(error),)
    else:
        read = [entry.read(FILES, CAPS) for entry in found.entries]
        assert all(entry.stamp() for entry in found.entries)
        assert all(SECRET not in source for submission in read for source in submission.sources.values())
        messages = (*found.problems, *found.notes, *(note for submission in read for note in submission.notes))
    assert all(sentence and sentence.isprintable() for sentence in messages)
