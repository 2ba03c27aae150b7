"""ex27: a frozen layer with a trained change of low rank. The rank is unlike every other size.

The factor alpha / rank is judged by `forward` and `merge`. Other checks compare a layer with itself.
"""

from autograder.checks import Like, Raises, check

CLASS = "LoRALinear"
FUNCTION = "add_lora"
COMPUTED = ("forward", "new", "model")  # one of them passes unless nothing is computed


def frozen_linear(given, inside, outside, *, bias=True, dtype="float32"):
    """Return a linear layer with known weights."""
    linear = given.torch.nn.Linear(inside, outside, bias=bias)
    shapes = {"weight": (outside, inside)} | ({"bias": (outside,)} if bias else {})
    return given.load(linear, shapes, dtype=dtype)


def layer_shapes(inside, outside, rank, *, bias=True):
    """Return the parameters of a layer, by name."""
    shapes = {"linear.weight": (outside, inside), "lora_A": (rank, inside), "lora_B": (outside, rank)}
    return {**shapes, "linear.bias": (outside,)} if bias else shapes


def lora(impl, given, *, rank=None, alpha=None, bias=True, dtype="float32"):
    """Return a layer from D to F features whose weights are all known, and no zeros."""
    D, F, G = given.sizes("D F G")
    rank, alpha = rank or G, alpha or given.real(5.0, 9.0)
    layer = impl.LoRALinear(frozen_linear(given, D, F, bias=bias, dtype=dtype), rank, alpha)
    return given.load(layer, layer_shapes(D, F, rank, bias=bias), dtype=dtype)


def with_known_factors(given, layer, rank):
    """Give each factor that does not begin with zeros known numbers, so that what a layer computes is no chance."""
    factors = [parameter for parameter in layer.parameters() if parameter.dim() == 2 and rank in parameter.shape]
    with given.torch.no_grad():
        for factor in sorted(factors, key=lambda parameter: parameter.size(0) != rank):
            numbers = given.normal(*factor.shape)
            if bool((factor != 0).any()):
                factor.copy_(numbers)
    return layer


def trained(module):
    return [weight for weight in module.parameters() if weight.requires_grad]


@check("alpha / rank times the change is added to the frozen layer", points=4, of=CLASS)
def test_forward(impl, given):
    B, T, D = given.sizes("B T D")
    x = given.normal(B, T, D)
    return {
        "output": lora(impl, given)(x),
        "output with another rank": lora(impl, given, rank=given.size("G") + 1)(x[:2]),
    }


@check("A and B change the output, by a matrix of their rank", points=3, of=CLASS, requires_any=COMPUTED, idea=True)
def test_changed(impl, given):
    D, F, G = given.sizes("D F G")
    x, outputs = given.normal(2 * G + 1, D, dtype="float64"), []
    layer = impl.LoRALinear(frozen_linear(given, D, F, dtype="float64"), G, given.real(5.0, 9.0))
    state = {name: given.normal(*shape, dtype="float64") for name, shape in layer_shapes(D, F, G).items()}
    for factor in (1.0, 0.0):
        changed = {**state, "lora_B": factor * state["lora_B"]}
        outputs.append(given.fill(layer, changed, dtype="float64")(x).detach())
    return {"rank of the change of the output": int(given.torch.linalg.matrix_rank(outputs[0] - outputs[1])), "rank": G}


@check("a new layer computes what the frozen one does", points=3, of=CLASS)
def test_new(impl, given):
    B, D, F, G = given.sizes("B D F G")
    layer = impl.LoRALinear(frozen_linear(given, D, F), G, given.real(5.0, 9.0))
    return {"output of a new layer": with_known_factors(given, layer, G)(given.normal(B, D))}


@check("of the two factors, B begins with zeros, and A with random numbers", points=3, of=CLASS, requires_any=COMPUTED)
def test_start(impl, given):
    D, F, G = given.sizes("D F G")
    weights = trained(impl.LoRALinear(given.torch.nn.Linear(D, F), G, 3.0))
    return {
        "trained numbers": sum(weight.numel() for weight in weights),
        "zeros among the trained numbers": sum(int((weight == 0).sum()) for weight in weights),
        "ranks of the trained matrices": sorted(
            int(given.torch.linalg.matrix_rank(weight.detach())) for weight in weights
        ),
    }


@check("only A and B are trained, and the gradients reach both", points=3, of=CLASS, judge=Like(tolerance=1e-3))
def test_trained(impl, given):
    T, D = given.sizes("T D")
    layer, x = lora(impl, given, dtype="float64"), given.normal(6, T, D, dtype="float64")
    found = given.gradients(layer(x), *trained(layer))
    (both,) = given.slopes(layer, x)
    return {
        **given.trainable(layer),
        "numbers that a gradient reaches": sum(gradient.numel() for gradient in found if gradient is not None),
        "gradient of the input, compared with small steps": both,
    }


@check("merge returns one layer with the change in its weight", points=4, of=CLASS, requires_any=COMPUTED)
def test_merge(impl, given):
    merged, plain = lora(impl, given).merge(), lora(impl, given, bias=False).merge()
    return {
        "merged weight": merged.weight,
        "merged bias": merged.bias,
        "merged weight of a layer without a bias": plain.weight,
        "merged bias of a layer without a bias": plain.bias,
        "type of the merged layer": type(merged).__name__,
    }


@check("merge changes nothing, so that it can be called again", points=2, of=CLASS, judge=Like())
def test_merge_again(impl, given):
    B, D = given.sizes("B D")
    layer, x = lora(impl, given), given.normal(B, D)
    with given.torch.no_grad():
        before = layer(x)
        first = layer.merge()
        weight, after, second = first.weight.clone(), layer(x), layer.merge().weight.clone()
        first.weight.zero_()
        first.bias.zero_()
        untouched = layer(x)
    return {
        "output after merge, and before": [after, before],
        "weight of the second merge, and of the first": [second, weight],
        "output after the first merged layer is set to zeros, and before": [untouched, before],
    }


@check(
    "a rank below 1 raises a ValueError with the rank",
    points=1,
    of=CLASS,
    judge=Raises(),
    requires_any=COMPUTED,
)
def test_rank(impl, given):
    rank = -given.number(1, 9)
    zero = given.raises(lambda: impl.LoRALinear(given.torch.nn.Linear(4, 3), 0, 2.0))
    return (
        given.raises(lambda: impl.LoRALinear(given.torch.nn.Linear(4, 3), rank, 2.0), rank)
        if "ValueError" in zero["raised"]
        else zero
    )


@check("a rank of 1, the smallest one, is accepted", points=1, of=CLASS)
def test_smallest_rank(impl, given):
    B, D = given.sizes("B D")
    return lora(impl, given, rank=1, alpha=1)(given.normal(B, D))


def nested(given):
    """Return a model whose layers lie at several depths, with targets among them."""
    nn, (D, F) = given.torch.nn, given.sizes("D F")

    def attention():
        names = ("q_proj", "k_proj", "v_proj", "output_proj")
        return nn.ModuleDict({name: nn.Linear(D, D, bias=False) for name in names})

    layers = [nn.ModuleDict({"ln1": nn.LayerNorm(D), "attn": attention()}) for _ in range(2)]
    parts = {"table": nn.Embedding(5, D), "q_proj": nn.Linear(D, F), "v_proj": nn.LayerNorm(D)}
    return nn.ModuleDict({**parts, "layers": nn.ModuleList(layers), "my_q_proj": nn.Linear(D, F)})


def outputs(model, x):
    """Observe what the linear layers of the nested model make of x."""
    attention = model["layers"][1]["attn"]
    parts = {name: model[name] for name in ("q_proj", "my_q_proj")}
    parts |= {f"layers.1.attn.{name}": attention[name] for name in ("q_proj", "k_proj", "v_proj")}
    return {f"output of {name}": part(x) for name, part in parts.items()}


@check("the layers with a target's name are replaced, at any depth", points=4, of=FUNCTION, requires_any=COMPUTED)
def test_add(impl, given):
    G = given.size("G")
    model, other, inner = nested(given), nested(given), given.torch.nn.ModuleDict()
    inner["linear"] = given.torch.nn.Sequential(given.torch.nn.Linear(3, 4), given.torch.nn.ModuleDict())
    inner["linear"][1]["linear"] = given.torch.nn.Linear(4, 3)
    return {
        "names returned": impl.add_lora(model, G, 3.0),
        "LoRALinear modules in the model": sum(isinstance(module, impl.LoRALinear) for module in model.modules()),
        "names returned for other targets": impl.add_lora(other, G, 3.0, targets=["output_proj"]),
        "LoRALinear modules for other targets": sum(isinstance(module, impl.LoRALinear) for module in other.modules()),
        "names returned for a target called linear": impl.add_lora(inner, G, 3.0, targets=("linear",)),
        "LoRALinear modules for a target called linear": sum(
            isinstance(module, impl.LoRALinear) for module in inner.modules()
        ),
    }


@check("all but the new factors is frozen", points=3, of=FUNCTION, requires_any=COMPUTED)
def test_frozen(impl, given):
    model = nested(given)
    impl.add_lora(model, given.size("G"), 3.0)
    inside = {
        id(weight) for module in model.modules() if isinstance(module, impl.LoRALinear) for weight in trained(module)
    }
    outside = [weight for weight in trained(model) if id(weight) not in inside]
    return {
        **given.trainable(model),
        "trained numbers outside of the factors": sum(weight.numel() for weight in outside),
    }


@check(
    "the model computes the same before, and uses its rank and alpha after",
    points=3,
    of=FUNCTION,
    judge=Like(tolerance=1e-4, likeness=0.9),
)
def test_model(impl, given):
    B, D, F, G = given.sizes("B D F G")
    model, x = nested(given), given.normal(B, D)
    for at, part in enumerate(("q_proj", "my_q_proj")):
        model[part] = frozen_linear(given, D, F, bias=bool(at))
    for name in ("q_proj", "k_proj", "v_proj"):
        model["layers"][1]["attn"][name] = frozen_linear(given, D, D, bias=False)
    alpha = given.real(5.0, 9.0)
    impl.add_lora(model, G, alpha)
    for layer in (module for module in model.modules() if isinstance(module, impl.LoRALinear)):
        with_known_factors(given, layer, G)
    before, alone = outputs(model, x), impl.LoRALinear(frozen_linear(given, D, F, bias=False), G, alpha)
    state = {name: given.normal(*shape) for name, shape in layer_shapes(D, F, G, bias=False).items()}
    both = [given.fill(layer, state)(x) for layer in (model["q_proj"], alone)]
    return {"with new factors": before, "with other factors, compared with a layer of this rank and alpha": both}


ONE_TOKEN = "output for one token of one sentence, and for all"
PAIRS = Like(tolerance=1e-4, free=(ONE_TOKEN,))


@check("inputs keep their values and may have any leading axes, also of size 1", points=1, of=CLASS, judge=PAIRS)
def test_inputs(impl, given):
    B, T, D = given.sizes("B T D")
    layer, x = lora(impl, given), given.normal(B, T, D)
    given_x, three = x.clone(), layer(x.clone())
    return {
        "output for an input of one axis, and of three": [layer(x[0, 0]), three[0, 0]],
        "output for an input of four axes, and of three": [layer(x[None, :, :2]), three[None, :, :2]],
        ONE_TOKEN: [layer(x[:1, :1]), three[:1, :1]],
        "input after the calls, and before": [x, given_x],
    }


@check("the factors have the dtype of the layer", points=1, of=CLASS, judge=Like())
def test_dtypes(impl, given):
    B, D, F, G = given.sizes("B D F G")
    seen = {}
    for dtype in ("float64", "bfloat16"):
        linear = frozen_linear(given, D, F, dtype=dtype)
        layer, x = with_known_factors(given, impl.LoRALinear(linear, G, 3.0), G), given.normal(B, D, dtype=dtype)
        seen[dtype] = {"output": layer(x), "merged weight": layer.merge().weight}
    return seen


@check("the factors are on the device of the layer", points=1, of=CLASS, trials=1, judge=Like(tolerance=1e-4))
def test_device(impl, given):
    B, D, F, G = given.sizes("B D F G")
    linear, x = frozen_linear(given, D, F), given.normal(B, D)
    here = impl.LoRALinear(linear, G, 3.0)(x)
    with given.another_device() as device:
        layer = impl.LoRALinear(linear.to(device), G, 3.0)
        merged = layer.merge()
        return {"output": [layer(x.to(device)), here], "output of the merged layer": [merged(x.to(device)), here]}
