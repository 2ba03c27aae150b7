"""What a learner's code printed, made short: the same output of the trials of a check once, repeated lines counted."""

from collections.abc import Iterable
from itertools import groupby

from autograder.checks.trials import Key
from autograder.results import PrintOutput
from autograder.runner.run import Prints

MOST_TEXT = 2_000
"""Characters of one trial: 25 lines of 80 columns. A longer text is cut in its middle."""

NEWLINE = "\n"

MOST_OUTPUTS = 40
MOST_IN_ALL = 20_000
"""Characters of one exercise: more than anybody reads, and little in the file of the last report."""


def outputs_of(prints: Prints, first_failure: str | None) -> tuple[PrintOutput, ...]:
    """Return what an exercise printed: while it was imported, then in the first failing check, then in the others."""
    in_order = sorted(prints.items(), key=lambda item: (item[0] is not None, item[0] and item[0][0] != first_failure))
    outputs: list[PrintOutput] = []
    room = MOST_IN_ALL
    for (check, text), trials in _by_text(in_order).items():
        if len(outputs) == MOST_OUTPUTS or len(text) > room:
            break
        room -= len(text)
        outputs.append(PrintOutput(text, check, trials[0] + 1, len(trials)))
    return tuple(outputs)


def _by_text(prints: Iterable[tuple[Key | None, str]]) -> dict[tuple[str | None, str], list[int]]:
    """Return the trials of each check that printed the same text."""
    found: dict[tuple[str | None, str], list[int]] = {}
    for key, text in prints:
        if text.strip():
            check, trial = key or (None, 0)
            found.setdefault((check, _shortened(text)), []).append(trial)
    return found


def _shortened(text: str) -> str:
    """Return a text with each run of equal lines as one line, and without its middle if it is long."""
    lines = text.strip("\n").split("\n")
    runs = ((line, len(list(run))) for line, run in groupby(lines))
    short = "\n".join(line if count == 1 or not line.strip() else f"{line}  ({count} times)" for line, count in runs)
    if len(short) <= MOST_TEXT:
        return short
    begin, end = short[: MOST_TEXT // 2], short[-MOST_TEXT // 2 :]
    return f"{begin[: begin.rfind(NEWLINE) if NEWLINE in begin else None]}\n…\n{end[end.find(NEWLINE) + 1 :]}"
