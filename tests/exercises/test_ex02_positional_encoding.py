"""ex02: positional encoding. Some checks judge the table, the others judge how it is used."""

from inspect import signature

from autograder.checks import Dropout, Like, Raises, Same, SameInputs, StructureError, check, picture

TABLE = Same(tolerance=1e-4)  # a table made in float32 is right
AS_ON_CPU = Like(tolerance=1e-4)
COMPUTED = ("added", "frequencies")  # one of them passes unless nothing is computed
FIRST = 6  # columns slow enough for float32, even where the frequencies grow by mistake


def encoding(impl, given, D, N, like, dropout=0.0):
    return impl.PositionalEncoding(D, N, dropout).to(device=given.device, dtype=like.dtype).eval()


def table_sizes(given):
    """Return rows and columns (an even number) of a table. The sizes cannot be guessed."""
    return given.number(9, 20), 2 * given.number(5, 15)


def even(D):
    return D + D % 2


def rows(module, D, count):
    """Return the first rows (1, count, D) of the module's table, whatever the order of its axes."""
    return module.pe.reshape(1, -1, D)[:, :count]


@check("each position adds its own row of the table to the input", points=3, of="PositionalEncoding")
def test_added(impl, given):
    B, T, N, D = given.sizes("B T N D")
    x = given.normal(B, T, even(D))
    module = encoding(impl, given, even(D), N, x)
    return {"output - table": module(x) - rows(module, even(D), T)}


def table(impl, given, D, N):
    """Return the table (1, N, D) of a module; while the module is not written, that of the function in the stub."""
    x = given.normal(1)
    try:
        return rows(encoding(impl, given, D, N, x), D, N)
    except NotImplementedError as unwritten:
        try:
            made = impl.sinusoidal_table
            signature(made).bind(N, D)
        except (StructureError, TypeError):  # the program is divided in another way
            raise unwritten from None
        if (found := made(N, D)) is None:
            raise
        return found.to(device=given.device, dtype=x.dtype).reshape(1, -1, D)[:, :N]


def on_circles(yours, expected):
    """Report where sine² + cosine² of a pair is not 1. Other checks judge the frequencies."""
    pe = yours["pe"]
    if pe.shape != expected["pe"].shape:
        return f"pe: shape {pe.shape}, expected {expected['pe'].shape}"
    squares = pe[..., 0::2] ** 2 + pe[..., 1::2] ** 2
    off = ~(abs(squares - 1) <= 1e-4)
    if off.any():
        _, position, pair = (int(index[0]) for index in off.nonzero())
        first = f"at position {position}, pair {pair}, the sum is {squares[0, position, pair]:.4g}"
        return f"sine² + cosine² is not 1 for {int(off.sum())} of {off.size} pairs; {first}"
    if len({tuple(row) for row in pe[0].round(3).tolist()}) <= pe.shape[1] / 2:
        return "pe: most positions have the same row as another position"
    return None


@check(
    "a sine and the cosine beside it share one frequency",
    points=2,
    of="PositionalEncoding",
    judge=on_circles,
    requires_any=COMPUTED,
)
def test_pairs(impl, given):
    N, D = table_sizes(given)
    return {"pe": table(impl, given, D, N)}


@check("pair i turns at the frequency 1 / 10000^(2i / d_model)", points=4, of="PositionalEncoding", judge=TABLE)
def test_frequencies(impl, given):
    N, D = table_sizes(given)
    return {f"first {FIRST} columns of pe": table(impl, given, D, N)[..., :FIRST]}


@check("the frequencies follow the same formula down to the last pair", points=1, of="PositionalEncoding", judge=TABLE)
def test_last_pairs(impl, given):
    N, D = table_sizes(given)
    return {f"columns of pe from {FIRST} on": table(impl, given, D, N)[..., FIRST:]}


@check("an odd d_model ends on a sine", points=1, of="PositionalEncoding", judge=TABLE)
def test_odd_width(impl, given):
    N, D = table_sizes(given)
    odd = D - 1
    return {"pe": table(impl, given, odd, N)}


@check(
    "pe is a buffer (1, seq_len, d_model), saved but not trained",
    points=2,
    of="PositionalEncoding",
    requires_any=COMPUTED,
)
def test_buffer(impl, given):
    N, D = table_sizes(given)
    module = encoding(impl, given, D, N, given.normal(1))
    found = {"the buffer": dict(module.named_buffers()).get("pe"), "what is saved": module.state_dict().get("pe")}
    forms = {
        name: value if value is None else given.torch.zeros_like(value) for name, value in found.items()
    }  # its numbers have other checks
    return {**forms, **given.trainable(module)}


ONE_TOKEN = "output of one token, compared with the whole batch"


@check(
    "a sequence may be as long as the table, or a single token",
    points=1,
    of="PositionalEncoding",
    judge=Like(free=(ONE_TOKEN,)),
    requires_any=COMPUTED,
)
def test_longest(impl, given):
    B, N, D = given.sizes("B N D")
    x = given.normal(B, N, even(D))
    module = encoding(impl, given, even(D), N, x)
    output = module(x.clone())[..., :8]
    return {"output": output, ONE_TOKEN: [module(x[:1, :1].clone())[..., :8], output[:1, :1]]}


@check(
    "a longer sequence raises a ValueError with both lengths",
    points=1,
    of="PositionalEncoding",
    judge=Raises(),
    requires_any=COMPUTED,
)
def test_too_long(impl, given):
    (B, D), N = given.sizes("B D"), given.number(11, 99)
    x = given.normal(B, N + 1, even(D))
    module = encoding(impl, given, even(D), N, x)
    return given.raises(lambda: module(x), N + 1, N)


@check("dropout acts on the sum, only in training", points=2, of="PositionalEncoding", judge=Dropout(0.4))
def test_dropout(impl, given):
    B, T, N, D = given.sizes("B T N D")
    x = given.normal(7 * B, T, even(D), scale=5.0)  # large, so that it outweighs any table
    module = encoding(impl, given, even(D), N, x, dropout=0.4)
    usual = impl.PositionalEncoding(even(D), N).to(given.device).train()(x.clone())
    return {
        "eval": module(x.clone())[..., :8],
        "train": module.train()(x.clone())[..., :8],
        "share dropped at the default rate, in tenths": round(10 * float((usual == 0).float().mean())),
    }


@check("the input is not modified", points=1, of="PositionalEncoding", requires_any=COMPUTED, judge=SameInputs())
def test_input_kept(impl, given):
    B, T, N, D = given.sizes("B T N D")
    x = given.normal(B, T, even(D))
    encoding(impl, given, even(D), N, x)(x)
    return {"input after the call": x}


@check("gradients reach the input", points=1, of="PositionalEncoding", requires_any=COMPUTED)
def test_gradient(impl, given):
    B, T, N, D = given.sizes("B T N D")
    x = given.normal(B, T, even(D)).requires_grad_()
    output = encoding(impl, given, even(D), N, x)(x.clone())
    return {"gradient of the input": given.gradients(output, x)[0]}


@check("the output has the dtype of the input", points=1, of="PositionalEncoding", judge=Like(), requires_any=COMPUTED)
def test_dtype(impl, given):
    B, T, N, D = given.sizes("B T N D")
    inputs = {name: given.normal(B, T, even(D), dtype=name) for name in ("float64", "float16", "bfloat16")}
    return {name: encoding(impl, given, even(D), N, x)(x)[..., :8] for name, x in inputs.items()}


@check(
    "new tensors are on the device of the input",
    points=1,
    of="PositionalEncoding",
    trials=1,
    judge=AS_ON_CPU,
    requires_any=COMPUTED,
)
def test_device(impl, given):
    B, T, N, D = given.sizes("B T N D")
    x = given.normal(B, T, even(D)).requires_grad_()
    module = encoding(impl, given, even(D), N, x)

    def run(device):
        return module.to(device)(x.to(device))

    here = run("cpu")  # a tensor kept from this call must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        given.gradients(there, x)  # the backward pass also runs on the other device
        return {"output": [there, here]}


PLACES, WIDTH = 26, 24


@picture("waves: fast left, slow right", rows="position", columns="feature")
def picture_waves(impl, given):
    return rows(encoding(impl, given, WIDTH, PLACES, given.normal(1)), WIDTH, PLACES)[0]


@picture("dot products: only distance counts", rows="position", columns="position")
def picture_products(impl, given):
    pe = rows(encoding(impl, given, WIDTH, PLACES, given.normal(1)), WIDTH, PLACES)[0]
    return pe @ pe.T
