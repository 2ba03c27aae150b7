"""ex18: the gated network that processes each token separately."""

from autograder.checks import Like, Same, check, picture, standard_checks

CLASS = "SwiGLU"
COMPUTED = ("output", "dtypes", "device")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, likeness=0.6, free=("slope along the parameters",))


def network(impl, given, D, F, **options):
    """Return the module with known weights, as the contract names them."""
    return given.load(impl.SwiGLU(D, F), {"w1.weight": (F, D), "w2.weight": (D, F), "w3.weight": (F, D)}, **options)


def network_and_input(impl, given, dtype):
    B, T, D, F = given.sizes("B T D F")
    return network(impl, given, D, F, dtype=dtype), {"input": given.normal(B, T, D, dtype=dtype)}


NETWORK = standard_checks(of=CLASS, make=network_and_input)


@check("the output is w2 of silu(w1(x)) times w3(x)", points=6, of=CLASS)
def test_output(impl, given):
    B, T, D, F = given.sizes("B T D F")
    return {"output": network(impl, given, D, F)(given.normal(B, T, D))}


def with_gates(impl, given, size, dtype):
    """Return the result for gates of plus and minus `size`, each multiplied by a value near 1."""
    gates = given.tensor([size, -size, size / 2, -size / 2, 100.0, -100.0])
    F = len(gates)
    state = {
        "w1.weight": given.torch.stack((gates, gates * 0), dim=1),
        "w3.weight": given.torch.stack((gates * 0, given.normal(F, scale=0.1, shift=1.0)), dim=1),
        "w2.weight": given.normal(2, F),
    }
    module = given.fill(impl.SwiGLU(2, F), state, dtype=dtype)
    return module(given.tensor([[1.0, 1.0], [-1.0, 1.0], [0.5, -1.0]], dtype=dtype))


@check("gates of 10000, and of 1000 in half precision, stay finite", points=2, of=CLASS, judge=Same(tolerance=0.05))
def test_large(impl, given):
    return {
        "output for gates of 10000": with_gates(impl, given, 1e4, "float32"),
        "output for float16 gates of 1000": with_gates(impl, given, 1e3, "float16"),
        "output for bfloat16 gates of 1000": with_gates(impl, given, 1e3, "bfloat16"),
    }


@check("there is no dropout: training and evaluation agree", points=1, of=CLASS, judge=Like(), requires_any=COMPUTED)
def test_training(impl, given):
    module, inputs = network_and_input(impl, given, "float32")
    return {
        "output in train mode, compared with eval mode": [
            module.train()(inputs["input"]),
            module.eval()(inputs["input"]),
        ]
    }


@check("the input may have any number of axes before the last", points=1, of=CLASS, judge=Like(), requires_any=COMPUTED)
def test_any_axes(impl, given):
    B, H, T, D, F = given.sizes("B H T D F")
    module, x = network(impl, given, D, F), given.normal(B, H, T, D)
    three = module(x.flatten(0, 1)).reshape(x.shape)
    return {
        "input of four axes, compared with three": [module(x)[..., :8], three[..., :8]],
        "input of two axes, compared with three": [module(x[0, 0])[..., :8], three[0, 0, ..., :8]],
        "input of one axis, compared with three": [module(x[0, 0, 0]), three[0, 0, 0]],
    }


test_gradient = NETWORK.gradients(id="gradient", title="the gradient of the input is right", points=2)


@check("three weights of d_ff · d_model numbers are trained and used", points=2, of=CLASS, requires_any=COMPUTED)
def test_trained(impl, given):
    (B, T, D), F = given.sizes("B T D"), given.number(9, 999)
    module = network(impl, given, D, F)
    trained = [weight for weight in module.parameters() if weight.requires_grad]
    gradients = given.gradients(module(given.normal(B, T, D)), *trained)
    reached = sum(one.numel() for one, gradient in zip(trained, gradients, strict=True) if gradient is not None)
    return {**given.trainable(module), "numbers that a gradient reaches": reached}


test_input_kept = NETWORK.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)
test_dtypes = NETWORK.dtypes(features=6)
test_device = NETWORK.device(judge=AS_ON_CPU, features=6)


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
