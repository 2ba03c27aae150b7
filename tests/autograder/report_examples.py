"""Reports of wrong attention programs, as data, for the tests of the renderings."""

from dataclasses import replace

from autograder.report.model import CheckResult, Evidence, ExerciseResult, Finding, Place, Report, Status

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
        *(check(each) for each in ids[:place]),
        check(failing, status, finding),
        *(check(each, after) for each in ids[place + 1 :]),
    )
    return ExerciseResult("ex05_attention", "attention", status, sum(each.score for each in checks), 1400, checks)


UNSCALED = Finding(
    kind="misconception",
    id="attention-not-scaled",
    message="Every score is 2.449 × the expected one, so the softmax is too sharp. 2.449 = √6 = √K.",
    name="dot products that are not scaled",
    detail="A sum of K products grows with √K. The larger K is, the more the softmax turns into a choice of one key.",
    place=Place(FILE, 21, "scaled_dot_product_attention"),
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
            ("[0, 0, 0, 3]", "0.4127", "0.7804"),
            ("[0, 2, 5, 1]", "0.6033", "0.9415"),
            ("[1, 3, 2, 0]", "0.0912", "0.0104"),
            ("[2, 1, 6, 4]", "0.2218", "0.1490"),
            ("[2, 3, 0, 2]", "0.3390", "0.5102"),
        ),
    ),
)
MASK_TIMES_ZERO = Finding(
    kind="misconception",
    id="mask-times-zero",
    message="Every hidden position still gets weight, 0.031 or more; expected 0. Rows still sum to 1.",
    name="a mask that multiplies",
    detail="The hidden scores became 0, and e^0 = 1. A score of -∞ gives no weight.",
    place=Place(FILE, 24, "scaled_dot_product_attention"),
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
        (("[0, 0, 0, 1]", "0.000", "0.072"), ("[0, 0, 3, 4]", "0.000", "0.050")),
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
        "the tensors in that line's function",
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
WAITS = attention("shapes", "waits", None)
GRADER_PROBLEM = attention("mask", "grader_error", GRADER, after="pass")
SHAPE = replace(attention("shapes", "fail", WRONG_SHAPE), parts="stand-in")
PASS = replace(MASK, status="pass", score=1400, checks=tuple(check(each) for each in TITLES))
SYNTAX = attention("shapes", "error", UNREADABLE, after="error")
NAMED = attention("mask", "fail", BARE_NAME, after="pass")
ABSENT = Finding("structure", "missing", "ex08_encoder.py is not in the submission.")
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
    "waits": WAITS,
    "grader-problem": GRADER_PROBLEM,
    "shape": SHAPE,
    "pass": PASS,
    "missing": MISSING,
}


def exercise(
    exercise_id: str, title: str, status: Status, score: int, finding: Finding | None = None
) -> ExerciseResult:
    """An exercise of two checks worth ten points, of which the second has the status."""
    checks = (
        CheckResult("shapes", "the output has the shape of the contract", "pass", 500, 500, 0.01),
        CheckResult("values", "the values are the expected ones", status, max(score - 500, 0), 500, 0.02, finding),
    )
    kept = checks if score else tuple(replace(each, status=status, score=0) for each in checks)
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

ONE_STUDENT = report(
    "",
    EMBEDDINGS,
    POSITIONS,
    FAIL,
    HEADS,
    BLOCK,
    MISSING,
    notes=("ex09_gpt.py is not a file of this course; it was left out",),
    log="loading\nstep 1\nscores tensor([[1., 2.]])\n\x1b[31mred\x1b[0m \x07bell [b, 0]\n",
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
