"""ex25: mixture of experts. Some checks judge the mixture, the others the balance loss."""

from autograder.checks import Like, Raises, Same, check, picture, standard_checks

CLASS = "MixtureOfExperts"
COMPUTED = ("mixture", "single", "balance", "dtypes")  # one of them passes unless nothing is computed
GRADIENT = Same(tolerance=1e-4)
TWO_WAYS = "output, computed in two ways"
FEWER = "output for fewer axes, computed in two ways"
ALONE = "output for one token, computed in two ways"
ONES = "output for axes of size 1, computed in two ways"
FINITE = ("output", "balance loss")
PAIRS = Like(tolerance=1e-3, free=(TWO_WAYS, FEWER, ALONE, ONES, *FINITE))
"""A layer is compared with itself: whether its numbers are right is the claim of other checks."""


def sizes(given):
    """Return tokens in two axes, features, hidden features, experts and how many are chosen."""
    B, T, D, F, E = given.sizes("B T D F E")
    return B, T, D, F, E, given.number(2, 4)


def shapes(D, F, E):
    experts = {"w1": (F, D), "w2": (D, F), "w3": (F, D)}
    weights = {f"experts.{i}.{name}.weight": shape for i in range(E) for name, shape in experts.items()}
    return {"router.weight": (E, D), **weights}


def mixture(impl, given, D, F, E, top_k, *, strict=False, **options):
    """Return the layer with known weights, as far as it has them. One check alone wants them all."""
    return given.load(impl.MixtureOfExperts(D, F, E, top_k), shapes(D, F, E), strict=strict, **options)


def output_of(result):
    """Return the output, also of a layer that returns nothing else: the checks of the balance loss judge that."""
    return result[0] if isinstance(result, tuple) else result


def layer_and_input(impl, given, dtype):
    B, T, D, F, E, k = sizes(given)
    layer, x = mixture(impl, given, D, F, E, k, dtype=dtype), given.normal(B, T, D, dtype=dtype)
    return lambda values: output_of(layer(values)), {"input": x}


LAYER = standard_checks(of=CLASS, make=layer_and_input)


@check("the k likeliest experts are mixed, with weights that sum to 1", points=5, of=CLASS)
def test_mixture(impl, given):
    B, T, D, F, E, k = sizes(given)
    x = given.normal(B, T, D)
    few, every = (mixture(impl, given, D, F, E, count, strict=True) for count in (k, E))
    return {"output": output_of(few(x)), "output of the first sentence, top_k = num_experts": output_of(every(x[0]))}


@check("with top_k = 1, the likeliest expert computes the token alone", points=2, of=CLASS)
def test_single(impl, given):
    B, T, D, F, E, _ = sizes(given)
    return {"output": output_of(mixture(impl, given, D, F, E, 1)(given.normal(B, T, D)))}


@check("the balance loss is E · Σ f · P, over all tokens and choices", points=3, of=CLASS)
def test_balance(impl, given):
    B, T, D, F, E, k = sizes(given)
    x = given.normal(B, T, D)
    x[0] += 3 * given.normal(D)  # so that the sentences differ
    return {
        "balance loss, top_k above 1": mixture(impl, given, D, F, E, k)(x)[1],
        "balance loss, top_k = 1": mixture(impl, given, D, F, E, 1)(x)[1],
        "balance loss of one token": mixture(impl, given, D, F, E, k)(x[0, 0])[1],
    }


@check("the balance loss trains the router through P, not through f", points=1, of=CLASS, judge=GRADIENT)
def test_balance_gradient(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer, x = mixture(impl, given, D, F, E, k), given.normal(B, T, D)
    loss, uneven = layer(x)[1], layer(x + 3 * given.normal(D))[1]
    return {
        "gradient of the router": given.gradients(loss, *layer.router.parameters())[0],
        # Other losses without a gradient differ here. A constant that is added to all of them does not count.
        "balance loss of an uneven text, minus that of this one": (uneven - loss).detach(),
    }


@check("the output trains the router and the input", points=2, of=CLASS, judge=PAIRS, requires_any=COMPUTED)
def test_gradients(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer, x = mixture(impl, given, D, F, E, k, dtype="float64"), given.normal(B, T, D, dtype="float64")
    (both,) = given.slopes(lambda at: output_of(layer(at.clone())), x)
    (router,) = given.gradients(output_of(layer(x)), layer.router.weight)
    return {
        TWO_WAYS: both,
        "experts whose logits get a gradient": 0 if router is None else int(router.any(dim=-1).sum()),
    }


def few_rows(yours, expected):
    """Report experts that computed more rows than tokens chose them."""
    rows = yours.get("rows of all experts") if isinstance(yours, dict) else None
    if type(rows) is not int:
        return "the rows of the experts could not be counted"
    most = expected["rows of all experts"]
    if rows > most:
        return f"your experts compute {rows} rows in all; {most} are enough, one for each token and choice"
    return None


@check(
    "an expert computes only the tokens that chose it",
    points=4,
    of=CLASS,
    judge=few_rows,
    requires_any=COMPUTED,
    idea=True,
)
def test_rows(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer, rows = mixture(impl, given, D, F, E, k), []
    for expert in layer.experts:
        expert.register_forward_pre_hook(lambda _, inputs: rows.append(inputs[0].numel() // D))
    layer(given.normal(B, T, D))
    return {"rows of all experts": sum(rows)}


@check("an expert that nobody chose is harmless", points=2, of=CLASS, judge=PAIRS, requires_any=COMPUTED)
def test_idle(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer, x = mixture(impl, given, D, F, E, k), given.normal(B, T, D)
    x[..., 0] = 5.0
    router = layer.router.weight.data
    router[:, 0] = 0.0
    router[1, 0] = -20.0  # no token chooses expert 1
    output, loss = layer(x)
    gradients = given.gradients(output, *layer.experts[1].parameters())
    idle = sum((float(one.abs().sum()) for one in gradients if one is not None), 0.0)
    return {"output": output, "balance loss": loss, "gradient of the idle expert": idle}


@check("equal logits: the balance loss is 1", points=1, of=CLASS, requires_any=COMPUTED)
def test_equal_logits(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer = mixture(impl, given, D, F, E, k)
    layer.router.weight.data.zero_()
    first = dict(layer.experts[0].named_parameters())
    for expert in layer.experts:
        for name, weight in expert.named_parameters():
            weight.data.copy_(first[name].data)
    output, loss = layer(given.normal(B, T, D))
    return {"balance loss with equal logits": loss, "shape of the output": list(output.shape)}


@check("no token at all: an empty output, and the loss 0", points=1, of=CLASS, requires_any=COMPUTED)
def test_no_tokens(impl, given):
    _, T, D, F, E, k = sizes(given)
    layer = mixture(impl, given, D, F, E, k)
    output, loss = layer(given.normal(0, T, D))
    return {"output without tokens": output, "balance loss without tokens": loss}


@check(
    "the input may have any axes before the last, also of size 1",
    points=1,
    of=CLASS,
    judge=PAIRS,
    requires_any=COMPUTED,
)
def test_any_axes(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer, x = mixture(impl, given, D, F, E, k), given.normal(2, B, T, D)
    three = output_of(layer(x.flatten(0, 1).clone())).reshape(x.shape)
    return {
        TWO_WAYS: [output_of(layer(x.clone())), three],
        FEWER: [output_of(layer(x[0, 0].clone())), three[0, 0]],
        ALONE: [output_of(layer(x[0, 0, 0].clone())), three[0, 0, 0]],
        ONES: [output_of(layer(x[:1, :1, :1].clone())), three[:1, :1, :1]],
    }


@check("nothing is random: training and evaluation agree", points=1, of=CLASS, judge=PAIRS, requires_any=COMPUTED)
def test_training(impl, given):
    B, T, D, F, E, k = sizes(given)
    layer, x = mixture(impl, given, D, F, E, k), given.normal(B, T, D)
    return {TWO_WAYS: [output_of(layer.train()(x.clone())), output_of(layer.eval()(x.clone()))]}


@check("router and experts are trained, and nothing else", points=1, of=CLASS, requires_any=COMPUTED)
def test_trained(impl, given):
    _, _, D, F, E, k = sizes(given)
    return given.trainable(impl.MixtureOfExperts(D, F, E, k))


@check("a top_k above num_experts raises a ValueError with both", of=CLASS, judge=Raises(), requires_any=COMPUTED)
def test_too_many(impl, given):
    _, _, D, F, _, _ = sizes(given)
    E = given.number(5, 30)
    return given.raises(lambda: impl.MixtureOfExperts(D, F, E, E + 2), E, E + 2)


@check("a top_k of 0 raises a ValueError with both", of=CLASS, judge=Raises(), requires_any=COMPUTED)
def test_none_chosen(impl, given):
    _, _, D, F, _, _ = sizes(given)
    E = given.number(11, 20)
    return given.raises(lambda: impl.MixtureOfExperts(D, F, E, 0), 0, E)


test_input_kept = LAYER.inputs_kept(id="input_kept", title="the input is not modified", requires_any=COMPUTED)


def with_logits_apart(impl, given, dtype):
    """Return a layer and tokens whose logits lie 0.75 apart, so that rounding never changes a choice."""
    B, T, D, F, E, k = sizes(given)
    layer = mixture(impl, given, D, F, E, k, dtype=dtype)
    router = layer.router.weight.data
    router.zero_()
    router[:, :E].fill_diagonal_(1.0)
    x = given.normal(B * T, D, dtype=dtype)
    for token in x:
        token[:E] = given.tensor(given.shuffled([0.75 * step for step in range(E)]))
    return layer, x.reshape(B, T, D)


@check("float64, bfloat16 and float16 inputs keep their dtype", points=1, of=CLASS, judge=Like(likeness=0.1), trials=1)
def test_dtypes(impl, given):
    def output(dtype):
        layer, x = with_logits_apart(impl, given, dtype)
        return output_of(layer(x))

    return {dtype: output(dtype) for dtype in ("float64", "bfloat16", "float16")}


@check("new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=PAIRS, requires_any=COMPUTED)
def test_device(impl, given):
    layer, x = with_logits_apart(impl, given, "float32")

    def run(device):
        output, loss = layer.to(device)(x.clone().to(device))
        return output[..., :6] + loss

    here = run("cpu")  # a tensor kept from this call must not be used on the other device
    with given.another_device() as device:
        return {TWO_WAYS: [run(device), here]}


TOKENS, EXPERTS = 48, 8


@picture("two experts for each token, and their weights", rows="expert", columns="token")
def picture_choices(impl, given):
    torch, D = given.torch, EXPERTS + 1
    layer = impl.MixtureOfExperts(D, 1, EXPERTS, 2)
    last = torch.eye(D)[-1:]  # the last feature of every token is 1: gate times value is 1 in all experts
    state = {"router.weight": torch.eye(D)[:EXPERTS]}
    for i in range(EXPERTS):
        state[f"experts.{i}.w1.weight"] = 4.0 * last
        state[f"experts.{i}.w3.weight"] = last / torch.nn.functional.silu(torch.tensor(4.0))
        state[f"experts.{i}.w2.weight"] = torch.eye(D)[:, i : i + 1]
    x = torch.cat((given.normal(TOKENS, EXPERTS, scale=2.0), torch.ones(TOKENS, 1)), dim=1)
    return given.fill(layer, state)(x)[0][:, :EXPERTS].mT, [], []
