"""A failure in the terminal: as labelled sentences, or drawn in as many lines as there is room for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from autograder.results import joined

from .escaping import ASCII, ended, one_line, printable
from .failures import (
    AGREES,
    LEGEND,
    MOST_LINES,
    RETURNED,
    Command,
    Comparison,
    FailureView,
    LocationView,
    MapPair,
    PrintPart,
    Row,
    SourceLine,
    Values,
    Witnesses,
    fitting_parts,
)
from .pictures import (
    LABEL,
    SECONDARY,
    Grid,
    Page,
    beside,
    blocks,
    breadth,
    columns,
    cut_from,
    full_blocks,
    half_blocks,
    heat_legend,
    indented,
    marks,
    next_lines,
    show_sentence,
)

# A failure as labelled sentences, one fact a line: for screen readers, narrow terminals and logs.


def show(console: Console, sentences: Iterable[str], *, are_whole: bool = False) -> None:
    """Print the sentences, one a line, in letters that every screen reader knows.

    A terminal shows a long sentence in several lines, unless they `are_whole` for a program that reads them.
    """
    for line in lines_of(sentences):
        show_sentence(console, Text(line), is_whole=are_whole)


def lines_of(sentences: Iterable[str]) -> list[str]:
    """Return the sentences, one a line, in letters that every screen reader knows."""
    return [ASCII.spell(printable(line).replace("\n", " ")) for line in sentences]


def failure_sentences(view: FailureView, most_printed: int = MOST_LINES) -> list[str]:
    """Return a check that does not pass, one fact a sentence, with at most that many lines of output."""
    sentences = [fact("Finding", view.message)]
    if view.detail:
        sentences.append(fact("Message" if view.is_quoted else "Because", one_line(" ".join(view.detail))))
    if view.misconception:
        parts = filter(None, (view.misconception.id, view.misconception.name))
        sentences.append(fact(view.misconception.label, ", ".join(parts)))
    if view.claim:
        sentences.append(fact("Check", view.claim))
    sentences += _location(view.location) if view.location else []
    sentences += evidence_sentences(view)
    sentences += print_sentences(view.prints, most_printed)
    sentences += [fact(label, hint) for label, hint in view.hints[-1:]]
    return sentences + next_sentences(view.next_commands)


def print_sentences(parts: Sequence[PrintPart], most: int = MOST_LINES) -> list[str]:
    """Return what the code printed, each line behind a label; the first of a trial says which."""
    shown, others = fitting_parts(parts, most)
    lines = []
    for part in shown:
        first, *rest = part.lines
        lines += [f"{part.label}: {first}", *(f"{part.words}: {line}" for line in rest)]
    return [*lines, *(["It printed more in other trials."] if others else [])]


def fact(label: str, text: str) -> str:
    """Return one fact behind its label."""
    return f"{label}: {ended(text)}"


def next_sentences(next_commands: Sequence[Command]) -> list[str]:
    """Return the commands to run next."""
    return [f"Next: {command}{_effect(effect)}" for command, effect in next_commands]


def _effect(effect: str) -> str:
    """Return what a command does, or what comes after it, as the end of a sentence."""
    return f"{', ' if effect.startswith('then ') else ': '}{ended(effect)}" if effect else ""


def _location(location: LocationView) -> list[str]:
    wrong = location.wrong
    code, marked = (wrong.text.strip(), wrong.marked.strip()) if wrong else ("", "")
    within = f"in {location.function}" if location.function else ""
    facts = ", ".join(filter(None, (f"{location.file} {location.line}", within, location.circumstance)))
    lines = [f"Place: {facts}: {code}" if code else f"Place: {facts}."]
    if marked and marked != code:
        lines.append(fact("Mark", f"{marked}: {location.label}") if location.label else f"Mark: {marked}")
    elif location.label:
        lines.append(fact("Mark", location.label))
    if location.agreeing:
        word = "Line" if len(location.agreeing) == 1 else "Lines"
        lines.append(f"{word} {joined([str(number) for number in location.agreeing])}: as expected.")
    return lines


def evidence_sentences(view: FailureView, *, only_wrong: bool = False) -> list[str]:
    """Return the numbers behind a failure, one fact a sentence; `only_wrong` leaves out those that are as expected."""
    lines = [f"{name}: {value}." for name, value in view.values.rows] if view.values else []
    for label, expected, yours in view.comparison.rows if view.comparison else ():
        if only_wrong and expected == yours:
            continue
        facts = f"{yours}, as expected" if expected == yours else f"expected {expected}, yours {yours}"
        lines.append(f"{view.comparison.name if view.comparison else ''} {label}: {facts}.".strip())
    if (witnesses := view.witnesses) is not None:
        axes = "" if witnesses.axes == "at" else f"{witnesses.axes} "
        within = f" ({witnesses.within.rstrip('.')})" if witnesses.within else ""
        lines += [fact("Numbers", f"{witnesses.title}{within}")] if witnesses.title else []
        lines += [f"At {axes}{at}: expected {expected}, yours {yours}." for at, expected, yours in witnesses.rows]
    return lines


# A location in the terminal: file and line, the source around it, and carets under what is wrong.

WRONG = "bold red"


def location_lines(page: Page, location: LocationView, file_path: Path | None, before: int = 2) -> list[Text]:
    """Return the file and line, and the source from `before` lines above it, with a marker."""
    where = Text.assemble(_file(page, location, file_path), page.text(location.address))
    description = location.description
    if where.cell_len + cell_len(description) + 2 > page.width and location.circumstance == RETURNED:
        description = description.removesuffix(f", {RETURNED}")  # the line itself shows that it returns
    words = page.text(description, SECONDARY)
    together = Text.assemble(where, "  " if description else "", words)
    fits = together.cell_len + 2 <= page.width
    head = page.wrap(together) if fits else [*page.wrap(where), *page.wrap(words)]
    return [*head, *_source_lines(page, location, before)]


def _file(page: Page, location: LocationView, file_path: Path | None) -> Text:
    name = page.text(location.file, Style(underline=True))
    if file_path is not None and file_path.name == location.file and page.console.is_terminal:
        name.stylize(Style(link=file_path.absolute().as_uri()))
    return name


def _source_lines(page: Page, location: LocationView, before: int) -> list[Text]:
    first = location.wrong.number - before if location.wrong else 0
    source = [line for line in location.source if line.number >= first]
    digits = max((len(str(line.number)) for line in source), default=0)
    room = page.width - digits - 7
    margin = _margin([line.text for line in source]) if any(cell_len(line.text) > room for line in source) else 0
    has_legend = not any(line.agrees for line in source)
    lines: list[Text] = []
    for line in source:
        code = page.cut(Text(line.text[margin:], "bold" if line.is_wrong else SECONDARY), room)
        if line.agrees and not has_legend and code.cell_len + 2 + len(AGREES) <= room:
            code.append_text(page.text(f"  {AGREES}", "green"))
            has_legend = True
        lines.append(_joined(_gutter(page, line, digits), code))
        if line.is_wrong:
            empty = Text.assemble(" " * (digits + 5), page.text(page.glyphs.gutter, SECONDARY))
            lines += [_joined(empty, mark) for mark in _carets(page, line, location.label, margin, room)]
    return lines if has_legend else lines + page.wrap(page.text(f"{page.glyphs.passed} {LEGEND}", "green"))


def _gutter(page: Page, line: SourceLine, digits: int) -> Text:
    mark = page.glyphs.marker if line.is_wrong else page.glyphs.passed if line.agrees else " "
    rest = page.text(f" {line.number:>{digits}} {page.glyphs.gutter}", SECONDARY)
    return Text.assemble("  ", page.text(mark, WRONG if line.is_wrong else "green" if line.agrees else ""), rest)


def _carets(page: Page, line: SourceLine, words: str, margin: int, room: int) -> list[Text]:
    """Return a line of carets under the characters that are wrong, and the label beside or below them."""
    label = page.text(words, WRONG)
    start, length = cell_len(line.text[: line.start]) - margin, cell_len(line.marked)
    if not 0 <= start < room - 3 or length < 1:
        indent = max(0, min(cell_len(line.text) - cell_len(line.text.lstrip()) - margin, room // 2))
        return _below(page, label, indent, room)
    carets = Text.assemble(" " * start, ("^" * min(length, room - start), WRONG))
    if carets.cell_len + 2 + label.cell_len <= room:
        return [Text.assemble(carets, "  " if label.plain else "", label)]
    return [carets, *_below(page, label, start, room)]


def _below(page: Page, label: Text, indent: int, room: int) -> list[Text]:
    """Return the label on lines of its own, as far right as it needs no more lines for it."""
    if not label.plain:
        return []
    start = max(0, min(indent, room - label.cell_len))
    start = start if room - start >= room // 2 else 0
    return [Text.assemble(" " * start, line) for line in label.wrap(page.console, room - start)]


def _joined(gutter: Text, code: Text) -> Text:
    line = Text.assemble(gutter, " ", code)
    line.rstrip()
    return line


def _margin(code: list[str]) -> int:
    """Return how many columns of white space all lines begin with."""
    together = "\n".join(code)
    widest = max(together.split("\n"), key=len)
    return len(widest) - max(len(line) for line in dedent(together).split("\n"))


# The maps of a failure in the terminal: both on one scale in colour; without colour, the elements to look at.

NARROWEST_WITH_MAPS = 60
_VISIBLE = 0.02  # an eye sees no difference of colour below this share of the scale


@dataclass(frozen=True)
class MapLines:
    """Maps as lines, and the caption below them."""

    lines: list[Text]
    caption: str


def map_lines(page: Page, maps: MapPair, rows: int, cell: int = 2, tall: bool = False) -> MapLines | None:
    """Return the maps in at most `rows` lines of cells, each `cell` columns wide, and a whole line high if `tall`.

    None if they would show nothing, or do not fit.
    """
    if page.width < NARROWEST_WITH_MAPS or rows < 1:
        return None
    return _in_color(page, maps, rows, cell, tall) if page.paints else _marked(page, maps, rows, " " * (cell - 1))


def _in_color(page: Page, maps: MapPair, rows: int, cell: int, tall: bool) -> MapLines | None:
    gap = 4 if page.width >= 100 else 2
    cell = cell if 2 * cell * len(maps.expected[0]) + gap + 2 <= page.width else 1
    height, width = rows if tall else 2 * rows, (page.width - 2 - gap) // (2 * cell)
    expected, yours = ([row[:width] for row in grid[:height]] for grid in (maps.expected, maps.yours))
    if not _is_visible(expected, yours, maps.largest):
        return None
    blocks = full_blocks if tall else half_blocks
    left = [page.text("expected", SECONDARY), *blocks(page, expected, maps.largest, cell)]
    right = [page.text("yours", SECONDARY), *blocks(page, yours, maps.largest, cell)]
    return _captioned(maps, beside(left, right, gap), expected, f"one scale: {heat_legend(page, expected, yours)}")


def _marked(page: Page, maps: MapPair, rows: int, gap: str) -> MapLines | None:
    if not maps.marked:
        return None
    title, words = ("where 0 is expected", "yours is not 0") if maps.leaks else ("where they differ", "differs")
    gap = gap if 2 * len(maps.marked[0]) + 1 <= page.width else ""
    part = [row[: (page.width - 2) // (1 + len(gap))] for row in maps.marked[:rows]]
    if not any(map(any, part)):
        return None
    lines = [page.text(title, SECONDARY), *marks(page, part, gap)]
    return _captioned(maps, lines, part, f"{page.glyphs.differs} {words}")


def _captioned(maps: MapPair, lines: list[Text], part: Sequence[Sequence[object]], words: str) -> MapLines:
    parts = (maps.caption, cut_from(part, maps.expected), words)
    return MapLines([indented(line, 2) for line in lines], "; ".join(filter(None, parts)))


def _is_visible(expected: Grid, yours: Grid, most: float) -> bool:
    """Return whether an eye would see a difference of colour anywhere."""
    pairs = (pair for rows in zip(expected, yours, strict=True) for pair in zip(*rows, strict=True))
    return any(
        (one is None) != (other is None)
        or (one is not None and other is not None and abs(one - other) > _VISIBLE * most)
        for one, other in pairs
    )


# The evidence of a failure in the terminal: a table that drops columns on a narrow page, maps, single elements.

_FEWEST = 3  # columns; a table with less room is turned on its side
_BROAD = 60  # a narrower page has no mean and std unless they are the telling row
_LONGEST_NAME = 12  # a longer name stands above the table
_TELLING_RATIOS = (0.01, 100)  # a ratio outside says less than the numbers


def comparison_lines(page: Page, table: Comparison) -> list[Text]:
    """Return expected above yours, a column for each row of the table; turned on its side if that is too wide."""
    rows = [row for row in table.rows if page.width >= _BROAD or row[0] not in ("mean", "std") or row is table.rows[-1]]
    while rows:
        lines = _across(page, table.name, rows)
        if breadth(lines) <= page.width:
            return lines
        if len(rows) <= _FEWEST:
            return _down(page, table.name, rows)
        rows.remove(_least_telling(rows))
    return []


def element_lines(page: Page, witnesses: Witnesses | None, maps: MapPair | None, height: int, most: int) -> list[Text]:
    """Return the maps and `most` single elements, side by side if both fit."""
    table = _witness_lines(page, witnesses, most)
    found = map_lines(page, maps, height) if maps else None
    if found is None or maps is None:
        within = witnesses.within if witnesses and table else ""
        return [*table, *page.wrap(page.text(within, SECONDARY))] if within else table
    caption = page.wrap(page.text(found.caption, SECONDARY))
    apart = 4 if page.width >= 100 else 2
    tall = len(maps.expected) <= min(len(table), height)  # so that maps and table are as high
    for cell, gap in ((2, 2), (2, 1), (1, 2)):
        flush = [line[2:] for line in _witness_lines(page, witnesses, most, gap)]
        narrower = map_lines(page, maps, height, cell, tall)
        if narrower and breadth(narrower.lines) + apart + breadth(flush) <= page.width:
            return [*beside(narrower.lines, flush, apart), *caption]
    return [*found.lines, *caption, *([Text()] if table else []), *table]


def value_lines(page: Page, values: Values) -> list[Text]:
    """Return the names and what they held, below their title."""
    rows = [[page.text(name, SECONDARY), page.text(value)] for name, value in values.rows]
    lines = [page.cut(indented(line, 4), page.width) for line in columns(rows, (False, False))]
    return [*page.wrap(page.text(values.title, SECONDARY)), *lines]


def _witness_lines(page: Page, witnesses: Witnesses | None, most: int, gap: int = 2) -> list[Text]:
    """Return single elements, one a line: index, expected, yours, and their ratio or difference."""
    if witnesses is None or most < 1:
        return []
    gaps = witnesses.gaps or ("",) * len(witnesses.rows)
    head = [page.text(word, SECONDARY) for word in (witnesses.axes, "expected", "yours", witnesses.gap)]
    rows = [
        [page.text(at), page.text(expected), page.text(yours, "" if between else WRONG), page.text(between, WRONG)]
        for (at, expected, yours), between in zip(witnesses.rows[:most], gaps, strict=False)
    ]
    for width in (4, 3) if witnesses.gaps else (3,):
        lines = columns([row[:width] for row in (head, *rows)], (True,) * width, gap)
        if breadth(lines) + 2 <= page.width:
            break
    else:
        lines = columns(_fitted(page, [row[:3] for row in (head, *rows)], page.width - 2 - 2 * gap), (True,) * 3, gap)
    return [page.cut(indented(line, 2), page.width) for line in (page.text(witnesses.title, SECONDARY), *lines)]


def _fitted(page: Page, rows: Sequence[Sequence[Text]], room: int) -> list[list[Text]]:
    """Return the rows with the cells of the widest columns cut, so that all columns fit into the room."""
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    limits, left = dict[int, int](), room
    for done, at in enumerate(sorted(range(len(widths)), key=widths.__getitem__)):
        limits[at] = min(widths[at], max(left, 0) // (len(widths) - done))
        left -= limits[at]
    return [[page.cut(cell, limits[at]) for at, cell in enumerate(row)] for row in rows]


def _across(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    inside = len(name) <= _LONGEST_NAME
    head = [page.text(word, SECONDARY) for word in (name if inside else "", *(label for label, _, _ in rows))]
    expected = [page.text("expected"), *(page.text(value) for _, value, _ in rows)]
    yours = [page.text("yours"), *(page.text(row[2], _style(row, row is rows[-1])) for row in rows)]
    remarks = [Text(), *(_remark(page, row, row is rows[-1]) for row in rows)]
    right = [False, *(_is_number(row[1]) or _is_number(row[2]) for row in rows)]
    lines = columns([head, expected, yours, remarks], right)
    title = [] if inside else [page.cut(page.text(name, SECONDARY), page.width - 2)]
    return [indented(line, 2) for line in (*title, *(lines if lines[-1].plain else lines[:-1]))]


def _least_telling(rows: Sequence[Row]) -> Row:
    """Return the row to leave out: of those after shape and dtype, and before the last, one that is the same."""
    between = rows[2:-1]
    return next((row for row in reversed(between) if row[1] == row[2]), between[-1])


def _down(page: Page, name: str, rows: Sequence[Row]) -> list[Text]:
    inside = len(name) <= _LONGEST_NAME
    title = [] if inside else [indented(page.cut(page.text(name, SECONDARY), page.width - 2), 2)]
    head = [page.text(word, SECONDARY) for word in (name if inside else "", "expected", "yours")]
    cells = [
        [
            page.text(row[0], SECONDARY),
            page.text(row[1]),
            _remark(page, row, False) if row[1] == row[2] else page.text(row[2], WRONG),
        ]
        for row in rows
    ]
    lines = [*title, *(indented(line, 2) for line in columns([head, *cells], (False, False, False)))]
    if breadth(lines) <= page.width:
        return lines
    sentences = (f"{label}: expected {expected}, yours {yours}" for label, expected, yours in rows)
    return [line for sentence in sentences for line in page.wrap(page.text(sentence))]


def _style(row: Row, telling: bool) -> str:
    return WRONG if row[1] != row[2] and (telling or not _is_number(row[1])) else ""


def _remark(page: Page, row: Row, telling: bool) -> Text:
    """Return *same*, or by how much the telling number differs; another number speaks for itself."""
    if row[1] == row[2]:
        return page.text(f"{page.glyphs.passed} same", "green")
    if not _is_number(row[1]) or not _is_number(row[2]):
        return page.text(f"{page.glyphs.failed} differs", WRONG)
    expected, yours = float(row[1]), float(row[2])
    low, high = _TELLING_RATIOS
    ratio = f"{yours / expected:.3g}" if telling and expected and low <= yours / expected <= high else "1"
    return page.text(f"× {ratio}", WRONG) if ratio != "1" else Text()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


_EXPLANATION_LINES = 5


@dataclass(frozen=True)
class ShownLines:
    """How many lines of each part of a failure are shown."""

    table: bool
    map_lines: int
    witnesses: int
    printed: int
    before: int = 2
    claim: bool = True


# The parts that say least go first: the claim, then rows of maps, then elements, then the table. Never the location.
_EXTENTS = (
    ShownLines(True, 8, 5, MOST_LINES),
    ShownLines(True, 8, 5, 5),
    ShownLines(True, 8, 5, 3),
    ShownLines(True, 8, 5, 3, before=1),
    ShownLines(True, 8, 5, 3, before=1, claim=False),
    ShownLines(True, 6, 4, 2, before=1, claim=False),
    ShownLines(True, 5, 4, 2, before=1, claim=False),
    ShownLines(True, 4, 3, 2, before=1, claim=False),
    ShownLines(True, 0, 5, 2, before=1, claim=False),
    ShownLines(True, 0, 3, 2, before=1, claim=False),
    ShownLines(False, 0, 3, 1, before=1, claim=False),
    ShownLines(False, 0, 0, 1, before=1, claim=False),
)
# A low terminal has neither table nor maps.
_BRIEF = (
    ShownLines(False, 0, 5, MOST_LINES),
    ShownLines(False, 0, 3, 5),
    ShownLines(False, 0, 5, 3),
    ShownLines(False, 0, 3, 3),
    ShownLines(False, 0, 3, 1, before=1, claim=False),
    ShownLines(False, 0, 0, 1, before=1, claim=False),
    ShownLines(False, 0, 0, 1, before=0, claim=False),
)
WHOLE = ShownLines(True, 1000, 1000, 1000)
SHORTEST = _BRIEF[-1]


def fitted_lines(page: Page, view: FailureView, file_path: Path | None, rows: int, brief: bool = False) -> list[Text]:
    """Return a failure in at most `rows` lines if that can be done; `brief` leaves out the table and the maps."""
    for extent in _BRIEF if brief else _EXTENTS:
        lines = failure_lines(page, view, file_path, extent)
        if len(lines) <= rows:
            break
    return lines


def failure_lines(page: Page, view: FailureView, file_path: Path | None, extent: ShownLines) -> list[Text]:
    """Return a failure to that extent."""
    claim = page.wrap(page.text(f"Check: {view.claim}", SECONDARY)) if view.claim and extent.claim else []
    return blocks(
        (
            [*_message_lines(page, view), *_explanation_lines(page, view), *claim],
            location_lines(page, view.location, file_path, extent.before) if view.location else [],
            value_lines(page, view.values) if view.values else [],
            comparison_lines(page, view.comparison) if view.comparison and extent.table else [],
            element_lines(page, view.witnesses, view.maps, extent.map_lines, extent.witnesses),
            print_lines(page, view.prints, extent.printed),
            _hint_lines(page, view),
            next_lines(page, view.next_commands),
        )
    )


def _message_lines(page: Page, view: FailureView) -> list[Text]:
    """Return the opening in bold, and the rest of the message on a line of its own if that takes no more room."""
    sentences = [page.text(view.opening, "bold"), *([page.text(view.more)] if view.more else [])]
    together = page.wrap(Text(" ").join(sentences))
    separate = [line for sentence in sentences for line in page.wrap(sentence)]
    return separate if len(separate) <= len(together) else together


def _explanation_lines(page: Page, view: FailureView) -> list[Text]:
    lines = [line for text in view.explanation for line in page.wrap(page.text(text)) if line.plain]
    if len(lines) <= _EXPLANATION_LINES:
        return lines
    return [*lines[:_EXPLANATION_LINES], page.text(f"  {page.glyphs.ellipsis}")]


def print_lines(page: Page, parts: Sequence[PrintPart], most: int = MOST_LINES) -> list[Text]:
    """Return what the code printed, below where it came from, and whether it printed more."""
    shown, others = fitting_parts(parts, most)
    lines = []
    for part in shown:
        lines += page.wrap(page.text(part.label, SECONDARY))
        lines += [page.cut(page.text(f"    {line}"), page.width) for line in part.lines]
    more = page.text(f"  {page.glyphs.ellipsis} and more in other trials", SECONDARY)
    return [*lines, *([more] if others else [])]


def _hint_lines(page: Page, view: FailureView) -> list[Text]:
    """Return the newest hint."""
    if not view.hints:
        return []
    label, hint = view.hints[-1]
    return page.wrap(Text.assemble(page.text(label, LABEL), "  ", page.text(hint)))
