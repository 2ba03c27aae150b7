"""`given` for a course with NumPy: inputs of one trial as arrays, all from one seed. Used in the worker only.

Inputs come from NumPy's `RandomState`, whose streams are frozen (NEP 19), so they are the same on every machine.
"""

from typing import Any

import numpy as np

from .plain_given import SEEDS, PlainGiven

_STREAM = np.random.RandomState()
"""The one stream of inputs. Each trial seeds it anew: a new stream takes longer to make than all its numbers."""


class ArrayGiven(PlainGiven):
    """Inputs for one trial of one check."""

    numpy = np
    floating = "float64"
    """The dtype of real numbers, unless a check asks for another one."""

    def _seed_inputs(self) -> None:
        self._random = _STREAM
        self._random.seed(self._seed)
        self._uniform = self._random.random_sample

    def normal(self, *shape: int, scale: float = 1.0, shift: float = 0.0, dtype: str | None = None) -> Any:
        """Return an array of that shape from a normal distribution."""
        values = self._random.standard_normal(shape)
        if scale != 1.0:
            values *= scale
        if shift != 0.0:
            values += shift
        return self._made(values, dtype or self.floating)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: str | None = None) -> Any:
        """Return an array of that shape, low <= its elements < high, each equally likely."""
        self._require_range("uniform", low, high)
        return self._made(low + (high - low) * self._random.random_sample(shape), dtype or self.floating)

    def rng(self) -> Any:
        """Return a `numpy.random.Generator` with a seed of this trial, for code that takes a generator.

        Other versions of NumPy may draw other numbers from it.
        """
        return np.random.default_rng(self.number(0, SEEDS))

    def integers(self, low: int, high: int, *shape: int) -> Any:
        """Return an array of int64 of that shape, low <= its elements < high."""
        self._require_range("integers", low, high)
        return self._made(self._random.randint(low, high, shape), "int64")

    def number(self, low: int, high: int) -> int:
        """Return an int, low <= it < high."""
        self._require_range("number", low, high)
        return int(self._random.randint(low, high))

    def mask(self, *shape: int, share: float = 0.6) -> Any:
        """Return an array of bools, about `share` of it True, with a True and a False in every row of two or more."""
        allowed = self._random.random_sample(shape) < share
        first = self._random.randint(0, shape[-1], shape[:-1])
        rows = allowed.reshape(-1, shape[-1])
        rows[np.arange(len(rows)), first.reshape(-1)] = True
        if shape[-1] > 1:
            rows[np.arange(len(rows)), (first.reshape(-1) + 1) % shape[-1]] = False
        return self._made(allowed, "bool")

    def array(self, values: Any, dtype: str | None = None) -> Any:
        """Return known values as an array of the dtype that NumPy gives them, or of another one."""
        return np.array(values, dtype)

    def _made(self, values: Any, dtype: str) -> Any:
        return np.asarray(values, dtype)

    def restart_randomness(self) -> None:
        """Seed the generators of Python and NumPy as before the probe, so that two calls draw the same numbers."""
        super().restart_randomness()
        np.random.seed(self._seed)
