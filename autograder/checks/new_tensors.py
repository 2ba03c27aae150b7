"""Watch the tensors that a call makes, and stop it at the line that makes one which is too large.

The dispatcher runs every operation of the forward and the backward pass, so the style of a program does not matter.
A view makes no tensor: it has the memory of another one. Neither do arguments, which exist before the call.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.checks.structure import StructureError


class NewTensors(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Raises `StructureError` in the operation that makes a tensor of `elements` elements or more.

    With `axis`, it also raises for a tensor that is computed from one of `sources` and has an axis of that length or
    more. `too_large` keeps the first error, since a program may catch it.
    """

    def __init__(self, elements: int, axis: int | None = None, sources: Iterable[Tensor] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements = elements
        self.axis = axis
        self.too_large: StructureError | None = None
        self._derived = {_memory(tensor) for tensor in sources}
        self._kept: list[Tensor] = []  # else a new tensor could get the memory of an old one

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Tell torch not to prepare compilation under this mode: loading its compiler takes a second or more."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        known = {_memory(tensor) for tensor in _tensors([*args, *(kwargs or {}).values()])}
        for tensor in _tensors([result]):
            memory = _memory(tensor)
            if self.axis is not None and known & self._derived:
                self._derived.add(memory)
                self._kept.append(tensor)
            if memory not in known:
                self._check(tensor, func.overloadpacket.__name__, is_derived=memory in self._derived)
        return result

    def _check(self, tensor: Tensor, operation: str, *, is_derived: bool) -> None:
        shape, count = tuple(tensor.shape), tensor.numel()
        made = f"your code makes a tensor of shape {shape} by {operation}"
        if count >= self.elements:
            self._refuse(f"{made}: {count:,} elements, and the limit is {self.elements - 1:,}")
        if self.axis is not None and is_derived and max(shape, default=0) >= self.axis:
            self._refuse(f"{made}: the longest axis allowed here is {self.axis - 1:,}")

    def _refuse(self, sentence: str) -> None:
        error = StructureError(sentence)
        self.too_large = self.too_large or error
        raise error


def _memory(tensor: Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


def _tensors(values: Sequence[Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found += _tensors(value)
    return found
