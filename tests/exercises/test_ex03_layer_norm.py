"""ex03: layer normalization. Each check is only as strict as its claim needs, so one fault fails few of them."""

from autograder.checks import Like, Same, check, picture, standard_checks

ONE_VECTOR = "input of axes of size 1, compared with all"
ALIKE = Like(spread=2.4, free=(ONE_VECTOR,))  # uneven inputs vary more than the output, so returning the input fails
COMPUTED = ("normalized", "affine", "device")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, spread=2.4, free=("slope along the parameters",))
PAIRED = Like(tolerance=1e-3, spread=2.4)
SLOPES = Like(tolerance=1e-3, spread=2.4, free=("gradient of the input, compared with small steps",))
ROUGHLY = Same(tolerance=0.04)  # a variance over D - 1 passes, because another check judges it


def fresh(impl, given, like, **options):
    """Return a new layer, as it is."""
    return impl.LayerNormalization(like.size(-1), **options).to(device=given.device, dtype=like.dtype).eval()


def plain(impl, given, like, **options):
    """Return a layer that scales by 1 and shifts by 0, whatever its first values are: another check judges those."""
    D = like.size(-1)
    state = {"alpha": given.tensor([1.0] * D), "bias": given.tensor([0.0] * D)}
    named = str(like.dtype).removeprefix("torch.")
    return given.fill(impl.LayerNormalization(D, **options), state, dtype=named, strict=False)


def uneven(given, *shape, dtype="float32"):
    """Return vectors (..., T, D), the last of each sequence ten times as large as the others."""
    x = given.normal(*shape, dtype=dtype)
    x[..., -1, :] *= 10
    return x


def signs(given, size):
    """Return 2·size numbers, half of them 1 and half -1, in random order."""
    order = given.normal(2 * size).argsort()
    return 1.0 - 2.0 * (order % 2).to(given.torch.float32)


def loaded(impl, given, D, **options):
    return given.load(impl.LayerNormalization(D), {"alpha": (D,), "bias": (D,)}, **options)


def new_and_input(impl, given, dtype):
    x = uneven(given, *given.sizes("B T D"), dtype=dtype)
    return fresh(impl, given, x), {"input": x}


def loaded_and_input(impl, given, dtype):
    B, T, D = given.sizes("B T D")
    return loaded(impl, given, D, dtype=dtype), {"input": uneven(given, B, T, D, dtype=dtype)}


NEW = standard_checks(of="LayerNormalization", make=new_and_input)
LOADED = standard_checks(of="LayerNormalization", make=loaded_and_input)


@check("a new layer gives every vector mean 0 and variance 1", points=5, of="LayerNormalization", judge=ROUGHLY)
def test_normalized(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=3.0, shift=2.0)
    return {"output": fresh(impl, given, x)(x)}


@check("alpha scales and bias shifts each feature", points=4, of="LayerNormalization", judge=PAIRED)
def test_affine(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=2.0)
    alpha, bias = given.normal(D), given.normal(D)
    module = given.fill(impl.LayerNormalization(D), {"alpha": alpha, "bias": bias})
    return {"output, compared with a layer of ones and zeros": [module(x), alpha * plain(impl, given, x)(x) + bias]}


@check(
    "the variance is divided by D, not by D - 1", points=3, of="LayerNormalization", judge=PAIRED, requires_any=COMPUTED
)
def test_biased_variance(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=2.0, shift=1.0)
    once = plain(impl, given, x)(x)
    x = given.torch.cat([x, x], dim=-1)  # has the same mean, and the same mean of squares
    twice = plain(impl, given, x)(x)[..., :D]
    return {"output if every feature is there twice, compared with once": [twice, once]}


@check("eps is added to the variance, under the square root", points=3, of="LayerNormalization", judge=ROUGHLY)
def test_eps(impl, given):
    B, T, D = given.sizes("B T D")
    # One number with either sign, as often along each axis: so all axes agree, which other checks judge.
    x = 0.1 * given.torch.einsum("i,j,k->ijk", *(signs(given, size) for size in (B, T, D)))
    small = x / 100  # of variance 1e-6, which is the default of eps
    return {
        "output with eps = 0.05": plain(impl, given, x, eps=0.05)(x),
        "output with the default eps": plain(impl, given, small)(small),
    }


@check("a vector of equal numbers stays finite", points=1, of="LayerNormalization", judge=ALIKE)
def test_constant(impl, given):
    B, T, D = given.sizes("B T D")
    x = uneven(given, B, T, D)
    x[:, 1:3] = 2.0
    return {"output": fresh(impl, given, x)(x)}


@check("the input may have any axes before the last, also of size 1", points=1, of="LayerNormalization", judge=ALIKE)
def test_any_axes(impl, given):
    B, H, T, D = given.sizes("B H T D")
    x = uneven(given, B, H, T, D)
    module = fresh(impl, given, x)
    whole, three = module(x), module(x.flatten(0, 1)).reshape(x.shape)
    return {
        "input of four axes, compared with three": [whole[..., :8], three[..., :8]],
        "input of two axes, compared with three": [module(x[0, 0])[..., :8], three[0, 0, ..., :8]],
        "input of one axis, compared with three": [module(x[0, 0, 0]), three[0, 0, 0]],
        ONE_VECTOR: [module(x[:1, :1, :1]), whole[:1, :1, :1]],
    }


@check(
    "gradients flow through mean and variance", points=2, of="LayerNormalization", judge=SLOPES, requires_any=COMPUTED
)
def test_gradient(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=2.0, dtype="float64")
    module = plain(impl, given, x)
    slope = given.slopes(lambda x: module(x.clone()), x)[0]
    return {SLOPES.free[0]: slope, "output": module(x)}


@check("alpha and bias are trained: 2·D numbers", points=1, of="LayerNormalization", requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T), D = given.sizes("B T"), given.number(9, 999)
    x = given.normal(B, T, D, scale=2.0)
    module = fresh(impl, given, x)
    found = [gradient for gradient in given.gradients(module(x), *module.parameters()) if gradient is not None]
    return {
        **given.trainable(module),
        "numbers that get a gradient": sum(int((gradient != 0).sum()) for gradient in found),
    }


test_input_kept = NEW.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtype = NEW.dtypes(id="dtype", title="the output has the dtype of the input", judge=ALIKE, features=8)
test_device = LOADED.device(judge=AS_ON_CPU, features=6)


@picture("vectors of different size and mean; normalized (below), all are equal", columns="feature")
def picture_norms(impl, given):
    x = given.normal(1, 32)
    vectors = given.torch.cat([x, x * 0.4, x * 0.7 + 1.5, x * 0.4 - 1.5])
    names = ["x", "0.4 x", "0.7 x + 1.5", "0.4 x - 1.5"]
    normed = fresh(impl, given, vectors)(vectors)
    return given.torch.cat([vectors, normed]), [*names, *(f"norm {i}" for i in range(1, 5))], []
