"""How an observation is judged, as data: the judge process reads these, the worker only carries them.

A check that needs another criterion may pass a function `(yours, expected) -> str | None` of two plain values, which
returns a sentence about the mistake, or None.
"""

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


class DeclarationError(ValueError):
    """A check, a picture or a step is declared wrongly; the message is a sentence for its author."""


Kind = str | type[BaseException]
"""An exception, by its name or as its class."""


@dataclass(frozen=True)
class Same:
    """The observation equals that of the reference solution.

    `tolerance` bounds the difference, relative to the largest expected value of a tensor, in place of the default of
    its dtype. With `exact_zeros`, numbers that are zero in the reference must be zero.
    """

    tolerance: float | None = None
    exact_zeros: bool = False

    def __post_init__(self) -> None:
        _require_positive(self.tolerance)


@dataclass(frozen=True)
class SameInputs(Same):
    """The observation is made of arguments after the call, which are the same as before.

    A difference is reported as a change that the program made, never as numbers that it computed.
    """


@dataclass(frozen=True)
class Like:
    """A property holds between two tensors, and the numbers resemble the reference's. Other checks compare them.

    - Shapes, dtypes and devices equal the reference's, and a number is finite where the reference's is.
    - A list of two tensors of one shape holds two ways to the same numbers. They differ by at most `tolerance`,
      relative to the largest of the second, in place of the default of their dtypes. Nothing is compared where the
      second tensor of the reference has no finite number.
    - Each tensor correlates with the reference's by at least `likeness`, with either sign, so that numbers which were
      not computed do not pass. The fewer numbers, the higher the correlation has to be. Fewer than four numbers, or
      numbers that are all alike in the reference, have to equal it. The mean of all vectors of a tensor is ignored.
    - With a `spread`, the numbers vary as much as the reference's, within this factor.
    - With `exact_zeros`, a number is zero exactly where the number it is compared with is.
    - Parts named in `free` need not resemble the reference, but are finite where it is.
    """

    tolerance: float | None = None
    exact_zeros: bool = False
    likeness: float = 0.5
    spread: float | None = None
    free: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require_positive(self.tolerance)


@dataclass(frozen=True)
class Raises:
    """`given.raises(...)` observed one of these exceptions, and its message contains all `mentions`.

    `types` are classes or their names, one or several; names are kept, as the judge never has a program's own classes.
    """

    types: tuple[str, ...]

    def __init__(self, types: Kind | Sequence[Kind] = "ValueError") -> None:
        kinds = tuple(types) if isinstance(types, list | tuple) else (types,)
        if not kinds:
            raise DeclarationError("Raises: types is empty, expected at least one exception")
        object.__setattr__(self, "types", tuple(map(_exception_name, kinds)))


@dataclass(frozen=True)
class Dropout:
    """The observation is a dict with `eval` and `train`, two tensors of one shape, and other entries.

    `train` is `eval` with a share of about `rate` zero, at positions that vary along every axis, and the rest scaled
    by 1 / (1 - rate). Every entry but `train` is judged by `Like` with `exact_zeros`.
    """

    rate: float


Judge = Same | Like | Raises | Dropout | Callable[[Any, Any], str | None]


def _exception_name(kind: object) -> str:
    """Return the name of an exception. Raises `DeclarationError` for what cannot be one."""
    if isinstance(kind, str) and not kind.isidentifier():
        words = [f'"{word.rpartition(".")[2]}"' for word in kind.replace(",", " ").split()] or ['"ValueError"']
        form = words[0] if len(words) == 1 else f"({', '.join(words)})"
        raise DeclarationError(f"Raises: types has the text {kind!r}, expected a name without its module, like {form}")
    known = getattr(builtins, kind, None) if isinstance(kind, str) else kind
    if isinstance(known, type) and issubclass(known, BaseException):
        return known.__name__
    if known is not None or not isinstance(kind, str):
        shown = kind.__name__ if isinstance(kind, type) else kind if isinstance(kind, str) else repr(kind)
        expected = 'expected exceptions, by name or class, like "KeyError" or (KeyError, IndexError)'
        raise DeclarationError(f"Raises: types has {shown}, which is no exception; {expected}")
    return kind


def _require_positive(tolerance: float | None) -> None:
    if tolerance is not None and not tolerance > 0:
        raise DeclarationError(
            f"tolerance is {tolerance}, expected a number above 0; omit it for the default of the dtype"
        )
