"""What is shown of the first check that fails: finding, place, evidence, hint, in this order."""

import re
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from autograder.report.evidence import elements, evidence_table, is_alike, is_values, value_lines
from autograder.report.layout import LABEL, SECONDARY, Page, blocks
from autograder.report.place import place_lines
from autograder.report.printable import one_line, printable
from autograder.report.words import STATES, explanation, message_of, was_asked
from autograder.results.model import CheckResult, Evidence, Finding, Status

_SENTENCE_END = re.compile(r"(?<=[.?;:])\s+(?=[A-Z0-9])")
_EXPLANATION_LINES = 5


@dataclass(frozen=True)
class Extent:
    """How much of a failure is shown: so many lines of its parts.

    Without the check's claim goes a table in which everything is the same.
    """

    table: bool
    map_lines: int
    witnesses: int
    printed: int
    before: int = 2
    claim: bool = True


_EXTENTS = (
    Extent(True, 8, 5, 5),
    Extent(True, 8, 5, 3),
    Extent(True, 8, 5, 3, before=1),
    Extent(True, 8, 5, 3, before=1, claim=False),
    Extent(True, 6, 4, 2, before=1, claim=False),
    Extent(True, 5, 4, 2, before=1, claim=False),
    Extent(True, 4, 3, 2, before=1, claim=False),
    Extent(True, 0, 5, 2, before=1, claim=False),
    Extent(True, 0, 3, 2, before=1, claim=False),
    Extent(False, 0, 3, 1, before=1, claim=False),
    Extent(False, 0, 0, 1, before=1, claim=False),
)
WHOLE = Extent(True, 1000, 1000, 1000)
_BRIEF = (
    Extent(False, 0, 5, 3),
    Extent(False, 0, 3, 3),
    Extent(False, 0, 3, 1, before=1, claim=False),
    Extent(False, 0, 0, 1, before=1, claim=False),
    Extent(False, 0, 0, 1, before=0, claim=False),
)


def failure_lines(
    page: Page, check: CheckResult, file_path: Path | None, rows: int, log: str = "", hint: int = 1, brief: bool = False
) -> list[Text]:
    """Return a failure in at most that many lines, where the least telling parts can be left out for it.

    `brief` leaves out the table and the maps.
    """
    for extent in _BRIEF if brief else _EXTENTS:
        lines = extended(page, check, file_path, extent, log, hint)
        if len(lines) <= rows:
            break
    return lines


def extended(
    page: Page, check: CheckResult, file_path: Path | None, extent: Extent, log: str = "", hint: int = 1
) -> list[Text]:
    """Return a failure to that extent."""
    return blocks(
        (
            finding_lines(page, check.status, check.finding) + (claim(page, check) if extent.claim else []),
            place_lines(page, check.status, check.finding, file_path, extent.before),
            *_evidence(page, check.finding, extent),
            log_lines(page, log, extent.printed),
            hint_lines(page, check, hint),
        )
    )


def claim(page: Page, check: CheckResult) -> list[Text]:
    """Return what the check says should hold, where it was asked at all."""
    return page.wrap(page.text(f"Check: {one_line(check.title)}", SECONDARY)) if was_asked(check) else []


def finding_lines(page: Page, status: Status, finding: Finding | None) -> list[Text]:
    """Return our sentence, its first part in bold, and below it what explains it."""
    explained = [line for each in explanation(status, finding).split("\n") for line in page.wrap(page.text(each))]
    if len(explained) > _EXPLANATION_LINES:
        explained = [*explained[:_EXPLANATION_LINES], page.text(f"  {page.glyphs.ellipsis}")]
    return _message(page, message_of(status, finding)) + [line for line in explained if line.plain]


def hint_lines(page: Page, check: CheckResult, hint: int) -> list[Text]:
    """Return the hint the student is at, with how many there are; nothing where the student has yet to try."""
    if not check.hints or hint < 1 or STATES[check.status].mark in ("waiting", "problem"):
        return []
    place = min(hint, len(check.hints))
    label = page.text(f"Hint {place} of {len(check.hints)}", LABEL)
    return page.wrap(Text.assemble(label, "  ", page.text(one_line(check.hints[place - 1]))))


def log_lines(page: Page, log: str, most: int) -> list[Text]:
    """Return the last lines that the student's code printed."""
    lines = printable(log[-10_000:]).strip("\n").split("\n")
    if not log.strip():
        return []
    head = "Your code printed" if len(lines) <= most else "Your code printed, at the end"
    last = [page.cut(page.text(f"    {line}"), page.width) for line in lines[-most:]]
    return [page.text(f"  {head}", SECONDARY), *last]


def sentences_of(message: str) -> list[str]:
    """Return the first sentence of a message, and the rest where there is one."""
    return _SENTENCE_END.split(message, maxsplit=1)


def _message(page: Page, sentences: str) -> list[Text]:
    """Return our sentence, and what follows it on a line of its own where that takes no more room."""
    first, *others = map(page.text, sentences_of(sentences))
    first.stylize("bold")
    together = page.wrap(Text(" ").join([first, *others]))
    separate = [line for each in (first, *others) for line in page.wrap(each)]
    return separate if 1 < len(separate) <= len(together) else together


def _evidence(page: Page, finding: Finding | None, extent: Extent) -> tuple[list[Text], list[Text]]:
    evidence = finding.evidence if finding else None
    evidence = evidence or Evidence("")
    if is_values(evidence):
        return value_lines(page, evidence), []
    table = evidence_table(page, evidence) if extent.table and (extent.claim or not is_alike(evidence)) else []
    return table, elements(page, evidence, extent.map_lines, extent.witnesses)
