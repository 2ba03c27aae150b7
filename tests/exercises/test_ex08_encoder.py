"""ex08: a block of attention and feed-forward, and a stack of them over ids. `block` and `encoder` compare all numbers.
The others judge only their claim: which tokens an output depends on, which part still gets a gradient, or whether two
calls agree. So a program with another order of its parts can pass them."""

from autograder.checks import Like, SameInputs, check, picture

BLOCK = "EncoderBlock"
ENCODER = "Encoder"
COMPUTED = ("block", "block_mask", "encoder")  # one of them passes unless nothing is computed
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


def encoder_block(impl, given, *, dropout=0.0, dtype="float32", train=False, strict=False):
    """Return a block with known weights, as far as it has them. One check alone wants them all."""
    D, H, F = given.sizes("D H F")
    made = impl.EncoderBlock(D, H, F, dropout)
    return given.load(made, block_shapes(D, F), dtype=dtype, train=train, strict=strict)


def new_encoder(impl, given, blocks, *, dropout=0.0):
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


def encoder(impl, given, blocks=2, *, dropout=0.0, dtype="float32", strict=False):
    """Return an encoder with known weights, as far as it has them. One check alone wants them all."""
    made = new_encoder(impl, given, blocks, dropout=dropout)
    return given.load(made, encoder_shapes(given, blocks), dtype=dtype, strict=strict)


def at_two_scales(given, module, shapes):
    """Yield the module with scores far below -10,000 and far above 10,000, then with usual ones.

    A query that sees one key gives it all the weight, whatever the score: so both give the same output.
    """
    scales = {name: 1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7 for name, shape in shapes.items()}
    state = {name: given.normal(*shape, scale=scales[name]) for name, shape in shapes.items()}
    asked = ("w_q.weight", "w_k.weight")
    for size in (200.0, 1.0):
        scaled = {name: tensor * size if name.endswith(asked) else tensor for name, tensor in state.items()}
        yield given.fill(module, scaled, strict=False)


def itself_alone(given, size):
    """Return a mask (size, size) under which every token sees only itself."""
    return given.torch.eye(size, dtype=given.torch.bool, device=given.device)


def vectors(given):
    """Return (B, S, D)."""
    return given.normal(*given.sizes("B S D"))


def sentences(given, B=None, S=None):
    """Return ids (B, S)."""
    return given.integers(0, given.size("V"), B or given.size("B"), S or given.size("S"))


def seen(call, tokens, others):
    """Return by which rows of the output each token is seen: these change if another token is in its place.

    `tokens` and `others` are one sentence (1, S, ...). Sentence i of the call's batch (S, S, ...) has another token i.
    """
    S = tokens.size(1)
    before = tokens.repeat(S, *([1] * (tokens.dim() - 1)))
    after = before.clone()
    for i in range(S):
        after[i, i] = others[0, i]
    one, other = call(before), call(after)
    changed = (one - other).abs().amax(dim=-1) > 1e-5 * one.abs().amax()
    return {
        f"rows that see token {i}": " ".join(str(row) for row, yes in enumerate(rows) if yes)
        for i, rows in enumerate(changed.tolist())
    }


def with_itself(mask):
    """Return a mask under which every token also sees itself: a residual connection passes it on anyway."""
    return mask | mask.new_ones(mask.shape[-2:]).tril().triu()


def trained_in(given, output, *parts):
    """Return how many numbers of each part get a gradient that is not 0."""
    parameters = [list(part.parameters()) for part in parts]
    gradients = iter(given.gradients(output, *(parameter for own in parameters for parameter in own)))
    counts = []
    for own in parameters:
        found = [next(gradients) for _ in own]
        counts.append(sum(int((gradient != 0).sum()) for gradient in found if gradient is not None))
    return counts


@check("a block is attention, then feed-forward, each with residual and then norm", points=5, of=BLOCK)
def test_block(impl, given):
    return encoder_block(impl, given, strict=True)(vectors(given))


@check("the mask of a block reaches its attention", points=2, of=BLOCK, judge=Like(tolerance=1e-4, likeness=0.2))
def test_block_mask(impl, given):
    (B, S, D, H), F = given.sizes("B S D H"), given.size("F")
    shapes = block_shapes(D, F).items()
    # Every alpha is 1, so that the output resembles that of a block with its norms in other places.
    state = {
        name: given.normal(*shape, scale=0.2)
        if len(shape) > 1
        else given.tensor([1.0 * name.endswith("alpha")] * shape[0])
        for name, shape in shapes
    }
    block, x = given.fill(impl.EncoderBlock(D, H, F, 0.0), state, strict=False), given.normal(B, S, D)
    sentence, other = given.normal(1, S, D), given.normal(1, S, D, scale=3.0)
    masks = {
        "(B, 1, 1, S)": given.mask(S, 1, 1, S),
        "(S, S)": with_itself(given.mask(S, S)),
        "(B, S, S)": with_itself(given.mask(S, S, S)),
        "(B, H, S, S)": with_itself(given.mask(S, H, S, S, share=0.3)),
    }
    found = {
        f"mask {form}": seen(lambda x, mask=mask: block(x, mask=mask), sentence, other) for form, mask in masks.items()
    }
    opened = block(x.clone(), given.torch.ones_like(given.mask(B, 1, 1, S)))
    return {"no mask": seen(block, sentence, other), **found, "output under an open mask": [opened, block(x)]}


DROPPED = Like(free=("output with every sublayer dropped",))


@check(
    "in training, dropout acts on the output of each sublayer",
    points=2,
    of=BLOCK,
    judge=DROPPED,
    requires_any=COMPUTED,
)
def test_block_dropout(impl, given):
    S, D = given.sizes("S D")
    block, x = encoder_block(impl, given, dropout=ALL, train=True), vectors(given)
    given.restart_randomness()
    output = block(x)
    read, computed = trained_in(given, output, block.attention, block.feed_forward)
    return {
        "numbers of the attention that still count": read,
        "numbers of the feed-forward network that still count": computed,
        **seen(block, given.normal(1, S, D), given.normal(1, S, D, scale=3.0)),
        "numbers of the output that are 0": int((output == 0).sum()),
        "output with every sublayer dropped": output,
    }


SLOPES = Like(tolerance=1e-3, free=("gradient of the input, compared with small steps",))


@check("the gradient of a block's input is right", points=2, of=BLOCK, judge=SLOPES, requires_any=COMPUTED)
def test_block_gradient(impl, given):
    B, S, D = given.sizes("B S D")
    block, mask = encoder_block(impl, given, dtype="float64"), given.mask(B, 1, 1, S)
    (both,) = given.slopes(lambda x: block(x.clone(), mask), given.normal(B, S, D, dtype="float64"))
    return {SLOPES.free[0]: both}


@check("the inputs are not modified", points=1, of=BLOCK, requires_any=COMPUTED, judge=SameInputs(), trials=1)
def test_inputs_kept(impl, given):
    B, S = given.sizes("B S")
    x, ids, masks = vectors(given), sentences(given), [given.mask(B, 1, S, S) for _ in range(2)]
    encoder_block(impl, given)(x, masks[0])
    encoder(impl, given, 1)(ids, masks[1])
    return {"x": x, "mask": masks[0], "ids": ids, "mask of the encoder": masks[1]}


@check("ids are embedded, get positions, pass every block in order, and are normalized", points=5, of=ENCODER)
def test_encoder(impl, given):
    return encoder(impl, given, strict=True)(sentences(given))


@check(
    "the encoder's mask applies to every block, and there is no other mask", points=3, of=ENCODER, requires_any=COMPUTED
)
def test_encoder_mask(impl, given):
    S, V = given.sizes("S V")
    module, ids = encoder(impl, given), sentences(given, 1)
    others = (ids + given.integers(1, V, 1, S)) % V
    masks = {
        "(B, 1, 1, S)": given.mask(S, 1, 1, S),
        "(B, 1, S, S)": with_itself(given.mask(S, 1, S, S, share=0.2)),
        "(S, S)": with_itself(given.mask(S, S, share=0.2)),
        "(B, S, S)": with_itself(given.mask(S, S, S, share=0.2)),
    }
    found = {
        f"mask {form}": seen(lambda ids, mask=mask: module(ids, mask=mask), ids, others) for form, mask in masks.items()
    }
    return {"no mask": seen(module, ids, others), **found}


FREE = (
    "output of the blocked sentence",
    "output of the blocked sentence in float16",
    "slope along the parameters",
    "rows at large scores with another last token, compared with usual scores",
    "other sentences, compared with no sentence blocked",
)


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=ENCODER,
    judge=Like(tolerance=1e-3, free=FREE),
    requires_any=COMPUTED,
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


@check(
    "the dropout rate reaches the positions, the blocks and their parts",
    points=2,
    of=ENCODER,
    trials=1,
    requires_any=COMPUTED,
)
def test_dropout_rate(impl, given):
    module, ids = encoder(impl, given, dropout=ALL), sentences(given)
    first, last = module.encoder_blocks[0], module.encoder_blocks[-1]
    parts = {  # what drops everything, and what then gets no gradient, but for a bias after it
        "positional encoding": (module.positional_encoding, module.embedding),
        "first block": (first, first.feed_forward),
        "attention of the last block": (last.attention, last.attention),
        "feed-forward of the last block": (last.feed_forward, last.feed_forward),
    }
    found = {}
    for name, (part, judged) in parts.items():
        module.eval()
        part.train()
        (count,) = trained_in(given, module(ids), judged)
        found[f"numbers that still count with everything dropped in the {name}"] = count
    return found


TWO_CALLS = (
    "same ids without a mask, compared with before a mask was given",
    "one sentence, compared with the same sentence in a batch",
    "one token, compared with the same token that sees only itself",
    "seq_len tokens that see no later ones, compared with the first of them",
)


@check(
    "batches of any size and length up to seq_len work, call after call",
    points=2,
    of=ENCODER,
    judge=Like(tolerance=1e-4, free=TWO_CALLS),
    requires_any=COMPUTED,
)
def test_any_size(impl, given):
    B, S, N = given.sizes("B S N")
    module, ids, longest = encoder(impl, given, 3), sentences(given), sentences(given, 1, N)
    before = module(ids)
    module(ids, given.mask(B, 1, 1, S))
    earlier = given.tensor([[key <= query for key in range(N)] for query in range(N)], "bool")
    pairs = (
        [module(ids), before],
        [module(ids[:1]), before[:1]],
        [module(ids[:1, :1]), module(ids[:1], itself_alone(given, S))[:, :1]],
        [module(longest, earlier)[:, :S], module(longest[:, :S], earlier[:S, :S])],
    )
    return {
        **dict(zip(TWO_CALLS, pairs, strict=True)),
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


DTYPES = Like(free=("output, compared with float32",))


@check(
    "float64, bfloat16 and float16 models keep their dtype",
    points=1,
    of=ENCODER,
    trials=1,
    judge=DTYPES,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    B, S = given.sizes("B S")
    ids, mask, found = sentences(given), given.mask(B, 1, 1, S), {}
    for dtype in ("float64", "bfloat16", "float16"):
        module = encoder(impl, given, 1, dtype=dtype)
        narrow = module(ids, mask)
        found[dtype] = {DTYPES.free[0]: [narrow, module.float()(ids, mask)]}
    return found


ON_CPU = Like(tolerance=1e-4, free=("output", "output under a mask", "slope along the parameters"))


@check(
    "new tensors are on the device of the input", points=1, of=ENCODER, trials=1, judge=ON_CPU, requires_any=COMPUTED
)
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
        found = {name: [output, here[name]] for name, output in there.items()}
        return {**found, "slope along the parameters": given.slope(there["output under a mask"], *module.parameters())}


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
