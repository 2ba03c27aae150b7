"""Declare each check of a file once more for every family of unusual inputs. A worker runs this text after the file."""

from dataclasses import replace
from typing import Any

KEPT = "kept"
"""The family that observes the inputs after the call, instead of the result."""


class UnusualGiven:
    """Inputs of one family: all others are as `given` makes them."""

    def __init__(self, given: Any, family: str) -> None:
        self._given = given
        self._family = family
        self._inputs: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._given, name)

    def normal(self, *shape: int, **named: Any) -> Any:
        if self._family == "zeros":
            named |= {"scale": 0.0, "shift": 0.0}
        if self._family == "large":
            named["scale"] = 1000.0 * named.get("scale", 1.0)
        return self._noted(self._given.normal(*shape, **named))

    def integers(self, low: int, high: int, *shape: int) -> Any:
        return self._noted(self._given.integers(low, self._high(low, high), *shape))

    def mask(self, *shape: int, **named: Any) -> Any:
        mask = self._given.mask(*shape, **named)
        if self._family in ("open", "closed"):
            mask = mask | True if self._family == "open" else mask & False
        return self._noted(mask)

    def number(self, low: int, high: int) -> int:
        return int(self._given.number(low, self._high(low, high)))

    def numbers(self, low: int, high: int, count: int) -> Any:
        """Return whole numbers; the family may make them equal, or change their count."""
        return self._noted(self._given.numbers(low, self._high(low, high), self._count(count)))

    def reals(self, low: float, high: float, count: int) -> Any:
        """Return real numbers; the family may scale them, or change their count."""
        factor = {"zeros": 0.0, "large": 1000.0}.get(self._family, 1.0)
        return self._noted([factor * value for value in self._given.reals(low, high, self._count(count))])

    def distinct(self, low: int, high: int, count: int) -> Any:
        """Return different whole numbers; the family may change their count."""
        return self._noted(self._given.distinct(low, high, self._count(count)))

    def text(self, length: int, *letters: str, **named: str) -> Any:
        return self._given.text(self._count(length), *letters, **named)

    def run(self, probe: Any, implementation: Any) -> Any:
        """Run the probe of a check; return its observation, or the inputs as they are afterwards."""
        seen = probe(implementation, self)
        if self._family != KEPT:
            return seen
        return [value.detach().clone() if hasattr(value, "detach") else value for value in self._inputs]

    def _high(self, low: int, high: int) -> int:
        return low + 1 if self._family == "smallest" else high

    def _count(self, count: int) -> int:
        return {"single": 1, "empty": 0}.get(self._family, count)

    def _noted(self, value: Any) -> Any:
        self._inputs.append(value)
        return value


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
