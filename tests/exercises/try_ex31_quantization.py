"""ex31: a channel of four weights and a row of two groups, by hand."""

from autograder.checks import step

ROW = [-0.6, 0.0, 0.9, 0.23, 0.4, 1.5, 0.72, 1.1]
OUTLIER = [*ROW[:5], 30.0, *ROW[6:]]


def channel(impl, given):
    return impl.quantize_int8(given.tensor([[0.305, -2.54, 0.075, 1.0]]))


def groups(impl, given, row=ROW, group_size=4):
    """Return codes, scales and zero points of the row."""
    return impl.quantize_int4(given.tensor([row]), group_size)


@step("8 bits: codes", "15 -127 4 50")
def step_int8(impl, given):
    return channel(impl, given)[0][0]


@step("8 bits: dequantized", "0.30 -2.54 0.08 1.00")
def step_int8_back(impl, given):
    return impl.dequantize(*channel(impl, given))[0]


@step("4 bits: scales", "0.1 0.1")
def step_scales(impl, given):
    return groups(impl, given)[1][0]


@step("4 bits: zero points", "6 0")
def step_zero_points(impl, given):
    return groups(impl, given)[2][0]


@step("4 bits: codes", "0 6 15 8 4 15 7 11")
def step_codes(impl, given):
    return groups(impl, given)[0][0]


@step("bytes", "96 143 244 183")
def step_bytes(impl, given):
    return impl.pack_int4(given.tensor([0, 6, 15, 8, 4, 15, 7, 11], "int64").to(given.torch.uint8))


@step("with an outlier, in groups", "-0.6 0.0 0.9 0.2 0.0 30.0 0.0 2.0")
def step_outlier(impl, given):
    return impl.dequantize(*groups(impl, given, OUTLIER))[0]


@step("with an outlier, one group", "0.0 0.0 0.0 0.0 0.0 30.6 0.0 2.04")
def step_outlier_alone(impl, given):
    return impl.dequantize(*groups(impl, given, OUTLIER, 8))[0]
