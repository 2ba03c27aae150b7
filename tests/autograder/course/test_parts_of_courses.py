"""Parts of a course: their points, sizes and words, and the message for each mistake in them."""

from pathlib import Path

import pytest

from autograder.course import Course, CourseError, read_course, with_sizes

COURSE = """\
title = "A course"
seed = 7

[sizes]
T = [7, 9]
K = [6, 5]

[words]
T = "position"

[[parts]]
id = "one"
title = "Small things"
points = 30

[[parts]]
id = "two"
title = "Large things"

[parts.sizes]
T = [2, 3]
G = [4, 5]

[parts.words]
G = "group"

[[exercises]]
id = "ex01_sums"
part = "one"
title = "sums"
points = 1

[[exercises]]
id = "ex02_means"
part = "one"
title = "means"
points = 2

[[exercises]]
id = "ex03_rows"
part = "two"
title = "rows"
points = 7
words = { T = "row" }
"""


def written(folder: Path, text: str) -> Course:
    (folder / "course.toml").write_text(text, encoding="utf-8")
    return read_course(folder)


def test_the_points_of_a_part_are_scaled_to_its_own_total(tmp_path: Path) -> None:
    assert [exercise.points for exercise in written(tmp_path, COURSE).exercises] == [1000, 2000, 10000]


def test_an_exercise_has_the_sizes_and_words_of_its_part(tmp_path: Path) -> None:
    course = written(tmp_path, COURSE)
    first, _, last = course.exercises
    assert course.sizes_of(first) == ({"T": 7, "K": 6}, {"T": 9, "K": 5})
    assert course.sizes_of(last) == ({"T": 2, "G": 4}, {"T": 3, "G": 5})
    assert course.words_of(first) == {"T": ("position",)}
    assert course.words_of(last) == {"T": ("row",), "G": ("group",)}


def test_other_sizes_are_given_by_part(tmp_path: Path) -> None:
    course = written(tmp_path, COURSE)
    other = tmp_path / "other.toml"
    other.write_text('[sizes]\nT = [3, 4]\n[[parts]]\nid = "two"\nsizes = { T = [8, 6], G = [9, 7] }\n', "utf-8")
    changed = with_sizes(course, other)
    assert changed.sizes_of(course.exercises[0]) == ({"T": 3}, {"T": 4})
    assert changed.sizes_of(course.exercises[2]) == ({"T": 8, "G": 9}, {"T": 6, "G": 7})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "part two has sizes of its own; add"),
        ('[[parts]]\nid = "one"\nsizes = { T = [8, 6] }\n', 'id is "one", which is not a part with sizes of its own'),
    ],
)
def test_other_sizes_must_name_the_parts_with_sizes(tmp_path: Path, text: str, expected: str) -> None:
    course = written(tmp_path, COURSE)
    other = tmp_path / "other.toml"
    other.write_text(f"[sizes]\nT = [3, 4]\n{text}", "utf-8")
    with pytest.raises(CourseError, match=expected):
        with_sizes(course, other)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'id = "ex02_means"\npart = "one"',
            'id = "ex02_means"',
            'course.toml:33: exercises "ex02_means": part is missing, expected the id of one of the [[parts]]',
        ),
        (
            'id = "ex02_means"\npart = "one"',
            'id = "ex02_means"\npart = "tow"',
            'course.toml:35: exercises "ex02_means": part is "tow", which is not one of the [[parts]]; '
            "did you mean two?",
        ),
        (
            'id = "ex01_sums"\npart = "one"',
            'id = "ex01_sums"\npart = "two"',
            'course.toml:35: exercises "ex02_means": part is one, after an exercise of two, '
            "expected the order of the [[parts]]",
        ),
        (
            "seed = 7",
            "seed = 7\npoints = 9",
            "course.toml:3: points has no effect beside [[parts]], each of which has ",
        ),
        ('id = "two"', 'id = "one"', 'course.toml:17: parts "one": an earlier part already has the id one'),
        ('id = "two"', 'id = "ex09"', 'course.toml:17: parts "ex09": id is "ex09", expected a name in lower case'),
        ("G = [4, 5]", "G = [2, 5]", 'course.toml:22: parts "two" sizes: T and G are both 2 in column 1'),
        ('G = "group"', 'K = "group"', 'course.toml:25: parts "two" words: K is not in [sizes]'),
        ('{ T = "row" }', '{ K = "row" }', 'course.toml:44: exercises "ex03_rows" words: K is not in [sizes]'),
        ("points = 30", "points = -1", 'course.toml:14: parts "one": points is -1, expected a number above 0'),
    ],
)
def test_one_mistake_is_one_sentence_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert COURSE.count(old) == 1
    with pytest.raises(CourseError) as caught:
        written(tmp_path, COURSE.replace(old, new))
    assert str(caught.value).startswith(expected)
    assert len(caught.value.problems) == 1


def test_a_part_in_a_course_without_parts_is_a_mistake(tmp_path: Path) -> None:
    exercise = '[[exercises]]\nid = "ex01_sums"\npart = "one"\ntitle = "sums"\npoints = 1\n'
    with pytest.raises(CourseError) as caught:
        written(tmp_path, f'title = "A course"\nseed = 7\n\n{exercise}')
    found = 'part is "one", which is not one of the [[parts]]; the course has none, so remove it'
    assert str(caught.value) == f'course.toml:6: exercises "ex01_sums": {found}'
