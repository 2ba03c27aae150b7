"""What a learner's code printed, with the trial it came from, in as many lines as there is room for.

Python and libraries write their warnings among what is printed: these are shown as what they are.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.report.exercise_summary import spoken
from autograder.report.printable import printable
from autograder.report.quantities import plural
from autograder.results.model import PrintOutput

MOST_LINES = 10
"""Lines of output beside a verdict; `course diff` shows all of them."""

FEWEST_LINES = 5
"""With room for fewer lines, there is only what the failing check printed."""


@dataclass(frozen=True)
class PrintPart:
    """What a trial printed, or the import. `trials` printed the same; if `is_cut`, lines are left out.

    With `warns` it is what Python or a library warned of.
    """

    where: str
    lines: tuple[str, ...]
    trials: int
    at_import: bool = False
    is_cut: bool = False
    warns: bool = False

    @property
    def words(self) -> str:
        """Return what the lines are."""
        return "Python or a library warned" if self.warns else "Your code printed"

    @property
    def label(self) -> str:
        """Return the title above the lines."""
        times = f" (the same in {self.trials} trials)" if self.trials > 1 and not self.at_import else ""
        last = f", the last {plural(len(self.lines), 'line')}" if self.is_cut else ""
        return f"{self.words} {self.where}{times}{last}"


def print_parts(prints: Sequence[PrintOutput]) -> tuple[PrintPart, ...]:
    """Return all that was printed, ready to show. A trial has its number if others of its check printed more."""
    printed: dict[str, list[PrintOutput]] = {}
    warned: dict[str, list[PrintOutput]] = {}
    for output in prints:
        for by_text, text in zip((printed, warned), _apart(printable(output.text)), strict=True):
            if text:
                by_text.setdefault(text, []).append(output)
    firsts = Counter(same[0].check for same in printed.values())
    return tuple(
        PrintPart(
            _where(same[0], has_number=firsts[same[0].check] > 1 and by_text is printed),
            tuple(text.split("\n")),
            sum(output.times for output in same),
            same[0].check is None,
            warns=by_text is warned,
        )
        for by_text in (printed, warned)
        for text, same in by_text.items()
    )


_WARNING = re.compile(r"(?P<file>\S.*?):(?P<line>\d+): (?P<says>\w*Warning: .*)|\[W[^\]]*\] Warning: (?P<native>.*)")
_TRIGGERED = re.compile(r" \(Triggered internally at .*| \(function \w+\)$")


def _apart(text: str) -> tuple[str, str]:
    """Return what the code printed, and the warnings of Python and libraries, which are written among it.

    A warning about a line of another file than the learner's, which has its whole path, is shown without that line.
    """
    printed: list[str] = []
    warned: list[str] = []
    is_warning = False
    for line in text.strip("\n").split("\n"):
        found = _WARNING.fullmatch(line)
        if found is None:
            if not (is_warning and line.startswith("  ")):  # the line of the source that a warning is about
                printed.append(line)
            is_warning = False
            continue
        is_warning = True
        says = _TRIGGERED.sub("", found["says"] or f"Warning: {found['native']}")
        is_own = found["file"] and not re.search(r"[/\\]", found["file"])
        warned.append(f"{found['file']}:{found['line']}: {says}" if is_own else says)
    return "\n".join(printed).strip("\n"), "\n".join(dict.fromkeys(warned))


def fitting_parts(parts: Sequence[PrintPart], most: int) -> tuple[tuple[PrintPart, ...], bool]:
    """Return the first parts in at most that many lines, and whether to say that there are others.

    The first part of a check may be cut, and so may what the import printed; of others there is all or nothing. The
    titles of all but the first count as lines too.
    """
    shown: list[PrintPart] = []
    left, first = most, next((part for part in parts if not part.at_import), None)
    if most < FEWEST_LINES:
        parts = [part for part in (first, *parts[:1]) if part is not None][:1]
    for part in parts:
        room = max(left // 2, 1) if part.at_import and first is not None else left
        if room < 1 or (len(part.lines) > room and part is not first and not part.at_import):
            break
        kept = part.lines[-room:]
        shown.append(replace(part, lines=kept, is_cut=len(kept) < len(part.lines)))
        left -= len(kept) + 1
    return tuple(shown), len(shown) < len(parts)


def print_text(prints: Sequence[PrintOutput], check: str) -> str:
    """Return what was printed at import and in one check, as plain text."""
    parts = print_parts([output for output in prints if output.check in (None, check)])
    return "".join(f"{part.label}:\n{chr(10).join(part.lines)}\n" for part in parts)


def _where(output: PrintOutput, *, has_number: bool) -> str:
    if output.check is None:
        return "while it was imported"
    return f"in check {spoken(output.check)}" + (f", trial {output.trial}" if has_number else "")
