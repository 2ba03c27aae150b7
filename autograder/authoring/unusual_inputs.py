"""Declare each check of a file once more for every family of unusual inputs. A worker runs this text after the file."""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

KEPT = "kept"
"""The family that observes the inputs after the call, instead of the result."""

GRADIENTS = "gradients"
"""The family in which all numbers have a gradient, and the gradients are observed, instead of the result."""

INTEGERS = {"minus one": -1, "zero": 0, "one": 1, "two": 2}
"""Families in which every single whole number is this one: where a condition on a number may be wrong."""

FEW = 12
"""Numbers of an input that are shown one by one."""

DTYPES = ("float64", "float16")


class UnusualGiven:
    """Inputs of one family: all others are as `given` makes them."""

    def __init__(self, given: Any, family: str) -> None:
        self._given = given
        self._family = family
        self._inputs: list[Any] = []
        self._described: list[str] = []
        self._device: Any = None
        self._leaves: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._given, name)

    def normal(self, *shape: int, **named: Any) -> Any:
        if self._family == "zeros":
            named |= {"scale": 0.0, "shift": 0.0}
        if self._family == "large":
            named["scale"] = 1000.0 * named.get("scale", 1.0)
        if self._family in DTYPES:
            named["dtype"] = self._family
        return self._noted("normal", self._given.normal(*shape, **named))

    def tensor(self, *values: Any, **named: Any) -> Any:
        return self._noted("tensor", self._given.tensor(*values, **named))

    def array(self, *values: Any, **named: Any) -> Any:
        return self._noted("array", self._given.array(*values, **named))

    def load(self, module: Any, *state: Any, **named: Any) -> Any:
        """Load random weights into a module; the family decides its dtype, its mode and its device."""
        return self._trained(self._moved(self._given.load(module, *state, **self._of_module(named))))

    def fill(self, module: Any, *state: Any, **named: Any) -> Any:
        """Load known weights into a module, as `load` does."""
        return self._trained(self._moved(self._given.fill(module, *state, **self._of_module(named))))

    def integers(self, low: int, high: int, *shape: int) -> Any:
        return self._noted("integers", self._given.integers(low, self._high(low, high), *shape))

    def mask(self, *shape: int, **named: Any) -> Any:
        mask = self._given.mask(*shape, **named)
        if self._family in ("open", "closed"):
            mask = mask | True if self._family == "open" else mask & False
        return self._noted("mask", mask)

    def number(self, low: int, high: int) -> int:
        drawn = self._given.number(low, self._high(low, high))
        return int(self._describe("number", INTEGERS.get(self._family, drawn)))

    def numbers(self, low: int, high: int, count: int) -> Any:
        """Return whole numbers; the family may make them equal, or change their count."""
        return self._noted("numbers", self._given.numbers(low, self._high(low, high), self._count(count)))

    def reals(self, low: float, high: float, count: int) -> Any:
        """Return real numbers; the family may scale them, or change their count."""
        factor = {"zeros": 0.0, "large": 1000.0}.get(self._family, 1.0)
        return self._noted("reals", [factor * value for value in self._given.reals(low, high, self._count(count))])

    def distinct(self, low: int, high: int, count: int) -> Any:
        """Return different whole numbers; the family may change their count."""
        return self._noted("distinct", self._given.distinct(low, high, self._count(count)))

    def text(self, length: int, *letters: str, **named: str) -> Any:
        return str(self._describe("text", self._given.text(self._count(length), *letters, **named)))

    def run(self, probe: Any, implementation: Any) -> Any:
        """Run the probe of a check; return its observation, or the inputs as they are afterwards."""
        with self._given.another_device() if self._family == "elsewhere" else nullcontext() as self._device:
            seen = probe(implementation, self)
        if DESCRIBES[0]:
            return {"inputs": self._described}
        if self._family == GRADIENTS:
            return self._gradients(seen)
        if self._family != KEPT:
            return seen
        return [value.detach().clone() if hasattr(value, "detach") else value for value in self._inputs]

    def _high(self, low: int, high: int) -> int:
        return low + 1 if self._family == "smallest" else high

    def _count(self, count: int) -> int:
        return {"single": 1, "empty": 0}.get(self._family, count)

    def _of_module(self, named: dict[str, Any]) -> dict[str, Any]:
        named |= {"dtype": self._family} if self._family in DTYPES else {}
        return named | ({"train": True} if self._family == "training" else {})

    def _gradients(self, seen: Any) -> list[Any]:
        """Return the gradients of everything observed, with a weight for each number."""
        torch = self._given.torch
        results = [value for value in _parts(seen) if getattr(value, "requires_grad", False)]
        if not results:
            return [torch.zeros_like(leaf) for leaf in self._leaves]
        # Equal weights would hide the gradients of a softmax, whose sum is always 1.
        weights = (torch.arange(one.numel(), device=one.device).cos().view_as(one).to(one.dtype) for one in results)
        total = sum((one * weight).sum() for one, weight in zip(results, weights, strict=True))
        return list(torch.autograd.grad(total, self._leaves, materialize_grads=True)) if self._leaves else []

    def _trained(self, module: Any) -> Any:
        if self._family == GRADIENTS:
            self._leaves += [weight for weight in module.parameters() if weight.requires_grad]
        return module

    def _moved(self, value: Any) -> Any:
        return value if self._device is None else value.to(self._device)

    def _noted(self, call: str, value: Any) -> Any:
        if self._family == "strided" and getattr(value, "ndim", 0) > 1:
            value = value.transpose(-1, -2).contiguous().transpose(-1, -2)
        if hasattr(value, "shape"):
            value = self._moved(value)
        if self._family == GRADIENTS and hasattr(value, "requires_grad") and value.is_floating_point():
            self._leaves.append(value.detach().requires_grad_())
            value = self._leaves[-1].clone()  # a check may write into it
        self._inputs.append(value)
        return self._describe(call, value)

    def _describe(self, call: str, value: Any) -> Any:
        """Note what a call of `given` returned: its dtype and its shape, and its values if they are few."""
        if hasattr(value, "shape"):
            numbers = value.tolist() if 0 < value.reshape(-1).shape[0] <= FEW else ""
            dtype = str(value.dtype).removeprefix("torch.")
            self._described.append(f"given.{call}: {dtype} {tuple(value.shape)} {_rounded(numbers)}".rstrip())
        else:
            self._described.append(f"given.{call}: {_rounded(value)!r}")
        return value


DESCRIBES = [False]
"""Whether the checks return descriptions of their inputs."""


def _parts(value: Any) -> list[Any]:
    """Return everything in an observation."""
    if isinstance(value, dict):
        value = list(value.values())
    return [part for item in value for part in _parts(item)] if isinstance(value, list | tuple) else [value]


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value[: 2 * FEW]]
    return round(value, 4) if isinstance(value, float) else value


def show_inputs(namespace: dict[str, Any], separator: str) -> None:
    """Let the checks of a namespace return what they draw from `given`."""

    def describing(probe: Any) -> Any:
        return lambda impl, given: UnusualGiven(given, "").run(probe, impl)

    namespace["DESCRIBES"][0] = True
    checks = [value for value in list(namespace.values()) if getattr(value, "__check__", None) is not None]
    for declared in checks:
        check = declared.__check__
        if separator not in check.id:
            declared.__check__ = replace(check, probe=describing(check.probe))


def declare_families(namespace: dict[str, Any], separator: str, families: list[str]) -> None:
    """Add a check for each check of a namespace and each family; its id is that of both."""

    def unusual(probe: Any, family: str) -> Any:
        return lambda impl, given: UnusualGiven(given, family).run(probe, impl)

    checks = [check for value in list(namespace.values()) if (check := getattr(value, "__check__", None)) is not None]
    for check in checks:
        for family in families:
            probe = unusual(check.probe, family)
            probe.__check__ = replace(check, id=f"{check.id}{separator}{family}", probe=probe)
            namespace[f"_{check.id}_{family}"] = probe
