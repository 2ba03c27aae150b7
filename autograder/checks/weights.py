"""Load known weights into a module: by the hook of its class, part by part, or by name. Used in the worker only."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from autograder.checks.structure import StructureError, compare_parameters

HOOK = "from_reference"
"""The method with which a class may load weights under the contract's names into its own layout."""


class ReferencePart(nn.Module):
    """The base of every class that replaces a student's class: its weights have the contract's names."""

    def from_reference(self, state: Mapping[str, Tensor]) -> None:
        """Load the weights in `state`, for a student's hook that calls the hooks of its parts."""
        for name, value in self.named_parameters():
            if name in state:
                value.data.copy_(state[name])


def fill(module: nn.Module, state: Mapping[str, Tensor], within: str = "", prefix: str = "") -> None:
    """Load `state` by the hook of the class, or of its parts, or by name (see from_reference in the contract).

    A part is `within` the class that the check made, under the names that begin with `prefix`. Raises `StructureError`
    where names or shapes are missing, in the names of that class: so the message is alike with and without hooks.
    """
    hook: Any = getattr(module, HOOK, None)
    if hook is None or not state or _is_part(module):
        _fill_by_name(module, state, within, prefix)
    elif any(map(_is_part, module.modules())):
        _fill_with_parts(module, state)
    else:
        hook(dict(state))


def _is_part(module: nn.Module) -> bool:
    """Say whether a module is a reference part itself, not a student's subclass of one with another hook."""
    return isinstance(module, ReferencePart) and getattr(type(module), HOOK) is ReferencePart.from_reference


def _fill_by_name(module: nn.Module, state: Mapping[str, Tensor], within: str = "", prefix: str = "") -> None:
    by_name = dict(state)
    owner = within or type(module).__name__
    hooked = {name: part for name, part in module.named_children() if _has_hook(part)}
    for name, part in hooked.items():
        if of_part := _under(name, state):
            fill(part, of_part, owner, f"{prefix}{name}.")
            by_name = {key: value for key, value in by_name.items() if not key.startswith(f"{name}.")}
    own = {key: value for key, value in module.named_parameters() if key.split(".")[0] not in hooked}
    sentences = compare_parameters(
        owner,
        {f"{prefix}{key}": tuple(value.shape) for key, value in own.items()},
        {f"{prefix}{key}": tuple(value.shape) for key, value in by_name.items()},
    )
    if sentences:
        raise StructureError(". ".join(sentences))
    for key, value in by_name.items():  # in the order of the contract: so traces of all programs have the same steps
        own[key].copy_(value)
    for key, value in own.items():
        if key not in by_name and key.endswith("bias"):
            value.zero_()


def _under(name: str, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}


def _has_hook(module: nn.Module) -> bool:
    own = (part for part in module.modules() if not _is_part(part))
    return any(hasattr(type(part), HOOK) or HOOK in vars(part) for part in own)


def _fill_with_parts(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Fill a module that holds reference parts: its hook expects the layout of the student's own earlier classes.

    If the hook fails on a reference part, it runs again with objects in place of the parts that accept any access. If
    it still fails, the weights are loaded by name. If the names do not fit either, raises what the hook raised first.
    """
    hook = getattr(module, HOOK)
    try:
        hook(dict(state))
    except Exception as error:
        try:
            with _without_parts(module):
                hook(dict(state))
        except Exception:
            try:
                _fill_by_name(module, state)
            except StructureError:
                raise error from None
    _fill_parts(module, state)


def _fill_parts(module: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Fill each reference part under the contract's name, so that no hook needs to know its layout."""
    filled: list[str] = []
    for prefix in dict.fromkeys(prefix for key in state for prefix in _prefixes(key)):
        part: Any = module
        for name in prefix.split("."):
            part = getattr(part, name, None)
        if isinstance(part, nn.Module) and _is_part(part) and not prefix.startswith(tuple(filled)):
            _fill_by_name(part, _under(prefix, state))
            filled.append(f"{prefix}.")


def _prefixes(key: str) -> Iterator[str]:
    names = key.split(".")
    yield from (".".join(names[:count]) for count in range(1, len(names)))


@contextmanager
def _without_parts(module: nn.Module) -> Iterator[None]:
    """Replace each reference part by an `_Anything` within the block; `_fill_parts` fills the parts afterwards."""
    holders = [
        (owner._modules, name, part)
        for owner in list(module.modules())
        if not _is_part(owner)
        for name, part in owner.named_children()
        if _is_part(part)
    ]
    try:
        for parts, name, _ in holders:
            parts[name] = _Anything()  # type: ignore[assignment]
        yield
    finally:
        for parts, name, part in holders:
            parts[name] = part


class _Anything:
    """An object of any layout: every attribute, item and result of it is the object itself."""

    def _itself(self, *_: Any, **__: Any) -> "_Anything":
        return self

    __getattr__ = __getitem__ = __call__ = _itself
    __add__ = __sub__ = __mul__ = __floordiv__ = __truediv__ = _itself

    def __setattr__(self, name: str, value: object) -> None:
        """Accept any attribute."""

    def __setitem__(self, at: object, value: object) -> None:
        """Accept any item."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    @classmethod
    def __torch_function__(cls, *_: Any, **__: Any) -> "_Anything":
        return cls()
