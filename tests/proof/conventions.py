"""The ways to call `f` for the work of an exercise: a family of calls for each kind, as lines of Python."""

import math
from functools import cache
from itertools import product
from typing import Any

import torch
from torch import Tensor

EPS = 1e-5

_EXTRAS = (
    *("", ", None", ", mask", ", bias", ", 0.0", ", 0.0, False", ", None, 0.0, False", ", root", ", 1 / root"),
    *(
        ", root, 0.0",
        ", 1 / root, 0.0",
        ", bias, root",
        ", bias, 1 / root",
        ", bias, root, 0.0",
        ", bias, 1 / root, 0.0",
    ),
    *(", attn_mask=mask", ", attn_mask=bias", ", mask=mask", ", scale=1 / root", ", softmax_scale=1 / root"),
    *(", bias, True", ", bias, False", ", False", ", lambda s, *_: s", ", 0.0, False, attn_mask=bias"),
)
_LAYOUTS = (
    "f(q, k, v{})",
    "f(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2){})",
    "f(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1){})",
)

CONVENTIONS = {
    "norm": (
        *(
            "f(x, (D,), w, b, eps)",
            "f(x, (D,), weight=w, bias=b, eps=eps)",
            "f(x, w, b, eps)",
            "f(x, w, b, epsilon=eps)",
        ),
        *("f(x, (D,), w, b, eps, True)", "f(x, w, b, (D,), eps)", "f(x, w, b, axis=-1, epsilon=eps)", "f(x, w, b)"),
        *("f(x, (D,), eps=eps)[0] * w + b", "f(x, (D,)) * w + b", "f(x, -1, eps) * w + b", "f(x, -1) * w + b"),
        *("f(x) * w + b", "f(x, D) * w + b", "f(x, 1, w, b, eps)", "f(x.reshape(-1, D), 1, w, b, eps)"),
        "f(x.reshape(-1, D), w, b, x.numel() // D, D, 1, 1, eps)",
        "f(x.reshape(1, -1, D)).view_as(x) * w + b",
        "f(x.reshape(1, -1, D), None, None, None, None, True, 0.0, eps).view_as(x) * w + b",
        "f(x.reshape(1, -1, D), None, None, None, None, True, 0.0, eps, True).view_as(x) * w + b",
        "turned(f(x.reshape(-1, D).t(), None, None, None, None, True, 0.0, eps), x) * w + b",
        "turned(f(x.reshape(-1, D).t(), None, None, None, None, True, 0.0, eps, True), x) * w + b",
        "f(x - x.mean(-1, True), (D,), w, eps) + b",
        "f(x - x.mean(-1, True), (D,), w, eps)[0] + b",
        "f(x - x.mean(-1, True), w, eps) + b",
        *("made(f(D, eps=eps), w, b)(x)", "made(f((D,), eps=eps), w, b)(x)", "made(f(D), w, b)(x)"),
        "made(f(1, D, eps=eps), w, b)(x.reshape(-1, D))",
        "made(f(D, eps=eps), w, None)(x - x.mean(-1, True)) + b",
    ),
    "attention": tuple(layout.format(extra) for layout, extra in product(_LAYOUTS, _EXTRAS)),
    "heads": (
        "f(y, y, y, E, H, w_in, None, None, None, False, 0.0, w_out, None)",
        "f(y, y, y, E, H, w_in, None, None, None, False, 0.0, w_out, None, True, None, True)",
        "f(y, y, y, E, H, w_in, b_in, w_out, b_out)",
        "f(y, y, y, E, H, w_in, b_in, w_out, b_out, None, True, True, None)",
        *("made(f(E, H, batch_first=True), w_in, w_out)(y, y, y)", "made(f(E, H), w_in, w_out)(y, y, y)"),
        "made(f(E, H, bias=False, batch_first=True), w_in, w_out)(y, y, y)",
    ),
}
"""`x` is normalized over its last axis of `D` numbers; `q`, `k`, `v` attend; `y` attends to itself with `H` heads."""


def _inputs() -> dict[str, Any]:
    made = torch.Generator().manual_seed(1)
    trial = {name: torch.randn(*shape, generator=made) for name, shape in _SHAPES.items()}
    mask = torch.ones(3, 5, dtype=torch.bool).tril(1)
    bias = torch.zeros(3, 5).masked_fill(~mask, float("-inf"))
    return {**trial, "mask": mask, "bias": bias, "b_in": torch.zeros(12), "b_out": torch.zeros(4)}


_SHAPES = {
    **{"x": (2, 3, 6), "w": (6,), "b": (6,), "q": (2, 2, 3, 4), "k": (2, 2, 5, 4), "v": (2, 2, 5, 4)},
    **{"y": (1, 5, 4), "w_in": (12, 4), "w_out": (4, 4)},
}
_INPUTS = _inputs()


def names_of() -> dict[str, Any]:
    """Return fresh copies of the variables that a convention uses."""
    tensors = {name: value.clone() for name, value in _INPUTS.items()}
    return {**tensors, "D": 6, "E": 4, "H": 2, "eps": EPS, "root": 2.0, "made": made, "turned": turned}


def made(module: Any, first: Tensor, second: Tensor | None) -> Any:
    """Return a module with its weights set: of a norm, or of attention with several heads."""
    with torch.no_grad():
        for name, value in zip(("in_proj_weight", "weight"), (first, first), strict=True):
            if getattr(module, name, None) is not None:
                getattr(module, name).copy_(value)
        if second is not None and hasattr(module, "out_proj"):
            module.out_proj.weight.copy_(second)
        for number, name in enumerate(("linear_Q", "linear_K", "linear_V")):
            if hasattr(module, name):
                getattr(module, name).weight.copy_(first.chunk(3)[number])
        if (
            second is not None
            and getattr(module, "bias", None) is not None
            and "weight" in dict(module.named_parameters())
        ):
            module.bias.copy_(second)
        for name, value in module.named_parameters():
            if name.endswith("bias") and "." in name:
                value.zero_()
    return module.train()


def turned(result: Any, like: Tensor) -> Tensor:
    """Return a result with the batch last as one with the features last."""
    first: Tensor = result[0] if isinstance(result, tuple | list) else result
    return first.t().reshape(like.shape)


@cache
def expected(kind: str, masked: bool) -> Tensor:
    """Return the numbers of one kind of work in float64."""
    double = {name: value.double() for name, value in _INPUTS.items() if value.is_floating_point()}
    if kind == "norm":
        x = double["x"]
        normed = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + EPS).sqrt()
        norms: Tensor = normed * double["w"] + double["b"]
        return norms
    if kind == "attention":
        return _attended(double["q"], double["k"], double["v"], double["bias"] if masked else 0.0)
    y, tables = double["y"], double["w_in"].chunk(3)
    parts = [(y @ table.mT).unflatten(-1, (2, -1)).transpose(1, 2) for table in tables]
    joined: Tensor = _attended(*parts).transpose(1, 2).reshape(y.shape) @ double["w_out"].mT
    return joined


def _attended(q: Tensor, k: Tensor, v: Tensor, over: Any = 0.0) -> Tensor:
    return torch.softmax(q @ k.mT / math.sqrt(q.size(-1)) + over, -1) @ v


def picked(result: Any, like: Tensor) -> Tensor | None:
    """Return the first tensor of a result with as many numbers as expected, in the shape expected."""
    for item in result if isinstance(result, tuple | list) else (result,):
        if isinstance(item, Tensor) and item.numel() == like.numel() and item.dtype.is_floating_point:
            swapped = item.dim() == 4 and item.shape != like.shape
            return item.transpose(1, 2) if swapped else item.reshape(like.shape)
    return None
