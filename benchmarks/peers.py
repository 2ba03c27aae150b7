"""How many of the course's wrong programs pass the checks of other courses: writes its section of the comparison.

    python benchmarks/peers.py --out docs/comparison.md ../TorchCode ../assignment1-basics ../assignment5-alignment

The arguments are clones of the other courses, as `git clone` names them. A mistake counts where it shows in what the
other course asks for: where the probe of the task gives other results than with the solution. Every program runs in a
forked process of its own, so this needs a system with fork.
"""

import argparse
import os
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import peer_cs336
import peer_torchcode
import pytest
import torch
from naive_checks import imported, passing_programs, programs_of
from naive_page import BESIDE, Program, kind_of, table, with_section
from peer_tasks import Task

from autograder.course import find_course, read_course, write_atomically

ADDRESSES = {
    "TorchCode": "https://github.com/duoan/TorchCode",
    "assignment1-basics": "https://github.com/stanford-cs336/assignment1-basics",
    "assignment5-alignment": "https://github.com/stanford-cs336/assignment5-alignment",
}

SECONDS = 120
"""The wall time limit of a program in seconds; the longest checks of the others need a few."""

SECTION = """\
{heading}

Other open courses have some of the same tasks. This table runs our known wrong programs through
their checks. Those courses serve other ends: TorchCode prepares for interviews, and Stanford's
CS336 has long assignments that people read, too. Their checks were not made for our mistakes,
and our catalogue was made together with our checks.

{tasks}

**What counts.** An adapter puts a program of ours behind the names and signatures of theirs. It
translates what differs: names of weights, a factor, a mask. Then a probe calls it with float32
numbers on the CPU, as their statement of the task allows, and compares results and gradients with
those of the solution. A wrong program counts if they differ. So mistakes in other functions, in
arguments that they lack, on devices and in errors do not count. Neither does memory. Where their
words leave something open, such as how features are split into heads, a mistake in it does not
count either: `allowed` in `benchmarks/peer_torchcode.py` lists those.

The solution and the accepted variants must pass their checks, and the probe must not tell them
apart. Variants that name their weights otherwise are not run. `pass ours` is 0, which
`course validate` proves. A program that two tasks have in common counts in both.

## The mistakes that pass their checks most often

{kinds}

Mistakes are sorted by the words in their names, so the borders are rough. Where checks look at
shapes and properties alone, most mistakes pass: in `cross_attention`, `rope`, `gqa`, `moe` and
`speculative_decoding`. Where they compare numbers with a reference, few pass.

## What was left out

- TorchCode's `beam_search`: it has functions whose numbers are no probabilities, and ours
  normalizes them. `embedding` and `gradient_clipping`: ours leaves both to the library.
  `gradient_accumulation`: ours counts the labels of a text. `bpe`: letters there, bytes here.
  `gpt2_block` asks for layers of the library. The rest has no exercise here.
- CS336's embedding, RMSNorm, SwiGLU, multi-head attention and model: the copy that was measured
  lacked their file of weights. DPO needs models of the library transformers. Byte pair encoding is
  not measured: its tests take many seconds for each program. Clipping is as above.

## How the numbers of this section were made

Clone the courses beside this one, and install `einops` for their tests:

```text
{command}
```

{versions}
"""


@dataclass(frozen=True)
class Row:
    """A task with the wrong programs that count, and those of them that pass the checks of the other course."""

    task: Task
    counted: Sequence[Program]
    passing: Sequence[Program]


def main() -> None:
    """Run the wrong programs and write the section."""
    options = arguments()
    page = options.out.resolve()
    clones = {clone.name: clone.resolve() for clone in options.clones}
    if unknown := clones.keys() - ADDRESSES.keys():
        raise SystemExit(
            f"{min(unknown)} is none of {', '.join(ADDRESSES)}: give clones under the names of the courses"
        )
    tasks = [task for task in (*peer_torchcode.TASKS, *peer_cs336.TASKS) if task.course in clones]
    course = read_course(find_course())
    solutions = imported(course, {task.exercise for task in tasks})
    programs = programs_of(course)
    rows = [
        measured(
            task,
            clones[task.course],
            [one for one in programs if one.exercise == task.exercise],
            solutions,
            options.jobs,
        )
        for task in tasks
    ]
    command = f"python benchmarks/peers.py --out {options.out} \\\n  {' '.join(map(str, options.clones))}"
    versions = {name: version_of(clone) for name, clone in clones.items()}
    text = page.read_text("utf-8") if page.exists() else ""
    write_atomically(page, with_section(text, section(rows, versions, command)))
    for row in rows:
        print(f"{row.task.course} {row.task.name}: {len(row.passing)} of {len(row.counted)} wrong programs pass")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run the course's wrong programs through the checks of other courses.")
    parser.add_argument("clones", type=Path, nargs="+", metavar="CLONE", help="a clone of another course")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the page that has the section")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="programs at a time")
    return parser.parse_args()


def version_of(clone: Path) -> str:
    """Return the commit of a clone."""
    command = ["git", "-C", str(clone), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def measured(
    task: Task, clone: Path, programs: Sequence[Program], solutions: Mapping[str, ModuleType], jobs: int
) -> Row:
    """Run the programs of an exercise through their checks and the probe; correct ones must pass both."""
    run = partial(run_tests, clone, task) if task.tests else partial(run_snippets, *snippets(clone, task.name), task)
    solution = solutions[task.exercise]
    run(solution, solution)  # what this loads, every process has that is forked from this one
    expected = task.probe(task.adapter(solution))
    alike = passing_programs(programs, {task.exercise: partial(compare, task, expected)}, solutions, jobs, SECONDS)
    right = [program for program in programs if program.kind == "solution" or is_fillable(program)]
    counted = [
        program
        for program in programs
        if program.kind == "misconception" and program not in alike and program.name not in task.allowed
    ]
    passing = passing_programs([*right, *counted], {task.exercise: run}, solutions, jobs, SECONDS)
    for program in right:
        if program not in passing or program not in alike:
            failed = "probe" if program in passing else "checks"
            raise SystemExit(f"the adapter of {task.course} {task.name} is wrong: {program.name} fails the {failed}")
    return Row(task, counted, [program for program in counted if program in passing])


def is_fillable(program: Program) -> bool:
    """Return whether this is an accepted variant that has its weights under the names of the exercise."""
    return program.kind == "accepted" and "def from_reference" not in program.source


def snippets(clone: Path, task: str) -> tuple[str, list[str]]:
    """Return the name that a task of TorchCode asks for, and the code of its checks."""
    entry = runpy.run_path(str(clone / "torch_judge" / "tasks" / f"{task}.py"))["TASK"]
    name: str = entry["function_name"]
    return name, [test["code"].replace("{fn}", name) for test in entry["tests"]]


def run_snippets(name: str, codes: Sequence[str], task: Task, code: ModuleType, _: ModuleType) -> None:
    """Run the checks of a task of TorchCode; one that fails raises."""
    adapted = task.adapter(code)
    for source in codes:
        exec(source, {name: adapted})


def run_tests(clone: Path, task: Task, code: ModuleType, _: ModuleType) -> None:
    """Run tests of CS336, with an adapter in the place of the file in which students put theirs."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    adapted = task.adapter(code)
    adapters = ModuleType("tests.adapters")
    vars(adapters)["__getattr__"] = {task.function: adapted}.get  # the other names of the file are there and None
    sys.modules["tests.adapters"] = adapters
    transformers = ModuleType("transformers")  # imported for fixtures that none of these tests uses
    vars(transformers).update(AutoModelForCausalLM=None, AutoTokenizer=None)
    sys.modules["transformers"] = transformers
    os.chdir(clone)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    tests = [test if test.startswith("-") else f"tests/{test}" for test in task.tests]
    status = pytest.main(["-q", "-x", "-p", "no:cacheprovider", f"--rootdir={clone}", *tests])
    if status != pytest.ExitCode.OK:
        raise AssertionError(status)


def compare(task: Task, expected: Sequence[Any], code: ModuleType, _: ModuleType) -> None:
    """Raise unless the probe of a task gives these results with a program."""
    found = task.probe(task.adapter(code))
    if len(found) != len(expected) or not all(
        same(one, other, task.tolerance) for one, other in zip(found, expected, strict=True)
    ):
        raise AssertionError(task.name)


def same(one: Any, other: Any, tolerance: float) -> bool:
    """Return whether two results are equal, tensors up to a tolerance and in any dtype."""
    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor):
        return bool(one == other)
    close = partial(torch.allclose, rtol=1e-3, atol=tolerance, equal_nan=True)
    return one.shape == other.shape and close(one.double(), other.double())


def section(rows: Sequence[Row], versions: Mapping[str, str], command: str) -> str:
    """Return the section of the page; `command` is what makes it."""
    return SECTION.format(
        heading=BESIDE,
        tasks=tasks_table(rows),
        kinds=kinds_table(rows),
        versions="\n".join(
            f"- [{name}]({ADDRESSES[name]}),\n  commit `{commit[:12]}`" for name, commit in versions.items()
        ),
        command=command,
    )


def tasks_table(rows: Sequence[Row]) -> str:
    """Return, for each task, how many wrong programs count and how many of them pass, with totals by course."""
    lines = []
    for name in dict.fromkeys(row.task.course for row in rows):
        group = [row for row in rows if row.task.course == name]
        lines += [[row.task.exercise, name, f"`{row.task.name}`", *sizes([row])] for row in group]
        lines.append(["**total**", name, "", *(f"**{size}**" for size in sizes(group))])
    return table(["exercise", "course", "their task", "wrong", "pass theirs", "pass ours"], lines)


def sizes(rows: Sequence[Row]) -> list[str]:
    """Count the wrong programs of tasks, those that pass the checks of the other course, and those that pass ours."""
    return [str(sum(len(row.counted) for row in rows)), str(sum(len(row.passing) for row in rows)), "0"]


def kinds_table(rows: Sequence[Row]) -> str:
    """Return how many mistakes of each kind pass, those first of which most pass."""
    counted = [kind_of(program) for row in rows for program in row.counted]
    passing = [program for row in rows for program in row.passing]
    found = Counter(kind_of(program) for program in passing)
    examples = {kind_of(program): program.title for program in reversed(passing)}
    lines = [[kind, str(counted.count(kind)), str(size), examples[kind]] for kind, size in found.most_common()]
    return table(["kind of mistake", "wrong", "pass theirs", "passes theirs, for instance"], lines)


if __name__ == "__main__":
    main()
