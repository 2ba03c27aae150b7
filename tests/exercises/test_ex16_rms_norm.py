"""ex16: RMS normalization. Each check is only as strict as its claim needs, so one fault fails few of them."""

from autograder.checks import Like, Same, check, picture, standard_checks

CLASS = "RMSNorm"
ALIKE = Like(spread=2.4)  # uneven inputs vary more than the output, so returning the input fails
ZEROS = Like(spread=2.4, exact_zeros=True, free=("gradient of the zeros",))  # which depends on eps
COMPUTED = ("normalized", "weight", "device")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, spread=2.4, free=("slope along the parameters",))
ROUGHLY = Same(tolerance=0.04)  # a mean over D - 1 passes, because another check judges it


def fresh(impl, given, like, **options):
    return impl.RMSNorm(like.size(-1), **options).to(device=given.device, dtype=like.dtype).eval()


def uneven(given, *shape, dtype="float32"):
    """Return vectors (..., T, D), the last of each sequence ten times as large as the others."""
    x = given.normal(*shape, dtype=dtype)
    x[..., -1, :] *= 10
    return x


def new_and_input(impl, given, dtype):
    x = uneven(given, *given.sizes("B T D"), dtype=dtype)
    return fresh(impl, given, x), {"input": x}


def loaded_and_input(impl, given, dtype):
    B, T, D = given.sizes("B T D")
    module = given.load(impl.RMSNorm(D), {"weight": (D,)}, dtype=dtype)
    return module, {"input": uneven(given, B, T, D, dtype=dtype)}


NEW = standard_checks(of=CLASS, make=new_and_input)
LOADED = standard_checks(of=CLASS, make=loaded_and_input)


@check("a new layer gives every vector the mean square 1", points=5, of=CLASS, judge=ROUGHLY)
def test_normalized(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=3.0, shift=2.0)
    return {"output": fresh(impl, given, x)(x)}


@check("weight scales each feature", points=3, of=CLASS, judge=ROUGHLY)
def test_weight(impl, given):
    module, inputs = loaded_and_input(impl, given, "float32")
    return {"output": module(inputs["input"])}


@check("the sum of squares is divided by D, not by D - 1", points=2, of=CLASS)
def test_divisor(impl, given):
    B, T, K = given.sizes("B T K")
    x = given.normal(B, T, K, scale=2.0, shift=1.0)
    return {"output": fresh(impl, given, x)(x)}


@check("eps is added to the mean square, under the square root", points=3, of=CLASS, judge=ROUGHLY)
def test_eps(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=0.2)
    small = x / 64  # of a mean square near 1e-5, which is the default of eps
    return {
        "output with eps = 0.05": fresh(impl, given, x, eps=0.05)(x),
        "output with the default eps": fresh(impl, given, small)(small),
    }


@check("a vector of zeros stays zeros, and its gradient is finite", points=1, of=CLASS, judge=ZEROS)
def test_zeros(impl, given):
    B, T, D = given.sizes("B T D")
    x = uneven(given, B, T, D)
    x[:, 1:3] = 0.0
    x.requires_grad_()
    output = fresh(impl, given, x)(x.clone())
    return {"output": output, "gradient of the zeros": given.gradients(output, x)[0][:, 1:3]}


@check("the input may have any number of axes before the last", points=1, of=CLASS, judge=ALIKE)
def test_any_axes(impl, given):
    B, H, T, D = given.sizes("B H T D")
    x = uneven(given, B, H, T, D)
    module = fresh(impl, given, x)
    three = module(x.flatten(0, 1)).reshape(x.shape)
    return {
        "input of four axes, compared with three": [module(x)[..., :8], three[..., :8]],
        "input of two axes, compared with three": [module(x[0, 0])[..., :8], three[0, 0, ..., :8]],
        "input of one axis, compared with three": [module(x[0, 0, 0]), three[0, 0, 0]],
    }


@check("the gradient flows through the root mean square", points=2, of=CLASS, judge=ROUGHLY)
def test_gradient(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D, scale=2.0).requires_grad_()
    return {"gradient of the input": given.gradients(fresh(impl, given, x)(x.clone()), x)[0]}


@check("weight is trained: D numbers, and nothing else", points=1, of=CLASS, requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T), D = given.sizes("B T"), given.number(9, 999)
    x = given.normal(B, T, D, scale=2.0)
    module = fresh(impl, given, x)
    found = [gradient for gradient in given.gradients(module(x), *module.parameters()) if gradient is not None]
    return {**given.trainable(module), "numbers that get a gradient": sum(int((one != 0).sum()) for one in found)}


@check("half precision: squares are neither infinite nor zero", points=3, of=CLASS, judge=ROUGHLY)
def test_half(impl, given):
    T, D = given.sizes("T D")
    x = given.normal(T, D, dtype="float16")
    x = given.torch.where(x < 0, x - 1, x + 1)  # no number near 0, where float16 has few digits
    large, small = x * 300, x * 3e-4
    same = given.torch.full_like(large[:2], 300.0)
    return {
        "output for a float16 input of 300 everywhere": fresh(impl, given, same)(same),
        "output for float16 numbers above 300": fresh(impl, given, large)(large),
        "output for float16 numbers below 0.002, eps = 1e-9": fresh(impl, given, small, eps=1e-9)(small),
    }


test_input_kept = NEW.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtype = LOADED.dtypes(id="dtype", title="the output has the dtype of the input", judge=ALIKE, features=8)
test_device = LOADED.device(judge=AS_ON_CPU, features=6)


@picture("vectors of different size; normalized (below), only their shift is left", columns="feature")
def picture_norms(impl, given):
    x = given.normal(1, 32)
    vectors = given.torch.cat([x, x * 0.3, x * 2.5, x + 1.5])
    names = ["x", "0.3 x", "2.5 x", "x + 1.5"]
    normed = fresh(impl, given, vectors)(vectors)
    return given.torch.cat([vectors, normed]), [*names, *(f"norm {i}" for i in range(1, 5))], []
