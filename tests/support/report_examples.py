"""Reports of wrong attention programs, as data, for the tests of the renderings."""

import math
from dataclasses import replace

from autograder.results import (
    Certainty,
    CheckResult,
    Evidence,
    ExerciseResult,
    Finding,
    Maps,
    Picture,
    Place,
    PrintOutput,
    Report,
    Status,
    Todo,
)

FILE = "ex05_attention.py"
TITLES = {
    "shapes": "the output and the weights have the shapes of the contract",
    "softmax": "every row of the weights sums to 1",
    "gradients": "query, key and value all get a gradient",
    "scaled": "scores are divided by the square root of the key size",
    "mask": "a position that the mask hides gets no weight",
    "dropout": "dropout is applied to the weights, in training only",
    "large_scores": "large scores do not overflow",
}
HINTS = {
    "scaled": (
        "A score is a sum of K products. If query and key have variance 1, what is the variance of the sum?",
        "The scores need the same spread for every key size, before the softmax sees them.",
        "Divide the scores by the square root of the last size of key.",
    ),
    "mask": (
        "The softmax turns a score s into e^s. Which s makes e^s equal to 0?",
        "A hidden score has to vanish in the softmax, and 0 does not.",
        "Fill the scores with minus infinity where the mask is False, before the softmax.",
    ),
}


def check(check_id: str, status: Status = "pass", finding: Finding | None = None) -> CheckResult:
    """One check of the attention exercise, worth two points."""
    score = 200 if status == "pass" else 0
    return CheckResult(check_id, TITLES[check_id], status, score, 200, 0.004, finding, HINTS.get(check_id, ()))


def attention(failing: str, status: Status, finding: Finding | None, after: Status = "waits") -> ExerciseResult:
    """The attention exercise with one check failing and those below it in the given state."""
    ids = list(TITLES)
    place = ids.index(failing)
    checks = (
        *(check(name) for name in ids[:place]),
        check(failing, status, finding),
        *(check(name, after) for name in ids[place + 1 :]),
    )
    return ExerciseResult("ex05_attention", "attention", status, sum(check.score for check in checks), 1400, checks)


def weights(rows: int, columns: int, divisor: float, hidden: float = -math.inf) -> tuple[tuple[float, ...], ...]:
    """Softmax of made-up scores; those above the diagonal are `hidden`."""
    table = []
    for row in range(rows):
        scores = [4 * math.sin(1.7 * row * column + row + 0.6 * column * column) / divisor for column in range(columns)]
        seen = [score if column <= row else hidden for column, score in enumerate(scores)]
        powers = [math.exp(score) for score in (scores if hidden == 1 else seen)]
        table.append(tuple(round(power / sum(powers), 4) for power in powers))
    return tuple(table)


SLICE = "head 2 of batch 0, query × key"
SCALE_MAPS = Maps(SLICE, weights(12, 12, 2.449, hidden=1), weights(12, 12, 1, hidden=1))
MASK_MAPS = Maps("head 0 of batch 0, query × key", weights(12, 12, 1), weights(12, 12, 1, hidden=0))

UNSCALED = Finding(
    kind="misconception",
    id="attention-not-scaled",
    message="Every score is 2.449 × the expected one, so the softmax is too sharp. 2.449 = √6 = √K.",
    name="dot products that are not scaled",
    detail="A sum of K products grows with √K. The larger K is, the more the softmax turns into a choice of one key.",
    place=Place(FILE, 21, "scaled_dot_product_attention", 13, 42),
    label="its size grows with √K",
    agrees=(18, 20),
    certainty=Certainty.LIKELY,
    source=(
        (19, "    # query: [B, H, T, K], key: [B, H, S, K], value: [B, H, S, Kv]"),
        (20, '    assert query.shape[-1] == key.shape[-1], f"{query.shape[-1]} is not {key.shape[-1]}"'),
        (21, "    scores = query @ key.transpose(-2, -1)"),
        (22, "    if mask is not None:"),
    ),
    evidence=Evidence(
        name="weights",
        rows=(
            ("shape", "(3, 4, 7, 5)", "(3, 4, 7, 5)"),
            ("dtype", "float32", "float32"),
            ("min", "0.0031", "0.0000"),
            ("mean", "0.2000", "0.2000"),
            ("max", "0.8412", "0.9987"),
            ("row sums", "1.0000", "1.0000"),
            ("std", "0.1604", "0.2929"),
        ),
        witnesses=(
            ("0, 3", "0.4127", "0.7804"),
            ("5, 1", "0.6033", "0.9415"),
            ("2, 0", "0.0912", "0.0104"),
            ("6, 4", "0.2218", "0.1490"),
            ("0, 2", "0.3390", "0.5102"),
        ),
        axes="query, key",
        maps=SCALE_MAPS,
    ),
)
MASK_TIMES_ZERO = Finding(
    kind="misconception",
    id="mask-times-zero",
    message="Every hidden position still gets weight, 0.031 or more; expected 0. Rows still sum to 1.",
    name="a mask that multiplies",
    detail="The hidden scores became 0, and e^0 = 1. A score of -∞ gives no weight.",
    place=Place(FILE, 24, "scaled_dot_product_attention", 17, 30),
    label='0 is a score, not "no score"',
    certainty=Certainty.LIKELY,
    source=(
        (22, "    if mask is not None:"),
        (23, "        # x[b, 0] and [/2] are not markup, :key: is not a picture"),
        (24, "        scores = scores * mask"),
        (
            25,
            "    weights = torch.nn.functional.softmax(scores, dim=-1) if scores.numel() else torch.zeros_like(scores)",
        ),
    ),
    evidence=Evidence(
        "weights",
        (("shape", "(3, 4, 7, 5)", "(3, 4, 7, 5)"), ("dtype", "float32", "float32"), ("row sums", "1.000", "1.000")),
        (
            ("0, 1", "0.000", "0.072"),
            ("0, 11", "0.000", "0.072"),
            ("3, 7", "0.000", "0.050"),
            ("6, 9", "0.000", "0.064"),
            ("10, 11", "0.000", "0.049"),
        ),
        witness_title="hidden positions",
        axes="query, key",
        maps=MASK_MAPS,
    ),
)
RAISED = Finding(
    kind="exception",
    id="RuntimeError",
    message="Your code raised RuntimeError in scaled_dot_product_attention().",
    detail="Expected size for first two dimensions of batch2 tensor to be: [12, 6] but got: [12, 5].",
    place=Place(FILE, 21, "scaled_dot_product_attention"),
    source=((20, "    k_size = query.shape[-1]"), (21, "    scores = query @ key / k_size**0.5"), (22, "")),
    evidence=Evidence(
        "the tensors in scaled_dot_product_attention()",
        (("query", "", "(3, 4, 7, 6) float32"), ("key", "", "(3, 4, 5, 6) float32"), ("mask", "", "(7, 5) bool")),
    ),
)
ENDLESS = Finding(
    kind="place",
    id="timeout",
    message="Your code was stopped after 20 s; a check may take 20 s.",
    place=Place(FILE, 30, "scaled_dot_product_attention"),
    source=((29, "    step = 0"), (30, "    while step < query.shape[-2]:"), (31, "        weights = weights.clone()")),
)
RATIO = Finding(
    kind="pattern",
    id="ratio",
    message="scores is 2.449 × the expected tensor, in every element. 2.449 = √6 = √K.",
    place=Place(FILE, 26, "scaled_dot_product_attention"),
    source=((25, "    scores = scores.float()"), (26, "    return scores, weights")),
    evidence=Evidence(
        "scores",
        (("shape", "(7, 5)", "(7, 5)"), ("dtype", "float32", "float32"), ("std", "0.899", "2.202")),
        (("0, 3", "2.435", "5.964"), ("5, 1", "-2.012", "-4.927"), ("6, 4", "4.234", "10.369")),
        axes="query, key",
    ),
)
WRONG_IDS = Finding(
    kind="pattern",
    id="region",
    message="Only the first row of ids is right.",
    evidence=Evidence(
        "ids",
        (("shape", "(2, 3)", "(2, 3)"), ("dtype", "int64", "int64"), ("equal", "6", "3")),
        (("1, 0", "4", "7"), ("1, 1", "9", "0")),
        maps=Maps("row × position", ((1, 2, 3), (4, 9, 1)), ((1, 2, 3), (7, 0, 5))),
    ),
)
GRADER = Finding(
    kind="exception",
    id="grader",
    message="The grader itself failed; this is not your fault.",
    detail="The answer key has no observation for this check.",
)
UNREADABLE = Finding(
    kind="exception",
    id="SyntaxError",
    message="Python cannot read ex05_attention.py: '(' was never closed.",
    place=Place(FILE, 21),
    source=((20, "    k_size = query.shape[-1]"), (21, "    scores = (query @ key"), (22, "    return scores")),
)
BARE_NAME = Finding(
    kind="misconception",
    id="mask-inverted",
    message="The mask is used the wrong way round.",
    name="the mask is used the wrong way round",
    detail="True means that a position may be attended to.",
)
STRUCTURE = Finding(
    kind="structure",
    id="parameters",
    message="Expected parameters W_query, W_key, W_value, W_out; found qkv, W_out.",
    detail="A parameter's name and shape are part of the contract: weights are loaded by them.",
)
WRONG_SHAPE = Finding(
    kind="pattern",
    id="dims-permuted",
    message="The values are right after swapping head and position.",
    place=Place(FILE, 26, "scaled_dot_product_attention"),
    evidence=Evidence("output", (("shape", "(3, 4, 7, 10)", "(3, 7, 4, 10)"), ("dtype", "float32", "float32"))),
)

FAIL = attention("scaled", "fail", UNSCALED)
MASK = attention("mask", "fail", MASK_TIMES_ZERO)
ERROR = attention("shapes", "error", RAISED)
TIMEOUT = attention("gradients", "timeout", ENDLESS, after="pass")
MEMORY = attention("large_scores", "memory", None)
NOT_STARTED = attention("shapes", "not_started", None, after="not_started")
TODOS = (
    Todo("self_attention_by_hand", "done", Place(FILE, 12), ("shapes", "softmax")),
    Todo("scaled_dot_product_attention", "open", Place(FILE, 21), ("scaled", "mask")),
    Todo("Attention.forward", "open", Place(FILE, 40)),
)
UNTOUCHED = replace(NOT_STARTED, todos=tuple(replace(todo, state="open") for todo in TODOS))
IN_PROGRESS = replace(attention("gradients", "not_started", None, after="not_started"), status="fail", todos=TODOS)
HALF_WRONG = replace(
    attention("softmax", "fail", WRONG_SHAPE, after="not_started"),
    todos=(TODOS[0], replace(TODOS[1], state="started"), replace(TODOS[2], state="done")),
)
WAITS = attention("shapes", "waits", None)
GRADER_PROBLEM = attention("mask", "grader_error", GRADER, after="pass")
SHAPE = replace(attention("shapes", "fail", WRONG_SHAPE), parts="stand-in", stood_in=("ex04_masks",))
PASS = replace(MASK, status="pass", score=1400, checks=tuple(check(name) for name in TITLES))
RATIOS = attention("scaled", "fail", RATIO)
IDS = attention("mask", "fail", WRONG_IDS, after="pass")
WORDS = ("The", "cat", "sat", "on", "the", "mat", "whichever")
WAVES = Picture(
    "The code of each position",
    tuple(
        tuple(round((math.cos if dim % 2 else math.sin)(place / 100 ** (dim // 2 / 16)), 3) for dim in range(32))
        for place in range(40)
    ),
    "position",
    "feature",
)
ATTENTION = Picture("What each word attends to", weights(7, 7, 2.449), "query", "key", WORDS, WORDS)
BUILT = "Attention: every position asks all the others, and mixes their values by how well their keys answer."
PICTURES = replace(PASS, built=BUILT, pictures=(ATTENTION,))
WAVES_PASS = replace(
    PASS, id="ex02_positional_encoding", title="positional encoding", built="Positions as waves.", pictures=(WAVES,)
)
RATE = Picture("The rate of each step", ((1.0, 4.0, 2.5, 1.75),), "rate", "step", bars=True)
RATE_PASS = replace(PASS, id="ex13_training", title="training", built="A rate that warms up.", pictures=(RATE,))
SYNTAX = attention("shapes", "error", UNREADABLE, after="error")
NAMED = attention("mask", "fail", BARE_NAME, after="pass")
ABSENT = Finding("structure", "missing", "There is no file ex08_encoder.py.")
MISSING = ExerciseResult(
    "ex08_encoder", "encoder", "missing", 0, 2000, (CheckResult("shapes", "shapes", "missing", 0, 2000, 0.0, ABSENT),)
)

EXERCISES = {
    "fail": FAIL,
    "mask": MASK,
    "named": NAMED,
    "error": ERROR,
    "syntax": SYNTAX,
    "timeout": TIMEOUT,
    "memory": MEMORY,
    "not-started": NOT_STARTED,
    "untouched": UNTOUCHED,
    "in-progress": IN_PROGRESS,
    "half-wrong": HALF_WRONG,
    "waits": WAITS,
    "grader-problem": GRADER_PROBLEM,
    "shape": SHAPE,
    "pass": PASS,
    "missing": MISSING,
    "ratio": RATIOS,
    "ids": IDS,
    "pictures": PICTURES,
    "waves": WAVES_PASS,
    "rate": RATE_PASS,
}


def exercise(
    exercise_id: str, title: str, status: Status, score: int, finding: Finding | None = None
) -> ExerciseResult:
    """An exercise of two checks worth ten points, of which the second has the status."""
    checks = (
        CheckResult("shapes", "the output has the shape of the contract", "pass", 500, 500, 0.01),
        CheckResult("values", "the values are the expected ones", status, max(score - 500, 0), 500, 0.02, finding),
    )
    kept = checks if score else tuple(replace(check, status=status, score=0) for check in checks)
    return ExerciseResult(exercise_id, title, status, score, 1000, kept)


def report(student: str, *exercises: ExerciseResult, notes: tuple[str, ...] = (), log: str = "") -> Report:
    """A report on these exercises."""
    submission = {"student": student, "digest": "sha256:0", "notes": list(notes)}
    return Report("Build a Transformer", submission, "sha256:1", "cpu", "process", exercises, log)


EMBEDDINGS = exercise("ex01_embeddings", "token embeddings", "pass", 1000)
POSITIONS = exercise("ex02_positional_encoding", "positional encoding", "pass", 1000)
NORM = exercise("ex03_layer_norm", "layer normalization", "fail", 500, STRUCTURE)
HEADS = exercise("ex06_multi_head_attention", "multi-head attention", "not_started", 0)
BLOCK = exercise("ex07_feed_forward", "feed-forward network", "waits", 0)

PRINTS = (
    PrintOutput("loading\n"),
    PrintOutput("step 1\nscores tensor([[1., 2.]])\n\x1b[31mred\x1b[0m \x07bell [b, 0]\n", "scaled", 1, 2),
    PrintOutput("step 1\n", "masked"),
)

ONE_STUDENT = report(
    "",
    EMBEDDINGS,
    POSITIONS,
    replace(FAIL, prints=PRINTS),
    HEADS,
    BLOCK,
    MISSING,
    notes=("ex09_gpt.py is not a file of this course; it was left out",),
)
CLASS = (
    report("ada", EMBEDDINGS, POSITIONS, replace(NORM, status="pass", score=1000, checks=EMBEDDINGS.checks), PASS),
    report(
        "bob[/2]",
        EMBEDDINGS,
        exercise("ex02_positional_encoding", "positional encoding", "error", 0, RAISED),
        NORM,
        FAIL,
    ),
    report(
        "carla-de-la-cruz", EMBEDDINGS, POSITIONS, NORM, GRADER_PROBLEM, notes=("two files named ex03_layer_norm.py",)
    ),
    report(
        "dmitri",
        EMBEDDINGS,
        exercise("ex02_positional_encoding", "positional encoding", "timeout", 0, ENDLESS),
        NORM,
        FAIL,
    ),
    report(
        "eve\x1b[2J", EMBEDDINGS, POSITIONS, exercise("ex03_layer_norm", "layer normalization", "not_started", 0), MASK
    ),
)
