"""ex01: a running mean."""

from autograder.checks import Raises, check, picture


@check("each number is the mean of all up to it", points=3, of="running_mean")
def test_values(impl, given):
    return impl.running_mean(given.normal(*given.sizes("T"), shift=1.0))


@check("any number of axes may come before the last", points=2, of="running_mean")
def test_axes(impl, given):
    return {"three axes": impl.running_mean(given.normal(*given.sizes("N B T")))}


@check("the result has the dtype of the input", of="running_mean", requires_any=("values", "axes"))
def test_dtype(impl, given):
    inputs = {name: given.normal(*given.sizes("B T"), dtype=name) for name in ("float64", "bfloat16")}
    return {f"{name} × 0": impl.running_mean(x) * 0 for name, x in inputs.items()}


@check("an empty input is refused", judge=Raises(), trials=1, requires_any=("values", "axes"))
def test_empty(impl, given):
    rows = given.size("B")
    return given.raises(lambda: impl.running_mean(given.tensor([[]] * rows)), rows)


@picture("a jump and a zigzag, smoothed", rows="series", columns="place")
def picture_smoothed(impl, given):
    series = given.tensor([[0.0] * 6 + [1.0] * 18, [1.0, 0.0] * 12])
    return impl.running_mean(series), ["jump", "zigzag"], []
