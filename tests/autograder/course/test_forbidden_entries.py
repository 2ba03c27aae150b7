"""What `forbidden` may list, and a sentence for each entry that nobody could decide."""

from pathlib import Path

import pytest

from autograder.course import CourseError, read_course
from autograder.protocol import Usual

COURSE = """
title = "A course"
seed = 1
{libraries}

[[exercises]]
id = "ex01_first"
title = "first"
points = 100
forbidden = ["{entry}"]
"""


def problem(folder: Path, entry: str, libraries: str = "") -> str:
    """Return the sentence about an entry, an empty text if it is accepted."""
    (folder / "course.toml").write_text(COURSE.format(entry=entry, libraries=libraries), "utf-8")
    try:
        read_course(folder)
    except CourseError as error:
        return str(error).partition("lists ")[2]
    return ""


ACCEPTED = [
    *("sorted", "eval", "list.sort", "str.join", "bisect", "os.path", "math.factorial", "math.*cos*", "syntax:for"),
    *("syntax:floor-division", "torch.nn.Linear", "torch.*layer_norm*", "scipy.*"),
]


@pytest.mark.parametrize("entry", ACCEPTED)
def test_an_entry_that_can_be_decided_is_accepted(tmp_path: Path, entry: str) -> None:
    assert not problem(tmp_path, entry)


def test_a_library_of_the_course_can_be_forbidden(tmp_path: Path) -> None:
    assert not problem(tmp_path, "pandas", 'libraries = ["pandas"]')
    assert problem(tmp_path, "pandas").startswith('"pandas", ')


REFUSED = {
    "sort": "did you mean list.sort?",
    "pop": "did you mean list.pop or dict.pop or set.pop?",
    "sortd": "did you mean sorted, or a package",
    "list.sorted": "did you mean list.sort?",
    "list.xyzzy": "but list has no such method",
    "int.__add__": "but an operator calls it without its name; forbid the operator, like syntax:power",
    "list.*": "expected one method of list, without *",
    "sorted.key": "but sorted is a function and has no parts; forbid sorted",
    "syntax:fro": "did you mean syntax:for?",
    "heapqq": "did you mean heapq, or a package that Python does not bring along, as package:heapqq?",
    "two words": "expected a builtin like sorted, a module like bisect",
}


@pytest.mark.parametrize("entry", REFUSED)
def test_an_entry_that_nobody_could_decide_is_a_sentence(tmp_path: Path, entry: str) -> None:
    assert problem(tmp_path, entry).startswith(f'"{entry}", {REFUSED[entry]}')


LIBRARIES = {
    'libraries = ["torch", "torch"]': "libraries lists torch twice; remove one",
    'libraries = ["math"]': "libraries lists math, which is a part of Python; remove it",
    'libraries = ["torch.nn"]': 'libraries lists "torch.nn", expected the name that `import` takes, like numpy',
    'libraries = "torch"': 'libraries is "torch", expected a list of modules, like ["torch"] or ["numpy"]',
}


@pytest.mark.parametrize("line", LIBRARIES)
def test_a_wrong_library_is_a_sentence(tmp_path: Path, line: str) -> None:
    (tmp_path / "course.toml").write_text(COURSE.format(entry="sorted", libraries=line), "utf-8")
    with pytest.raises(CourseError) as error:
        read_course(tmp_path)
    assert LIBRARIES[line] in str(error.value)


def usual(folder: Path, table: str) -> Usual:
    """Return what the programs of a course with this table use."""
    (folder / "course.toml").write_text(COURSE.format(entry="sorted", libraries="") + table, "utf-8")
    return read_course(folder).usual


def test_a_course_lists_what_its_programs_use(tmp_path: Path) -> None:
    table = '[flags]\nusual = ["math"]\n[flags.odd]\n"it is odd" = ["way:unlisted", "gc"]\n'
    assert usual(tmp_path, table) == Usual(("math",), (("it is odd", ("way:unlisted", "gc")),))
    assert usual(tmp_path, "") == Usual()


TABLES = {
    '[flags.odd]\n"it is odd" = ["way:unlited"]': '"way:unlited" is no way to reach a name, did you mean way:unlisted?',
    "[flags.odd]\na = 1": "a is 1, expected a list of entries",
    f'[flags.odd]\n{"a" * 201} = ["gc"]': "the reason has 201 characters, expected at most 200",
    "[flags]\nusuall = []": "usuall is not a known key",
}


@pytest.mark.parametrize("table", TABLES)
def test_a_wrong_list_is_a_sentence_with_its_line(tmp_path: Path, table: str) -> None:
    with pytest.raises(CourseError, match=r"course\.toml:\d+: ") as error:
        usual(tmp_path, table)
    assert TABLES[table] in str(error.value)


def test_a_course_needs_no_sizes(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(COURSE.format(entry="sorted", libraries=""), "utf-8")
    assert read_course(tmp_path).sizes == ({},)
