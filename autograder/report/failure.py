"""What is shown of the first check that fails: finding, place, evidence, hint, in this order."""

import re
from pathlib import Path
from textwrap import dedent

from rich.style import Style
from rich.text import Text

from autograder.report.evidence import evidence_table, is_values, value_lines, witness_table
from autograder.report.layout import LABEL, SECONDARY, Page, blocks, columns
from autograder.report.model import CheckResult, Evidence, Finding, Place, Status
from autograder.report.printable import one_line, printable
from autograder.report.words import STATES, circumstance, explanation, function, message_of

_SENTENCE_END = re.compile(r"(?<=[.?;:])\s+(?=[A-Z0-9])")
_EXPLANATION_LINES = 5
_LONGEST_LINE = 500  # longer than any page is wide
_LINES_BEFORE, _LINES_AFTER = 2, 1


def failure_lines(page: Page, check: CheckResult, file_path: Path | None, rows: int, log: str = "") -> list[Text]:
    """Return a failure in at most that many lines, where the least telling parts can be left out for it."""
    for witnesses, table, printed in ((5, True, 5), (3, True, 5), (0, True, 3), (0, False, 1)):
        lines = blocks(
            (
                claim(page, check) + finding_lines(page, check.status, check.finding),
                place_lines(page, check.status, check.finding, file_path),
                *_evidence(page, check.finding, table, witnesses),
                log_lines(page, log, printed),
                hint_lines(page, check),
            )
        )
        if len(lines) <= rows:
            break
    return lines


def claim(page: Page, check: CheckResult) -> list[Text]:
    """Return what the check says should hold, where it was asked at all."""
    return [] if check.status == "missing" else page.wrap(page.text(f"Check  {one_line(check.title)}", SECONDARY))


def finding_lines(page: Page, status: Status, finding: Finding | None) -> list[Text]:
    """Return our sentence, its first part in bold, and below it what explains it."""
    explained = [line for each in explanation(status, finding).split("\n") for line in page.wrap(page.text(each))]
    if len(explained) > _EXPLANATION_LINES:
        explained = [*explained[:_EXPLANATION_LINES], page.text(f"  {page.glyphs.ellipsis}")]
    return _message(page, message_of(status, finding)) + [line for line in explained if line.plain]


def place_lines(page: Page, status: Status, finding: Finding | None, file_path: Path | None) -> list[Text]:
    """Return the file and line, and the source around it with a marker."""
    if finding is None or finding.place is None:
        return []
    place = finding.place
    where = Text.assemble(_file(page, place, file_path), page.text(f":{place.line}"))
    words = [f"in {function(finding)}()" if function(finding) else "", circumstance(status, finding)]
    if any(words):
        where.append_text(page.text("  " + ", ".join(filter(None, words)), SECONDARY))
    return [*page.wrap(where), *_source(page, finding, place.line)]


def hint_lines(page: Page, check: CheckResult) -> list[Text]:
    """Return the first hint, with how many there are; nothing where the student has yet to try."""
    if not check.hints or STATES[check.status].mark in ("waiting", "problem"):
        return []
    label = page.text(f"Hint 1 of {len(check.hints)}", LABEL)
    return page.wrap(Text.assemble(label, "  ", page.text(one_line(check.hints[0]))))


def log_lines(page: Page, log: str, most: int) -> list[Text]:
    """Return the last lines that the student's code printed."""
    lines = printable(log[-10_000:]).strip("\n").split("\n")
    if not log.strip():
        return []
    head = "Your code printed" if len(lines) <= most else "Your code printed, at the end"
    last = [page.cut(page.text(f"    {line}"), page.width) for line in lines[-most:]]
    return [page.text(f"  {head}", SECONDARY), *last]


def _message(page: Page, sentences: str) -> list[Text]:
    """Return our sentence, and what follows it on a line of its own where that takes no more room."""
    first, *others = (page.text(each) for each in _SENTENCE_END.split(sentences, maxsplit=1))
    first.stylize("bold")
    together = page.wrap(Text(" ").join([first, *others]))
    separate = [line for each in (first, *others) for line in page.wrap(each)]
    return separate if 1 < len(separate) <= len(together) else together


def _file(page: Page, place: Place, file_path: Path | None) -> Text:
    name = page.text(one_line(place.file), Style(underline=True))
    if file_path is not None and file_path.name == place.file and page.console.is_terminal:
        name.stylize(Style(link=file_path.absolute().as_uri()))
    return name


def _source(page: Page, finding: Finding, line: int) -> list[Text]:
    near = [each for each in finding.source if -_LINES_BEFORE <= each[0] - line <= _LINES_AFTER]
    code = [printable(text[:_LONGEST_LINE]).replace("\n", " ").rstrip() for _, text in near]
    room = page.width - 7 - max((len(str(number)) for number, _ in near), default=0)
    if any(len(each) > room for each in code):
        code = dedent("\n".join(code)).split("\n")
    rows = []
    for (number, _), text in zip(near, code, strict=True):
        marked = number == line
        style = "bold" if marked else SECONDARY
        marker = page.text(page.glyphs.marker if marked else "", STATES["fail"].style)
        gutter = page.text(f"{number} {page.glyphs.gutter}", SECONDARY)
        rows.append([Text("  ") + marker, gutter, page.cut(Text(text, style), room)])
    return columns(rows, (False, True, False), gap=1)


def _evidence(page: Page, finding: Finding | None, table: bool, witnesses: int) -> tuple[list[Text], list[Text]]:
    evidence = finding.evidence if finding else None
    evidence = evidence or Evidence("")
    if is_values(evidence):
        return value_lines(page, evidence) if table else [], []
    return evidence_table(page, evidence) if table else [], witness_table(page, evidence.witnesses[:witnesses])
