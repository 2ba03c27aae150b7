"""What is shown of a check that does not pass. Every renderer takes this view and adds only its layout.

The order of the fields is the order on the screen. All text is printable, and without line breaks unless it is code.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from autograder.diagnosis import to_write
from autograder.results import (
    Certainty,
    CheckResult,
    Evidence,
    ExerciseResult,
    Finding,
    Maps,
    Place,
    PrintOutput,
    Status,
    Todo,
)
from autograder.runner import warning_in

from .escaping import one_line, printable
from .pictures import Grid, greatest, where_differs, where_not_zero
from .states import STATES, Mark, function_of, has_run, message_of, plural, spoken

# The evidence of a failure as it is shown: values, a table, maps and single elements.

Row = tuple[str, str, str]
"""A label, the expected value and yours."""

_MOST_VALUES = 6
_LIKE_RATIOS = 0.01  # ratios that differ by less are one factor, up to the rounding of the numbers shown
_MOST_DECIMALS = 5  # a difference with more of them is written with an exponent
_FEW_ZEROS = 0.1  # a smaller share of expected zeros may be chance, and is no mask


@dataclass(frozen=True)
class Values:
    """Variables of the student's code and what they held, `(name, value)`."""

    title: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Comparison:
    """Measurements of one result: expected and yours. The last row is the most telling one."""

    name: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class MapPair:
    """The same slice of expected and yours.

    `marked` are the elements to look at, empty if that is none or all of them: those where 0 is expected and yours is
    another number if `leaks`, else those that differ. `largest` is the end of the common scale.
    """

    caption: str
    expected: Grid
    yours: Grid
    marked: tuple[tuple[bool, ...], ...]
    leaks: bool
    largest: float

    @property
    def size(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return len(self.expected), len(self.expected[0])


@dataclass(frozen=True)
class Witnesses:
    """Single elements that show what the message says.

    `axes` names the parts of an index, `within` the slice that it counts in. `gaps` has, for each row, the ratio or
    the difference of yours and expected, as `gap` says; both may be empty.
    """

    title: str
    axes: str
    within: str
    rows: tuple[Row, ...]
    gap: str
    gaps: tuple[str, ...]


def values(evidence: Evidence | None) -> Values | None:
    """Return the values of evidence that has nothing to compare with."""
    if evidence is None or not _has_only_values(evidence):
        return None
    rows = tuple((one_line(name), one_line(value)) for name, _, value in evidence.rows[:_MOST_VALUES])
    return Values(one_line(evidence.name), rows)


def comparison(evidence: Evidence | None, even_if_same: bool = False) -> Comparison | None:
    """Return the table of the evidence; None if nothing in it differs, unless `even_if_same`."""
    if evidence is None or not evidence.rows or _has_only_values(evidence):
        return None
    if not even_if_same and all(expected == yours for _, expected, yours in evidence.rows):
        return None
    return Comparison(one_line(evidence.name), _rows(evidence.rows))


def map_pair(maps: Maps) -> MapPair | None:
    """Return two maps that can be compared; None if they differ in shape, are empty, or look the same."""
    sizes = {len(row) for grid in (maps.expected, maps.yours) for row in grid}
    if maps.expected == maps.yours or not len(maps.expected) == len(maps.yours) > 0 or len(sizes) != 1 or sizes == {0}:
        return None
    leaking = where_not_zero(maps.expected, maps.yours)
    leaks = sum(map(sum, leaking)) > _FEW_ZEROS * sum(map(len, leaking))
    marked = leaking if leaks else where_differs(maps.expected, maps.yours)
    is_telling = any(map(any, marked)) and not all(map(all, marked))
    return MapPair(
        caption=one_line(maps.caption).rstrip("."),
        expected=maps.expected,
        yours=maps.yours,
        marked=tuple(map(tuple, marked)) if is_telling else (),
        leaks=leaks,
        largest=greatest(maps.expected, maps.yours),
    )


def witnesses(evidence: Evidence) -> Witnesses | None:
    """Return the single elements of the evidence that differ as far as they are shown."""
    differing = [row for row in evidence.witnesses if row[1] != row[2]]
    if not differing or _has_only_values(evidence):
        return None
    gap, gaps = gap_of(differing)
    within = one_line(evidence.maps.caption) if evidence.maps and _is_within_slice(evidence) else ""
    rows = _rows(differing)
    return Witnesses(one_line(evidence.witness_title), one_line(evidence.axes), within, rows, gap, tuple(gaps))


def gap_of(rows: Sequence[Row]) -> tuple[str, list[str]]:
    """Return `ratio` or `diff`, and its value for each row: a ratio if all rows have the same one.

    Nothing for what cannot be subtracted, and for whole numbers, which count or name something.
    """
    if not any("." in text or "e" in text for _, *pair in rows for text in pair):
        return "", []
    pairs = [(_decimal(expected), _decimal(yours)) for _, expected, yours in rows]
    numbers = [(expected, yours) for expected, yours in pairs if expected is not None and yours is not None]
    if not numbers or len(numbers) < len(pairs):
        return "", []
    ratios = [float(yours / expected) for expected, yours in numbers if expected]
    if len(ratios) == len(pairs) > 1 and max(ratios) - min(ratios) <= _LIKE_RATIOS * abs(max(ratios, key=abs)):
        return "ratio", [f"{ratio or 0:.3g}" for ratio in ratios]
    decimals = max(map(_decimals, numbers))
    form = f"+.{decimals}f" if decimals <= _MOST_DECIMALS else "+.3g"
    return "diff", [format(yours - expected, form) for expected, yours in numbers]


def _has_only_values(evidence: Evidence) -> bool:
    return bool(evidence.rows) and not any(expected for _, expected, _ in evidence.rows)


def _is_within_slice(evidence: Evidence) -> bool:
    """Return whether the index of an element counts in one slice of many, the one that the maps show."""
    shape = next((expected for label, expected, _ in evidence.rows if label == "shape"), "")
    one_of_many = evidence.maps is not None and "," in evidence.maps.caption
    return one_of_many and shape.count(",") > 1 and all(at.count(",") == 1 for at, _, _ in evidence.witnesses)


def _rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple((one_line(label), one_line(expected), one_line(yours)) for label, expected, yours in rows)


def _decimals(pair: tuple[Decimal, Decimal]) -> int:
    """Return the decimals of a difference: four digits of the larger number, and no more than that number shows."""
    shown = max(len(f"{number:f}".partition(".")[2]) for number in pair)
    return max(min(3 - max(pair, key=abs).adjusted(), shown), 0)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


# Where a finding points: the file, the line, the source around it, and the characters that are wrong.

BEFORE, AFTER = 2, 1
"""Lines of source shown around the one that is wrong."""

AGREES = "agrees with what is expected"
LEGEND = f"marks a line that {AGREES}"
RETURNED = "returned here"
RAISED = "raised here"
PROBABLY = "probably here"
PROBABLY_INSIDE = "probably in this function"
SILENT = "raises nothing"
WITHOUT_RETURN = "returns nothing"
PROVED = "one change here makes the check pass"
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
class LocationView:
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


def location_of(status: Status, finding: Finding) -> LocationView | None:
    """Return where a finding points; None if that is not known."""
    place = finding.place
    if place is None:
        return None
    return LocationView(
        file=one_line(place.file),
        line=place.line_name,
        address=f":{place.line}" if place.cell is None else f", {place.line_name}",
        function=function_of(finding),
        circumstance=_circumstance(status, finding),
        label=one_line(finding.label or ""),
        source=_source(finding, place),
    )


def _circumstance(status: Status, finding: Finding) -> str:
    """Return what happened at the place, or that the mistake is probably there; nothing if neither is known."""
    if finding.certainty is Certainty.SHOWN:
        return PROVED
    if status == "timeout":
        return "stopped here"
    returns = status != "error" and _begins_with(finding, "return")  # a line that raised returned nothing
    if finding.kind == "exception" and finding.certainty is Certainty.DESCRIBED:
        return RAISED if status == "error" and function_of(finding) and not finding.label else ""
    if finding.certainty is Certainty.DESCRIBED and finding.label:
        return RETURNED if returns else ""
    if finding.certainty is Certainty.LIKELY and _begins_with(finding, "(?:async )?def"):
        return PROBABLY_INSIDE
    if finding.certainty is Certainty.LIKELY:
        return RETURNED if returns and not finding.label and finding.kind == "pattern" else PROBABLY
    if status == "error" and not finding.label and not finding.agrees:
        return ""  # the statement that is known to be wrong may stand before the one that raised
    if finding.evidence is None and finding.kind != "pattern" and not finding.label:
        return ""
    if _begins_with(finding, "def"):
        return {"none": WITHOUT_RETURN, "raises": SILENT}.get(finding.id, "")
    if _begins_with(finding, "raise"):
        return RAISED
    return RETURNED if returns else "" if status == "error" else "set here"


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


# What a learner's code printed, with the trial it came from, in as many lines as there is room for.
#
# Python and libraries write their warnings among what is printed: these are shown as what they are.

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
        times = f" (same text in {self.trials} trials)" if self.trials > 1 and not self.at_import else ""
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


def _apart(text: str) -> tuple[str, str]:
    """Return what the code printed, and the warnings of Python and libraries, which are written among it.

    A warning about a line of another file than the learner's, a library's whole path or a check, is shown without it.
    """
    printed: list[str] = []
    warned: list[str] = []
    is_warning = False
    for line in text.strip("\n").split("\n"):
        found = warning_in(line)
        if found is None:
            if not (is_warning and line.startswith("  ")):  # the line of the source that a warning is about
                printed.append(line)
            is_warning = False
            continue
        is_warning = True
        file, number, says = found
        is_own = file and not re.search(r"[/\\]|^test_", file)
        warned.append(f"{file}:{number}: {says}" if is_own else says)
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


# What is shown of the TODOs of an exercise that does not pass. Every renderer takes this view.

_NO_FAILURE: frozenset[Status] = frozenset({"pass", "not_started", "waits"})


@dataclass(frozen=True)
class TodoItem:
    """One TODO: the mark before it, its name, and what is known of it in words. `label` introduces the first one left.

    `is_left` says that it is still to be written.
    """

    mark: Mark
    name: str
    fact: str = ""
    label: str = ""
    is_left: bool = False

    @property
    def text(self) -> str:
        """The label, the name and the fact."""
        name = f"{self.name}," if self.is_left and self.fact else self.name
        return " ".join(filter(None, (self.label, name, self.fact)))


@dataclass(frozen=True)
class TodoView:
    """The TODOs of an exercise of which not all are complete.

    `items` has each of them once something is written. `next` is the first to write, and `message` says what to do.
    """

    items: tuple[TodoItem, ...]
    next: Todo
    message: str


def todo_view(exercise: ExerciseResult) -> TodoView | None:
    """Return the TODOs of an exercise; None if it passes, if all have code, or if they are not known."""
    statuses = {check.id: check.status for check in exercise.checks}
    open_todos = [todo for todo in exercise.todos if not _is_complete(todo, statuses)]
    if exercise.status == "pass" or not open_todos:
        return None
    begun = len(open_todos) < len(exercise.todos) or any(todo.state == "started" for todo in open_todos)
    passes = exercise.in_progress and any(check.status == "pass" for check in exercise.checks)
    message = to_write(open_todos[0], nothing_yet=not begun, passes=passes)
    return TodoView(todo_items(exercise) if begun else (), open_todos[0], one_line(message))


def todo_items(exercise: ExerciseResult) -> tuple[TodoItem, ...]:
    """Return what is known of each TODO of an exercise, in their order."""
    statuses = {check.id: check.status for check in exercise.checks}
    first = next((todo for todo in exercise.todos if not _is_complete(todo, statuses)), None)
    return tuple(_item(todo, todo is first, exercise, statuses) for todo in exercise.todos)


def _is_complete(todo: Todo, statuses: dict[str, Status]) -> bool:
    """Say whether a TODO has code. If its checks pass, its `raise` is never reached."""
    return todo.is_written or (todo.state == "started" and _all_pass(todo.checks, statuses))


def _all_pass(checks: Sequence[str], statuses: dict[str, Status]) -> bool:
    return bool(checks) and all(statuses.get(check) == "pass" for check in checks)


def _item(todo: Todo, first: bool, exercise: ExerciseResult, statuses: dict[str, Status]) -> TodoItem:
    name = one_line(todo.name)
    if not _is_complete(todo, statuses):
        if not first:
            return TodoItem("waiting", name, "not written", is_left=True)
        return TodoItem("waiting", name, todo.place.line_name, "next:" if exercise.in_progress else "to do:", True)
    passing = sum(statuses.get(check) == "pass" for check in todo.checks)
    if _all_pass(todo.checks, statuses):
        return TodoItem("passed", name, f"({plural(passing, 'check')})")
    if any(statuses.get(check, "pass") not in _NO_FAILURE for check in todo.checks):
        return TodoItem("failed", name, f"({passing} of {plural(len(todo.checks), 'check')})")
    if not todo.checks and {*statuses.values()} - {"not_started", "waits"}:  # a check of another part may judge it
        return TodoItem("waiting", name, "has code")
    return TodoItem("waiting", name, "has code, not judged yet")


Command = tuple[str, str]
"""What to type next, and what it does."""

_MOST_CHARACTERS = 1000  # of a library's message: more than any renderer shows, and quick to lay out
_SENTENCE_END = re.compile(r"(?<=[.?;:])\s+(?=[A-Z0-9])")


@dataclass(frozen=True)
class MisconceptionView:
    """The misconception that was recognised. `name` is empty if the message already says it.

    `label` is what pages call it.
    """

    id: str
    name: str
    label: str


@dataclass(frozen=True)
class FailureView:
    """A failed check, ready to be laid out; an empty part is not shown.

    `opening` is the first sentence of the message and `more` the others. `detail` explains it, in the library's own
    words if `is_quoted`. `claim` is what the check demands. `hints` are `(label, text)`, the last one is the newest.
    """

    title: str
    opening: str
    more: str
    misconception: MisconceptionView | None
    detail: tuple[str, ...]
    is_quoted: bool
    claim: str
    location: LocationView | None
    values: Values | None
    comparison: Comparison | None
    maps: MapPair | None
    witnesses: Witnesses | None
    prints: tuple[PrintPart, ...]
    hints: tuple[tuple[str, str], ...]
    next_commands: tuple[Command, ...]

    @property
    def message(self) -> str:
        """The whole message."""
        return f"{self.opening} {self.more}".strip()

    @property
    def explanation(self) -> tuple[str, ...]:
        """The lines below the message: the misconception by name, and the detail."""
        if self.misconception is None or not self.misconception.name:
            return self.detail
        name = self.misconception.name
        sentence = f"{self.misconception.label}: {name}{'' if name.endswith(('.', '?')) else '.'}"
        return (" ".join((sentence, *self.detail[:1])), *self.detail[1:])

    @property
    def brief(self) -> "FailureView":
        """The same failure with its message, its location and the first next command alone."""
        rest = dict.fromkeys(("detail", "prints", "hints"), ())
        nothing = dict.fromkeys(("misconception", "values", "comparison", "maps", "witnesses"))
        return replace(self, claim="", next_commands=self.next_commands[:1], **rest, **nothing)  # type: ignore[arg-type]


def failure_view(
    check: CheckResult,
    *,
    prints: Sequence[PrintOutput] = (),
    hints_shown: int = 1,
    next_commands: Sequence[Command] = (),
    every_measurement: bool = False,
    todos: TodoView | None = None,
) -> FailureView:
    """Return the view of a check that does not pass.

    `prints` are what the student's code printed, `hints_shown` how many hints they have seen. A table in which nothing
    differs is left out unless `every_measurement` is wanted. A check of what is not written says what to write next, if
    the `todos` of its exercise are known.
    """
    finding = check.finding
    evidence = finding.evidence if finding else None
    unwritten = todos if todos is not None and check.status == "not_started" else None
    message = unwritten.message if unwritten else message_of(check.status, finding)
    opening, *others = _SENTENCE_END.split(message, maxsplit=1)
    table, elements = comparison(evidence, every_measurement), witnesses(evidence) if evidence else None
    said = (message, *_detail(check.status, finding), *(elements.rows[0] if elements else ()))
    if evidence and elements and not table and not any(one_line(evidence.name) in text for text in said):
        elements = replace(elements, title=f"{one_line(evidence.name)}: {elements.title}")
    return FailureView(
        title=one_line(check.title),
        opening=opening,
        more=" ".join(others),
        misconception=_misconception(message, finding),
        detail=_detail(check.status, finding),
        is_quoted=finding is not None and finding.kind == "exception",
        claim=one_line(check.title) if has_run(check) and not unwritten else "",
        location=location_of(check.status, finding) if finding else None,
        values=values(evidence),
        comparison=table,
        maps=map_pair(evidence.maps) if evidence and evidence.maps else None,
        witnesses=elements,
        prints=print_parts(prints),
        hints=_hints(check, hints_shown),
        next_commands=tuple(next_commands),
    )


def _misconception(message: str, finding: Finding | None) -> MisconceptionView | None:
    if finding is None or not finding.known_as:
        return None
    name = one_line(finding.name or "")
    is_in_text = name.rstrip(".").lower() in message.lower() or (finding.detail or "").startswith(name)
    return MisconceptionView(one_line(finding.id), "" if is_in_text else name, finding.kind.capitalize())


def _detail(status: Status, finding: Finding | None) -> tuple[str, ...]:
    if finding is None:
        return ()
    detail = printable((finding.detail or "")[:_MOST_CHARACTERS]).strip("\n")
    if status == "grader_error" and not detail:
        detail = one_line(finding.message[:_MOST_CHARACTERS])
    return tuple(line.rstrip() for line in detail.split("\n") if line.strip())


def _hints(check: CheckResult, count: int) -> tuple[tuple[str, str], ...]:
    """Return the hints seen so far; none for work that has not begun or that the grader failed on.

    The first one comes without a request, so it does not say how many there are.
    """
    if STATES[check.status].mark in ("waiting", "problem"):
        return ()
    total = len(check.hints)
    shown = [one_line(hint) for hint in check.hints[: max(count, 0)]]
    return tuple((f"Hint {n} of {total}" if len(shown) > 1 else "Hint", hint) for n, hint in enumerate(shown, 1))


# A failure in a few lines of plain text, for the reports of other programs: pytest, JUnit, Gradescope, nbgrader.


def failure_text(view: FailureView) -> str:
    """Return the message, what explains it, and the location, each on lines of its own."""
    return "\n".join(filter(None, (view.message, *map(str.strip, view.explanation), _location(view))))


def _location(view: FailureView) -> str:
    location = view.location
    if location is None:
        return ""
    code = location.wrong.text.strip() if location.wrong else ""
    where = ", ".join(filter(None, (f"{location.file}{location.address}", location.description)))
    return f"{where}: {code}" if code else where
