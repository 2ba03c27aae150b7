"""Where a finding points: the file, the line, the source around it, and the characters that are wrong."""

import re
from dataclasses import dataclass

from autograder.report.printable import one_line, printable
from autograder.results.model import Finding, Place, Status

BEFORE, AFTER = 2, 1
"""Lines of source shown around the one that is wrong."""

AGREES = "agrees with what is expected"
LEGEND = f"marks a line that {AGREES}"
RETURNED = "returned here"
RAISED = "raised here"
PROBABLY = "probably here"
SILENT = "raises nothing"
WITHOUT_RETURN = "returns nothing"
PROVED = "this line alone decides it"
_LONGEST_LINE = 500  # longer than any page is wide


@dataclass(frozen=True)
class SourceLine:
    """A line of the student's file. The characters from `start` up to `end` are wrong; none if both are equal."""

    number: int
    text: str
    is_wrong: bool = False
    agrees: bool = False
    start: int = 0
    end: int = 0

    @property
    def marked(self) -> str:
        """The characters that are wrong."""
        return self.text[self.start : self.end]


@dataclass(frozen=True)
class Location:
    """A line of a file, or of a cell of a notebook.

    `line` names it, as in `line 12` or `cell 4, line 3`, and `address` is the short form behind the file's name.
    `circumstance` says what happened there, or *probably here* if the mistake may be elsewhere; `label` says what is
    wrong.
    """

    file: str
    line: str
    address: str
    function: str
    circumstance: str
    label: str
    source: tuple[SourceLine, ...]

    @property
    def wrong(self) -> SourceLine | None:
        """The line the location points to, if its source is known."""
        return next((line for line in self.source if line.is_wrong), None)

    @property
    def agreeing(self) -> tuple[int, ...]:
        """The numbers of the lines that agree with what is expected."""
        return tuple(line.number for line in self.source if line.agrees)

    @property
    def description(self) -> str:
        """The function and what happened there."""
        function = f"in {self.function}()" if self.function else ""
        return ", ".join(filter(None, (function, self.circumstance)))


def location_of(status: Status, finding: Finding) -> Location | None:
    """Return where a finding points; None if that is not known."""
    place = finding.place
    if place is None:
        return None
    line = f"line {place.line}" if place.cell is None else f"cell {place.cell}, line {place.line}"
    return Location(
        file=one_line(place.file),
        line=line,
        address=f":{place.line}" if place.cell is None else f", {line}",
        function=function_of(finding),
        circumstance=_circumstance(status, finding),
        label=one_line(finding.label or ""),
        source=_source(finding, place),
    )


def function_of(finding: Finding) -> str:
    """Return the function a finding points into, with its class; the top level of a file has none."""
    name = one_line(finding.place.function or "") if finding.place else ""
    parts = name.split(".")
    inner = max((index for index, part in enumerate(parts) if part == "<locals>"), default=-1)
    return ".".join(part for part in parts[inner + 1 :] if not part.startswith("<"))


def _circumstance(status: Status, finding: Finding) -> str:
    """Return what happened at the place, or that the mistake is probably there; nothing if neither is known."""
    if finding.proved:
        return PROVED
    if status == "timeout":
        return "stopped here"
    if finding.kind == "exception":
        return RAISED if status == "error" and function_of(finding) else ""
    if not finding.certain:
        return RETURNED if _returns(finding) and not finding.label and finding.kind == "pattern" else PROBABLY
    if status == "error" and not finding.label and not finding.agrees:
        return ""  # the statement that is known to be wrong may stand before the one that raised
    if finding.evidence is None and finding.kind != "pattern" and not finding.label:
        return ""
    if _begins_with(finding, "def"):
        return {"none": WITHOUT_RETURN, "raises": SILENT}.get(finding.id, "")
    if _begins_with(finding, "raise"):
        return RAISED
    return RETURNED if _returns(finding) else "set here"


def _returns(finding: Finding) -> bool:
    return _begins_with(finding, "return")


def _begins_with(finding: Finding, word: str) -> bool:
    """Whether the line of a finding begins with a word of Python."""
    line = dict(finding.source).get(finding.place.line, "") if finding.place else ""
    return re.match(rf"\s*{word}\b", line) is not None


def _source(finding: Finding, place: Place) -> tuple[SourceLine, ...]:
    near = [line for line in finding.source if -BEFORE <= line[0] - place.line <= AFTER]
    while near and near[-1][0] > place.line and not near[-1][1].strip():
        near.pop()
    return tuple(
        _wrong_line(number, text, place)
        if number == place.line
        else SourceLine(number, _printable_part(text), agrees=number in finding.agrees)
        for number, text in near
    )


def _wrong_line(number: int, text: str, place: Place) -> SourceLine:
    """Return the line with the range of its wrong characters, counted in the text as it is shown."""
    shown = _printable_part(text)
    if place.column is None:
        return SourceLine(number, shown, is_wrong=True)
    column = max(place.column, 0)
    end = len(text) if place.end is None or place.end <= column else place.end  # an end on a later line is no end here
    start = min(len(_printable_part(text[:column], strip=False)), len(shown))
    return SourceLine(number, shown, True, False, start, max(start, len(_printable_part(text[:end]))))


def _printable_part(text: str, strip: bool = True) -> str:
    line = printable(text[:_LONGEST_LINE]).replace("\n", " ")
    return line.rstrip() if strip else line
