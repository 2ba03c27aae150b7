"""Reference parts: what an author may write, how it is compiled, and that a submission cannot use it."""

import copy
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.authoring.leaks import Gate, secrets_of
from autograder.authoring.reference_parts import PartError, compile_text, stale_parts
from autograder.course import load_suite, read_course
from autograder.judge import Grader
from autograder.protocol import write_frame
from autograder.runner import Runner
from autograder.worker import sources as parts
from tests.support import tiny

COURSE = read_course(tiny.REPOSITORY)
HEAD = "import math\nimport torch\nfrom torch import nn\n\n\n"


def built(text: str) -> dict[str, Any]:
    return parts.build(tiny.part("ex01_first", HEAD + text), "ex01_first")


def called(body: str, *args: Any) -> Any:
    """Return what a function of these lines returns for `x` and `y`."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return built(f"LIMIT = 3\n\n\ndef call(x=1, y=None):\n{lines}\n")["call"](*args)


@pytest.mark.parametrize(
    ("body", "args", "result"),
    [
        ("return x + 2 * 3 - x % 4 // 2 - 2 ** 3 / 4", (7,), 10.0),
        ("if x > LIMIT and y is None:\n    return 'large'\nelif not y:\n    return 'small'\nreturn y", (4,), "large"),
        ("if x > LIMIT and y is None:\n    return 'large'\nelif not y:\n    return 'small'\nreturn y", (2, 0), "small"),
        ("if x > LIMIT or y is None:\n    return 1\nreturn 2", (2, 0), 2),
        ("y = 0\nfor i in range(x):\n    if i == 2:\n        y = y + 10\n    y = y + i\nreturn y", (4,), 16),
        ("found = []\nfor one, other in [(1, 2), (3, 4)]:\n    found.append(one * other)\nreturn found", (), [2, 12]),
        ("x, y = y, x\nreturn x, y", (1, 2), (2, 1)),
        ("a, (b, c) = x\nreturn c, b, a", ((1, (2, 3)),), (3, 2, 1)),
        ("return x[1:], x[-1], x[::2]", ([1, 2, 3],), ([2, 3], 3, [1, 3])),
        ("return 'none' if y is None else y", (1,), "none"),
        ("return f'{x} of {y}'", (1, 2), "1 of 2"),
        ("return max(x, len([1, 2])), isinstance(x, int), math.pi > LIMIT", (1,), (2, True, True)),
        ("return -x, not x, x != y, x <= 1", (1, 2), (-1, False, True, True)),
        ("pass", (), None),
    ],
)  # fmt: skip
def test_a_part_computes_what_its_source_says(body: str, args: Any, result: Any) -> None:
    assert called(body, *args) == result


CLASS = """
def _twice(x):
    return torch.add(x, x)


class Net(nn.Module):
    def __init__(self, size, rate=0.5):
        super().__init__()
        self.linear, self.rate = nn.Linear(size, size, bias=False), rate
        if size > 9:
            raise ValueError(f"{size} is more than 9")

    def forward(self, x, *, scale=1):
        return _twice(self.linear(x))
"""


def test_a_class_of_a_part_is_a_module_like_any_other() -> None:
    net = built(CLASS.replace(", *, scale=1", ""))["Net"](3)
    x = torch.randn(2, 3, requires_grad=True)
    assert torch.equal(net(x), 2 * net.linear(x))
    assert torch.autograd.grad(net(x).sum(), x)[0].shape == x.shape
    twin = copy.deepcopy(net.double())
    assert torch.equal(twin(x.double()), net(x.double()))
    assert (type(net).__name__, type(net).__module__, net.rate) == ("Net", "ex01_first", 0.5)
    assert [*net.state_dict()] == ["linear.weight"]
    with pytest.raises(ValueError, match="10 is more than 9"):
        type(net)(10)


STORE = """
class Store:
    def __init__(self, most):
        self.most, self.length = most, 0
        self.rows = None

    def update(self, rows):
        total = self.length + rows.size(0)
        if total > self.most:
            raise ValueError(f"{total} rows, but {self.most} fit")
        self.rows = rows if self.rows is None else torch.cat([self.rows, rows])
        self.length = total
        return self.rows
"""


def test_a_class_without_a_base_keeps_its_own_state_between_calls() -> None:
    kind = built(STORE)["Store"]
    one, other = kind(3), kind(3)
    one.update(torch.ones(2))
    assert torch.equal(one.update(torch.zeros(1)), torch.tensor([1.0, 1.0, 0.0]))
    assert (one.length, other.length, other.rows) == (3, 0, None)
    with pytest.raises(ValueError, match="4 rows, but 3 fit"):
        one.update(torch.ones(1))
    twin = copy.deepcopy(one)
    twin.length = 0
    assert (one.length, kind.__bases__, kind.__module__) == (3, (object,), "ex01_first")


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((), {}, "missing a required argument: 'size'"),
        ((1, 2, 3), {}, "too many positional arguments"),
        ((1,), {"speed": 2}, "unexpected keyword argument 'speed'"),
    ],
)
def test_a_part_that_is_called_wrongly_says_how(args: Any, named: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        built(CLASS.replace(", *, scale=1", ""))["Net"](*args, **named)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (CLASS, 18, "a decorator, * or ** in a definition is not supported in a reference part: name every parameter"),
        ("def f(x):\n    while x:\n        x = x - 1", 7, "the statement While"),
        ("def f(x):\n    x += 1", 7, "the statement AugAssign"),
        ("def f(x):\n    return [each for each in x]", 7, "the expression `[each for each in x]`"),
        ("def f(x):\n    return 1 < x < 2", 7, "one comparison at a time"),
        ("def f(x):\n    return lambda: x", 7, "the expression `lambda: x`"),
        ("def f(x):\n    return g(x)", 7, "the name g, which nothing above defines"),
        ("def f(x):\n    return max(*x)", 7, "* in a call"),
        ("def f(x):\n    raise TypeError('no')", 7, "raise ValueError"),
        ("def f(x):\n    x[0] = 1", 7, "assign to a name, an attribute, or a tuple"),
        ("def f(x):\n    return f'{x:.2f}'", 6, "a format or ! in an f-string"),
        ("def f(x):\n    return nn.functional.layer_norm(x, (3,))", 7, "functional.layer_norm, which an exercise"),
        ("class A(nn.Linear):\n    pass", 6, "write class X(nn.Module) or class X"),
        ("class A(nn.Module):\n    x = 1", 7, "move it into __init__"),
        ("import os\n\n\ndef f():\n    return os.name", 6, "import torch or math"),
        ("from ex09_last import f", 6, "the part of an exercise that this one needs"),
        ("for x in (1, 2):\n    pass", 6, "this statement outside of functions"),
        ("def f(:", 6, "invalid syntax"),
        ("def _f():\n    pass", None, "defines nothing"),
    ],
)  # fmt: skip
def test_what_a_part_cannot_say_is_an_error_with_its_line_and_what_to_do(
    text: str, line: int | None, sentence: str
) -> None:
    with pytest.raises(PartError) as error:
        compile_text("ex01_first", lambda name: (HEAD + text, f"{name}.py"), (), ["torch.nn.functional.layer_norm"])
    assert str(error.value).startswith(f"ex01_first.py:{line}: " if line else "ex01_first.py: ")
    assert sentence in str(error.value)


def test_a_part_has_what_it_imports_of_others_and_hands_out_its_own_names_alone() -> None:
    texts = {
        "ex01_a": "def f(x):\n    return x + 1",
        "ex02_b": "from ex01_a import f\n\n\ndef g(x):\n    return f(f(x))",
    }
    data = compile_text("ex02_b", lambda name: (texts[name], f"{name}.py"), ["ex01_a"], ())
    made = parts.build(data.encode(), "ex02_b")
    assert [*made] == ["g"]
    assert made["g"](1) == 3


def test_the_parts_of_the_course_are_compiled() -> None:
    assert stale_parts(COURSE) == {}
    compiled = {file.stem for file in COURSE.reference_parts_dir.glob("*.json")}
    assert compiled == {file.stem for file in COURSE.part_sources_dir.glob("*.py")} != set()


@pytest.mark.worker
def test_building_compiles_the_parts_and_says_which_are_stale(course: Path) -> None:
    source = course / "solutions" / "reference_parts" / f"{tiny.FIRST}.py"
    table = course / "tests" / "exercises" / "reference_parts" / f"{tiny.FIRST}.json"
    tiny.run_course(course, "build")
    source.parent.mkdir()
    source.write_text(tiny.MEAN)
    checked = tiny.run_course(course, "build", "--check")
    assert (checked.returncode, checked.stdout) == (1, f"missing or old: {table.name}; run `course build`\n")
    assert not table.exists()
    assert tiny.run_course(course, "build").stdout == f"made {table.name}\n"
    assert tiny.run_course(course, "build", "--check").stdout == (
        "2 stubs, 2 notebooks and 1 reference part are up to date\n"
    )
    table.write_text('{"format": 0}')
    assert "this reference part has format 0, but this engine" in tiny.run_course(course, "check", "1").stderr
    assert tiny.run_course(course, "build", "--force").returncode == 0
    assert tiny.run_course(course, "build", "--check").returncode == 0


@pytest.mark.worker
def test_a_part_without_its_source_or_its_exercise_is_a_sentence(course: Path) -> None:
    table = course / "tests" / "exercises" / "reference_parts" / f"{tiny.FIRST}.json"
    table.parent.mkdir()
    table.write_text('{"format": 1}')
    assert "has no source solutions/reference_parts/ex01" in tiny.run_course(course, "build").stderr
    table.unlink()
    (course / "solutions" / "reference_parts").mkdir()
    (course / "solutions" / "reference_parts" / "ex07_none.py").write_text("def f():\n    pass\n")
    assert "no exercise of course.toml is called ex07_none" in tiny.run_course(course, "build").stderr


@pytest.mark.slow
def test_the_leak_gate_finds_a_line_of_a_part_and_nothing_in_its_table(course: Path) -> None:
    source = course / "solutions" / "reference_parts" / f"{tiny.SECOND}.py"
    source.parent.mkdir()
    line = "    return torch.linalg.multi_dot([a.expand(1, *a.shape)[0] for _ in range(n)])"
    source.write_text(f"import torch\n\n\ndef matrix_power(a, n):\n{line}\n")
    gate = Gate(secrets_of(tiny.course_at(course)))
    [found] = gate.leaks([("README.md", f"Try {line.strip()}.".encode())])
    assert f"line 5 of solutions/reference_parts/{tiny.SECOND}.py" in found.sentence
    tables = [(file.name, file.read_bytes()) for file in COURSE.reference_parts_dir.iterdir()]
    assert Gate(secrets_of(COURSE)).leaks(tables) == []


def test_a_part_cannot_be_built_while_a_submission_may_run() -> None:
    data = tiny.part(tiny.FIRST, tiny.MEAN)
    parts.close(True)
    try:
        with pytest.raises(parts.PartError, match="only the checks may build"):
            parts.build(data, tiny.FIRST)
    finally:
        parts.close(False)
    assert "running_mean" in parts.build(data, tiny.FIRST)


BUILDS = """
from autograder.worker.sources import build
running_mean = build({data!r}, "{name}")["running_mean"]
"""


def test_a_submission_cannot_build_a_part_that_it_brings_along(grader: Grader, runner: Runner) -> None:
    text = BUILDS.format(data=tiny.part(tiny.FIRST, tiny.MEAN), name=tiny.FIRST)
    result = tiny.result_of(grader.grade(tiny.submitted(text), runner=runner), tiny.FIRST)
    assert result.score == 0
    finding = result.checks[0].finding
    assert finding is not None
    assert (finding.kind, finding.id) == ("forbidden", "autograder.worker.sources.build")


WARMED = """
import gc, os, sys, types
from autograder.sandbox.confined import zygote
zygote.load(["torch"])
zygote.warm(os.open(sys.argv[1], os.O_RDONLY))
gc.unfreeze()
from autograder.checks.given import ReferencePart
from autograder.worker import sources
made = [each for each in sources._function.__code__.co_consts if type(each) is types.CodeType]
BEGINS = '{"format":1,"exports"'.encode()
print(*ReferencePart.__subclasses__())
for each in gc.get_objects():
    kind = type(each)
    if issubclass(kind, type) and str(each.__module__).startswith(("ex0", "ex1", "ex2")):
        print("the class", each)
    elif kind is types.FunctionType and each.__code__ in made:
        print("a function", each)
    elif kind is dict and ({"pool", "exports"} <= each.keys() or "ex05_attention.py" in each):
        print("a part", each.keys())
    elif kind in (list, tuple) and any(type(one) is bytes and one.startswith(BEGINS) for one in each):
        print("data of a part")
print(*(name for name in sys.modules if name.startswith(("ex0", "ex1", "ex2"))))
"""


@pytest.fixture
def warm_job() -> Iterator[str]:
    """The job that warms a zygote for the whole course, in a file."""
    suite = load_suite(COURSE)
    with tempfile.NamedTemporaryFile() as file:
        job = Runner(suite, seed=3).warm_up()
        assert len(job["reference_parts"]) == len(job["plan"]) == len(suite.reference_parts)
        file.write(write_frame(job))
        file.flush()
        yield file.name


@pytest.mark.worker
def test_nothing_of_a_part_is_left_in_a_process_that_they_have_warmed(warm_job: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WARMED, warm_job], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == []


def test_a_table_has_no_word_of_python_in_it() -> None:
    for file in COURSE.reference_parts_dir.iterdir():
        table = json.loads(file.read_bytes())
        assert {type(value) for item in table["items"] for value in _flat(item)} == {int}, file.name


def _flat(value: Any) -> Iterator[Any]:
    for item in value:
        yield from _flat(item) if isinstance(item, list) else [item]
