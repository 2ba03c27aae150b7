"""ex01: numeric derivatives."""

import math

from autograder.checks import Raises, Same, SameInputs, check, picture


def some(given, count):
    """Return numbers between 0.5 and about 2, each with its own digits."""
    return [0.5 + abs(float(number)) for number in given.normal(count)]


def cubic(given):
    """Return a function whose differences depend on the step, and a place where its slope is not small."""
    a, b, c, x = some(given, 4)
    return (lambda t: a * t**3 + b * t**2 - c * t), x


def surface(given, count):
    """Return a function of several variables that bends along each of them, and a point."""
    factors, point = some(given, count), some(given, count)

    def f(values):
        total = 1.0
        for factor, value in zip(factors, values, strict=True):
            total = total * value + factor * value**3
        return total

    return f, point


@check("the forward difference is the slope between x and x + h", points=2, of="forward_difference")
def test_forward(impl, given):
    f, x = cubic(given)
    return {f"h = {h}": float(impl.forward_difference(f, x, h)) for h in (0.5, 0.125)}


@check("a step of 0 or less is refused", judge=Raises(), of="forward_difference", requires_any=("forward",))
def test_refused(impl, given):
    f, x = cubic(given)
    h = -given.number(1, 9) / 16

    def both():
        try:
            return impl.forward_difference(f, x, 0.0)
        except ValueError:
            return impl.forward_difference(f, x, h)

    return given.raises(both, h)


@check("the central difference is the slope between x - h and x + h", points=3, of="central_difference")
def test_central(impl, given):
    f, x = cubic(given)
    return {f"h = {h}": float(impl.central_difference(f, x, h)) for h in (0.5, 0.125)}


@check("without a step, the slopes are nearly exact", points=2, judge=Same(tolerance=1e-4))
def test_default_step(impl, given):
    x, y = some(given, 2)
    return {
        "forward": float(impl.forward_difference(math.exp, x)),
        "central": float(impl.central_difference(math.exp, x)),
        "gradient": [float(slope) for slope in impl.gradient(lambda point: math.exp(point[0]) * point[1], [x, y])],
    }


@check("a gradient has one central difference for each variable", points=4, of="gradient")
def test_partials(impl, given):
    f, point = surface(given, 4)
    found = impl.gradient(f, list(point), 0.25)
    return {"number of slopes": len(found), "slopes": [float(slope) for slope in found]}


@check("the point may be a tuple, of any number of variables", points=2, of="gradient")
def test_any_point(impl, given):
    seen = {}
    for count in (1, 3):
        f, point = surface(given, count)
        seen[f"{count} in a tuple"] = [float(slope) for slope in impl.gradient(f, tuple(point), h=0.25)]
    return seen


@check("the point is not modified", of="gradient", requires_any=("partials", "any_point"), judge=SameInputs())
def test_point_kept(impl, given):
    f, point = surface(given, 3)
    impl.gradient(f, point, 0.1)
    return point


def measured(given, best):
    """Return a cube, a slope and a place where the step `best` gives nearly that slope.

    The central difference of a·x³ is 3a·x² + a·h². Smaller steps stay below this slope, and larger ones are above it.
    """
    a, x = some(given, 2)
    return (lambda t: a * t**3), 3 * a * x**2 + a * best**2 * 1.01, x


@check("there is one error for each step, and none is negative", points=2, of="errors_by_step")
def test_errors(impl, given):
    f, slope, x = measured(given, 0.2)
    return [float(error) for error in impl.errors_by_step(f, slope, x, [0.5, 0.125, 0.25, 1.0])]


@check("the best step is the one with the smallest error", points=2, of="best_step")
def test_best_step(impl, given):
    seen = {}
    for name, factors in (("best in the middle", (2.5, 10, 1, 0.05)), ("best at the end", (10, 0.05, 2.5, 1))):
        best = some(given, 1)[0] / 5
        f, slope, x = measured(given, best)
        seen[name] = float(impl.best_step(f, slope, x, [factor * best for factor in factors]))
    return seen


@check("large numbers are compared by ratio, small ones by difference", points=2, of="largest_error")
def test_largest_error(impl, given):
    large, small, off = 40 * some(given, 1)[0], some(given, 1)[0] / 10, some(given, 1)[0] / 8
    return {
        "first is larger": float(impl.largest_error([large + 1, small], [large, small])),
        "second is larger": float(impl.largest_error([-large, 2.0], [-large - 4, 2.0])),
        "first is larger, below 0": float(impl.largest_error([-large - 3, 2.0], [-large, 2.0])),
        "far below 1": float(impl.largest_error([small, small], [small, small + off])),
        "too small, and too large": float(impl.largest_error([3.0, small, 2.0], [3.0 + off, small - off / 4, 2.0])),
    }


@picture("how many digits are right, for steps from 0.1 to 1e-12", rows="right digits", columns="step 1e-n")
def picture_digits(impl, given):
    import numpy as np  # only the picture needs it, and it takes long to load

    steps = [10.0**-n for n in range(1, 13)]
    errors = impl.errors_by_step(math.exp, math.e, 1.0, steps)
    digits = np.array([-math.log10(max(error, 1e-16) / math.e) for error in errors])
    return digits, [], [str(n) for n in range(1, 13)]
