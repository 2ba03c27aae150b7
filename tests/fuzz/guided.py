"""Targets for atheris: `python tests/fuzz/guided.py frames|zips CORPUS`, with the options of libFuzzer between."""

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "autograder" / "submission")]

with atheris.instrument_imports(include=["autograder", "zipfile", "json"]):
    import json  # noqa: F401
    import zipfile  # noqa: F401

    import test_fuzz_submissions as submissions

    from autograder.comparison.float_arrays import numbers
    from autograder.protocol import Array, FrameLimits, ProtocolError, read_frame, write_frame
    from autograder.runner.outcomes import read_fault, read_survey
    from autograder.runner.traces import read_trace

LIMITS = FrameLimits(text=1 << 16, blob=1 << 16, nodes=2000)
NONSENSE = (LookupError, TypeError, ValueError, AttributeError, OverflowError)
"""The exceptions by which the judge recognises an invalid answer."""


def frames(data: bytes) -> None:
    """Read frames until the stream ends; send each value again, and read it as every type that the judge expects."""
    rest = memoryview(data)

    def read(size: int) -> bytes:
        nonlocal rest
        part, rest = rest[:size], rest[size:]
        return bytes(part)

    try:
        while (value := read_frame(read, LIMITS)) is not None:
            write_frame(value)
            for array in _arrays(value):
                numbers(array)
            for form in (read_fault, read_survey, read_trace):
                with contextlib.suppress(NONSENSE):
                    form(value)
    except ProtocolError:
        pass


def _arrays(value: object) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [array for part in parts for array in _arrays(part)]


def zips(data: bytes) -> None:
    """Read a submission from a zip."""
    path = FOLDER / "ada.zip"
    path.write_bytes(data)
    submissions.sound_or_refused(path)


TARGETS: dict[str, tuple[Callable[[bytes], None], list[bytes]]] = {
    "frames": (
        frames,
        [
            write_frame(
                {"event": "observed", "value": [Array("float32", (1, 2), b"12345678"), (1, 2.5), float("nan")]}
            ),
            write_frame({"places": {"f": [1]}, "forbidden": [], "statements": [["a", 1, 2, True]], "assignments": []}),
        ],
    ),
    "zips": (zips, [submissions.packed()]),
}

if __name__ == "__main__":
    target, seeds = TARGETS[sys.argv.pop(1)]
    for number, seed in enumerate(seeds):
        (Path(sys.argv[-1]) / f"seed-{number}").write_bytes(seed)
    with tempfile.TemporaryDirectory() as name:
        FOLDER = Path(name)
        atheris.Setup(sys.argv, target)
        atheris.Fuzz()
