"""ex16: RMS normalization. Each check is only as strict as its claim needs, so one fault fails few of them."""

from autograder.checks import Like, Same, check, picture, standard_checks

CLASS = "RMSNorm"
COMPUTED = ("normalized", "direction")  # one of them passes unless nothing is computed
TWO_WAYS = "output, computed in two ways"
FEWER = "output for fewer axes, computed in two ways"
ALONE = "output for one vector, computed in two ways"
ONES = "output for axes of size 1, computed in two ways"
SMALL = "output for small numbers, computed in two ways"
DTYPES = ("float64", "bfloat16", "float16")
PAIRS = Like(tolerance=1e-3, free=(TWO_WAYS, FEWER, ALONE, ONES, SMALL, *DTYPES, "output"))
"""A layer is compared with itself: whether its numbers are right is the claim of other checks."""

AS_ON_CPU = Like(tolerance=1e-4, free=("output", "slope along the parameters"))
HALVES = Like(tolerance=0.04, free=(TWO_WAYS, SMALL))
ROUGHLY = Same(tolerance=0.04)  # a mean over D - 1 passes, because another check judges it


def fresh(impl, given, like, **options):
    """Return a layer that scales by 1, whatever its first weights are: `normalized` judges those."""
    D = like.size(-1)
    dtype = str(like.dtype).removeprefix("torch.")
    return given.fill(impl.RMSNorm(D, **options), {"weight": given.tensor([1.0] * D)}, dtype=dtype, strict=False)


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
    return {"output": impl.RMSNorm(D).to(given.device).eval()(x)}


@check("every vector keeps its direction, and all become alike in size", points=2, of=CLASS, judge=Like(likeness=0.65))
def test_direction(impl, given):
    D = given.size("D")
    module = given.fill(impl.RMSNorm(D), {"weight": given.tensor([1.0] * D)})
    vectors = [given.normal(1, 1, D) for _ in range(12)]
    # Their means are far from 0. Their sizes are 1, 0.1 and 0.01: so they do not resemble their outputs.
    vectors = [(x - x.mean() + 0.5) * 10.0 ** -(number % 3) for number, x in enumerate(vectors)]
    return {"output of one vector after the other": given.torch.cat([module(vector) for vector in vectors])}


@check("weight scales each feature", points=3, of=CLASS, judge=PAIRS, requires_any=COMPUTED)
def test_weight(impl, given):
    B, T, D = given.sizes("B T D")
    x, weight = uneven(given, B, T, D), given.normal(D, scale=0.7)
    loaded = given.fill(impl.RMSNorm(D), {"weight": weight})
    return {TWO_WAYS: [loaded(x.clone()), weight * fresh(impl, given, x)(x.clone())]}


@check("the sum of squares is divided by D, not by D - 1", points=1, of=CLASS)
def test_divisor(impl, given):
    B, T, K = given.sizes("B T K")
    x = given.normal(B, T, K, scale=2.0, shift=1.0)
    return {"output": fresh(impl, given, x)(x)}


@check("eps is added to the mean square, under the square root", points=3, of=CLASS, judge=PAIRS, requires_any=COMPUTED)
def test_eps(impl, given):
    B, T, D = given.sizes("B T D")
    x, factor = given.normal(B, T, D, scale=0.2), given.real(3.0, 5.0)
    small = x / 64  # of a mean square near 1e-5, which is the default of eps
    few, many = (fresh(impl, given, x, eps=eps)(x.clone()) for eps in (1e-9, 0.05))
    return {
        # Numbers c times as large have a mean square c² times as large, and so has the eps that does the same.
        TWO_WAYS: [fresh(impl, given, x, eps=0.05 * factor**2)(factor * x), many],
        SMALL: [fresh(impl, given, small)(small.clone()), fresh(impl, given, small, eps=1e-5)(small.clone())],
        "vectors that a larger eps makes smaller": int((many.norm(dim=-1) < 0.9 * few.norm(dim=-1)).sum()),
    }


@check("a vector of zeros stays zeros, and its gradient is finite", points=1, of=CLASS, requires_any=COMPUTED)
def test_zeros(impl, given):
    B, T, D = given.sizes("B T D")
    x = uneven(given, B, T, D)
    x[:, 1:3] = 0.0
    x.requires_grad_()
    output = fresh(impl, given, x)(x.clone())
    (gradient,) = given.gradients(output, x)
    finite = 0 if gradient is None else int(gradient[:, 1:3].isfinite().sum())
    return {"output of the zeros": output[:, 1:3], "finite numbers in their gradient": finite}


@check(
    "the input may have any axes before the last, also of size 1",
    points=1,
    of=CLASS,
    judge=PAIRS,
    requires_any=COMPUTED,
)
def test_any_axes(impl, given):
    B, H, T, D = given.sizes("B H T D")
    x = uneven(given, B, H, T, D)
    module = fresh(impl, given, x)
    three = module(x.flatten(0, 1)).reshape(x.shape)
    return {
        TWO_WAYS: [module(x.clone()), three],
        FEWER: [module(x[0, 0].clone()), three[0, 0]],
        ALONE: [module(x[0, 0, 0].clone()), three[0, 0, 0]],
        ONES: [module(x[:1, :1, :1].clone()), three[:1, :1, :1]],
    }


@check("the gradient flows through the root mean square", points=1, of=CLASS, judge=ROUGHLY)
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


@check("half precision: squares are neither infinite nor zero", points=3, of=CLASS, judge=HALVES, requires_any=COMPUTED)
def test_half(impl, given):
    T, D = given.sizes("T D")
    x = given.normal(T, D, dtype="float16")
    x = given.torch.where(x < 0, x - 1, x + 1)  # no number near 0, where float16 has few digits
    seen = {}
    for name, numbers, eps in ((TWO_WAYS, x * 300, 1e-5), (SMALL, x * 3e-4, 1e-9)):
        half, wide = numbers.clone(), numbers.float()
        outputs = [fresh(impl, given, one, eps=eps)(one) for one in (half, wide)]
        seen[name] = [output.float() for output in outputs]
    return seen


test_input_kept = NEW.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtype = LOADED.dtypes(
    id="dtype", title="the output has the dtype of the input", judge=PAIRS, requires_any=COMPUTED
)
test_device = LOADED.device(judge=AS_ON_CPU, requires_any=COMPUTED)


@picture("vectors of different size; normalized (below), only their shift is left", columns="feature")
def picture_norms(impl, given):
    x = given.normal(1, 32)
    vectors = given.torch.cat([x, x * 0.3, x * 2.5, x + 1.5])
    names = ["x", "0.3 x", "2.5 x", "x + 1.5"]
    normed = fresh(impl, given, vectors)(vectors)
    return given.torch.cat([vectors, normed]), [*names, *(f"norm {i}" for i in range(1, 5))], []
