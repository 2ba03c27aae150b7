"""The second tiny course: plain Python, without torch, NumPy and sizes."""

import subprocess
from pathlib import Path

from autograder.course import Suite, load_suite, read_course
from tests.support import tiny

ROOT = Path(__file__).parent / "plain_course"
SORT, SEARCH = "ex01_insertion_sort", "ex02_binary_search"

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None  # an import of it fails
from autograder.cli import run
status = run(sys.argv[1:])
print(*sorted({"numpy"} & set(sys.modules)), file=sys.stderr)
sys.exit(status)
"""

LOADS_NOTHING = """
import sys
if {"torch", "numpy"} & set(sys.modules):
    raise RuntimeError("the worker has loaded a library")
"""
"""The beginning of a learner's file that fails where the worker has loaded a library before it."""


def suite() -> Suite:
    """Return the suite of the course."""
    return load_suite(read_course(ROOT))


def solution(exercise: str) -> str:
    """Return the text of a solution."""
    return (ROOT / "solutions" / f"{exercise}.py").read_text("utf-8")


def run_course(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program in a folder, in a process that cannot import torch."""
    return tiny.run_course(root, *arguments, program=("-c", WITHOUT_TORCH), COLUMNS="100")
