"""The formats of the files that outlive a version of the engine: the only list of their numbers.

A number is raised when a file with the number before would be refused or read wrongly. A field that old readers may
ignore does not raise it. Each reader asks `problem_of`, and shows its sentence.
"""

from dataclasses import dataclass

from autograder import __version__
from autograder.protocol import FORMAT


@dataclass(frozen=True)
class Format:
    """One format: the number that is written now, the oldest that is still read, and what to do with an older one.

    `name` is the subject of its sentences, `holds` a description for the list in docs/formats.md.
    """

    name: str
    holds: str
    number: int
    upgrade: str
    oldest: int = 1

    def problem_of(self, found: object) -> str | None:
        """Return a sentence for a number that this engine does not read; None if it does."""
        if type(found) is int and self.oldest <= found <= self.number:
            return None
        numbers = f"format {self.number}" if self.oldest == self.number else f"formats {self.oldest} to {self.number}"
        reads = f"this engine (version {__version__}) reads {numbers}"
        if type(found) is not int:
            return f"{self.name} names no format, but {reads}; {self.upgrade}"
        remedy = "install a newer engine" if found > self.number else self.upgrade
        return f"{self.name} has format {found}, but {reads}; {remedy}"


COURSE = Format(
    "this course",
    "`course.toml`, hints, the checks with their language, the catalogue of misconceptions",
    1,
    "change what docs/formats.md lists, then set format in course.toml",
)
KEY = Format(
    "the answer key of this kit",
    "the answer keys of a released kit, with their manifest",
    1,
    "install the kit's own engine (pip install -e .), or take the kit anew",
)
REPORT = Format("this report", "the JSON of a report, and `run.json` of a class", 1, "grade or check again")
REFERENCE_PART = Format(
    "this reference part",
    "the compiled reference parts beside the checks",
    FORMAT,
    "`course build --force` makes it anew",
)

FORMATS = (COURSE, KEY, REPORT, REFERENCE_PART)
