"""The text of a CSV file from another program."""

from pathlib import Path

from autograder.submission.files import printable

MOST_BYTES = 16 << 20
"""A class of 100,000 students needs less; a larger file is not a table of a class."""


def csv_text(file: Path, error: type[Exception], *, expected: str, fix: str) -> str:
    """Return the text with its byte order mark. Raises `error`; `fix` tells what to do about another encoding."""
    try:
        if file.stat().st_size > MOST_BYTES:
            raise error(f"{printable(file)} has more than {MOST_BYTES >> 20} MiB, expected {expected}")
        return file.read_bytes().decode("utf-8")
    except OSError as problem:
        raise error(f"{printable(file)} cannot be read ({problem.strerror}); expected {expected}") from None
    except ValueError:
        raise error(f"{printable(file)} is not UTF-8; {fix}") from None
