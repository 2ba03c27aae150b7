"""Turn the return value of a probe into plain data. Methods that a student's class overrides have no effect here."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.checks.another_device import NAME, Elsewhere
from autograder.protocol import Array, Opaque, Value
from autograder.protocol.bounds import (
    INT_BITS,
    OBSERVATION_DEPTH,
    OBSERVATION_ELEMENTS,
    OBSERVATION_KEY,
    OBSERVATION_PARTS,
    OBSERVATION_TEXT,
    cut,
)
from autograder.protocol.values import ITEM_SIZES, MAX_AXES


def observe(value: Any, depth: int = 0) -> Value:
    """Return an observation as a plain value; an object that is not data becomes an `Opaque` with its type's name."""
    if value is None or type(value) in (bool, int, float):
        return value if not isinstance(value, int) or abs(value) < 1 << INT_BITS else Opaque("an enormous int")
    if isinstance(value, np.number | np.bool_) and type(value.item()) in (bool, int, float):
        return observe(value.item(), depth)
    if isinstance(value, str):
        return cut(str.__str__(value), OBSERVATION_TEXT)  # past a subclass's own __str__
    if isinstance(value, Tensor):
        return _array(value)
    if isinstance(value, torch.dtype | torch.device):
        return str(value)
    if depth < OBSERVATION_DEPTH and isinstance(value, list | tuple) and len(value) <= OBSERVATION_PARTS:
        return [observe(part, depth + 1) for part in value]
    if depth < OBSERVATION_DEPTH and isinstance(value, dict) and len(value) <= OBSERVATION_PARTS:
        return {cut(str(key), OBSERVATION_KEY): observe(part, depth + 1) for key, part in value.items()}
    return Opaque(f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins."))


def _array(tensor: Tensor) -> Value:
    device = NAME if isinstance(tensor, Elsewhere) else str(tensor.device)
    plain = tensor.cpu_tensor.detach() if isinstance(tensor, Elsewhere) else tensor.detach()
    if type(plain) is not Tensor:  # a subclass could answer for itself in everything below
        plain = plain.as_subclass(Tensor)
    dtype = str(plain.dtype).removeprefix("torch.")
    if plain.dim() > MAX_AXES:
        return Opaque(f"a tensor of {plain.dim()} axes")
    if dtype not in ITEM_SIZES or plain.layout is not torch.strided or plain.is_quantized:
        return Opaque(f"a {dtype} tensor of layout {plain.layout}")
    if plain.is_meta or math.prod(plain.shape) > OBSERVATION_ELEMENTS:
        return Opaque(f"a tensor of shape {tuple(plain.shape)} on {plain.device}")
    here = (plain if plain.is_cpu else plain.cpu()).resolve_neg()
    if here.dtype == torch.bfloat16:  # NumPy has no such dtype: send its bytes
        here = here.contiguous().view(torch.int16)
    return Array(dtype, tuple(plain.shape), here.numpy().tobytes(), device)
