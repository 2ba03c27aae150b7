"""A pass in the terminal: what was built, pictures of what it does, and the hints left over."""

from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text

from autograder.report.exercise_summary import bonus_left
from autograder.report.grids import Grid, cut_from, greatest
from autograder.report.heat import full_blocks, half_blocks, legend, shade_range, shades
from autograder.report.layout import LABEL, SECONDARY, Page, beside, blocks, breadth, columns, indented
from autograder.report.picture_words import is_whole
from autograder.report.printable import one_line
from autograder.results.model import ExerciseResult, Picture

MOST_PICTURES, TALLEST_PICTURE = 2, 16
_AROUND = 3  # lines of a picture that are not cells: its title, what its columns are called, its caption
_LONGEST_LABEL, _LONGEST_NAME, _NARROWEST_LABEL = 12, 7, 3
_MOST_HINTS, _MOST_BONUS = 3, 2
_MOST_STACKED = 10  # rows of cells that bars are made of


def built_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return what the student has built."""
    return page.wrap(page.text(one_line(exercise.built))) if exercise.built else []


def bonus_lines(page: Page, exercise: ExerciseResult) -> list[Text]:
    """Return which bonus checks are still open, and why."""
    left = bonus_left(exercise)[:_MOST_BONUS]
    return [line for check in left for line in page.wrap(page.text(f"{page.glyphs.waiting} {check}", SECONDARY))]


def unused_lines(page: Page, unused_hints: Sequence[str]) -> list[Text]:
    """Return the hints the student did not need."""
    hints = [page.text(one_line(hint)) for hint in unused_hints[:_MOST_HINTS]]
    if not hints:
        return []
    return [page.text("  Hints you did not need", LABEL), *(page.cut(indented(hint, 4), page.width) for hint in hints)]


def picture_lines(page: Page, pictures: Sequence[Picture], rows: int) -> list[Text]:
    """Return the pictures in at most `rows` lines: side by side if they fit, and fewer if they do not."""
    whole = [picture for picture in pictures[:MOST_PICTURES] if is_whole(picture)]
    tallest = min(rows, TALLEST_PICTURE)
    if len(whole) == 2 and page.width >= 80:
        half = Page(page.console, page.glyphs, (page.width - 2) // 2)
        left, right = (one_picture(half, picture, tallest) for picture in whole)
        if max(breadth(left), breadth(right)) <= half.width and _keeps_labels(half, whole):
            return beside(left, [line[2:] for line in right], 4)
    while whole:
        height = min((rows - len(whole) + 1) // len(whole), TALLEST_PICTURE)
        if height >= _AROUND + 4:
            return blocks(one_picture(page, picture, height) for picture in whole)
        whole.pop()
    return []


def one_picture(page: Page, picture: Picture, height: int) -> list[Text]:
    """Return a picture in at most `height` lines, with its labels and its axes."""
    lines = max(height - _AROUND, 1)
    picture = _stacked(picture, min(lines, _MOST_STACKED)) if picture.bars else picture
    rows = lines if any(picture.row_labels) or not page.paints else 2 * lines
    labels = [page.cut(page.text(one_line(label)), _LONGEST_LABEL) for label in picture.row_labels[:rows]]
    start = breadth(labels) + 1 if any(picture.row_labels) else 0
    cell = _cell(picture, page.width - 2 - start)
    grid = [row[: (page.width - 2 - start) // cell] for row in picture.values[:rows]]
    title = page.cut(page.text(one_line(picture.title), "bold"), page.width - 2)
    head = _column_labels(page, picture.column_labels[: len(grid[0])], cell, start)
    lines_above = (title, *head)
    cells = _labelled(labels, _cells(page, grid, greatest(picture.values), cell, start > 0))
    below = page.wrap(page.text(_caption(page, picture, grid), SECONDARY))
    return [*(indented(line, 2) for line in (*lines_above, *cells)), *below][: max(height, _AROUND + 1)]


def _stacked(picture: Picture, rows: int) -> Picture:
    """Return bars as rows of cells, full, empty or partly full; the label of a row is the number at its middle."""
    heights = picture.values[0]
    numbers = [height for height in heights if height is not None]
    least, most = min([0.0, *numbers]), max([0.0, *numbers])
    step = (most - least) / rows or 1.0
    edges = [least + step * row for row in reversed(range(rows))]
    cells = (
        tuple(None if height is None else min(max((height - edge) / step, 0.0), 1.0) for height in heights)
        for edge in edges
    )
    return replace(picture, values=tuple(cells), row_labels=tuple(f"{edge + step / 2:.2g}" for edge in edges))


def _cells(page: Page, grid: Grid, most: float, cell: int, named: bool) -> list[Text]:
    if not page.paints:
        return shades(page, grid, cell)
    return full_blocks(page, grid, most, cell) if named else half_blocks(page, grid, most, cell)


def _labelled(labels: Sequence[Text], cells: list[Text]) -> list[Text]:
    """Return lines of cells behind the labels of their rows."""
    if not any(labels):
        return cells
    named = [*labels, *[Text()] * (len(cells) - len(labels))][: len(cells)]
    return columns(list(zip(named, cells, strict=True)), (True, False), gap=1)


def _caption(page: Page, picture: Picture, grid: Grid) -> str:
    """Return the axes, which part is shown, and the meaning of colours or shades."""
    words = ("height", "bars") if picture.bars else ("rows", "columns")
    names = zip(words, (picture.rows, picture.columns), strict=True)
    axes = ", ".join(f"{word}: {one_line(name)}" for word, name in names if name)
    scale = "" if picture.bars else _scale(page, grid)
    return "; ".join(filter(None, (axes, cut_from(grid, picture.values), scale)))


def _cell(picture: Picture, room: int) -> int:
    """Return how many columns a number takes: as many as its label needs if there is room."""
    wide = len(picture.values[0])
    longest = max((len(label) for label in picture.column_labels), default=0)
    most = max(room // wide, 1)
    if longest and most > _NARROWEST_LABEL:
        return min(most, max(longest + 1, 2), _LONGEST_NAME)
    return min(most, 2)


def _column_labels(page: Page, labels: Sequence[str], cell: int, start: int) -> list[Text]:
    if not any(labels) or cell <= _NARROWEST_LABEL:
        return []
    line = Text(" " * start)
    for label in labels:
        word = page.cut(page.text(one_line(label), SECONDARY), cell - 1)
        word.pad_right(cell - word.cell_len)
        line.append_text(word)
    line.rstrip()
    return [line]


def _scale(page: Page, grid: Grid) -> str:
    if page.paints:
        return legend(page, grid)
    least, most = shade_range(grid)
    lightest = "blank" if page.glyphs.shades[0] == " " else page.glyphs.shades[0]
    return f"{lightest} {least:.3g} to {page.glyphs.shades[-1]} {most:.3g}"


def _keeps_labels(half: Page, pictures: Sequence[Picture]) -> bool:
    """Return whether half of the page is wide enough for the labels and cells of each picture."""
    return all(
        len(picture.values[0]) * (5 if any(picture.column_labels) else 1)
        + (14 if any(picture.row_labels) or picture.bars else 2)
        <= half.width
        for picture in pictures
    )
