"""The page that compares naive checks with the course's own, in Markdown."""

import platform
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from autograder import __version__

COLUMNS = {"shape": "shape", "example": "one example", "course": "course"}
"""The kinds of checks, and the heads of their columns."""

KINDS = {
    "devices other than the CPU": r"\bcpu\b|device",
    "number types other than float32 and Long": r"float32|floating-point|int32|as-numbers|additive",
    "numbers that are huge, tiny or all blocked": r"overflow|infinite|too-small|-eps|log-of-softmax"
    r"|by-zero|zero-first|fails-first|bare",
    "dropout, train and eval mode": r"dropout|dropped-out|drops nothing|is dropped|\bmode\b|in-eval",
    "inputs overwritten, states remembered": r"in place\b(?! of)|overw?ritten|-writes|caller|taken out"
    r"|takes the batches|(one|first|each|all) calls?\b|seeds torch",
    "the loss, the step and the epochs": r"epoch|training-(clip|loss(es)?-|gradients|step|optimizer|batches|fit)",
    "gradients, and what is trained or saved": r"detach|gradient|frozen|graph|trained|parameters|saved|-unused-"
    r"|(plain|python) list|no buffer",
    "bad arguments, limits and corner cases": r"refused|accepted|required|no-bound|cut-to-table|without-numbers"
    r"|odd-width|-squeezed|axis-dropped|unknown",
    "where a row or a loop has to stop": r"-ends?\b|-ended|-stops?|-eos|one-too-(few|many)|window|text-cut|decides"
    r"|unfinished",
    "sampling and beam search": r"sampling-|beam-|greedy|filters|generator",
    "arguments without effect": r"whatever|fixed|no effect|default|ignored|not-handed|pad-id|padding-0|given-",
    "masks and padding": r"mask|padding|future|causal|look-ahead|itself-hidden|token-ahead",
    "sizes and axes mixed up": r"vocabulary|block-count|source-words|as-many|size|one-length|axes|axis"
    r"|by-(key-count|value-size|token-size|model-size|head-count|length)",
    "layer norms": r"layer-norm|-norm",
    "the computation itself": r"",
}
"""The topic of a mistake, by the words of its name; the first match counts. The division is rough."""

BESIDE = "## Beside the checks of other courses"
"""The heading of the section that peers.py writes, the last one of the page."""

PAGE = """\
# How many mistakes naive checks miss

This page compares three kinds of checks on {wrong} wrong programs that learners write, and on {right}
correct programs that look different from the solutions. They were the catalogue of part one of
the course with version {autograder}.

- **shape**: create the part, call it, and compare the shapes of the results. No exception is
  allowed.
- **one example**: the same calls with one seed, in eval mode and with the solution's weights
  (`load_state_dict`; a layer norm keeps its ones and zeros). It compares the shapes, and then the
  results with `torch.allclose` and a tolerance of `1e-4`.
- **course**: the checks in `tests/exercises`.

A careful teacher without a list of mistakes would write the first two kinds. They are in
`benchmarks/naive_exercises.py`. Their sizes are round: batch 2, source and target of length 4, 2
heads, `d_model` 8, 10 words. Attention and the stacks run without a mask, with a causal mask and
with a padding mask. Batching, training and generation have asserts on small examples: a
vocabulary of two sentences, loss and learning rate as in the solution, a loss that falls in 20
steps, samples from four tokens, and greedy texts of an untrained model as in the solution.

## Wrong programs that pass, correct programs that fail

{exercises}

`wrong` and `right` count all programs. The columns after `wrong` count the wrong programs that
pass; the columns after `right` count the correct programs that fail. An endless loop, a crash or
an exception counts as a failure.

**The columns of the course are not an independent estimate.** Catalogue and checks were made
together. A mistake that no check catches is not in the catalogue, and a correct program that
fails is a bug of the course. Other mistakes may pass. The page measures how much of a known list
the naive checks miss.

A correct program fails the one example if `load_state_dict` does not fit it: its weights have
other names or another layout, or it has one more buffer. These programs differ on purpose. The
course fills them through a method of their own (`from_reference`), and allows extra buffers.

## The mistakes that pass most often

{kinds}

Mistakes are sorted by the words in their names, so the borders are rough.

## How the numbers were made

```text
{command}
```

Python {python}, PyTorch {torch} on the CPU. Naive checks: seed 0, each
program in its own process, with the solutions of the other exercises. Course: `course validate`,
seed {seed}.
"""


@dataclass(frozen=True)
class Program:
    """A program and the exercise it is about; `title` says what is wrong with it."""

    kind: Literal["solution", "misconception", "accepted"]
    exercise: str
    name: str
    title: str
    source: str


@dataclass(frozen=True)
class Comparison:
    """All programs, and those that pass each kind of check; `seed` is that of the course's checks."""

    programs: Sequence[Program]
    passing: Mapping[str, frozenset[Program]]
    seed: int

    @property
    def wrong(self) -> list[Program]:
        return [program for program in self.programs if program.kind == "misconception"]

    @property
    def right(self) -> list[Program]:
        return [program for program in self.programs if program.kind == "accepted"]

    def survivors(self, column: str, among: Iterable[Program]) -> list[Program]:
        """Return the wrong programs that pass a kind of check."""
        return [program for program in among if program in self.passing[column]]

    def rejected(self, column: str, among: Iterable[Program]) -> list[Program]:
        """Return the right programs that fail a kind of check."""
        return [program for program in among if program not in self.passing[column]]

    def summary(self) -> str:
        """Return the totals in a line for each kind of check."""
        return "\n".join(
            f"{head}: {len(self.survivors(column, self.wrong))} of {len(self.wrong)} wrong programs pass, "
            f"{len(self.rejected(column, self.right))} of {len(self.right)} right ones fail"
            for column, head in COLUMNS.items()
        )


def page(comparison: Comparison, command: str) -> str:
    """Return the page; `command` is what makes it."""
    return PAGE.format(
        wrong=len(comparison.wrong),
        right=len(comparison.right),
        exercises=exercises_table(comparison),
        kinds=kinds_table(comparison),
        command=command,
        python=platform.python_version(),
        torch=version("torch"),
        autograder=__version__,
        seed=comparison.seed,
    )


def beside(file: Path) -> str:
    """Return the section of a page that another program writes: that on other courses; none is empty."""
    text = file.read_text("utf-8") if file.exists() else ""
    return "".join(text.partition(BESIDE)[1:])


def with_section(text: str, section: str) -> str:
    """Return a page with this section on other courses in the place of the one that it had."""
    own = text.partition(BESIDE)[0].rstrip()
    return f"{own}\n\n{section}" if section else f"{own}\n"


def exercises_table(comparison: Comparison) -> str:
    """Return, for each exercise and in total, how many wrong programs pass and how many right ones fail."""
    heads = ["exercise", "wrong", *COLUMNS.values(), "right", *COLUMNS.values()]
    exercises = dict.fromkeys(program.exercise for program in comparison.wrong)
    rows = [counts(comparison, {exercise}) for exercise in exercises]
    total = counts(comparison, set(exercises))
    wrong, right = len(comparison.wrong), len(comparison.right)
    shares = [*(share(count, wrong) for count in total[1:4]), "", *(share(count, right) for count in total[5:])]
    named = [[exercise, *row] for exercise, row in zip(exercises, rows, strict=True)]
    return table(heads, [*named, ["**total**", *(f"**{count}**" for count in total)], ["", "", *shares]])


def counts(comparison: Comparison, exercises: Container[str]) -> list[str]:
    """Count all wrong programs, those that pass each kind of check, all right ones, and those that fail each."""
    wrong = [program for program in comparison.wrong if program.exercise in exercises]
    right = [program for program in comparison.right if program.exercise in exercises]
    passing = [len(comparison.survivors(column, wrong)) for column in COLUMNS]
    failing = [len(comparison.rejected(column, right)) for column in COLUMNS]
    return [str(count) for count in (len(wrong), *passing, len(right), *failing)]


def share(count: str, among: int) -> str:
    """Return a share in per cent."""
    return f"{100 * int(count) / among:.0f} %"


def kinds_table(comparison: Comparison) -> str:
    """Return how many mistakes of each kind pass, those first of which most pass the one example."""
    groups: dict[str, list[Program]] = {kind: [] for kind in KINDS}
    for program in comparison.wrong:
        groups[kind_of(program)].append(program)
    rows = []
    for kind, group in groups.items():
        survivors = comparison.survivors("example", group)
        passing = [len(comparison.survivors(column, group)) for column in COLUMNS]
        rows.append([kind, *map(str, [len(group), *passing]), survivors[0].title if survivors else ""])
    rows.sort(key=lambda row: -int(row[3]))
    return table(["kind of mistake", "wrong", *COLUMNS.values(), "passes the one example, for instance"], rows)


def kind_of(program: Program) -> str:
    """Return the first kind whose words are in the name of a mistake."""
    return next(kind for kind, words in KINDS.items() if re.search(words, f"{program.name} | {program.title}", re.I))


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, with the columns of numbers to the right."""
    rule = ["---:" if cell.isdigit() else "---" for cell in rows[0]]
    return "\n".join("| " + " | ".join(escaped(cell) for cell in line) + " |" for line in (heads, rule, *rows))


def escaped(cell: str) -> str:
    """Return a text in which nothing means something to Markdown."""
    return cell.replace("|", r"\|").replace("<", r"\<")
