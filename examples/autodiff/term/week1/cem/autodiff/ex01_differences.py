from collections.abc import Callable, Sequence


def forward_difference(f: Callable[[float], float], x: float, h: float = 1e-6) -> float:
    """Return the slope of f between x and x + h. A step h of 0 or less is a ValueError that names h."""
    if h <= 0:
        raise ValueError(f"the step is {h}, expected a number above 0")
    return f(x + h) - f(x)


def central_difference(f: Callable[[float], float], x: float, h: float = 1e-5) -> float:
    """Return the slope of f between x - h and x + h."""
    return (f(x + h) - f(x - h)) / (2 * h)


def gradient(f: Callable[[list[float]], float], point: Sequence[float], h: float = 1e-5) -> list[float]:
    """Return the partial derivatives of f at a point, by central differences with step h.

    f takes a list of numbers. The point may be a list or a tuple, and is not modified.
    """
    slopes = []
    for i in range(len(point)):
        above, below = list(point), list(point)
        above[i] += h
        below[i] -= h
        slopes.append((f(above) - f(below)) / (2 * h))
    return slopes


def errors_by_step(f: Callable[[float], float], slope: float, x: float, steps: Sequence[float]) -> list[float]:
    """Return, for each step, how far the central difference is from the exact slope: never negative."""
    return [abs(central_difference(f, x, h) - slope) for h in steps]


def best_step(f: Callable[[float], float], slope: float, x: float, steps: Sequence[float]) -> float:
    """Return the step with the smallest error of the central difference. All errors are different."""
    errors = errors_by_step(f, slope, x, steps)
    return steps[errors.index(min(errors))]


def largest_error(ours: Sequence[float], numeric: Sequence[float]) -> float:
    """Return the largest |a - b| / max(1, |a|, |b|) of two gradients: relative for large numbers, absolute for small."""
    return max(abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in zip(ours, numeric, strict=True))
