"""ex08: a block of attention and feed-forward, and a stack of them over ids."""

from autograder.checks import Like, Same, SameInputs, check, picture

BLOCK = "EncoderBlock"
ENCODER = "Encoder"
COMPUTED = ("block_dropout", "device")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters",))
ALL = 1 - 1e-9  # drops everything, so nothing is random, but 1 / (1 - rate) is still finite


def block_shapes(D, F):
    """Return the shapes of a block's parameters, by the contract's names."""
    attention = {f"attention.w_{letter}.weight": (D, D) for letter in "qkvo"}
    norms = {f"layer_norm_{i}.{name}": (D,) for i in (1, 2) for name in ("alpha", "bias")}
    return {
        **attention,
        "attention.w_o.bias": (D,),
        "feed_forward.linear_1.weight": (F, D),
        "feed_forward.linear_1.bias": (F,),
        "feed_forward.linear_2.weight": (D, F),
        "feed_forward.linear_2.bias": (D,),
        **norms,
    }


def encoder_block(impl, given, *, dropout=0.1, train=False):
    """Return a block with known weights."""
    D, H, F = given.sizes("D H F")
    return given.load(impl.EncoderBlock(D, H, F, dropout), block_shapes(D, F), train=train)


def new_encoder(impl, given, blocks, *, dropout=0.1):
    """Return a new encoder."""
    V, D, H, F, N = given.sizes("V D H F N")
    return impl.Encoder(V, D, H, F, dropout, blocks, N)


def encoder_shapes(given, blocks):
    """Return the shapes of an encoder's parameters, by the contract's names."""
    V, D, F = given.sizes("V D F")
    shapes = {"embedding.embedding.weight": (V, D), "layer_norm.alpha": (D,), "layer_norm.bias": (D,)}
    for i in range(blocks):
        shapes.update({f"encoder_blocks.{i}.{name}": shape for name, shape in block_shapes(D, F).items()})
    return shapes


def encoder(impl, given, blocks=2, *, dropout=0.1, dtype="float32", train=False):
    """Return an encoder with known weights."""
    made = new_encoder(impl, given, blocks, dropout=dropout)
    return given.load(made, encoder_shapes(given, blocks), dtype=dtype, train=train)


def at_two_scales(given, module, shapes):
    """Yield the module with scores far below -10,000 and far above 10,000, then with usual ones.

    A query that sees one key gives it all the weight, whatever the score: so both give the same output.
    """
    scales = {name: 1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7 for name, shape in shapes.items()}
    state = {name: given.normal(*shape, scale=scales[name]) for name, shape in shapes.items()}
    asked = ("w_q.weight", "w_k.weight")
    for size in (200.0, 1.0):
        yield given.fill(
            module, {name: tensor * size if name.endswith(asked) else tensor for name, tensor in state.items()}
        )


def itself_alone(given, size):
    """Return a mask (size, size) under which every token sees only itself."""
    return given.torch.eye(size, dtype=given.torch.bool, device=given.device)


def vectors(given):
    """Return (B, S, D)."""
    return given.normal(*given.sizes("B S D"))


def sentences(given, B=None, S=None):
    """Return ids (B, S)."""
    return given.integers(0, given.size("V"), B or given.size("B"), S or given.size("S"))


def with_part_in_training(given, module, part, *inputs):
    """Return the output of a module with dropout active in only one of its parts."""
    module.eval()
    part.train()
    given.restart_randomness()
    return given.steady(lambda: module(*inputs))


@check("a block is attention, then feed-forward, each with residual and then norm", points=5, of=BLOCK)
def test_block(impl, given):
    return encoder_block(impl, given)(vectors(given))


@check("the mask of a block reaches its attention", points=2, of=BLOCK)
def test_block_mask(impl, given):
    B, S, H = given.sizes("B S H")
    block, x = encoder_block(impl, given), vectors(given)
    return {
        "output under mask (B, 1, 1, S)": block(x, given.mask(B, 1, 1, S)),
        "output under mask (S, S)": block(x, given.mask(S, S)),
        "output under mask (B, S, S)": block(x, given.mask(B, S, S)),
        "output under mask (B, H, S, S)": block(x, mask=given.mask(B, H, S, S)),
    }


@check("in training, dropout acts on the output of each sublayer", points=2, of=BLOCK)
def test_block_dropout(impl, given):
    block, x = encoder_block(impl, given, dropout=ALL, train=True), vectors(given)
    given.restart_randomness()
    return {"output with every sublayer dropped": block(x)}


@check("the gradient of a block's input is right", points=2, of=BLOCK, judge=Same(tolerance=1e-4))
def test_block_gradient(impl, given):
    B, S = given.sizes("B S")
    x = vectors(given).requires_grad_()
    output = encoder_block(impl, given)(x, given.mask(B, 1, 1, S))
    return {"gradient of the input": given.gradients(output, x)[0]}


@check("the inputs are not modified", points=1, of=BLOCK, requires_any=COMPUTED, judge=SameInputs(), trials=1)
def test_inputs_kept(impl, given):
    B, S = given.sizes("B S")
    x, ids, masks = vectors(given), sentences(given), [given.mask(B, 1, S, S) for _ in range(2)]
    encoder_block(impl, given)(x, masks[0])
    encoder(impl, given, 1)(ids, masks[1])
    return {"x": x, "mask": masks[0], "ids": ids, "mask of the encoder": masks[1]}


@check("ids are embedded, get positions, pass every block in order, and are normalized", points=5, of=ENCODER)
def test_encoder(impl, given):
    return encoder(impl, given)(sentences(given))


@check("the encoder's mask applies to every block, and there is no other mask", points=3, of=ENCODER)
def test_encoder_mask(impl, given):
    B, S = given.sizes("B S")
    module, ids = encoder(impl, given), sentences(given)
    return {
        "output under mask (B, 1, 1, S)": module(ids, given.mask(B, 1, 1, S)),
        "output under mask (B, 1, S, S)": module(ids, mask=given.mask(B, 1, S, S)),
        "output under mask (S, S)": module(ids, given.mask(S, S)),
        "output under mask (B, S, S)": module(ids, given.mask(B, S, S)),
    }


FREE = ("output of the blocked sentence", "output of the blocked sentence in float16", "slope along the parameters")


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=ENCODER,
    judge=Like(tolerance=1e-3, likeness=0.2, free=FREE),  # with 200 numbers or more, 0.2 is not chance
    trials=1,
)
def test_blocked_for_good(impl, given):
    B, S, V = given.sizes("B S V")
    ids, mask = sentences(given), given.mask(B, 1, 1, S)
    other, blocked = ids.clone(), given.number(0, B)
    other[:, -1] = (ids[:, -1] + 1) % V
    scaled = at_two_scales(given, new_encoder(impl, given, 1), encoder_shapes(given, 1))
    alone = [part(inputs, itself_alone(given, S))[:, :-1] for part, inputs in zip(scaled, (other, ids), strict=True)]

    module = encoder(impl, given, 1)
    before = module(ids, mask)
    mask[blocked] = False
    after, others = module(ids, mask), [row for row in range(B) if row != blocked]
    return {
        "rows at large scores with another last token, compared with usual scores": alone,
        "other sentences, compared with no sentence blocked": [after[others], before[others]],
        "output of the blocked sentence": after[blocked],
        "slope along the parameters": given.slope(after, *module.parameters()),
        "output of the blocked sentence in float16": encoder(impl, given, 1, dtype="float16")(ids, mask)[blocked],
    }


@check("the dropout rate reaches the positions, the blocks and their parts", points=2, of=ENCODER, trials=1)
def test_dropout_rate(impl, given):
    module, ids = encoder(impl, given, dropout=ALL), sentences(given)
    first, last = module.encoder_blocks[0], module.encoder_blocks[-1]
    parts = {
        "positional encoding": module.positional_encoding,
        "first block": first,
        "attention of the last block": last.attention,
        "feed-forward of the last block": last.feed_forward,
    }
    return {
        f"output with everything dropped in the {name}": with_part_in_training(given, module, part, ids)
        for name, part in parts.items()
    }


@check("batches of any size and length up to seq_len work, call after call", points=2, of=ENCODER)
def test_any_size(impl, given):
    B, S, N = given.sizes("B S N")
    module, ids = encoder(impl, given, 3), sentences(given)
    return {
        "output of three blocks under a mask": module(ids, given.mask(B, 1, 1, S)),
        "output of the same ids without a mask": module(ids),
        "output of one sentence": module(sentences(given, 1)),
        "output of one token": module(sentences(given, 1, 1)),
        "output of seq_len tokens": module(sentences(given, 1, N)),
        "rows of the position table": module.positional_encoding.pe.size(1),
    }


@check(
    "every block has its own parameters, and all of them get a gradient",
    points=2,
    of=ENCODER,
    requires_any=COMPUTED,
)
def test_parameters(impl, given):
    D, H, F, N = given.sizes("D H F N")
    sizes = {"vocab_size": given.number(40, 400), "d_model": D, "num_heads": H, "d_ff": F, "seq_len": N}
    module = impl.Encoder(**sizes, dropout=0.1, num_encoder_blocks=3).to(given.device)
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    gradients = given.gradients(module(sentences(given)), *trained)
    reached = sum(
        parameter.numel() for parameter, gradient in zip(trained, gradients, strict=True) if gradient is not None
    )
    return {**given.trainable(module), "numbers that a gradient reaches": reached}


@check("float64, bfloat16 and float16 models keep their dtype", points=1, of=ENCODER, trials=1)
def test_dtypes(impl, given):
    B, S = given.sizes("B S")
    ids, mask, seen = sentences(given), given.mask(B, 1, 1, S), {}
    for dtype in ("float64", "bfloat16", "float16"):
        seen[dtype] = encoder(impl, given, 1, dtype=dtype)(ids, mask)
    # A float32 table is no mistake. So for float64 only the dtype counts, and the values in float32 precision.
    seen["float64"] = [seen["float64"].dtype, seen["float64"].float()]
    return seen


@check("new tensors are on the device of the input", points=1, of=ENCODER, trials=1, judge=AS_ON_CPU)
def test_device(impl, given):
    B, S = given.sizes("B S")
    module, ids, mask = encoder(impl, given, 1), sentences(given), given.mask(B, 1, 1, S)

    def run(device):
        model = module.to(device)
        return {
            "output": model(ids.to(device)),
            "output under a mask": model(ids.to(device), mask.to(device)),
        }

    here = run("cpu")  # a tensor kept from these calls must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        seen = {name: [output, here[name]] for name, output in there.items()}
        return {**seen, "slope along the parameters": given.slope(there["output under a mask"], *module.parameters())}


SENTENCE = ["the", "old", "cat", "by", "the", "door", "sleeps"]


def mixture(impl, given, blocks):
    """Return how much of each word (columns) is in each output (rows), if blocks set by hand look one word back.

    The first features are the position of a word, the others its identity. Only the identity is passed on.
    """
    T = len(SENTENCE)
    same = given.tensor([[a == b for b in range(T)] for a in range(T)])
    before = given.tensor([[a == max(b - 1, 0) for b in range(T)] for a in range(T)])  # (wanted position, own position)
    together, none = given.torch.cat, same * 0
    place, word = together([same, none], 1), together([none, same], 1)
    state = {name: given.tensor(0.0).expand(shape) for name, shape in block_shapes(2 * T, 1).items()}
    state |= {f"layer_norm_{i}.alpha": given.tensor(1.0).expand(2 * T) for i in (1, 2)}
    state["attention.w_q.weight"] = 12 * together([together([before, none], 1), word * 0])
    state["attention.w_k.weight"] = together([place, word * 0])
    state["attention.w_v.weight"] = together([place * 0, word])
    state["attention.w_o.weight"] = together([place, word])
    block, x = given.fill(impl.EncoderBlock(2 * T, 1, 1, 0.0), state), 3 * together([2 * same, same], 1)[None]
    for _ in range(blocks):
        x = block(x)
    words = x[0, :, T:]
    return words - words.amin(dim=-1, keepdim=True)


@picture("one block: one word back", rows="output", columns="word; weights set by hand")
def picture_one_block(impl, given):
    return mixture(impl, given, 1), SENTENCE, []


@picture("three blocks: three words back", rows="output", columns="word; weights set by hand")
def picture_three_blocks(impl, given):
    return mixture(impl, given, 3), SENTENCE, []
