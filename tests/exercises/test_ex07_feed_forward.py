"""ex07: the two layers that process each token separately."""

from autograder.checks import Dropout, Like, check, picture, standard_checks

CLASS = "FeedForwardNetwork"
COMPUTED = ("output", "dtypes", "device")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, likeness=0.6, free=("slope along the parameters",))


def network(impl, given, D, F, *dropout, **options):
    """Return the module with known weights, as the contract names them."""
    shapes = {
        "linear_1.weight": (F, D),
        "linear_1.bias": (F,),
        "linear_2.weight": (D, F),
        "linear_2.bias": (D,),
    }
    return given.load(impl.FeedForwardNetwork(D, F, *dropout), shapes, **options)


def network_and_input(impl, given, dtype):
    B, T, D, F = given.sizes("B T D F")
    return network(impl, given, D, F, dtype=dtype), {"input": given.normal(B, T, D, dtype=dtype)}


NETWORK = standard_checks(of=CLASS, make=network_and_input)


@check("the output is two linear layers with a ReLU between them", points=5, of=CLASS)
def test_output(impl, given):
    B, T, D, F = given.sizes("B T D F")
    return {"output": network(impl, given, D, F)(given.normal(B, T, D))}


@check(
    "dropout acts between ReLU and second layer, only in training",
    points=3,
    of=CLASS,
    judge=Dropout(0.4),
    requires_any=("output",),
)
def test_dropout(impl, given):
    B, D = given.sizes("B D")
    x = given.normal(B, 40, D).repeat(1, 30, 1)

    def eval_and_train(*rate):
        """Return the output without its bias: a multiple of one hidden feature, and 0 where the ReLU gave 0."""
        module = network(impl, given, D, 1, *rate)
        full, dropped = module(x)[..., 0], module.train()(x)[..., 0]
        bias = full.flatten().mode().values
        return full - bias, dropped - bias

    full, dropped = eval_and_train()
    usual = (dropped[full != 0] == 0).float().mean()
    full, dropped = eval_and_train(0.4)
    return {"eval": full, "train": dropped, "tenths dropped at the default rate": round(10 * float(usual))}


test_gradient = NETWORK.gradients(id="gradient", title="the gradient of the input is right", points=2)


@check("two weights and two biases are trained, and all are used", points=2, of=CLASS, requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T, D), F = given.sizes("B T D"), given.number(9, 999)
    module = network(impl, given, D, F)
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    gradients = given.gradients(module(given.normal(B, T, D)), *trained)
    reached = sum(
        parameter.numel() for parameter, gradient in zip(trained, gradients, strict=True) if gradient is not None
    )
    return {**given.trainable(module), "numbers that a gradient reaches": reached}


test_input_kept = NETWORK.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtypes = NETWORK.dtypes(features=6)
test_device = NETWORK.device(judge=AS_ON_CPU)


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
