"""ex18: the gated network that processes each token separately."""

from autograder.checks import Like, check, picture, standard_checks

CLASS = "SwiGLU"
COMPUTED = ("output", "dtypes", "device")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, likeness=0.1, free=("slope along the parameters",))


USED = 16
"""Hidden features with weights; all others have none, so that the hidden width is the claim of one check."""


def network(impl, given, D, F, **options):
    """Return the module with known weights, as the contract names them, for the hidden width that it has."""
    module = impl.SwiGLU(D, F)
    shapes = {"w1": (USED, D), "w2": (D, USED), "w3": (USED, D)}
    state = {name: given.normal(*shape, scale=1.2 / shape[-1] ** 0.5) for name, shape in shapes.items()}
    return filled(given, module, F, state, **options)


def filled(given, module, F, state, *, strict=False, **options):
    """Load weights of a few hidden features into a module, and zeros for the others that it has.

    Unless `strict`, w2 and w3 are exchanged for a module in which they are: one check judges the names.
    """
    few = state["w1"].size(0)
    width = getattr(getattr(module, "w1", None), "out_features", F)
    missing = {"w1": (0, 0, 0, width - few), "w2": (0, width - few), "w3": (0, 0, 0, width - few)}
    pad = given.torch.nn.functional.pad
    weights = {f"{name}.weight": pad(state[name], missing[name]) for name in state}
    own = {name: weight.shape for name, weight in module.named_parameters()}
    first, second = weights["w2.weight"], weights["w3.weight"]
    if not strict and own.get("w2.weight") == second.shape and own.get("w3.weight") == first.shape:
        weights |= {"w2.weight": second, "w3.weight": first}
    return given.fill(module, weights, **options)


def network_and_input(impl, given, dtype):
    B, T, D = given.sizes("B T D")
    return network(impl, given, D, 256, dtype=dtype), {"input": given.normal(B, T, D, dtype=dtype)}


NETWORK = standard_checks(of=CLASS, make=network_and_input)


@check("the output is w2 of silu(w1(x)) times w3(x)", points=6, of=CLASS)
def test_output(impl, given):
    B, T, D = given.sizes("B T D")
    return {"output": network(impl, given, D, 256, strict=True)(given.normal(B, T, D))}


@check("w1 and w3 both change the output", points=1, of=CLASS, requires_any=COMPUTED, idea=True)
def test_gated(impl, given):
    B, T, D = given.sizes("B T D")
    x, outputs = given.normal(B, T, D), []
    state = {name: given.normal(*shape, scale=0.3) for name, shape in (("w1", (8, D)), ("w2", (D, 8)), ("w3", (8, D)))}
    for name in (None, "w1", "w3"):
        weights = {key: weight.flip(0) if key == name else weight for key, weight in state.items()}
        outputs.append(filled(given, impl.SwiGLU(D, 256), 256, weights)(x.clone()))
    changes = [((output - outputs[0]).abs().amax(dim=-1) > 1e-4).sum() for output in outputs[1:]]
    return {"tokens": B * T, "tokens that other weights w1 change": changes[0], "the same for w3": changes[1]}


GATES = "output for {} gates of {}, compared with twice that for half of it"
LARGE = {
    GATES.format(dtype, size): (size, dtype) for size, dtype in ((1e4, "float32"), (1e3, "float16"), (1e3, "bfloat16"))
}


def with_gates(impl, given, size, dtype):
    """Return the result for gates of `size`, each multiplied by a value near 1, and twice that for half of it."""
    torch = given.torch
    signs = given.tensor([1.0, -1.0, 0.5, -0.5, 0.1, -0.1])
    values, mixed = given.normal(len(signs), scale=0.1, shift=1.0), given.normal(2, len(signs))
    results = []
    for gate in (size, size / 2):
        state = {
            "w1": torch.stack((gate * signs, signs * 0), dim=1),
            "w3": torch.stack((signs * 0, values), dim=1),
            "w2": mixed,
        }
        module = filled(given, impl.SwiGLU(2, 256), 256, state, dtype=dtype)
        results.append(module(given.tensor([[1.0, 1.0], [-1.0, 1.0], [0.5, -1.0]], dtype=dtype)))
    return [results[0], 2 * results[1]]


@check(
    "gates of 10000, and of 1000 in half precision, stay finite",
    points=2,
    of=CLASS,
    judge=Like(tolerance=0.05, free=tuple(LARGE)),
    requires_any=COMPUTED,
)
def test_large(impl, given):
    return {name: with_gates(impl, given, *case) for name, case in LARGE.items()}


MODES = "output in train mode, compared with eval mode"


@check(
    "there is no dropout: training and evaluation agree",
    points=1,
    of=CLASS,
    judge=Like(free=(MODES,)),
    requires_any=COMPUTED,
)
def test_training(impl, given):
    module, inputs = network_and_input(impl, given, "float32")
    return {MODES: [module.train()(inputs["input"].clone()), module.eval()(inputs["input"].clone())]}


AXES = tuple(
    f"input of {number}, compared with three" for number in ("four axes", "two axes", "one axis", "axes of size 1")
)


@check(
    "the input may have any axes before the last, also of size 1",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-4, free=AXES),
    requires_any=COMPUTED,
)
def test_any_axes(impl, given):
    B, H, T, D = given.sizes("B H T D")
    module, x = network(impl, given, D, 256), given.normal(B, H, T, D)
    three = module(x.flatten(0, 1)).reshape(x.shape)
    pairs = [
        [module(x.clone()), three],
        [module(x[0, 0].clone()), three[0, 0]],
        [module(x[0, 0, 0].clone()), three[0, 0, 0]],
        [module(x[:1, :1, :1].clone()), three[:1, :1, :1]],
    ]
    return dict(zip(AXES, pairs, strict=True))


SLOPES = "gradient of the input, compared with small steps"


@check(
    "the gradient of the input is right",
    points=2,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=(SLOPES,)),
    requires_any=COMPUTED,
)
def test_gradient(impl, given):
    module, inputs = network_and_input(impl, given, "float64")
    (both,) = given.slopes(lambda x: module(x.clone()), inputs["input"])
    return {SLOPES: both}


@check("three weights of d_ff · d_model numbers are trained and used", points=3, of=CLASS, requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T, D), F = given.sizes("B T D"), given.number(260, 380)  # where the two ways to round differ
    module = network(impl, given, D, F)
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    gradients = given.gradients(module(given.normal(B, T, D)), *trained)
    reached = sum(one.numel() for one, gradient in zip(trained, gradients, strict=True) if gradient is not None)
    return {**given.trainable(module), "numbers that a gradient reaches": reached}


@check("the weights of a new layer have initial values", points=1, of=CLASS, requires_any=COMPUTED)
def test_initial(impl, given):
    torch, D, F = given.torch, given.size("D"), given.number(USED, 99)
    was = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)  # new memory is then filled with NaN
    try:
        weights = list(impl.SwiGLU(D, F).parameters())
    finally:
        torch.use_deterministic_algorithms(was[0], warn_only=was[1])
    return {
        "numbers in the weights without a value": sum(int((~weight.isfinite()).sum()) for weight in weights),
        "weights whose numbers are all the same": sum(
            bool((weight == weight.flatten()[0]).all()) for weight in weights
        ),
        "d_ff": F,
    }


test_input_kept = NETWORK.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtypes = NETWORK.dtypes(judge=Like(likeness=0.1))
test_device = NETWORK.device(judge=AS_ON_CPU)


@picture("one gate and one value: the sign of the gate decides what passes", rows="value", columns="gate")
def picture_gate(impl, given):
    torch = given.torch
    one = torch.ones(1, 1)
    state = {
        "w1.weight": torch.tensor([[1.0, 0.0]]),
        "w3.weight": torch.tensor([[0.0, 1.0]]),
        "w2.weight": one.expand(2, 1),
    }
    module = given.fill(impl.SwiGLU(2, 1), state)
    gates, values = torch.linspace(-6, 6, 49), torch.linspace(3, -3, 7)
    x = torch.stack((gates.expand(7, 49), values[:, None].expand(7, 49)), dim=-1)
    return module(x)[..., 0], [f"{value:+.0f}" for value in values.tolist()], []
