"""Where a mistake is: in programs of other styles than the solution's, with one fault each."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from autograder.course import Exercise, find_course, load_suite, read_course, resolve_exercise
from autograder.judge import Grader
from autograder.results import ExerciseResult
from autograder.runner import Runner
from tests.support.course_programs import submission_of

pytestmark = pytest.mark.worker

FAULTS = [
    ("5", "einsum", " * query.shape[-1] ** -0.5", "", "...tk,...sk->...ts"),
    ("5", "einsum", "weights = scores.softmax(-1)", "weights = scores.softmax(-2)", "softmax(-2)"),
    ("5", "einsum", "torch.where(mask, scores, lowest)", "torch.where(mask, lowest, scores)", "torch.where"),
    ("5", "einsum", '...ts,...sv->...tv", dropped, value', '...ts,...sv->...tv", dropped**2, value', "dropped**2"),
    ("5", "loops", "torch.softmax(row, dim=0)", "torch.sigmoid(row)", "torch.stack(rows)"),
    ("5", "loops", "mask[i, t].logical_not()", "mask[i, t]", "mask[i, t]"),
    ("5", "additive_mask", "masked_fill(~mask,", "masked_fill(mask,", "masked_fill(mask,"),
    ("5", "additive_mask", "else dropout(weights)) @ value", "else dropout(weights)) @ value * 2", "@ value * 2"),
    ("5", "numbers", "depth = query.shape[-1]", "depth = query.shape[-2]", "depth**-0.5"),
    ("5", "numbers", "share = depth**-0.5", "share = query.dim() ** -0.5", "query.dim()"),
    ("5", "numbers", "raw * share", "raw / share", "raw / share"),
    ("5", "sizes", "depth = query.shape[-1]", "depth = query.shape[-2]", "shape[-2]"),
    ("5", "sizes", "raw / depth**0.5", "raw / depth", "raw / depth"),
    ("5", "helpers", "mask.unsqueeze(1) if", "mask.unsqueeze(0) if", "mask.unsqueeze(0)"),  # axes of size 1 elsewhere
    (
        "5",
        "helpers",
        "torch.finfo(scores.dtype).min",
        'float("-inf")',
        "masked_fill(blocked, lowest)",
    ),  # NaN only later
    ("5", "helpers", "thinned @ value, weights", "thinned @ value, thinned", "@ value, thinned"),
    ("5", "helpers", "thinned = ", "weights = thinned = ", "weights = thinned"),  # a right value, but another one
    ("6", "fused_projections", "output.transpose(1, 2).reshape", "output.reshape", "output.reshape"),
    ("6", "fused_projections", ".unflatten(-1, self.heads)", ".unflatten(-1, self.heads[::-1]).mT", "heads[::-1]"),
    ("6", "folded_into_batch", ".permute(0, 2, 1, 3)\n", ".permute(0, 2, 1, 3).flip(1)\n", ".flip(1)"),
    ("6", "folded_into_batch", "self.fold(self.w_v(value))", "self.fold(self.w_k(value))", "self.w_k(value)"),
    ("6", "own_attention", "mixed.reshape(query.shape)", "mixed.mT.reshape(query.shape)", "mixed.mT"),
    ("6", "projections_by_head", "output.permute(0, 2, 1, 3).flatten", "output.flatten", "output.flatten"),
    ("6", "projections_by_head", "nn.Dropout(dropout)", "nn.Dropout(1 - dropout)", "nn.Dropout("),  # handed on
    ("16", "reciprocal", "(self.weight * normal).to(x.dtype)", "self.weight * normal", "return self.weight * normal"),
]


COURSE = read_course(find_course())

SOLUTION = (COURSE.solutions_dir / "ex05_attention.py").read_text("utf-8")
SCALED = "    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))  # (..., T, S)\n"
BY_STEPS = "    depth = query.shape[-1]\n    raw = query @ key.transpose(-2, -1)\n"
HELPERS = """
def aligned(mask, scores):
    return mask.unsqueeze(1) if mask.dim() == 3 and scores.dim() == 4 else mask


def without_blocked(scores, mask):
    if mask is None:
        return scores
    blocked = ~aligned(mask, scores)
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(blocked, lowest)


def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    scores = query @ key.mT / query.size(-1) ** 0.5
    weights = torch.softmax(without_blocked(scores, mask), dim=-1)
    thinned = weights if dropout is None else dropout(weights)
    return thinned @ value, weights
"""
OWN = {
    "helpers": SOLUTION[: SOLUTION.index("def scaled_dot_product_attention")] + HELPERS,
    "numbers": SOLUTION.replace(SCALED, f"{BY_STEPS}    share = depth**-0.5\n    scores = raw * share\n"),
    "reciprocal": (COURSE.solutions_dir / "ex16_rms_norm.py")
    .read_text("utf-8")
    .replace("wide / torch.sqrt(mean_square + self.eps)", "wide * torch.rsqrt(mean_square + self.eps)"),
    "sizes": SOLUTION.replace(SCALED, f"{BY_STEPS}    scores = raw / depth**0.5\n"),
}
"""Programs that are right, to be made wrong."""


@pytest.fixture(scope="module")
def graded() -> Iterator[Callable[[Exercise, str], ExerciseResult]]:
    """Return a function that grades one exercise of a program, the others being the solutions."""
    suite = load_suite(COURSE, [resolve_exercise(COURSE, number) for number in ("2", "5", "6", "16")])
    with (
        Runner(suite, seed=COURSE.seed, shared=True) as runner,
        Grader(suite, seed=COURSE.seed, evidence=True) as grader,
    ):

        def grade(exercise: Exercise, source: str) -> ExerciseResult:
            submission = submission_of(COURSE, exercise, source)
            return grader.report(submission, [exercise], runner).exercises[0]

        yield grade


@pytest.mark.parametrize(
    ("number", "variant", "find", "replace", "line"),
    FAULTS,
)
def test_the_place_is_the_faulty_line_whatever_the_style(
    graded: Callable[[Exercise, str], ExerciseResult], number: str, variant: str, find: str, replace: str, line: str
) -> None:
    exercise = resolve_exercise(COURSE, number)
    source = OWN.get(variant) or (COURSE.solutions_dir / "accepted" / exercise.id / f"{variant}.py").read_text("utf-8")
    assert source.count(find) == 1
    wrong = source.replace(find, replace)
    failure = graded(exercise, wrong).first_failure
    assert failure is not None
    assert failure.finding is not None
    found = failure.finding
    assert found.place is not None
    flagged = wrong.splitlines()[found.place.line - 1]
    assert line in flagged
    if found.place.column is not None:
        assert flagged[found.place.column : found.place.end].strip() == flagged[found.place.column : found.place.end]


OVERWRITTEN = "    scores -= scores.amax(dim=-1, keepdim=True)\n    powers = torch.exp(scores)"


@pytest.mark.parametrize(
    ("edits", "line"),
    [
        (
            {"weights = torch.softmax(scores, dim=-1)": "weights = torch.softmax(scores, dim=-2)", ", weights\n": "\n"},
            "return",
        ),
        (
            {
                "    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True))": OVERWRITTEN,
                "powers.sum(dim=-1, keepdim=True)": "powers.sum(dim=0)",
            },
            "scores -=",
        ),
    ],
    ids=["too few values", "overwritten"],
)
def test_the_place_is_not_that_of_another_mistake_than_the_message_s(
    graded: Callable[[Exercise, str], ExerciseResult], edits: Mapping[str, str], line: str
) -> None:
    wrong = SOLUTION
    for find, replace in edits.items():
        assert wrong.count(find) == 1
        wrong = wrong.replace(find, replace)
    failure = graded(resolve_exercise(COURSE, "5"), wrong).first_failure
    assert failure is not None
    assert failure.finding is not None
    assert failure.finding.place is not None
    assert wrong.splitlines()[failure.finding.place.line - 1].strip().startswith(line)


def test_the_statement_of_a_mistake_is_not_shown_in_a_function_that_did_not_run(
    graded: Callable[[Exercise, str], ExerciseResult],
) -> None:
    unscaled = '    scores = torch.einsum("...td,...sd->...ts", query, key)\n'
    idle = "\n\ndef pairs(query, key):\n    scores = query @ key.transpose(-2, -1)  # (..., T, S)\n    return scores\n"
    wrong = SOLUTION.replace(SCALED, unscaled) + idle
    failure = graded(resolve_exercise(COURSE, "5"), wrong).first_failure
    assert failure is not None
    assert failure.finding is not None
    assert failure.finding.place is not None
    assert "einsum" in wrong.splitlines()[failure.finding.place.line - 1]


def test_a_misconception_is_not_claimed_for_one_of_its_statements_alone(
    graded: Callable[[Exercise, str], ExerciseResult],
) -> None:
    exercise = resolve_exercise(COURSE, "2")
    solution = (COURSE.solutions_dir / exercise.file).read_text("utf-8")
    failure = graded(exercise, solution.replace("torch.sin(angle)", "torch.cos(angle)")).first_failure
    assert failure is not None
    assert failure.finding is not None
    assert failure.finding.kind == "place"
    assert failure.finding.place is not None
    assert "torch.cos(angle)" in solution.replace("sin(", "cos(").splitlines()[failure.finding.place.line - 1]


def test_the_first_of_two_mistakes_is_named_and_the_rest_is_not_hidden(
    graded: Callable[[Exercise, str], ExerciseResult],
) -> None:
    exercise = resolve_exercise(COURSE, "5")
    solution = (COURSE.solutions_dir / exercise.file).read_text("utf-8")
    at = solution.index("def scaled_dot_product_attention")
    wrong = solution[at:].replace(" / math.sqrt(query.size(-1))", "").replace("dim=-1)  # (..., T, S)", "dim=-2)")
    failures = {check.id: check.finding for check in graded(exercise, solution[:at] + wrong).checks if check.finding}
    named = {finding.id for finding in failures.values() if finding.kind == "misconception"}
    assert named <= {"attention-not-scaled", "attention-softmax-over-queries"}
    assert named
