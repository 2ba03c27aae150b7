"""Every file that Python can compile can be surveyed by the worker, and the judge can use the survey."""

import ast
from collections.abc import Callable, Mapping
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from autograder.course import read_course
from autograder.diagnosis.exceptions import in_characters
from autograder.diagnosis.findings import excerpt
from autograder.judge import Grader
from autograder.protocol import statements
from autograder.results import Place
from autograder.runner import Runner
from autograder.runner.outcomes import read_survey
from autograder.worker import Sources
from autograder.worker.sources import UNREAD, compiled
from autograder.worker.syntax import outermost_loop
from tests.support import fuzzing, tiny
from tests.support.fuzzing import bounded, seeds

FORBIDDEN = ("torch.cumsum", "torch.nn.functional", "os")
NAME = "ex01_running_mean"
USUAL = read_course(tiny.REPOSITORY).usual

SOURCES = tuple(
    file.read_bytes()
    for folder in ("solutions", "tests/support/tiny_course/solutions", "autograder/worker")
    for file in sorted((tiny.REPOSITORY / folder).glob("*.py"))
)

DEEP: Mapping[str, Callable[[int], str]] = {
    "a sum": lambda depth: "x = " + "+".join(["1"] * depth),
    "brackets": lambda depth: "x = " + "[" * depth + "]" * depth,
    "brackets around a sum": lambda depth: "x = " + "(" * (depth // 50) + "+".join("1" * depth) + ")" * (depth // 50),
    "signs": lambda depth: "x = " + "-" * depth + "1",
    "not": lambda depth: "x = " + "not " * depth + "1",
    "attributes": lambda depth: "import torch\nx = torch" + ".nn" * depth,
    "calls": lambda depth: "import torch\nx = torch" + ".nn()" * depth,
    "getattr": lambda depth: "import torch\nx = " + "getattr(" * depth + "torch" + ", 'nn')" * depth,
    "subscripts": lambda depth: "x = y" + "[0]" * depth,
    "lambdas": lambda depth: "x = " + "lambda: " * depth + "1",
    "conditions": lambda depth: "x = " + "1 if y else " * depth + "2",
    "powers": lambda depth: "x = " + "2 ** " * depth + "1",
    "elif": lambda depth: "if a: pass\n" + "elif a: pass\n" * depth,
    "ifs": lambda depth: "".join(" " * at + "if a:\n" for at in range(depth)) + " " * depth + "pass",
    "functions": lambda depth: "".join(" " * at + "def f():\n" for at in range(depth)) + " " * depth + "return 1",
    "classes": lambda depth: "".join(" " * at + "class A:\n" for at in range(depth)) + " " * depth + "x = 1",
    "texts": lambda depth: "x = f'" + "{x}" * depth + "'",
    "targets": lambda depth: "x = " * depth + "1",
    "a decimal number": lambda depth: "x = " + "9" * depth * 5,
    "a hexadecimal number": lambda depth: "x = 0x" + "f" * depth * 10,
    "a long name": lambda depth: "def " + "f" * depth * 10 + "():\n    return 1",
    "many statements": lambda depth: "def f():\n" + "    x = 1\n" * depth,
}

PIECES = (
    *("\0", "\r", "\n", "\f", "\t", "\\", '"""', "'", "{", "(", ")", ":", "#", ";", "\ufeff", "\ud800", "é", "ﬁ", "𝔵"),
    *(
        "# coding: utf-7\n",
        "# coding: latin-1\n",
        "# coding: rot13\n",
        "# -*- coding: utf-16 -*-\n",
        "# coding: idna\n",
    ),
    *("+2AA-", "match x:\n case {**y}: pass\n", "lambda *a, b=1, /: 0", "x: int = 1\n", "async def f(): return 1\n"),
    *(
        "from . import x\n",
        "from .. import *\n",
        "import a.b.c as d, e\n",
        "global x\n",
        "type X = int\n",
        "return 1\n",
    ),
    *(
        "x = y = self.z = 1\n",
        "(x, *y), z[0].a = 1, 2\n",
        "x += 1\n",
        "del x\n",
        "print(f'{x!r:>{y}}')\n",
        "0_0, 1e400j\n",
    ),
)


def survey(source: bytes) -> None:
    """Assert that a file Python can compile can be surveyed, and that the judge can use its survey."""
    try:
        compiled(source, f"{NAME}.py")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return
    event = fuzzing.transmitted(
        {"event": "surveyed", **Sources({f"{NAME}.py": source}, {}).survey(NAME, FORBIDDEN, USUAL)}, fuzzing.NO_LIMITS
    )
    read = read_survey(event)
    assert UNREAD not in {why for *_, why in read.flags}
    lines = {line for numbers in read.places.values() for line in numbers} | {line for _, line in read.statements}
    for line in sorted(lines)[:: max(1, len(lines) // 3)]:
        outermost_loop(source, line)
        place = in_characters(Place(f"{NAME}.py", line, None, 1, 3), source)
        excerpt(source, place)


@pytest.mark.long
@pytest.mark.parametrize("depth", [10, 90, 150, 900, 2000, 2900])
@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_or_a_long_program_is_surveyed_where_it_can_be_compiled(kind: str, depth: int) -> None:
    survey(DEEP[kind](depth).encode())


@pytest.mark.long
@bounded(500)
@given(seeds, some.integers(0, 8), some.sampled_from(SOURCES))
def test_a_program_with_any_edits_is_surveyed_where_it_can_be_compiled(seed: int, edits: int, source: bytes) -> None:
    random = Random(seed)
    text = source.decode()
    for _ in range(edits):
        at, other = (random.randrange(len(text) + 1) for _ in range(2))
        lines = text.splitlines(keepends=True)
        match random.choice(("insert", "cut", "copy", "line", "lines")):
            case "insert":
                text = text[:at] + random.choice(PIECES) + text[at:]
            case "cut":
                text = text[:at] + text[at + random.randint(1, 30) :]
            case "copy":
                text = text[:at] + text[other : other + random.randint(1, 60)] + text[at:]
            case "line" if lines:
                lines.insert(random.randrange(len(lines)), random.choice(PIECES))
                text = "".join(lines)
            case "lines" if lines:
                lines.insert(random.randrange(len(lines)), lines.pop(random.randrange(len(lines))))
                text = "".join(lines)
    encoding = random.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "latin-1", "utf-16"))
    survey(text.encode(encoding, "surrogatepass" if encoding.startswith("utf-8") else "replace"))


@bounded(500)
@given(some.lists(some.sampled_from(PIECES) | some.text(max_size=8), max_size=8))
@example(["# coding: utf-7\n", "x = '+2AA-'\n"])
@example(["# coding: latin-1\n", "é = 'é'\n"])
def test_a_program_of_odd_pieces_is_surveyed_where_it_can_be_compiled(pieces: list[str]) -> None:
    survey("".join(pieces).encode("utf-8", "surrogatepass"))


@bounded(300)
@given(some.binary(max_size=60), some.sampled_from([b"", b"\xef\xbb\xbf", b"# coding: utf-7\n", b"\xff\xfe"]))
def test_any_bytes_are_surveyed_where_they_can_be_compiled(source: bytes, first: bytes) -> None:
    survey(first + source)


ALL_DIFFERENT = (
    *("x = 1", "x = 12", "x = 1, 2", "x = (1, 2),", "x = [1, 2]", "x = [1], 2", "x = True", "x = 1.0", "x = '1'"),
    *("x = b'1'", "x = None", "x = ...", "x = 0x1f", "x = -1", "x = not 1", "x = f(1, 2)", "x = f(1)(2)", "x = f(a=1)"),
    *(
        "x = y",
        "x = x",
        "x += 1",
        "x: int = 1",
        "x[1] = 1",
        "x.y = 1",
        "x.z = 1",
        "x = y + z",
        "x = y + y",
        "x = y - z",
    ),
    *("if x: pass", "while x: pass", "for x in y: pass", "def x(): pass", "def x(y): pass", "return x", "import x"),
    *("match x:\n case 1: pass", "match x.y:\n case 1: pass", "del x", "x = '#0,'", "x = f'{y}'", "x = ''"),
)


def test_statements_that_differ_have_hashes_that_differ() -> None:
    hashes = {source: statements(ast.parse(source))[0][0] for source in ALL_DIFFERENT}
    assert len(set(hashes.values())) == len(ALL_DIFFERENT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = y + y * z", "a = b + b * c"),
        ("x: int = 1", "y: float = 1"),
        ("match x:\n case 1: pass", "match y:\n case 2: return y"),
        ("if x:\n pass", "if y:\n y = 1"),
    ],
)
def test_a_statement_keeps_its_hash_under_other_names_types_and_bodies(one: str, other: str) -> None:
    assert statements(ast.parse(one))[0][0] == statements(ast.parse(other))[0][0]


def test_a_file_that_cannot_be_compiled_ends_in_the_error_python_has_for_it() -> None:
    with pytest.raises(SyntaxError):
        Sources({f"{NAME}.py": b"def f(:"}, {}).survey(NAME, FORBIDDEN, USUAL)


RIGHT_IN_OTHER_WAYS: Mapping[str, bytes] = {
    "a match statement": tiny.mean_with(
        "match x.dim():\n        case _:\n            return x.cumsum(dim=-1) / count"
    ).encode(),
    "a long hexadecimal number": f"{tiny.MEAN}\nENORMOUS = 0x{'f' * 5000}\n".encode(),
    "a long sum": f"{tiny.MEAN}\nMANY = {' + '.join(['1'] * 1500)}\n".encode(),
    "a declared Latin-1": f"# coding: latin-1\n{tiny.MEAN}\n# größer als vorher\n".encode("latin-1"),
}


@pytest.mark.parametrize("way", RIGHT_IN_OTHER_WAYS)
def test_a_right_program_that_once_could_not_be_surveyed_gets_every_point(
    grader: Grader, runner: Runner, way: str
) -> None:
    report = grader.grade(tiny.submitted(RIGHT_IN_OTHER_WAYS[way]), runner=runner)
    assert report.score == report.max_score


@pytest.mark.parametrize("way", RIGHT_IN_OTHER_WAYS)
def test_what_once_could_not_be_surveyed_hides_no_forbidden_name(grader: Grader, runner: Runner, way: str) -> None:
    source = RIGHT_IN_OTHER_WAYS[way] + b"\ndef unused(x):\n    return torch.cummax(x, 0)\n"
    result = tiny.result_of(grader.grade(tiny.submitted(source), runner=runner), tiny.FIRST)
    assert result.score == 0
    assert {check.finding.kind for check in result.checks if check.finding} == {"forbidden"}
