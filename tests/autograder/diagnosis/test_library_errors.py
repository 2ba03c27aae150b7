"""Exceptions that PyTorch really raises get a reason in plain words; every other one gets none."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from autograder.diagnosis.exceptions import Raised
from autograder.results import message
from autograder.runner import library_reason

x = torch.ones(2, 3, 4)
weight = torch.ones(3, requires_grad=True)


def changed_in_place() -> None:
    y = weight.exp()
    y += 1
    y.sum().backward()


RAISING: list[tuple[Callable[[], object], str]] = [
    (lambda: nn.Linear(5, 2)(x), "a matrix of 6x4 cannot be multiplied by one of 5x2: the inner sizes differ"),
    (lambda: x + torch.ones(5), "on axis 2, one tensor has size 4 and the other 5, so they cannot be combined"),
    (
        lambda: torch.bmm(x, torch.ones(2, 3, 4)),
        "a batched matrix product needs a second tensor that begins with [2, 4], and gets [2, 3]",
    ),
    (lambda: x.view(2, 3, 5), "the shape [2, 3, 5] has 30 elements, the tensor has 24"),
    (lambda: x.view(-1, 7), "the 24 elements of the tensor do not fill the shape [-1, 7]"),
    (lambda: x.transpose(0, 1).view(6, 4), "`view` needs the numbers in memory in their order, and"),
    (lambda: x.double() @ x.transpose(1, 2), "two tensors of different dtypes are combined: "),
    (lambda: nn.Linear(4, 2)(x.double()), "two tensors of different dtypes are combined: "),
    (
        lambda: x.half().masked_fill(x > 0, -1e9),
        "a number is too large for the dtype of the tensor that it is put into",
    ),
    (lambda: nn.Embedding(3, 2)(torch.tensor([3])), "an id is looked up that has no row in the table"),
    (lambda: x.sum(dim=3), "axis 3 does not exist: the tensor has axes -3 to 2"),
    (lambda: bool(x), "`and`, `or` and `if` need one truth value; `&` and `|` combine tensors element by element"),
    (lambda: weight.add_(1), "a parameter is changed in place while its gradient is recorded"),
    (changed_in_place, "a value that the backward pass needs was changed in place"),
    (lambda: x.sum().backward(), "`backward` starts from a value that no gradient flows to"),
    (lambda: x.item(), "`.item()` needs a tensor of one number, and this one has 24"),
    (
        lambda: torch.multinomial(torch.tensor([float("nan"), 1.0]), 1),
        "the probabilities to sample from contain NaN, an infinity or a negative number",
    ),
    (lambda: x[:, 3], "index 3 does not exist on axis 1, which has size 3"),
    (lambda: x.topk(5), "`topk` is asked for more numbers than the axis has"),
    (lambda: 0.0**-0.5, "0 is raised to a negative power"),
    (lambda: nn.Linear(4, 2)(x, mask=x), "a call passes `mask`, and forward() has no such parameter"),
    (lambda: nn.Linear(4, 2)(), "a call of forward() does not pass 'input'"),
    (lambda: getattr(None, "size"), "a value is None where an object is needed"),  # noqa: B009
    (lambda: None * x, "a value is None where an object is needed"),
    (lambda: x + "a", "`+` cannot combine a value of type Tensor and one of type str"),
    (lambda: float(2)(x), "a value of type float is called like a function"),  # type: ignore[operator]
    (lambda: nn.Embedding(3, 2)[0], "a value of type Embedding has no elements to choose with `[ ]`"),  # type: ignore[index]
    (lambda: [1][3], "the index is beyond the end of the list"),
    (lambda: __import__("no_such_module"), "no module `no_such_module` is installed where your code runs"),
    (lambda: (lambda: 1)(2, 3), "a call passes 2 arguments too many"),  # type: ignore[call-arg]
    (lambda: [(a, b) for a, b in [(1,)]], "2 values are unpacked, and there are 1"),
    (lambda: [(a, b) for a, b in [(1, 2, 3)]], "2 values are unpacked, and there are more"),
]


@pytest.mark.parametrize(("raising", "words"), RAISING)
def test_the_reason_of_an_exception_is_in_plain_words(raising: Callable[[], object], words: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - each is another one
        raising()
    assert library_reason(str(raised.value)).startswith(words)
    reason = library_reason(str(raised.value))
    fact = Raised(type(raised.value).__name__, at_import=False, function="forward", reason=reason).fact
    assert words in message("", fact)


@pytest.mark.parametrize("text", ["", "'tokens'", "unsupported operand"])
def test_another_exception_gets_no_words(text: str) -> None:
    assert library_reason(text) == ""
