"""ex01: a cube, by hand, then two variables."""

from autograder.checks import step


def cube(x):
    return x**3


def surface(point):
    x, y = point
    return x * x * y + y


@step("forward, h = 1, 0.5, 0.1", "[19.00 15.25 12.61]")
def step_forward(impl, given):
    return [impl.forward_difference(cube, 2.0, h) for h in (1.0, 0.5, 0.1)]


@step("central, h = 1, 0.5, 0.1", "[13.00 12.25 12.01]")
def step_central(impl, given):
    return [impl.central_difference(cube, 2.0, h) for h in (1.0, 0.5, 0.1)]


@step("gradient of x²y + y", "[12.0 10.0]")
def step_gradient(impl, given):
    return impl.gradient(surface, [3.0, 2.0], 0.5)


@step("errors of central", "[1.00 0.25 0.01]")
def step_errors(impl, given):
    return impl.errors_by_step(cube, 12.0, 2.0, [1.0, 0.5, 0.1])


@step("best of these steps", "0.1")
def step_best(impl, given):
    return impl.best_step(cube, 12.0, 2.0, [1.0, 0.1, 0.5])


@step("largest error", "0.0476")
def step_largest(impl, given):
    return impl.largest_error([12.0, 10.0], [12.0, 10.5])
