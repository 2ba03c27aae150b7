"""The scripts and configurations that platforms run, each in a file of its own in scripts/."""

from pathlib import Path

_FOLDER = Path(__file__).parent / "scripts"


def script(name: str) -> str:
    """Return the text of a file in scripts/."""
    return (_FOLDER / name).read_text("utf-8")
