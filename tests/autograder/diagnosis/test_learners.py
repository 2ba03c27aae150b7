"""Programs in a learner's own style, with one or two mistakes: what is said, where, and what is shown beside it."""

from collections.abc import Callable, Iterator

import pytest

from autograder.course import find_course, load_suite, read_course, resolve_exercise
from autograder.diagnosis.exceptions import MORE
from autograder.judge import Grader
from autograder.results import Certainty, CheckResult, ExerciseResult, Finding
from autograder.runner import Runner
from tests.support.course_programs import submission_of

pytestmark = pytest.mark.worker

COURSE = read_course(find_course())

EMBEDDINGS = """
from torch import nn

class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(vocab_size, d_model)

    def forward(self, ids):
        return self.embedding(ids) * self.d_model**0.5
"""

POSITIONS = """
import torch
from torch import nn

def sinusoidal_table(seq_len, d_model):
    pe = torch.zeros(seq_len, d_model)
    position = torch.arange(0, seq_len).unsqueeze(1)
    i = torch.arange(0, d_model, 2)
    angle = position / 10000 ** (i / d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle[:, : d_model // 2])
    return pe

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, seq_len, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pe", sinusoidal_table(seq_len, d_model).unsqueeze(0))

    def forward(self, x):
        if x.size(1) > self.pe.size(1):
            raise ValueError(f"{x.size(1)} positions, but only {self.pe.size(1)} rows")
        out = x + self.pe[:, : x.size(1)]
        return self.dropout(out)
"""

ATTENTION = """
from ex05_attention import scaled_dot_product_attention
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads")
        self.num_heads, self.d_k = num_heads, d_model // num_heads
        self.w_o = nn.Linear(d_model, d_model)
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.num_heads, self.d_k).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))
        out, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
        self.attention_weights = weights.detach()
        out = out.transpose(1, 2).reshape(query.shape)
        return self.w_o(out)
"""

NORM = """
import torch
from torch import nn

class LayerNormalization(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.alpha = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean(-1, keepdim=True)
        spread = torch.sqrt(((x - m) ** 2).mean(-1, keepdim=True) + self.eps)
        return self.alpha * (x - m) / spread + self.bias
"""

MASKS = """
import torch

def create_padding_mask(seq, pad_idx=0):
    return (seq != pad_idx)[:, None, None, :]

def create_look_ahead_mask(size, device=None):
    return torch.tril(torch.ones(size, size, device=device))

def create_target_mask(tgt, pad_idx=0):
    return create_padding_mask(tgt, pad_idx) & create_look_ahead_mask(tgt.size(1), tgt.device).bool()
"""

PROGRAMS = {"1": EMBEDDINGS, "2": POSITIONS, "3": NORM, "6": ATTENTION}
NO_SLICE = ("self.pe[:, : x.size(1)]", "self.pe")
NOT_SAVED = (".unsqueeze(0))", ".unsqueeze(0), persistent=False)")
WRONG_EXPONENT = ("(i / d_model)", "(2 * i / d_model)")
BIASES = (", bias=False", "")
NOT_TRANSPOSED = ("out.transpose(1, 2).reshape(query.shape)", "out.reshape(query.shape)")
VIEWED = ("reshape(query.shape)", "view(query.shape)")

Wrong = Callable[..., CheckResult]
Graded = Callable[[str, str], CheckResult]
Judged = Callable[[str, str], ExerciseResult]


@pytest.fixture(scope="module")
def judged() -> Iterator[Judged]:
    """Return a function that checks a program of an exercise."""
    suite = load_suite(
        COURSE, [resolve_exercise(COURSE, number) for number in ("1", "2", "3", "4", "5", "6", "14", "18")]
    )
    with (
        Runner(suite, seed=COURSE.seed, shared=True) as runner,
        Grader(suite, seed=COURSE.seed, evidence=True) as grader,
    ):

        def result(number: str, source: str) -> ExerciseResult:
            exercise = resolve_exercise(COURSE, number)
            submission = submission_of(COURSE, exercise, source)
            return grader.report(submission, [exercise], runner).exercises[0]

        yield result


@pytest.fixture(scope="module")
def graded(judged: Judged) -> Graded:
    """Return a function that checks a program of an exercise and returns the check to look at first."""

    def first_failure(number: str, source: str) -> CheckResult:
        found = judged(number, source).first_failure
        assert found is not None
        return found

    return first_failure


@pytest.fixture(scope="module")
def wrong(graded: Graded) -> Wrong:
    """Return a function that makes mistakes in a program and returns the check to look at first."""

    def first_failure(number: str, *mistakes: tuple[str, str]) -> CheckResult:
        source = PROGRAMS[number]
        for find, replace in mistakes:
            assert find in source
            source = source.replace(find, replace)
        return graded(number, source)

    return first_failure


def finding_in(check: CheckResult) -> Finding:
    assert check.finding is not None
    return check.finding


def line(check: CheckResult) -> str | None:
    """Return the line that a finding points to."""
    finding = finding_in(check)
    return dict(finding.source)[finding.place.line].strip() if finding.place is not None else None


def tensors(check: CheckResult) -> list[str]:
    """Return the tensors beside an exception, in their order."""
    evidence = finding_in(check).evidence
    assert evidence is not None
    return [name for name, _, _ in evidence.rows]


def test_a_mistake_has_its_own_line_beside_needless_biases_and_in_another_order_of_layers(wrong: Wrong) -> None:
    check = wrong("6", NOT_TRANSPOSED, BIASES)
    assert finding_in(check).id == "heads-merged-without-transpose"
    assert line(check) == "out = out.reshape(query.shape)"
    assert str(finding_in(check).detail).endswith(f"\n{MORE}")
    assert MORE not in str(finding_in(wrong("6", NOT_TRANSPOSED)).detail)


ONE_PROJECTION = (
    "q, k, v = self.split(self.w_q(query)), self.split(self.w_k(key)), self.split(self.w_v(value))",
    "q, k, v = [self.split(self.w_q(x)) for x in (query, key, value)]",
)


def test_a_line_that_makes_one_value_again_in_place_of_others_has_no_mark_beside_another_mistake(wrong: Wrong) -> None:
    check = wrong("6", ONE_PROJECTION)
    assert (finding_in(check).id, line(check)) == ("heads-one-projection", ONE_PROJECTION[1])
    finding = finding_in(wrong("6", ONE_PROJECTION, ("attention(q, k", "attention(q / self.d_k**0.5, k")))
    assert finding.place is not None
    assert finding.place.line - 1 not in finding.agrees
    assert str(finding.detail).endswith(MORE)


def test_an_exception_is_not_hidden_behind_a_named_mistake(wrong: Wrong) -> None:
    check = wrong("6", VIEWED, BIASES)
    assert (finding_in(check).kind, finding_in(check).id) == ("exception", "RuntimeError")
    assert line(check) == "out = out.transpose(1, 2).view(query.shape)"
    assert tensors(check)[:2] == ["out", "query"]


def test_an_exception_is_named_beside_another_mistake_if_all_that_the_known_one_does_is_seen(wrong: Wrong) -> None:
    check = wrong("2", NO_SLICE, NOT_SAVED)
    assert (finding_in(check).id, line(check)) == ("positions-table-not-sliced", "out = x + self.pe")
    assert MORE in str(finding_in(check).detail)


def test_the_sentence_on_a_table_that_is_too_long_is_true_of_every_such_program(wrong: Wrong) -> None:
    check = wrong("2", NO_SLICE)
    assert finding_in(check).message == "The table is not cut to the length of the input."
    assert line(check) == "out = x + self.pe"


def test_a_wrong_exponent_is_placed_at_the_exponent(wrong: Wrong) -> None:
    check = wrong("2", WRONG_EXPONENT)
    assert line(check) == "angle = position / 10000 ** (2 * i / d_model)"
    assert finding_in(check).label == "2 × the expected value"
    check = wrong("2", ("torch.arange(0, d_model, 2)", "torch.arange(0, (d_model + 1) // 2)"))
    assert finding_in(check).id == "positions-exponent-halved"
    assert line(check) == "angle = position / 10000 ** (i / d_model)"


def test_two_mistakes_in_a_factor_have_one_factor_and_no_name(wrong: Wrong) -> None:
    scale = ("self.d_model = d_model", "self.scale = math.sqrt(vocab_size)")
    imported = ("from torch import nn", "import math\nfrom torch import nn")
    check = wrong("1", imported, scale, ("* self.d_model**0.5", "/ self.scale"))
    finding = finding_in(check)
    assert (finding.id, finding.name) == ("ratio", None)
    assert finding.message.startswith("output: 0.03587 × the expected value in every element; 0.03587 = 1/√(D·V)")
    assert str(finding.label).endswith("computes 0.03588 × the expected value; that is 1/√(D·V)")


def test_swapped_sizes_are_placed_where_the_table_is_made(wrong: Wrong) -> None:
    check = wrong("1", ("(vocab_size, d_model)", "(d_model, vocab_size)"))
    assert finding_in(check).id == "embedding-sizes-swapped"
    assert line(check) == "self.embedding = nn.Embedding(d_model, vocab_size)"


COLLECTED = """
        rows = self.embedding(ids)
        output = torch.zeros(rows.shape, dtype=rows.dtype)
        for position in range(ids.size(1)):
            output[:, position] = rows[:, position] * self.scale
        return output
"""
TABLE = """
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.scale = d_model**0.5
"""
STYLES = {
    "imports first": f"""import torch
from torch import nn

class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):{TABLE}
    def forward(self, ids):{COLLECTED}""",
    "docstrings, comments and blank lines": f'''"""My embeddings."""

# the libraries
import math, torch

from torch import Tensor
from torch import nn as nn


class InputEmbeddings(nn.Module):
    """A table."""

    def __init__(self, d_model: int, vocab_size: int) -> None:{TABLE}

    def forward(
        self,
        ids: Tensor,
    ) -> Tensor:
        """Return the rows."""

        # one by one
{COLLECTED}''',
    "decorators, helpers and one-line functions": f"""
from functools import wraps
import torch
from torch import nn

def kept(function):
    @wraps(function)
    def inner(*args):
        return function(*args)
    return inner

def same(x): return x

class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):{TABLE}
    @kept
    def forward(self, ids):
        def check(x): return x
        ids = check(same(ids))
{COLLECTED}""",
    "an import in the function": f"""
from torch import nn

class InputEmbeddings(nn.Module):
    def __init__(self, d_model, vocab_size):{TABLE}
    def forward(self, ids):
        import torch
{COLLECTED}""",
}


@pytest.mark.parametrize("style", STYLES)
def test_a_mistake_is_shown_on_its_own_line_and_on_no_import(graded: Graded, style: str) -> None:
    check = graded("1", STYLES[style])
    found = finding_in(check)
    assert (check.mistake, found.certainty) == ("embedding-collected-on-cpu", Certainty.LIKELY)
    assert found.place is not None
    assert "torch.zeros" in STYLES[style].splitlines()[found.place.line - 1]


MATH, CALL = ("self.d_model = d_model", "self.d_model = math.sqrt(d_model)"), "self.embedding(ids)"


@pytest.mark.parametrize(
    ("mistake", "says", "place"),
    [
        (MATH, "add `import math` at the top of the file", MATH[1]),
        (("self.embedding = ", "embedding = "), "you wrote `embedding = …` in `__init__`", "embedding = nn.Embedding("),
        (("self.d_model = ", "d_model = "), "you wrote `d_model = …` in `__init__`", "self.d_model**0.5"),
        (("def forward(self, ids)", "def forward(ids)"), "the first parameter of forward()", "def forward(ids):"),
        ((CALL, "self.modul(ids)"), "no line of InputEmbeddings sets `self.modul`", "self.modul(ids)"),
        (("from torch import nn", "from torch import nn.Linear"), "from torch.nn import Linear`", "import nn.Linear"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("def") else None,
)
def test_an_exception_says_what_to_write_and_proposes_no_other_name(
    wrong: Wrong, mistake: tuple[str, str], says: str, place: str
) -> None:
    check = wrong("1", mistake)
    assert says in finding_in(check).message
    assert place in str(line(check))
    assert "Did you mean" not in str(finding_in(check).detail)


def test_code_that_runs_at_import_is_shown_on_its_own_line(graded: Graded) -> None:
    check = graded("3", f"{NORM}\nprint(LayerNormalization(4)(torch.tensor([1, 2])))\n")
    assert line(check) == "print(LayerNormalization(4)(torch.tensor([1, 2])))"
    assert finding_in(check).evidence is None


def test_an_argument_is_meant_before_a_name_of_the_file(graded: Graded) -> None:
    source = NORM.replace("def forward(self, x):", "def forward(self, tensors):\n        x = Tensors").replace(
        "from torch import nn", "from torch import Tensor, nn"
    )
    assert str(finding_in(graded("3", source)).detail).endswith("Did you mean: 'tensors'?")


@pytest.mark.parametrize(("spaces", "where"), [(8, "inside LayerNormalization.__init__"), (0, "outside of the class")])
def test_a_method_that_stands_elsewhere_is_found(graded: Graded, spaces: int, where: str) -> None:
    begin, _, body = NORM.partition("    def forward")
    moved = "\n".join(f"{' ' * spaces}{text[4:]}" for text in f"    def forward{body}".split("\n"))
    check = graded("3", begin + moved)
    assert finding_in(check).message == f"LayerNormalization has no method forward; you define it {where}."
    assert line(check) == "def forward(self, x):"


def test_a_device_is_not_judged_where_only_something_else_is_wrong(judged: Judged) -> None:
    found = judged("4", MASKS).checks
    assert {check.id: check.status for check in found if check.status != "pass"} == {
        "look_ahead_form": "fail",
        "device": "waits",
    }
    assert found[-1].score == 0
    elsewhere = MASKS.replace("device=device", "dtype=torch.bool")
    found = judged("4", elsewhere).checks
    assert {check.id for check in found if check.status == "fail"} == {"look_ahead_device", "device"}
    broken = judged("3", NORM.replace("self.alpha * ", "self.aplha * ")).checks
    assert {check.id for check in broken if check.status == "waits"} == {"device"}


def test_gradients_wait_for_an_input_that_is_changed_in_place(judged: Judged) -> None:
    steps = (
        "spread = torch.sqrt(x.var(-1, keepdim=True, correction=0) + self.eps)",
        "x -= m",
        "x /= spread",
        "return self.alpha * x + self.bias\n",
    )
    found = judged(
        "3", NORM.replace("        return", "".join(f"        {step}\n" for step in steps) + "        return")
    )
    assert {check.id: check.status for check in found.checks if check.status != "pass"} == {
        "gradient": "waits",
        "input_kept": "fail",
    }
    assert found.first_failure is not None
    assert found.first_failure.hints


def test_a_name_asks_its_own_question_and_not_that_of_a_pattern_or_a_check(wrong: Wrong) -> None:
    check = wrong("3", ("(x - m) / spread", "(x - m / spread)"))
    assert (finding_in(check).id, finding_in(check).claim) == ("layer-norm-mean-of-quotient", Certainty.SHOWN)
    assert "parentheses" in check.hints[0]
    assert "?" not in str(finding_in(check).detail)


def test_a_factor_on_the_way_has_no_sign_that_a_later_line_may_take_away(wrong: Wrong) -> None:
    exponent = ("position / 10000 ** (i / d_model)", "position * 10000 ** (-2 * i / d_model)")
    check = wrong("2", exponent)
    assert line(check) == f"angle = {exponent[1]}"
    assert "-2" not in str(finding_in(check).label)


SAMPLED = """
import torch

def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0:
        return logits.argmax(dim=-1)
    logits = logits / temperature
    if top_k is not None:
        values, ids = logits.topk(min(top_k, logits.size(-1)), dim=-1)
        logits = torch.full_like(logits, float("-inf")).scatter(-1, ids, values)
    probs = torch.softmax(logits, dim=-1)
    if top_p is not None:
        sp, si = probs.sort(dim=-1, descending=True)
        sp = sp.masked_fill(sp.cumsum(-1) - sp >= top_p, 0.0)
        probs = torch.zeros_like(probs).scatter(-1, si, sp)
    return torch.multinomial(probs, num_samples=1, generator=generator)
"""


def test_a_shape_is_wrong_neither_by_an_order_of_numbers_nor_in_a_branch_that_was_not_taken(graded: Graded) -> None:
    check = graded("14", SAMPLED)
    assert check.id == "temperature"
    assert line(check) in (None, "return torch.multinomial(probs, num_samples=1, generator=generator)")


GATED = """
from torch import nn

class SwiGLU(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)

    def forward(self, x):
        gate = self.w3(x)
        gate = gate * gate.sigmoid()
        return self.w2(gate * self.w1(x))
"""


def test_a_right_value_in_the_place_of_another_one_is_not_marked_as_expected(graded: Graded) -> None:
    check = graded("18", GATED)
    assert "w3" in finding_in(check).message
    assert line(check) == "gate = gate * gate.sigmoid()"
    assert GATED.splitlines().index("        gate = self.w3(x)") + 1 not in finding_in(check).agrees
