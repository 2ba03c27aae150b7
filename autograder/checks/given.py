"""`given` for a course with torch: inputs, weights and device of one trial, all from one seed. Used in the worker only.

Inputs are drawn with NumPy (see `array_given`), so they are the same for every release of torch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.protocol import Refusal

from .array_given import ArrayGiven
from .plain_given import SEEDS, Shape, StructureError, compare_parameters
from .pretended_device import another_device

# Load known weights into a module: by the hook of its class, part by part, or by name. Used in the worker only.

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
    hooked = {name: part for name, part in module._modules.items() if part is not None and _has_hook(part)}
    for name, part in hooked.items():
        if of_part := _under(name, state):
            fill(part, of_part, owner, f"{prefix}{name}.")
            by_name = {key: value for key, value in by_name.items() if not key.startswith(f"{name}.")}
    every = module.named_parameters(remove_duplicate=False)
    own = {key: value for key, value in every if key.split(".")[0] not in hooked}
    differing = compare_parameters(
        owner,
        {f"{prefix}{key}": tuple(value.shape) for key, value in own.items()},
        {f"{prefix}{key}": tuple(value.shape) for key, value in by_name.items()},
    )
    shared = {} if within else {refusal.name: refusal for refusal in _shared(module, state)}
    if differing:
        first, *more = (shared.get(refusal.name, refusal) for refusal in differing)
        raise StructureError(first, *_unregistered(module, first.name.removeprefix(prefix).split(".")[0]), *more)
    for key, value in by_name.items():  # in the order of the contract: so traces of all programs have the same steps
        own[key].copy_(value)
    filled = {id(own[key]) for key in by_name}
    for key, value in own.items():
        if id(value) not in filled and key.endswith("bias"):
            value.zero_()
    if shared:
        raise StructureError(*shared.values())


def _unregistered(module: nn.Module, name: str) -> list[Refusal]:
    """Return what registers the modules in an attribute, if it is a plain list or tuple of them."""
    kept = vars(module).get(name)
    if not isinstance(kept, list | tuple) or not any(isinstance(part, nn.Module) for part in kept):
        return []
    says = f"`{name}` is a plain {type(kept).__name__}: `nn.ModuleList` registers the modules in it"
    return [Refusal(says, "registration", type(module).__name__, name)]


def _shared(module: nn.Module, state: Iterable[str]) -> list[Refusal]:
    """Return a refusal for every parameter that is an earlier one under another name: it got the weights of both."""
    first: dict[tuple[int, str], str] = {}
    owner, parameters = type(module).__name__, dict(module.named_parameters(remove_duplicate=False))
    names = {name: first.setdefault(_holder(module, parameters, name), name) for name in state}
    return [
        Refusal(
            f"{owner}: {name} is the same parameter as {earlier}, expected one of its own", "parameter", owner, name
        )
        for name, earlier in names.items()
        if name != earlier
    ]


def _holder(module: nn.Module, parameters: Mapping[str, nn.Parameter], name: str) -> tuple[int, str]:
    """Return what has a parameter of the contract: itself, or the innermost part on its way, which has a hook."""
    if name in parameters:
        return id(parameters[name]), ""
    first, _, rest = name.partition(".")
    part = getattr(module, first, None)
    return _holder(part, {}, rest) if isinstance(part, nn.Module) else (id(module), name)


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


# Watch the tensors that a call makes, and stop it at the line that makes one which is too large.
#
# The dispatcher runs every operation of the forward and the backward pass, so the style of a program does not matter.
# A view makes no tensor: it has the memory of another one. Neither do arguments, which exist before the call.


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


Module = TypeVar("Module", bound=nn.Module)

_SAME_IN_NUMPY = frozenset({"float32", "float64", "int64", "bool"})
"""The dtypes to which NumPy rounds as torch does, in half the time. To float16, torch rounds twice."""


class Given(ArrayGiven):
    """Inputs, weights and a device for one trial of one check.

    `exact` makes every floating tensor float64, whatever dtype the check asks for, with the values that dtype
    holds: so the reference is computed exactly on the same inputs that the student's code gets. A `traced` run takes
    no short cuts, since two traces are compared step by step.
    """

    torch = torch
    floating = "float32"

    def __init__(
        self, seed: int, sizes: Mapping[str, int], device: str, *, exact: bool = False, traced: bool = False
    ) -> None:
        super().__init__(seed, sizes, device, exact=exact, traced=traced)
        self.device = torch.device(device)
        self._filled = 0

    def _made(self, values: Any, dtype: str) -> Tensor:
        return self.tensor(values, dtype)

    def tensor(self, values: Any, dtype: str = "float32") -> Tensor:
        """Return known values as a tensor on the device; an `exact` run makes it float64."""
        if dtype in _SAME_IN_NUMPY and not (self._exact or self._traced):
            tensor = torch.from_numpy(np.asarray(values, dtype))
        else:
            tensor = torch.as_tensor(np.asarray(values), dtype=torch_dtype(dtype))
        if self._exact and tensor.is_floating_point():
            tensor = tensor.double()
        return tensor if tensor.device == self.device else tensor.to(self.device)

    def load(
        self,
        module: Module,
        parameters: Mapping[str, Shape],
        *,
        dtype: str = "float32",
        train: bool = False,
        strict: bool = True,
    ) -> Module:
        """Load random weights under the contract's parameter names into a module; return it in eval mode.

        A parameter that the contract does not name keeps its value, and such a bias becomes zero: a check of its own
        takes the points for it, once. Raises `StructureError` where names or shapes are missing. Without `strict`, what
        is missing is left out too: so a check can judge its own claim on the layout that the program declares.
        """
        if not isinstance(module, nn.Module):
            owner = type(module).__name__
            says = f"{owner} is not an nn.Module: derive the class from nn.Module"
            raise StructureError(Refusal(says, "base", owner))
        state = {name: self._weight(shape, dtype) for name, shape in parameters.items()}
        return self.fill(module, state, dtype=dtype, train=train, strict=strict)

    def fill(
        self,
        module: Module,
        state: Mapping[str, Tensor],
        *,
        dtype: str = "float32",
        train: bool = False,
        strict: bool = True,
    ) -> Module:
        """Load known weights under the contract's parameter names into a module; return it in eval mode.

        Raises `StructureError` where names or shapes are missing; without `strict`, those are left out.
        """
        named = torch_dtype(dtype)
        with torch.no_grad():
            try:
                fill(module, state)
            except StructureError:
                if strict:
                    raise
                own = {name: weight.shape for name, weight in module.named_parameters()}
                fill(module, {name: value for name, value in state.items() if own.get(name) == value.shape})
        wanted = torch.float64 if self._exact else named
        if self._traced or not _is_in_place(module, self.device, wanted):
            module.to(device=self.device, dtype=wanted)
        # What a program drew for its own first weights must not decide which elements its dropout drops.
        self._filled += 1
        seed_torch(self._seed + self._filled)
        return module.train(train)

    def into(self, module: nn.Module, name: str, call: Callable[[], object]) -> Any:
        """Return the first argument that the part `name` of a module gets while `call` runs, or `unseen`."""
        return self._passing(module, name, call)[0]

    def out_of(self, module: nn.Module, name: str, call: Callable[[], object]) -> Any:
        """Return what the part `name` of a module returns while `call` runs, or `unseen`."""
        return self._passing(module, name, call)[1]

    def _passing(self, module: nn.Module, name: str, call: Callable[[], object]) -> tuple[Any, Any]:
        seen: tuple[Any, Any] = (self.unseen, self.unseen)

        def keep(_: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
            nonlocal seen
            first = next(iter([*inputs, *named.values()]), None)
            # Copies, because the code may go on in place.
            seen = (_copied(first), _copied(output))

        part = getattr(module, name, None)
        if not isinstance(part, nn.Module):
            return seen
        hook = part.register_forward_hook(keep, with_kwargs=True)
        try:
            result = call()
        finally:
            hook.remove()
        return (self.unseen, self.unseen) if result is self.unseen else seen

    def instead(self, module: nn.Module, parts: Mapping[str, nn.Module], call: Callable[[], Any]) -> Any:
        """Replace parts of a module, and return what `call` returns; `unseen` if it does not call each of them."""
        called: set[str] = set()
        for name, part in parts.items():
            if not isinstance(getattr(module, name, None), nn.Module):
                return self.unseen
            part.register_forward_hook(lambda *_, name=name: called.add(name))
            setattr(module, name, part)
        result = call()
        return result if called == set(parts) else self.unseen

    def _weight(self, shape: Shape, dtype: str) -> Tensor:
        # 1.2 / √fan-in keeps the output of a linear layer near unit variance, at any width.
        scale = 1.2 / shape[-1] ** 0.5 if len(shape) > 1 else 0.7
        weight: Tensor = self.normal(*shape, scale=scale, dtype=dtype)
        return weight

    def trainable(self, module: nn.Module) -> dict[str, int]:
        """Observe how many numbers a module trains, which is the same for every layout of the parameters."""
        return {"trainable numbers": sum(weight.numel() for weight in module.parameters() if weight.requires_grad)}

    def gradients(self, output: Any, *inputs: Tensor) -> list[Tensor | None]:
        """Observe the gradients of a fixed random projection of `output`; None for an input without one."""
        if not isinstance(output, Tensor):
            raise StructureError(f"returned {type(output).__name__}, expected a tensor")
        trained = [tensor for tensor in inputs if tensor.requires_grad]
        if not output.requires_grad:
            return [None] * len(trained)
        weights = self.normal(*output.shape).to(output)
        return list(torch.autograd.grad((output * weights).sum(), trained, allow_unused=True))

    def slope(self, output: Any, *inputs: Tensor) -> Tensor:
        """Observe, as one number, how a fixed random projection of `output` grows with all of these inputs.

        Each input grows in proportion to its own value, so the number is the same for every layout of the parameters.
        """
        gradients = self.gradients(output, *inputs)
        trained = [tensor for tensor in inputs if tensor.requires_grad]
        slopes = [
            (gradient * tensor).flatten().sum(0, keepdim=True)
            for gradient, tensor in zip(gradients, trained, strict=True)
            if gradient is not None
        ]
        return torch.cat(slopes).sum() if slopes else output.new_zeros(())

    def slopes(self, function: Callable[..., Tensor], *inputs: Tensor) -> list[list[Tensor]]:
        """Observe how the result (..., N, M) of a function grows along a random direction of each input, in two ways.

        The first way is the gradient, the second a difference quotient with a small step to either side: `Like` checks
        that they agree. Each is a tensor (...): the last two axes are summed with random factors, or as many as there
        are. Inputs are float64.
        """
        directions = [self.normal(*tensor.shape, dtype="float64") for tensor in inputs]
        factors = self.normal(*function(*inputs).shape, dtype="float64")

        def total(*point: Tensor) -> Tensor:
            return _over_last_axes(function(*point) * factors)

        def moved(i: int, step: float) -> Tensor:
            point = [tensor + step * directions[i] if i == j else tensor for j, tensor in enumerate(inputs)]
            return total(*point).detach()

        # 1e-5: the error of the difference quotient and that of float64 rounding are both near 1e-10.
        leaves, step = [tensor.clone().requires_grad_() for tensor in inputs], 1e-5
        result = total(*leaves)
        gradients: Sequence[Tensor | None] = [None] * len(leaves)
        if result.requires_grad:
            gradients = torch.autograd.grad(result.sum(), leaves, allow_unused=True)
        slopes = []
        for i, (gradient, direction) in enumerate(zip(gradients, directions, strict=True)):
            slope = torch.zeros_like(direction) if gradient is None else gradient * direction
            slopes.append([_over_last_axes(slope), (moved(i, step) - moved(i, -step)) / (2 * step)])
        return slopes

    def bounded(
        self, call: Callable[[], Any], elements: int, *, axis: int | None = None, sources: Sequence[Tensor] = ()
    ) -> Any:
        """Return what `call` returns; the line that makes a tensor of `elements` elements or more is a mistake.

        So is a line that computes a tensor with an axis of length `axis` or more from one of `sources`. Views are not
        counted. A backward pass in `call` is watched too.
        """
        with NewTensors(elements, axis, sources) as made:
            result = call()
        if made.too_large is not None:  # the program caught the error
            raise made.too_large
        return result

    @contextmanager
    def another_device(self) -> Iterator[torch.device]:
        """Provide another device within the block: the accelerator if the checks run on one, else a pretended one.

        Make the module before, on the CPU, then move it and its inputs. A tensor left on the CPU is then noticed.
        """
        if self.device.type != "cpu":
            yield self.device
            return
        with another_device() as device:
            yield device

    def rng(self) -> torch.Generator:
        """Return a `torch.Generator` on the device with a seed of this trial, for code that takes a generator."""
        return torch.Generator(self.device).manual_seed(self.number(0, SEEDS))

    def restart_randomness(self) -> None:
        """Seed torch's generator as before the probe, so that two calls drop the same elements."""
        seed_torch(self._seed)

    def steady(self, call: Callable[[], Any]) -> Any:
        """Return what a call gives, or `other numbers in each call` if a second call gives another tensor.

        What dropout removes differs between right programs, so a mistake could not be known by such numbers.
        """
        result, again = call(), call()
        varies = isinstance(result, Tensor) and bool(((result - again).abs() > 0).any())
        return "other numbers in each call" if varies else result


def torch_dtype(name: object) -> torch.dtype:
    """Return the dtype of a name. Raises TypeError for anything else, with a sentence for the author of a check."""
    found = getattr(torch, name, None) if isinstance(name, str) else None
    if isinstance(found, torch.dtype):
        return found
    meant = (
        f'the text "{str(name).removeprefix("torch.")}"' if isinstance(name, torch.dtype) else 'a text like "float16"'
    )
    raise TypeError(f"dtype is {name!r}, expected {meant}; leave dtype out for float32")


def _over_last_axes(tensor: Tensor) -> Tensor:
    """Return the sum over the last two axes, or over as many as there are."""
    return tensor.sum(dim=tuple(range(-min(tensor.dim(), 2), 0)))


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def seed_torch(seed: int) -> None:
    """Seed torch's generators, those of accelerators only where in use: else torch queues the call for later."""
    in_use = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    if in_use or torch.backends.mps.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def _is_in_place(module: nn.Module, device: torch.device, dtype: torch.dtype) -> bool:
    """Say whether moving a module would change nothing: torch would still copy every tensor, which takes long.

    A module that overrides `to` or `_apply` is always moved, since a student's code may do more there.
    """
    if type(module).to is not nn.Module.to or device.type != "cpu":
        return False
    parts = list(module.modules())
    tensors = [tensor for part in parts for held in (part._parameters, part._buffers) for tensor in held.values()]
    return all(type(part)._apply is nn.Module._apply for part in parts) and all(
        tensor.device.type == "cpu"
        and (tensor.dtype == dtype or not (tensor.is_floating_point() or tensor.is_complex()))
        for tensor in tensors
        if tensor is not None
    )
