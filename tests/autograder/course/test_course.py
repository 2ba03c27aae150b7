"""Which values a course.toml and the files with hints may have, and the message for each mistake in one."""

import pickle
import tomllib
from pathlib import Path

import pytest

from autograder.course import Course, CourseError, Limits, find_course, read_course

COURSE = """\
title = "A course"
seed = 7

[limits]
cpu_seconds = 5

[sizes]
T = [7, 9]
K = [6, 5]

[[exercises]]
id = "ex01_embeddings"
title = "token embeddings"
points = 2.5
needs = []
forbidden = ["torch.nn.Embedding"]

[[exercises]]
id = "ex05_attention"
title = "attention"
points = 90
needs = ["ex01_embeddings"]

[[exercises]]
id = "ex06_multi_head"
title = "heads"
points = 7.50
built = "Heads side by side."
minutes = 20
"""

HINTS = "tests/exercises/hints/ex06_multi_head.toml"
TEXTS = '''\
# A comment.
[start]
"Heads.__init__" = ["Read the table of shapes.", "Begin with `self.mix = nn.Linear(`."]
split = ["Call `x.view`."]

[hints]
rows = ["Which row?", "A row of the table is a token.", """
Index the table."""]
'''


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return written(tmp_path, COURSE)


def written(folder: Path, text: str, hints: str = TEXTS) -> Course:
    (folder / "course.toml").write_text(text, encoding="utf-8")
    (folder / HINTS).parent.mkdir(parents=True, exist_ok=True)
    (folder / HINTS).write_text(hints, encoding="utf-8")
    return read_course(folder)


def mistakes(folder: Path, old: str, new: str) -> list[str]:
    """Return what is said about the course with one part of it replaced."""
    assert COURSE.count(old) == 1, f"{old!r} must name one place"
    with pytest.raises(CourseError) as caught:
        written(folder, COURSE.replace(old, new))
    return str(caught.value).splitlines()


def test_a_course_is_read_into_its_types(course: Course) -> None:
    assert (course.title, course.seed) == ("A course", 7)
    assert course.limits == Limits(cpu_seconds=5)
    assert course.sizes == ({"T": 7, "K": 6}, {"T": 9, "K": 5})
    assert course.files == ("ex01_embeddings.py", "ex05_attention.py", "ex06_multi_head.py")
    first, second, third = course.exercises
    assert first.forbidden == ("torch.nn.Embedding",)
    assert third.hints == {"rows": ("Which row?", "A row of the table is a token.", "Index the table.")}
    assert second.needs == ("ex01_embeddings",)
    assert (second.built, third.built) == (None, "Heads side by side.")
    assert (second.minutes, third.minutes) == (None, 20)
    assert (second.start, second.hints) == ({}, {})
    assert third.start == {
        "Heads.__init__": ("Read the table of shapes.", "Begin with `self.mix = nn.Linear(`."),
        "split": ("Call `x.view`.",),
    }
    assert course.questions


def test_points_are_whole_hundredths(course: Course) -> None:
    assert [exercise.points for exercise in course.exercises] == [250, 9000, 750]


@pytest.mark.parametrize(
    ("head", "shares", "expected"),
    [
        ("", (1, 1, 1), [3334, 3333, 3333]),
        ("", (1, 36, 3), [250, 9000, 750]),
        ("", ("0.025", "0.9", "0.075"), [250, 9000, 750]),
        ("points = 20\n", (2.5, 90, 7.5), [50, 1800, 150]),
        ("points = 0.07\n", (1, 1, 1), [3, 2, 2]),
        ("points = 10000\n", (1000000, 1, 1), [999998, 1, 1]),
    ],
)
def test_points_are_shares_that_are_scaled_to_the_total(
    tmp_path: Path, head: str, shares: tuple[object, ...], expected: list[int]
) -> None:
    text = head + COURSE
    for before, share in zip(("2.5", "90", "7.50"), shares, strict=True):
        text = text.replace(f"points = {before}\n", f"points = {share}\n")
    assert [exercise.points for exercise in written(tmp_path, text).exercises] == expected


def test_a_course_can_be_sent_to_another_process(course: Course) -> None:
    assert pickle.loads(pickle.dumps(course)) == course


def test_every_exercise_of_this_repository_says_what_was_built() -> None:
    course = read_course(Path(__file__).parents[3])
    assert [exercise.id for exercise in course.exercises if exercise.built is None] == []


def test_the_course_of_this_repository_can_be_read() -> None:
    course = read_course(find_course(Path(__file__).parent))
    for table, part in zip(
        tomllib.loads((course.root / "course.toml").read_text("utf-8"))["parts"], course.parts, strict=True
    ):
        assert sum(course.exercise(id_).points for id_ in part.exercises) == 100 * table["points"]


def test_course_toml_of_this_repository_is_a_table_of_contents() -> None:
    text = (find_course(Path(__file__).parent) / "course.toml").read_text("utf-8")
    entries = [entry.split("\n[[")[0].split("\n#")[0].strip() for entry in text.split("[[exercises]]\n")[1:]]
    assert max(len(entry.splitlines()) + 1 for entry in entries) <= 12
    assert len(text.splitlines()) <= 700


def test_a_byte_order_mark_and_windows_line_ends_are_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_bytes(b"\xef\xbb\xbf" + COURSE.replace("\n", "\r\n").encode())
    assert read_course(tmp_path).title == "A course"


def test_the_nearest_course_above_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "inner" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "course.toml").touch()
    assert find_course(inner) == tmp_path.resolve()
    (tmp_path / "inner" / "course.toml").touch()
    assert find_course(inner) == tmp_path.resolve() / "inner"


def test_the_working_folder_is_where_looking_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "course.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert find_course() == tmp_path.resolve()


def test_no_course_above_says_where_was_looked_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="or any folder above; go to the folder of your course") as caught:
        find_course(tmp_path)
    assert str(tmp_path.resolve()) in str(caught.value)


def test_a_course_toml_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="No such file or directory"):
        read_course(tmp_path)


def test_bad_syntax_is_reported_with_its_line(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "seed = 7", "seed 7")[0].startswith("course.toml:2: this is not TOML: Expected '='")


def test_a_file_that_ends_too_early_is_reported_at_its_last_line(tmp_path: Path) -> None:
    [found] = mistakes(tmp_path, "minutes = 20\n", "minutes = ")
    assert found.startswith(f"course.toml:{len(COURSE.splitlines())}: this is not TOML")


def test_an_encoding_other_than_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_bytes(COURSE.encode().replace(b'"heads"', b'"t\xeates"'))
    with pytest.raises(CourseError) as caught:
        read_course(tmp_path)
    assert str(caught.value) == "course.toml:26: found the byte 0xea, expected UTF-8; save the file as UTF-8"


@pytest.mark.parametrize(
    "value", ["[" * 20_000 + "]" * 20_000, "1" * 5000, "1e99999999999999999999", "2000-13-45", "nan", "1e999999"]
)
def test_values_no_reader_likes_are_mistakes_like_others(tmp_path: Path, value: str) -> None:
    with pytest.raises(CourseError):
        written(tmp_path, COURSE.replace("points = 7.50", f"points = {value}"))


TEN = 'course.toml:14: exercises "ex01_embeddings": points is "ten", expected a number above 0'
ONE_MISTAKE = [
    ('title = "A course"\n', "", "course.toml: title is missing, expected a string"),
    ('title = "A course"', 'title = " "', 'course.toml:1: title is " ", expected a string'),
    ("seed = 7", "seed = 7.5", "course.toml:2: seed is 7.5, expected an integer"),
    ("seed = 7", "seed = true", "course.toml:2: seed is true, expected an integer"),
    ("seed = 7", "seed = 7\nsizs = 1", "course.toml:3: sizs is not a known key; did you mean sizes?"),
    (
        "seed = 7",
        "seed = 7\nzebra = 1",
        "course.toml:3: zebra is not a known key; expected format, title, license, authors, seed, points, take, "
        "libraries, questions, limits, sizes, words, forbidden_groups, flags, parts, exercises, grading, play, "
        "assignments",
    ),
    (
        "seed = 7",
        'seed = 7\nlicense = "free: for all"',
        'course.toml:3: license is "free: for all", expected an identifier of spdx.org/licenses, like CC-BY-4.0 or MIT',
    ),
    (
        "seed = 7",
        'seed = 7\nauthors = ["Ada <ada@example.org>"]',
        'course.toml:3: authors is a list of 1, expected a list of names without addresses, like ["Ada Lovelace"]',
    ),
    ("[limits]\ncpu_seconds = 5\n", "limits = 5\n", "course.toml:4: limits is 5, expected a table"),
    (
        '"Heads side by side."',
        '"Two\\nlines."',
        'course.toml:28: exercises "ex06_multi_head": built is "Two\\nlines.", '
        "expected one line that says what was built",
    ),
    (
        '"Heads side by side."',
        f'"{"x" * 111}"',
        'course.toml:28: exercises "ex06_multi_head": built has 111 characters, expected at most 110',
    ),
    (
        "cpu_seconds = 5",
        "cpu_second = 5",
        "course.toml:5: limits: cpu_second is not a known key; did you mean cpu_seconds?",
    ),
    ("cpu_seconds = 5", "cpu_seconds = 0", "course.toml:5: limits: cpu_seconds is 0, expected an integer above 0"),
    (
        "cpu_seconds = 5",
        "memory_mib = 1",
        "course.toml:5: limits: memory_mib is 1, expected at least 64: Python needs that much for its own work, and "
        "right programs would fail",
    ),
    ("cpu_seconds = 5", "cpu_seconds = 1.0", "course.toml:5: limits: cpu_seconds is 1.0, expected an integer above 0"),
    (
        "T = [7, 9]\nK = [6, 5]\n",
        "",
        "course.toml:7: sizes is a table, expected a table of axes, like T = [7, 9]",
    ),
    ("T = [7, 9]", "T = 7", "course.toml:8: sizes: T is 7, expected a list of integers above 0"),
    ("T = [7, 9]", "T = [7, -9]", "course.toml:8: sizes: T is a list of 2, expected a list of integers above 0"),
    ("K = [6, 5]", "K = [6, 9]", "course.toml:9: sizes: T and K are both 9 in column 2, expected different sizes"),
    (
        "K = [6, 5]",
        "K = [6, 5]\nH = [4]",
        "course.toml:10: sizes: H has 1 column, expected 2 as most axes have",
    ),
    (
        "K = [6, 5]",
        "K = [6, 5]\n[words]\nKv = 'feature'",
        "course.toml:11: words: Kv is not in [sizes]; did you mean K?",
    ),
    (
        "K = [6, 5]",
        "K = [6, 5]\n[words]\nT = 3",
        "course.toml:11: words: T is 3, expected a word, or a list of words of which the first unused one is taken",
    ),
    (
        "K = [6, 5]",
        "K = [6, 5]\n[words]\nT = ['query', '']",
        "course.toml:11: words: T is a list of 2, expected a word, or a list of words of which the first unused one"
        " is taken",
    ),
    (
        "K = [6, 5]",
        "K = [6, 5]\n[words]\nT = ['query', 'query']",
        "course.toml:11: words: T lists a word twice, expected different words",
    ),
    (
        "K = [6, 5]",
        "K = [6, 5]\n[words]\nT = 'a position in the sequence'",
        'course.toml:11: words: T has "a position in the sequence", expected at most 24 characters',
    ),
    ("points = 2.5", 'points = "ten"', TEN),
    ("points = 2.5", "points = 0", TEN.replace('"ten"', "0")),
    ("points = 2.5", "points = -1", TEN.replace('"ten"', "-1")),
    ("points = 2.5", "points = true", TEN.replace('"ten"', "true")),
    ("points = 2.5", "points = inf", TEN.replace('"ten"', "Infinity")),
    ("points = 2.5\n", "", 'course.toml:11: exercises "ex01_embeddings": points is missing, expected a number above 0'),
    (
        "points = 2.5",
        "points = 1000001",
        'course.toml:14: exercises "ex01_embeddings": points is 1000001, expected at most 1000000',
    ),
    (
        "points = 2.5",
        "points = 1e-9",
        'course.toml:14: exercises "ex01_embeddings": points is 1E-9, which is less than 0.01 of 100 when all points '
        "are scaled to that total; use a larger number",
    ),
    ("seed = 7", "seed = 7\npoints = 0", "course.toml:3: points is 0, expected a number above 0 and at most 10000"),
    ("seed = 7", "seed = 7\npoints = 1.005", "course.toml:3: points is 1.005, expected at most two decimals"),
    ("seed = 7", 'format = "1"\nseed = 7', 'course.toml:2: format is "1", expected a whole number above 0'),
    (
        '"ex06_multi_head"',
        '"ex05_attention"',
        'course.toml:25: exercises "ex05_attention": an earlier exercise already has the id ex05_attention,'
        " choose another",
    ),
    (
        '"ex06_multi_head"',
        '"ex05_multi_head"',
        'course.toml:25: exercises "ex05_multi_head": id has the number 05, which ex05_attention has already,'
        " expected another number; rename this exercise and its files",
    ),
    (
        '"ex06_multi_head"',
        '"ex6_Heads"',
        'course.toml:25: exercises "ex6_Heads": id is "ex6_Heads", expected exNN_name in lower case,'
        " like ex05_attention",
    ),
    (
        'id = "ex06_multi_head"\n',
        "",
        "course.toml:24: exercises number 3: id is missing, expected exNN_name in lower case, like ex05_attention",
    ),
    (
        'needs = ["ex01_embeddings"]',
        'needs = ["ex01_embedding"]',
        'course.toml:22: exercises "ex05_attention": needs lists "ex01_embedding", which is not an exercise;'
        " did you mean ex01_embeddings?",
    ),
    (
        'needs = ["ex01_embeddings"]',
        'also = ["multi_head"]',
        'course.toml:22: exercises "ex05_attention": also has multi_head, which names ex06_multi_head already;'
        " choose another name",
    ),
    (
        'needs = ["ex01_embeddings"]',
        'also = ["Multi head"]',
        'course.toml:22: exercises "ex05_attention": also is a list of 1, expected a list of names in lower case,'
        " like rope",
    ),
    (
        'needs = ["ex01_embeddings"]',
        'needs = ["ex06_multi_head"]',
        'course.toml:22: exercises "ex05_attention": needs lists ex06_multi_head, a later exercise,'
        " expected earlier exercises only",
    ),
    (
        'needs = ["ex01_embeddings"]',
        'needs = ["ex05_attention"]',
        'course.toml:22: exercises "ex05_attention": needs lists ex05_attention, the exercise itself,'
        " expected earlier exercises only",
    ),
    (
        'needs = ["ex01_embeddings"]',
        'needs = "ex01_embeddings"',
        'course.toml:22: exercises "ex05_attention": needs is "ex01_embeddings", expected a list of exercise ids',
    ),
    (
        '"torch.nn.Embedding"',
        '"torch nn"',
        'course.toml:16: exercises "ex01_embeddings": forbidden lists "torch nn", expected a builtin like sorted, '
        "a module like bisect, a dotted name like math.factorial, or syntax:for",
    ),
    (
        '"torch.nn.Embedding"',
        '"Embedding"',
        'course.toml:16: exercises "ex01_embeddings": forbidden lists "Embedding", expected a builtin like sorted, '
        "a module like bisect, a dotted name like math.factorial, or syntax:for, "
        "or a package that Python does not bring along, as package:Embedding",
    ),
    (
        "minutes = 20",
        "minutes = 0.5",
        'course.toml:29: exercises "ex06_multi_head": minutes is 0.5, expected a whole number of minutes above 0',
    ),
    (
        "seed = 7",
        "seed = 7\nquestions = 1",
        "course.toml:3: questions is 1, expected true or false",
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), ONE_MISTAKE)
def test_one_mistake_is_one_sentence_with_its_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert mistakes(tmp_path, old, new) == [expected]


HINTS_MISTAKE = [
    (
        '"Which row?", ',
        "",
        f"{HINTS}:7: hints: rows has 2 hints, expected three: a question, the principle, the step",
    ),
    (
        '"Which row?"',
        '""',
        f"{HINTS}:7: hints: hint 1 of rows is empty, expected a sentence",
    ),
    (
        '"Which row?"',
        f'"{"x" * 201}"',
        f"{HINTS}:7: hints: hint 1 of rows has 201 characters, expected at most 200",
    ),
    (
        '"Which row?"',
        "3",
        f"{HINTS}:7: hints: rows is a list of 3, expected a list of three strings",
    ),
    (
        '"Heads.__init__"',
        "Heads.__init__",
        f'{HINTS}:3: start: Heads is a table, expected a list; put a name with a dot in quotes: "Heads.__init__"',
    ),
    (
        "split =",
        '"split heads" =',
        f'{HINTS}:4: start: "split heads" names no TODO, expected a function, or a method as Class.method',
    ),
    (
        '["Call `x.view`."]',
        "[]",
        f"{HINTS}:4: start: split has 0 texts, expected one to three",
    ),
    (
        '["Call `x.view`."]',
        '"Call `x.view`."',
        f'{HINTS}:4: start: split is "Call `x.view`.", expected a list of one to three strings',
    ),
    (
        "Call `x.view`.",
        " ",
        f"{HINTS}:4: start: text 1 of split is empty, expected a sentence",
    ),
    ("[hints]", "[hint]", f"{HINTS}:6: hint is not a known key; did you mean hints?"),
    ("[start]", "title = 3\n[start]", f"{HINTS}:2: title is not a known key; expected start, hints"),
    ("# A comment.", "hints 3", f"{HINTS}:1: this is not TOML: Expected '=' after a key in a key/value pair"),
]


@pytest.mark.parametrize(("old", "new", "expected"), HINTS_MISTAKE)
def test_one_mistake_in_a_file_with_hints_is_one_sentence_with_its_line(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert TEXTS.count(old) == 1
    with pytest.raises(CourseError) as caught:
        written(tmp_path, COURSE, TEXTS.replace(old, new))
    assert str(caught.value) == expected


@pytest.mark.parametrize("key", ["hints", "start"])
def test_hints_in_course_toml_are_a_mistake_that_names_their_file(tmp_path: Path, key: str) -> None:
    [found] = mistakes(tmp_path, 'built = "Heads side by side."\n', f"{key} = {{}}\n")
    expected = f"{key} is in course.toml, expected in {HINTS}; move it there, as the table [{key}]"
    assert found == f'course.toml:28: exercises "ex06_multi_head": {expected}'


def test_mistakes_in_hints_follow_those_of_course_toml(tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        written(tmp_path, COURSE.replace("seed = 7", "seed = 'x'"), TEXTS.replace('"Which row?", ', ""))
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [("course.toml", 2), (HINTS, 7)]


def test_hints_that_are_no_table_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        written(tmp_path, COURSE, "hints = 3\n")
    assert str(caught.value) == f"{HINTS}:1: hints is 3, expected a table"


def test_a_file_with_hints_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    written(tmp_path, COURSE, "")
    (tmp_path / HINTS).write_bytes(b"[hints]\n# \xea\n")
    with pytest.raises(CourseError) as caught:
        read_course(tmp_path)
    assert str(caught.value) == f"{HINTS}:2: found the byte 0xea, expected UTF-8; save the file as UTF-8"
    (tmp_path / HINTS).unlink()
    (tmp_path / HINTS).mkdir()
    with pytest.raises(CourseError, match=rf"^{HINTS}: cannot read .* \(Is a directory\); make it a file that can be"):
        read_course(tmp_path)


def test_an_exercise_may_have_no_file_with_hints(tmp_path: Path) -> None:
    written(tmp_path, COURSE)
    (tmp_path / HINTS).unlink()
    assert [(exercise.start, exercise.hints) for exercise in read_course(tmp_path).exercises] == [({}, {})] * 3


def test_words_say_what_the_axes_count_and_an_exercise_may_have_its_own(tmp_path: Path) -> None:
    text = COURSE.replace("[[exercises]]", '[words]\nT = "position"\nK = ["feature", "input"]\n\n[[exercises]]', 1)
    text = text.replace('needs = ["ex01_embeddings"]', 'needs = ["ex01_embeddings"]\nwords = { T = "query" }')
    course = written(tmp_path, text)
    assert course.words == {"T": ("position",), "K": ("feature", "input")}
    assert course.words_of(course.exercises[0]) == course.words
    assert course.words_of(course.exercises[1]) == {"T": ("query",), "K": ("feature", "input")}


def test_a_course_may_ask_no_questions(tmp_path: Path) -> None:
    assert not written(tmp_path, COURSE.replace("seed = 7", "seed = 7\nquestions = false")).questions


def test_words_may_be_left_out(course: Course) -> None:
    assert course.words == {}
    assert course.words_of(course.exercises[0]) == {}


def test_one_column_of_sizes_is_too_few(tmp_path: Path) -> None:
    found = mistakes(tmp_path, "T = [7, 9]\nK = [6, 5]", "T = [7]")
    assert found == ["course.toml:8: sizes: T has one column, expected at least two, since each check runs on two"]


@pytest.mark.parametrize("rest", ["", "exercises = []\n", "exercises = 3\n"])
def test_a_course_without_exercises_is_a_mistake(tmp_path: Path, rest: str) -> None:
    with pytest.raises(CourseError, match=r"expected at least one \[\[exercises\]\] table"):
        written(tmp_path, f'title = "A course"\nseed = 7\n{rest}[sizes]\nT = [7, 9]\n')


def test_every_mistake_is_reported_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    text = COURSE.replace("seed = 7", "seed = 'x'").replace("= 2.5", "= 'ten'").replace("K = [6, 5]", "K = [7, 5]")
    with pytest.raises(CourseError) as caught:
        written(tmp_path, text)
    assert [problem.line for problem in caught.value.problems] == [2, 9, 14]
