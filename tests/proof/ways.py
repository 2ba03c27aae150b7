"""Try every way around the forbidden calls as a submission: `python -m tests.proof.ways [FOUND]`.

`tests.proof.callables` looks for the ways; FOUND is a file with what it printed before. Each of them is handed in for
the exercise whose work it does, reached by names that are put together while it runs. It must earn no points, or have
a flag. What the same submission earns where nothing is forbidden shows that it does the work.
"""

import inspect
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.authoring.programs import grade_each
from autograder.course import Course, Exercise, Suite, load_suite, read_course
from autograder.results import Report
from autograder.submission import Submission, digest
from tests.proof import conventions

REPOSITORY = Path(__file__).parents[2]
SEED = 2017

TOP = """
import importlib
import torch
from torch import Tensor, nn

{helpers}

f = importlib.import_module("".join({module!r}))
for part in {path!r}:
    f = getattr(f, "".join(part))
"""

BODIES = {
    "norm": """
class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps, self.alpha, self.bias = eps, nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        D, w, b, eps = x.size(-1), self.alpha, self.bias, self.eps
        return picked({line}, x)
""",
    "attention": """
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    weights = torch.zeros(*query.shape[:-1], key.size(-2), dtype=query.dtype)
    mask = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask.expand(weights.shape)
    bias = torch.zeros_like(weights).masked_fill(~mask, -1e30)
    root, lead = query.size(-1) ** 0.5, query.shape[:-2]
    q, k, v, mask, bias = (each.reshape(-1, 1, *each.shape[-2:]) for each in (query, key, value, mask, bias))
    width = max(q.size(-1), v.size(-1))
    q, k, v = (nn.functional.pad(each, (0, width - each.size(-1))) for each in (q, k, v))
    like = torch.empty(*q.shape[:-1], width)
    return picked({line}, like)[..., : value.size(-1)].reshape(*lead, q.size(-2), -1), weights
""",
    "heads": """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.heads = num_heads
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model, bias=False) for _ in range(3))
        self.w_o = nn.Linear(d_model, d_model)
        self.attention_weights = None

    def forward(self, query, key, value, mask=None):
        E, H, y = query.size(-1), self.heads, query
        w_in, b_in = torch.cat([self.w_q.weight, self.w_k.weight, self.w_v.weight]), query.new_zeros(3 * E)
        w_out, b_out = self.w_o.weight, self.w_o.bias.detach()
        self.attention_weights = query.new_zeros(query.size(0), H, query.size(1), key.size(1))
        return picked({line}, y) + self.w_o.bias
""",
}
EXERCISES = {"norm": "ex03_layer_norm", "attention": "ex05_attention", "heads": "ex06_multi_head_attention"}


@dataclass(frozen=True)
class Way:
    """A callable of torch, and the convention by which it does an exercise's work."""

    kind: str
    module: str
    path: tuple[str, ...]
    number: int

    @property
    def name(self) -> str:
        """The dotted name, with the call."""
        return f"{'.'.join((self.module, *self.path))}: {conventions.CONVENTIONS[self.kind][self.number]}"

    def source(self) -> bytes:
        """Return a file that uses it, without a word of its name."""
        functions = (conventions.picked, conventions.turned, conventions.made)
        helpers = "\n\n".join(inspect.getsource(function).replace("Any", "object") for function in functions)
        top = TOP.format(helpers=helpers, module=list(self.module), path=[list(part) for part in self.path])
        return (top + BODIES[self.kind].format(line=conventions.CONVENTIONS[self.kind][self.number])).encode()


def read_ways(lines: Sequence[str]) -> tuple[list[Way], int]:
    """Return the ways in what `tests.proof.callables` printed, and how many callables it tried."""
    *ways, summary = map(json.loads, lines)
    return [Way(kind, module, tuple(path), number) for kind, module, path, number in ways], summary["callables"]


def points(ways: Sequence[Way], course: Course) -> list[tuple[int, bool, bool]]:
    """Return the points that each way earns in its exercise, in hundredths, and whether it is refused and flagged."""
    wanted = [exercise for exercise in course.exercises if exercise.id in EXERCISES.values()]
    suite: Suite = load_suite(course, wanted)
    solutions = {exercise.file: (course.solutions_dir / exercise.file).read_bytes() for exercise in course.exercises}
    programs = []
    for way in ways:
        exercise = next(exercise for exercise in wanted if exercise.id == EXERCISES[way.kind])
        sources = {**solutions, exercise.file: way.source()}
        programs.append((Submission(way.name, course.files, sources, digest(sources), ()), [exercise]))
    results = [report.exercises[-1] for report in _graded(suite, programs)]
    kinds = [{check.finding.kind for check in result.checks if check.finding} for result in results]
    pairs = zip(results, kinds, strict=True)
    return [(result.score, "forbidden" in kind, bool(result.flags)) for result, kind in pairs]


def _graded(suite: Suite, programs: Sequence[tuple[Submission, list[Exercise]]]) -> list[Report]:
    cache = REPOSITORY / "build" / "ways"
    return list(grade_each(suite, programs, seed=SEED, jobs=2, cache=cache, on_progress=lambda *_: None))


def main() -> int:
    """Print each way with its points; return 1 if any way earned points without a flag."""
    if len(sys.argv) > 1:
        lines = Path(sys.argv[1]).read_text().splitlines()
    else:
        command = [sys.executable, "-W", "ignore", "-m", "tests.proof.callables"]
        lines = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.splitlines()
    ways, tried = read_ways(lines)
    course = read_course(REPOSITORY)
    free = replace(course, exercises=tuple(replace(exercise, forbidden=()) for exercise in course.exercises))
    allowed, refused = points(ways, free), points(ways, course)
    for way, (before, *_), (after, forbidden, flagged) in zip(ways, allowed, refused, strict=True):
        verdict = "forbidden" if forbidden else "flagged" if flagged else "failed"
        print(f"{verdict:9}  {before / 100:5.2f} -> {after / 100:5.2f}  {way.kind}  {way.name}")
    earned = sum(after > 0 and not flagged for after, _, flagged in refused)
    useful = sum(before > 0 for before, *_ in allowed)
    called = sum(forbidden for _, forbidden, _ in refused)
    print(f"{tried} callables tried, {len(ways)} ways found, {useful} of them earn points where nothing is forbidden")
    print(f"{called} are called forbidden, {earned} earn points without a flag")
    return 1 if earned or not useful else 0


if __name__ == "__main__":
    sys.exit(main())
