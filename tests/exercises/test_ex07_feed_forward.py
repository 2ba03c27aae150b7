"""ex07: the two layers that process each token separately. The first check compares all numbers. The others judge
only their claim: a program with another activation, width or layout can pass them."""

from autograder.checks import Dropout, Like, check, picture, standard_checks

CLASS = "FeedForwardNetwork"
COMPUTED = ("output", "dtypes", "device")  # one of them passes unless nothing is computed
ONE_TOKEN = "output of one token, compared with the whole batch"
ALIKE = Like(likeness=0.2, free=(ONE_TOKEN,))  # of all tokens: other numbers, but made by the two layers
AS_ON_CPU = Like(tolerance=1e-4, likeness=0.2, free=("slope along the parameters",))
SLOPES = "gradient of the input, compared with small steps"


def shapes(D, F):
    """Return the shapes of the parameters, as the contract names them."""
    return {"linear_1.weight": (F, D), "linear_1.bias": (F,), "linear_2.weight": (D, F), "linear_2.bias": (D,)}


def network(impl, given, D, F, **options):
    """Return the module with known weights, as far as it has them. One check alone wants them all, and any width."""
    return given.load(impl.FeedForwardNetwork(D, F, 0.0), shapes(D, F), **{"strict": False, **options})


def network_and_input(impl, given, dtype):
    B, T, D = given.sizes("B T D")
    return network(impl, given, D, 4 * D, dtype=dtype), {"input": given.normal(2 * B, T, D, dtype=dtype)}


NETWORK = standard_checks(of=CLASS, make=network_and_input)


@check("the output is two linear layers with a ReLU between them", points=4, of=CLASS)
def test_output(impl, given):
    B, T, D, F = given.sizes("B T D F")
    return {"output": network(impl, given, D, F, strict=True)(given.normal(B, T, D))}


@check(
    "dropout acts between ReLU and second layer, only in training",
    points=3,
    of=CLASS,
    judge=Dropout(0.4),
    requires_any=COMPUTED,
)
def test_dropout(impl, given):
    B, D = given.sizes("B D")
    x = given.normal(B, 40, D).abs().repeat(1, 30, 1)
    # One hidden feature, which is positive with every activation, and no bias after it: a dropped one gives 0.
    state = {name: given.normal(*shape).abs() for name, shape in shapes(D, 1).items()}
    state["linear_2.bias"] = state["linear_2.bias"] * 0

    def eval_and_train(*rate):
        module = given.fill(impl.FeedForwardNetwork(D, 1, *rate), state, strict=False)
        return module(x.clone()), module.train()(x.clone())

    _, usual = eval_and_train()
    full, dropped = eval_and_train(0.4)
    gone = dropped == 0
    return {
        "eval": full[..., 0],
        "train": dropped[..., 0],
        "tokens of which only some numbers are 0": int((gone.any(dim=-1) & ~gone.all(dim=-1)).sum()),
        "share dropped at the default rate, in tenths": round(10 * float((usual[..., 0] == 0).float().mean())),
    }


@check(
    "the gradient of the input is right",
    points=3,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=(SLOPES,)),
    requires_any=COMPUTED,
)
def test_gradient(impl, given):
    B, T, D = given.sizes("B T D")
    module = network(impl, given, D, 4 * D, dtype="float64")
    (both,) = given.slopes(lambda x: module(x.clone()), given.normal(B, T, D, dtype="float64"))
    return {SLOPES: both}


@check("two weights and two biases are trained, and all are used", points=2, of=CLASS, requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T), D = given.sizes("B T"), given.number(9, 250)
    module = network(impl, given, D, 4 * D)
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    gradients = given.gradients(module(given.normal(B, T, D)), *trained)
    reached = sum(
        parameter.numel() for parameter, gradient in zip(trained, gradients, strict=True) if gradient is not None
    )
    return {**given.trainable(module), "numbers that a gradient reaches": reached}


test_input_kept = NETWORK.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)


@check(
    "float64, bfloat16 and float16 inputs keep their dtype, and one token its axes",
    points=1,
    of=CLASS,
    judge=ALIKE,
)
def test_dtypes(impl, given):
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        module, inputs = network_and_input(impl, given, dtype)
        seen[dtype] = module(inputs["input"].clone())[..., :6]
    module, inputs = network_and_input(impl, given, "float32")
    output = module(inputs["input"].clone())
    return {**seen, ONE_TOKEN: [module(inputs["input"][:1, :1].clone()), output[:1, :1]]}


test_device = NETWORK.device(judge=AS_ON_CPU, features=6)


@picture("six hidden features, set by hand, bend a line into a wave", rows="output", columns="input")
def picture_wave(impl, given):
    torch, bends = given.torch, 6
    at = given.tensor([2 * torch.pi * i / bends for i in range(bends + 1)])
    slopes = at.sin().diff() / at.diff()
    state = {
        "linear_1.weight": torch.ones_like(at[1:, None]),
        "linear_1.bias": -at[:-1],
        "linear_2.weight": slopes.diff(prepend=slopes[:1] * 0)[None],  # how much each feature changes the slope
        "linear_2.bias": torch.zeros_like(at[:1]),
    }
    module = given.fill(impl.FeedForwardNetwork(1, bends, 0.0), state)
    wave = module(given.tensor([2 * torch.pi * i / 63 for i in range(64)])[None, :, None])[0, :, 0]
    levels = given.tensor([0.8, 0.6, 0.4, 0.2, 0.0, -0.2, -0.4, -0.6, -0.8, -1.0])[:, None]  # lower edges of the rows
    share = torch.where(levels >= 0, wave - levels, levels + 0.2 - wave) / 0.2
    return share.clamp(0, 1), [f"{level + 0.1:.1f}" for level in levels[:, 0].tolist()], []
