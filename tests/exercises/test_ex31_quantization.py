"""ex31: codes, scales and bytes. Weights are far from a tie, so that no right program rounds the other way.

The inputs of a product are random bytes, so a mistake in `pack_int4` or in the quantization costs nothing there.
"""

from autograder.checks import Like, Raises, Same, SameInputs, check, picture

INT8, INT4, BACK = "quantize_int8", "quantize_int4", "dequantize"
PACK, UNPACK, PRODUCT = "pack_int4", "unpack_int4", "int4_matmul"
COMPUTED = ("int8_codes", "int4_scale", "dequantize_groups", "pack", "unpack", "product")
AGREEING = Like(tolerance=1e-4)
JITTER = 0.4  # of a step: a weight has this distance from a whole number of steps at most


def uniform(given, *shape, low=0.0, high=1.0):
    """Return float32 numbers, also in a run that measures rounding in float64: codes do not depend on it."""
    return given.uniform(*shape, low=low, high=high).float()


def normal(given, *shape, shift=0.0):
    return given.normal(*shape, shift=shift).float()


def jitter(given, *shape):
    return uniform(given, *shape, low=-JITTER, high=JITTER)


def channels(given):
    """Return a weight (F, D) of rows with different scales. The largest code of each is 127, others are at most 120."""
    F, D = given.sizes("F D")
    steps = given.integers(-120, 121, F, D) + jitter(given, F, D)
    steps[:, given.number(0, D)] = given.tensor([given.choice((-127, 127)) for _ in range(F)])
    return steps * uniform(given, F, 1, low=0.01, high=0.05)


@check("the codes of 8 bits are weight / scale, rounded", points=3, of=INT8)
def test_int8_codes(impl, given):
    return {"codes": impl.quantize_int8(channels(given))[0]}


@check("each row has a scale: its largest absolute weight / 127", points=2, of=INT8)
def test_int8_scale(impl, given):
    codes, scale = impl.quantize_int8(channels(given))
    return {"scale": scale, "column of the largest code": codes.abs().argmax(dim=1)}


@check("a half is rounded to the even number", points=1, of=INT8, requires_any=("int8_codes", "int8_scale"))
def test_int8_ties(impl, given):
    halves = given.tensor([*given.shuffled([-4.5, -3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 4.5]), 127])
    return {"codes of halves": impl.quantize_int8(halves[None] / 2 ** given.number(3, 9))[0]}


@check(
    "a row of zeros has the scale 1, and a row of tiny weights has a tiny one",
    points=1,
    of=INT8,
    requires_any=("int8_codes", "int8_scale"),
)
def test_int8_zeros(impl, given):
    weight = channels(given)
    weight[0] = 0.0
    weight[2] /= 2**30
    codes, scale = impl.quantize_int8(weight)
    return {"codes": codes[:3], "logarithm of the scale": scale[:3].log2()}


@check("half-precision weights are converted to float32 first", points=1, of=INT8)
def test_int8_half(impl, given):
    seen = {}
    for dtype in ("bfloat16", "float16"):
        steps = given.integers(-112, 113, *given.sizes("B D"))  # exact in half precision; with 113 no quotient is a tie
        steps[:, given.number(0, 9)] = 113
        codes, scale = impl.quantize_int8((steps / 2**10).to(getattr(given.torch, dtype)))
        seen[f"{dtype} weights"] = {"codes": codes, "scale": scale}
    return seen


def in_groups(given, size):
    """Return a weight (F, D) in groups: the zero points are between 1 and 14, and each group has a scale of its own."""
    F, D = given.sizes("F D")
    shape = (F, D // size, 1)
    zero, moved = given.integers(1, 15, *shape), jitter(given, *shape)
    places = uniform(given, F, D // size, size)
    steps = (places * 14 - 0.5).round().clamp(0, 13) + 1 - zero + jitter(given, F, D // size, size)
    lowest, highest = given.distinct(0, size, 2)
    steps[..., lowest : lowest + 1] = -(zero + moved)
    steps[..., highest : highest + 1] = 15 - zero - moved
    return (steps * uniform(given, *shape, low=0.02, high=0.2)).flatten(1)


def quantized(impl, given):
    size = given.choice((4, 8))
    return impl.quantize_int4(in_groups(given, size), size)


@check("the codes of 4 bits are weight / scale, rounded, plus the zero point", points=3, of=INT4)
def test_int4_codes(impl, given):
    return {"codes": quantized(impl, given)[0]}


@check("each group of neighbours has a scale: its range / 15", points=2, of=INT4)
def test_int4_scale(impl, given):
    return {"scale": quantized(impl, given)[1]}


@check("the zero point is the code of the weight 0", points=2, of=INT4)
def test_int4_zero_point(impl, given):
    return {"zero point": quantized(impl, given)[2]}


@check("the range contains 0, also if all weights of a group have one sign", points=2, of=INT4)
def test_int4_one_sign(impl, given):
    seen, rows = {}, given.size("B")
    for name, sign in (("positive", 1), ("negative", -1)):
        steps = given.integers(6, 15, rows, 12) + jitter(given, rows, 12)
        steps[:, [given.number(0, 6), given.number(6, 12)]] = 15.0
        codes, scale, zero = impl.quantize_int4(sign * steps * uniform(given, rows, 1, low=0.02, high=0.2), 6)
        seen[f"{name} weights"] = {"codes": codes, "scale": scale, "zero point": zero}
    return seen


@check("no code is above 15 if lowest and highest weight are equal in size, also in one group", points=1, of=INT4)
def test_int4_balanced(impl, given):
    steps = given.integers(-7, 8, given.size("B"), 16) + 0.2
    steps[:, [0, 9]], steps[:, [3, 14]] = -7.5, 7.5
    weight = steps / 2 ** given.number(2, 8)
    codes, _, zero = impl.quantize_int4(weight, 8)
    one_codes, one_scale, one_zero = impl.quantize_int4(weight[:1, :8], 8)
    return {
        "codes": codes,
        "zero point": zero,
        "codes of one group": one_codes,
        "zero point of one group": one_zero,
        "scale of one group, set to 0": given.torch.zeros_like(one_scale),
    }


@check(
    "a group of zeros has the scale 1, and a group of tiny weights has a tiny one",
    points=1,
    of=INT4,
    requires_any=("int4_codes", "int4_scale", "int4_zero_point"),
)
def test_int4_zeros(impl, given):
    weight = in_groups(given, 4)
    weight[:, 4:8] = 0.0
    weight[:, 12:16] /= 2**30
    codes, scale, zero = impl.quantize_int4(weight, 4)
    return {"codes": codes[:, :16], "logarithm of the scale": scale[:, :4].log2(), "zero point": zero[:, :4]}


@check("half-precision weights of groups are converted to float32 first", points=1, of=INT4)
def test_int4_half(impl, given):
    seen = {}
    for dtype in ("bfloat16", "float16"):
        zero = given.number(1, 13)
        steps = given.integers(-zero, 14 - zero, given.size("B"), 24)  # a range of 13: no quotient is a tie
        steps[:, [0, 9, 17]], steps[:, [5, 12, 20]] = -zero, 13 - zero
        codes, scale, _ = impl.quantize_int4((steps / 2**6).to(getattr(given.torch, dtype)), 8)
        seen[f"{dtype} weights"] = {"codes": codes, "scale": scale}
    return seen


@check(
    "rows that cannot be divided into groups are refused",
    points=1,
    of=INT4,
    judge=Raises(),
    requires_any=("int4_codes", "int4_scale", "int4_zero_point"),
)
def test_int4_refused(impl, given):
    size = given.choice((5, 7, 11))
    columns = size * given.number(2, 5) + given.number(1, size)
    zeros = normal(given, 4, columns) * 0  # a message with the whole weight has neither number then
    return given.raises(lambda: impl.quantize_int4(zeros, size), columns, size)


def random_codes(given, rows, groups, size):
    """Return codes, scales and zero points of 4 bits."""
    torch = given.torch
    return (
        given.integers(0, 16, rows, groups * size).to(torch.uint8),
        uniform(given, rows, groups, low=0.02, high=0.2),
        given.integers(0, 16, rows, groups).to(torch.uint8),
    )


@check("codes of 8 bits become scale · code", points=1, of=BACK)
def test_dequantize_channels(impl, given):
    F, D = given.sizes("F D")
    codes = given.integers(-127, 128, F, D).to(given.torch.int8)
    return {"weight": impl.dequantize(codes, uniform(given, F, 1, low=0.02, high=0.2))}


@check("codes of 4 bits become scale · (code - zero point), with those of their group", points=4, of=BACK)
def test_dequantize_groups(impl, given):
    size = given.choice((4, 8))
    return {"weight": impl.dequantize(*random_codes(given, given.size("F"), given.size("D") // size, size))}


@check("8 bits: the error is at most half a step", points=1, of=INT8, judge=Same(tolerance=1e-3))
def test_int8_error(impl, given):
    weight = normal(given, *given.sizes("F D"))
    codes, scale = impl.quantize_int8(weight)
    return {"largest error of each row, in steps": ((weight - codes.float() * scale).abs() / scale).amax(dim=1)}


def group_errors(impl, weight, size):
    """Return the errors (O, n, size) of the weights, and the scales (O, n, 1), with no call of `dequantize`."""
    codes, scale, zero = (tensor.float() for tensor in impl.quantize_int4(weight, size))
    steps = codes.unflatten(1, (-1, size)) - zero[..., None]
    return (weight.unflatten(1, (-1, size)) - steps * scale[..., None]).abs(), scale[..., None]


@check("4 bits: the error is at most half a step", points=1, of=INT4, judge=Same(tolerance=1e-3))
def test_int4_error(impl, given):
    F, D = given.sizes("F D")
    error, scale = group_errors(impl, normal(given, F, D, shift=given.choice((-0.5, 0.5))), 8)
    return {"largest error of each group, in steps": (error / scale).amax(dim=-1)}


@check("an outlier ruins its own group only", points=1, of=INT4, judge=Same(tolerance=1e-3))
def test_int4_outlier(impl, given):
    weight = in_groups(given, 8)
    weight[:, given.number(0, 8)] = given.real(20.0, 30.0)
    error, _ = group_errors(impl, weight, 8)
    return {"logarithm of the mean error of each group": error.mean(dim=-1).log2()}


@check("the first of two codes is the low nibble, the second the high one", points=2, of=PACK)
def test_pack(impl, given):
    return {"bytes": impl.pack_int4(given.integers(0, 16, 2 * given.size("F")).to(given.torch.uint8))}


@check("an odd number of codes ends with a high nibble of 0", points=1, of=PACK)
def test_pack_odd(impl, given):
    return {"bytes": impl.pack_int4(given.integers(1, 16, 2 * given.size("B") + 1).to(given.torch.uint8))}


@check("each byte gives its low nibble first, then its high one", points=2, of=UNPACK)
def test_unpack(impl, given):
    F = given.size("F")
    return {"codes": impl.unpack_int4(given.integers(0, 256, F).to(given.torch.uint8), 2 * F)}


@check("an odd length ends in the middle of a byte", points=1, of=UNPACK, requires_any=("unpack",))
def test_unpack_odd(impl, given):
    F = given.size("F")
    packed = given.integers(0, 256, F).to(given.torch.uint8)
    packed[-1] &= 15
    return {"codes": impl.unpack_int4(packed, 2 * F - 1)}


@check(
    "each row is packed and unpacked alone, with any axes, also of size 1",
    points=1,
    requires_any=("pack", "unpack"),
)
def test_packed_axes(impl, given):
    B, G = given.sizes("B G")
    codes = given.integers(0, 16, B, G, 5).to(given.torch.uint8)
    packed = given.integers(0, 256, B, G, 3).to(given.torch.uint8) & 15
    return {
        "packed": impl.pack_int4(codes),
        "unpacked": impl.unpack_int4(packed, 5),
        "two codes of one row, packed": impl.pack_int4(codes[:1, :1, :2]),
        "one code of one row, unpacked": impl.unpack_int4(packed[:1, :1, :1], 1),
    }


def packed_weight(given, rows, groups, size):
    """Return packed codes, scales and zero points of a weight (rows, groups · size)."""
    torch = given.torch
    codes, scale, zero = random_codes(given, rows, groups, size)
    if groups * size % 2:
        codes = torch.nn.functional.pad(codes, (0, 1))
    return codes[:, 0::2] + 16 * codes[:, 1::2], scale, zero


@check("the product is that with the dequantized weight", points=3, of=PRODUCT)
def test_product(impl, given):
    B, F, D = given.sizes("B F D")
    size = given.choice((4, 8))
    return {"product": impl.int4_matmul(normal(given, B, D), *packed_weight(given, F, D // size, size))}


@check(
    "the whole weight is never in one tensor, packed codes apart",
    points=3,
    of=PRODUCT,
    requires_any=("product", "product_odd"),
    idea=True,
)
def test_product_in_parts(impl, given):
    rows, groups = given.number(150, 200), given.number(3, 6)
    x = normal(given, 2, 8 * groups)
    weight = packed_weight(given, rows, groups, 8)
    made = given.bounded(lambda: impl.int4_matmul(x, *weight), rows * 8 * groups)
    return {"product": made[:, :: rows // 9]}


@check("a group may begin in the middle of a byte, and a row may end there", points=2, of=PRODUCT)
def test_product_odd(impl, given):
    F, size, groups = given.size("F"), given.choice((3, 5)), given.choice((3, 5))
    return {"product": impl.int4_matmul(normal(given, 2, groups * size), *packed_weight(given, F, groups, size))}


ONE_TOKEN = "product of one token, and of all"


@check(
    "x may have any axes, also of size 1",
    points=1,
    of=PRODUCT,
    judge=Like(tolerance=1e-4, free=(ONE_TOKEN,)),
    requires_any=("product", "product_odd"),
)
def test_product_axes(impl, given):
    x, weight = normal(given, *given.sizes("B G"), 24), packed_weight(given, given.size("F"), 6, 4)
    whole = impl.int4_matmul(x, *weight)
    rows = impl.int4_matmul(x.flatten(0, 1), *weight)
    return {
        "product of three axes, and of two": [whole.flatten(0, 1), rows],
        "product of one axis, and of two": [impl.int4_matmul(x[0, 0], *weight), rows[0]],
        ONE_TOKEN: [impl.int4_matmul(x[:1, :1], *weight), whole[:1, :1]],
    }


@check(
    "the product has the dtype of x",
    points=1,
    of=PRODUCT,
    judge=Like(tolerance=0.05),
    trials=1,
    requires_any=("product", "product_odd"),
)
def test_dtypes(impl, given):
    seen, weight = {}, packed_weight(given, given.size("F"), 6, 4)
    for dtype in ("bfloat16", "float16"):
        x = given.normal(given.size("B"), 24, dtype=dtype)
        product = impl.int4_matmul(x, *weight)
        seen[f"dtype for {dtype}"] = str(product.dtype)
        seen[f"{dtype}, compared with float32"] = [product.float(), impl.int4_matmul(x.float(), *weight)]
    return seen


def calls(given):
    """Return the arguments of every function, by its name."""
    weight, codes = in_groups(given, 8), random_codes(given, 5, 3, 8)
    return {
        INT8: (weight.clone(),),
        INT4: (weight, 8),
        BACK: codes,
        PACK: (codes[0][:, :-1].clone(),),
        UNPACK: (given.integers(0, 256, 3, 4).to(given.torch.uint8), 8),
        PRODUCT: (normal(given, 2, 24), *packed_weight(given, 5, 3, 8)),
    }


def results(impl, arguments):
    """Return the results of every function as lists of float32 tensors."""
    found = {name: getattr(impl, name)(*values) for name, values in arguments.items()}
    return {name: [t.float() for t in (v if isinstance(v, tuple) else (v,))] for name, v in found.items()}


@check("new tensors are on the device of the input", points=1, trials=1, judge=AGREEING, requires_any=COMPUTED)
def test_device(impl, given):
    arguments = calls(given)
    here = results(impl, arguments)
    with given.another_device() as device:
        moved = {
            name: [value if isinstance(value, int) else value.to(device) for value in values]
            for name, values in arguments.items()
        }
        there = results(impl, moved)
        return {
            f"{name}, result {i + 1}": [a, b]
            for name in here
            for i, (a, b) in enumerate(zip(there[name], here[name], strict=True))
        }


@check("the inputs are not modified", points=1, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    arguments = calls(given)
    results(impl, arguments)
    return {
        f"{name}, argument {i + 1}": value
        for name, values in arguments.items()
        for i, value in enumerate(values)
        if not isinstance(value, int)
    }


@picture("error of each weight: weight 13 is an outlier", rows="group", columns="weight")
def picture_errors(impl, given):
    weight = (given.torch.arange(32, dtype=given.torch.float32) * 2.4).sin()
    weight[13] = 30.0
    rows = []
    for size in (32, 8, 4):
        codes, scale, zero = impl.quantize_int4(weight[None], size)
        rows.append((impl.dequantize(codes, scale, zero)[0] - weight).abs())
    return given.torch.stack(rows), ["groups of 32", "groups of 8", "groups of 4"], []
