"""Read the `sizes` of course.toml: the columns of axis sizes that the trials of checks use."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from autograder.course.model import Columns
from autograder.course.section import Section, as_positives, as_table


def read_sizes(owner: Section) -> Columns:
    """Return one mapping from axis to size for each column of the `sizes` of a course or of a part."""
    table = owner.value("sizes", "a table of axes, like T = [7, 9]", lambda value: as_table(value) or None) or {}
    section = Section(table, (*owner.path, "sizes"), f"{owner.label} sizes".strip(), owner.problems)
    read = {name: section.value(name, "a list of integers above 0", as_positives) for name in table}
    axes = {name: sizes for name, sizes in read.items() if sizes}
    columns = Counter(map(len, axes.values())).most_common(1)[0][0] if axes else 0
    for name, sizes in axes.items():
        if len(sizes) != columns:
            section.note(name, f"{name} has {_columns(len(sizes))}, expected {columns} as most axes have")
        elif columns < 2:
            section.note(name, f"{name} has one column, expected at least two, since each check runs on two")
    _note_equal_sizes(section, axes)
    return tuple(
        {name: sizes[column] for name, sizes in axes.items() if column < len(sizes)} for column in range(columns)
    )


def _columns(count: int) -> str:
    return f"{count} column{'' if count == 1 else 's'}"


def _note_equal_sizes(section: Section, axes: Mapping[str, tuple[int, ...]]) -> None:
    """Record axes of equal size in one column: a program that confuses them would have the right shapes."""
    for (one, ones), (other, others) in combinations(axes.items(), 2):
        for column, (size, same) in enumerate(zip(ones, others, strict=False), start=1):
            if size == same:
                section.note(other, f"{one} and {other} are both {size} in column {column}, expected different sizes")
