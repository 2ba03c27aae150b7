"""A program that does what no honest one needs is refused or flagged; honest programs have no flag."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.course import read_course
from autograder.protocol import Usual
from autograder.worker.syntax import flags, survey
from tests.support import tiny

COURSE = read_course(tiny.REPOSITORY)
SOLUTIONS = {exercise.file: (COURSE.solutions_dir / exercise.file).read_bytes() for exercise in COURSE.exercises}
EXERCISE = "ex03_layer_norm"
TOP = "import torch\nfrom torch import nn\nfrom torch.nn import functional as f\n"
SECTIONS = re.split("^## (.+)\n", (Path(__file__).parent / "evasions.txt").read_text("utf-8"), flags=re.MULTILINE)[1:]
EVASIONS = {name: TOP + text for name, text in zip(SECTIONS[::2], SECTIONS[1::2], strict=True)}
MOST_HONEST = 0.01
"""The share of honest programs that may have a flag: they read attributes by computed names."""

X = torch.arange(6.0).view(2, 3)


def flags_of(source: str, exercise: str = EXERCISE, files: Mapping[str, bytes] = {}) -> list[list[Any]]:
    """Return the flags of a program for an exercise, beside other files."""
    own = {**files, f"{exercise}.py": source.encode()}
    return flags(own, exercise, COURSE.exercise(exercise).forbidden, COURSE.usual)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", EVASIONS)
def test_an_evasion_gives_the_right_numbers_and_is_refused_or_flagged(way: str) -> None:
    names: dict[str, Any] = {"__name__": EXERCISE}
    exec(compile(EVASIONS[way], "evasion.py", "exec"), names)
    assert torch.allclose(names["call"](X, (3,)), torch.layer_norm(X, (3,)), atol=1e-4)
    forbidden = COURSE.exercise(EXERCISE).forbidden
    assert survey(EVASIONS[way].encode(), forbidden)["forbidden"] or flags_of(EVASIONS[way])


def honest() -> Iterator[tuple[str, str, dict[str, bytes]]]:
    """Yield label, exercise and files of the solutions, the accepted variants and the honest example submissions."""
    for exercise in COURSE.exercises:
        yield "solution", exercise.id, SOLUTIONS
        for file in sorted((COURSE.solutions_dir / "accepted" / exercise.id).glob("*.py")):
            yield file.stem, exercise.id, {**SOLUTIONS, exercise.file: file.read_bytes()}
    examples = (tiny.REPOSITORY / "examples" / "class").glob("student-*")
    for folder in sorted((*(COURSE.solutions_dir / "accepted" / "whole").iterdir(), *examples)):
        files = {**SOLUTIONS, **{file.name: file.read_bytes() for file in folder.glob("ex*.py")}}
        for exercise in COURSE.exercises:
            if (folder / exercise.file).is_file():
                yield folder.name, exercise.id, files


@pytest.mark.long
def test_honest_programs_have_no_flag() -> None:
    count, odd = 0, {}
    for label, exercise, files in honest():
        count += 1
        try:
            rows = flags(files, exercise, COURSE.exercise(exercise).forbidden, COURSE.usual)
        except SyntaxError:
            continue
        if rows:
            odd[label, exercise] = rows
    assert count > 300
    assert len(odd) <= MOST_HONEST * count, odd


FLAGGED = {
    "import gc\n": (1, "gc", "gc"),
    "import torch\n\nf = torch.jit.script\n": (3, "torch.jit", "torch.jit"),
    "import threading\n": (1, "threading", "threading"),
    "from sys import modules\n": (1, "sys.modules", "sys.modules"),
    "import transformers\n": (1, "transformers", "way:unlisted"),
    "import torch\nx = torch._C\n": (2, "torch._C", "way:private"),
    "import torch\nclass A(torch.nn.Parameter): ...\n": (2, "class A", "class:torch.Tensor"),
    "from torch import nn\nnn.Linear.forward = None\n": (2, "torch.nn.Linear.forward", "way:patch"),
    "eval('1')\n": (1, "eval", "eval"),
}
REASONS = {entry: why for why, entries in COURSE.usual.odd for entry in entries}


@pytest.mark.parametrize("text", FLAGGED)
def test_a_flag_names_the_line_what_is_there_and_the_reason_of_the_course(text: str) -> None:
    line, name, entry = FLAGGED[text]
    assert flags_of(text)[0] == [f"{EXERCISE}.py", line, name, REASONS[entry]]


@pytest.mark.parametrize(
    "text",
    [
        "import torch.nn.functional as F\nlibrary = F\ny = library.relu\n",
        "import sys\nif __name__ == '__main__':\n    print(sys.argv, file=sys.stderr)\n",
        "import os\nx = os.environ.get('HOME')\n",
        "class A:\n    def __init__(self, n):\n        self._n = n\n    def f(self):\n"
        "        return getattr(self, f'layer{self._n}')\n",
        "def replaced(model, path, name):\n    parent = model.get_submodule(path)\n"
        "    setattr(parent, name, getattr(parent, name))\n",
        "def compile(x):\n    vars = x\n    return vars\n",
        "import torch\nx = getattr(torch, 'float32')\nassert isinstance(x, torch.dtype)\n",
        "from collections import namedtuple\nclass A(namedtuple('A', 'x')): ...\n",
        "import matplotlib.pyplot as plt\nplt.imshow([[1]])\n",
        "from autograder.notebook import check\ncheck(3)\n",
        "from ex01_embeddings import InputEmbeddings\nx = InputEmbeddings(3, 4)\n",
    ],
)
def test_what_programs_do_has_no_flag(text: str) -> None:
    assert flags_of(text, files=SOLUTIONS) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nparent = model.get_submodule('')\nparent = torch\nx = getattr(parent, name)\n",
        "import torch\nclass A:\n    def get_submodule(self, path):\n        return torch.nn\n"
        "parent = A().get_submodule('')\nx = getattr(parent, name)\n",
        "def f(model):\n    parent = model.get_submodule('')\ndef g(parent, name):\n    getattr(parent, name)\n",
        "parent = model.get_submodule('')\nx = getattr(getattr(parent, one), another)\n",
    ],
)
def test_a_computed_name_of_what_may_be_no_layer_is_flagged(text: str) -> None:
    assert REASONS["way:computed-name"] in [reason for *_, reason in flags_of(text)]


def test_a_call_that_an_earlier_file_makes_is_flagged_there_by_the_exercise_that_imports_it() -> None:
    helper = b"import torch\ndef helper(x):\n    return torch.layer_norm(x, (3,))\n"
    rows = flags_of("from ex02_positional_encoding import helper\n", files={"ex02_positional_encoding.py": helper})
    assert rows == [["ex02_positional_encoding.py", 3, "torch.layer_norm", REASONS["way:earlier-file"]]]
    assert not flags({"ex02_positional_encoding.py": helper}, "ex02_positional_encoding", (), COURSE.usual)


@pytest.mark.parametrize("way", ["from ex01_embeddings import F", "import ex01_embeddings\nx = ex01_embeddings.F"])
def test_a_module_that_an_earlier_file_holds_is_flagged(way: str) -> None:
    assert flags_of(f"{way}\n", files={"ex01_embeddings.py": b"import torch\nF = torch.nn.functional\n"})


def test_a_course_without_a_list_has_no_flags() -> None:
    assert flags({"ex01.py": b"import gc, ctypes"}, "ex01", (), Usual()) == []
