"""ex09: a block that reads its own sequence and the encoder's, and a stack of them over ids. `block` and `decoder`
compare all numbers. The others judge only their claim: which tokens an output depends on, which part still gets a
gradient, or whether two calls agree. So a program with another order of its parts can pass them."""

from autograder.checks import Like, SameInputs, check, picture

BLOCK = "DecoderBlock"
DECODER = "Decoder"
COMPUTED = ("block", "block_masks", "block_gradients", "decoder")  # one of them passes unless nothing is computed
ALL = 1 - 1e-9  # drops everything, so nothing is random, but 1 / (1 - rate) is still finite


def block_shapes(D, F):
    """Return the shapes of a block's parameters, by the contract's names."""
    shapes = {}
    for attention in ("self_attention", "cross_attention"):
        shapes.update({f"{attention}.w_{letter}.weight": (D, D) for letter in "qkvo"})
        shapes[f"{attention}.w_o.bias"] = (D,)
    shapes.update({f"layer_norm_{i}.{name}": (D,) for i in (1, 2, 3) for name in ("alpha", "bias")})
    return {
        **shapes,
        "feed_forward.linear_1.weight": (F, D),
        "feed_forward.linear_1.bias": (F,),
        "feed_forward.linear_2.weight": (D, F),
        "feed_forward.linear_2.bias": (D,),
    }


def decoder_block(impl, given, *, dropout=0.0, train=False, strict=False):
    """Return a block with known weights, as far as it has them. One check alone wants them all."""
    D, H, F = given.sizes("D H F")
    return given.load(impl.DecoderBlock(D, H, F, dropout), block_shapes(D, F), train=train, strict=strict)


def usual_block(impl, given, dtype="float32"):
    """Return a block with every alpha 1, so that its output resembles that of one with its norms in other places."""
    D, H, F = given.sizes("D H F")
    state = {}
    for name, shape in block_shapes(D, F).items():
        fixed = given.tensor([float(name.endswith("alpha"))] * shape[0])
        state[name] = given.normal(*shape, scale=0.2) if len(shape) > 1 else fixed
    return given.fill(impl.DecoderBlock(D, H, F, 0.0), state, dtype=dtype, strict=False)


def new_decoder(impl, given, blocks, *, dropout=0.0):
    """Return a new decoder."""
    V, D, H, F, N = given.sizes("V D H F N")
    return impl.Decoder(V, D, H, F, dropout, blocks, N)


def decoder_shapes(given, blocks):
    """Return the shapes of a decoder's parameters, by the contract's names."""
    V, D, F = given.sizes("V D F")
    shapes = {"embedding.embedding.weight": (V, D), "layer_norm.alpha": (D,), "layer_norm.bias": (D,)}
    for i in range(blocks):
        shapes.update({f"decoder_blocks.{i}.{name}": shape for name, shape in block_shapes(D, F).items()})
    return shapes


def decoder(impl, given, blocks=2, *, dropout=0.0, dtype="float32", strict=False):
    """Return a decoder with known weights, as far as it has them. One check alone wants them all."""
    made = new_decoder(impl, given, blocks, dropout=dropout)
    return given.load(made, decoder_shapes(given, blocks), dtype=dtype, strict=strict)


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


def two_sequences(given):
    """Return the inputs of a block: x (B, T, D) and the encoder output (B, S, D)."""
    B, T, S, D = given.sizes("B T S D")
    return given.normal(B, T, D), given.normal(B, S, D)


def targets_and_source(given, B=None, T=None, S=None, dtype="float32"):
    """Return the inputs of a decoder: ids (B, T) and the encoder output (B, S, D)."""
    B, T, S = B or given.size("B"), T or given.size("T"), S or given.size("S")
    return given.integers(0, given.size("V"), B, T), given.normal(B, S, given.size("D"), dtype=dtype)


def two_masks(given):
    """Return a source mask (B, 1, 1, S) and a target mask (B, 1, T, T)."""
    B, T, S = given.sizes("B T S")
    return given.mask(B, 1, 1, S), given.mask(B, 1, T, T)


def no_future(given, size):
    """Return the target mask (size, size) under which no token sees a later one."""
    return given.tensor([[key <= query for key in range(size)] for query in range(size)], "bool")


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


@check("a block is self-attention, cross-attention, feed-forward, each with residual and norm", points=5, of=BLOCK)
def test_block(impl, given):
    return decoder_block(impl, given, strict=True)(*two_sequences(given))


@check(
    "src_mask hides source tokens, and tgt_mask hides target tokens",
    points=3,
    of=BLOCK,
    judge=Like(tolerance=1e-4, likeness=0.2),
)
def test_block_masks(impl, given):
    T, S, D, H = given.sizes("T S D H")
    block, alone = usual_block(impl, given), itself_alone(given, T)
    x, source = given.normal(1, T, D), given.normal(1, S, D)
    other_x, other_source = given.normal(1, T, D, scale=3.0), given.normal(1, S, D, scale=3.0)

    def of_target(src_mask=None, tgt_mask=None):
        return seen(lambda x: block(x, source.expand(T, S, D), src_mask, tgt_mask), x, other_x)

    def of_source(src_mask=None, tgt_mask=None):
        return seen(
            lambda source: block(x.expand(S, T, D), source, src_mask=src_mask, tgt_mask=tgt_mask), source, other_source
        )

    hidden, opened = given.mask(S, 1, 1, S), given.torch.ones_like(given.mask(1, 1, 1, S))
    return {
        "target tokens under tgt_mask (T, T)": of_target(None, with_itself(given.mask(T, T))),
        "target tokens under tgt_mask (B, T, T) and a src_mask": of_target(opened, with_itself(given.mask(T, T, T))),
        "source tokens under src_mask (B, 1, 1, S)": of_source(hidden),
        "source tokens under both masks": of_source(hidden, alone),
        # Under these a target token sees only itself: so no row sees a source token through another row.
        "source tokens under src_mask (B, T, S)": of_source(given.mask(S, T, S), alone),
        "source tokens under src_mask (B, H, T, S)": of_source(given.mask(S, H, T, S, share=0.3), alone),
        "output under open masks": [
            block(x.clone(), source.clone(), opened, given.torch.ones_like(alone)),
            block(x, source),
        ],
    }


DROPPED = Like(free=("output with every sublayer dropped",))


@check(
    "in training, dropout acts on the output of each sublayer",
    points=3,
    of=BLOCK,
    judge=DROPPED,
    requires_any=COMPUTED,
)
def test_block_dropout(impl, given):
    T, D = given.sizes("T D")
    block, inputs = decoder_block(impl, given, dropout=ALL, train=True), two_sequences(given)
    given.restart_randomness()
    output = block(*inputs)
    own, read, computed = trained_in(given, output, block.self_attention, block.cross_attention, block.feed_forward)
    source = inputs[1][:1].repeat(T, 1, 1)
    return {
        "numbers of self-attention that still count": own,
        "numbers of cross-attention that still count": read,
        "numbers of the feed-forward network that still count": computed,
        **seen(lambda x: block(x, source), given.normal(1, T, D), given.normal(1, T, D, scale=3.0)),
        "numbers of the output that are 0": int((output == 0).sum()),
        "output with every sublayer dropped": output,
    }


SLOPES = tuple(f"gradient of the {name}, compared with small steps" for name in ("input", "encoder output"))


@check(
    "the gradients of a block's input and of the encoder output are right",
    points=2,
    of=BLOCK,
    judge=Like(tolerance=1e-3, likeness=0.2, free=SLOPES),
)
def test_block_gradients(impl, given):
    B, T, S, D = given.sizes("B T S D")
    block = usual_block(impl, given, dtype="float64")
    inputs = given.normal(B, T, D, dtype="float64"), given.normal(B, S, D, dtype="float64")
    slopes = given.slopes(lambda *both: block(*(tensor.clone() for tensor in both)), *inputs)
    block = block.float()
    x, source = (tensor[:1].float() for tensor in inputs)
    # That its numbers depend on every token shows that they were computed.
    other = given.normal(1, T, D, scale=3.0)
    return {
        **dict(zip(SLOPES, slopes, strict=True)),
        **seen(lambda x: block(x, source.repeat(T, 1, 1)), x, other),
        "output": block(*(tensor.float() for tensor in inputs)),
    }


@check("the inputs are not modified", points=1, of=BLOCK, requires_any=COMPUTED, judge=SameInputs(), trials=1)
def test_inputs_kept(impl, given):
    arguments = {
        "block": (*two_sequences(given), *two_masks(given)),
        "decoder": (*targets_and_source(given), *two_masks(given)),
    }
    decoder_block(impl, given)(*arguments["block"])
    decoder(impl, given, 1)(*arguments["decoder"])
    names = {"block": ("x", "encoder_output", "src_mask", "tgt_mask")}
    names["decoder"] = ("ids", *names["block"][1:])
    return {part: dict(zip(names[part], values, strict=True)) for part, values in arguments.items()}


@check("ids with positions pass every block, and each reads the same encoder output", points=5, of=DECODER)
def test_decoder(impl, given):
    return decoder(impl, given, strict=True)(*targets_and_source(given))


@check("both masks apply to every block, and there are no other masks", points=3, of=DECODER, requires_any=COMPUTED)
def test_decoder_masks(impl, given):
    T, S, D, V = given.sizes("T S D V")
    module, alone = decoder(impl, given), itself_alone(given, T)
    ids, source = given.integers(0, V, 1, T), given.normal(1, S, D)
    other_ids, other_source = (ids + given.integers(1, V, 1, T)) % V, given.normal(1, S, D, scale=3.0)

    def of_target(src_mask=None, tgt_mask=None):
        return seen(lambda ids: module(ids, source.expand(T, S, D), src_mask, tgt_mask), ids, other_ids)

    def of_source(src_mask=None, tgt_mask=None):
        return seen(
            lambda source: module(ids.expand(S, T), source, src_mask=src_mask, tgt_mask=tgt_mask), source, other_source
        )

    hidden = given.mask(S, 1, 1, S)
    return {
        "target tokens": of_target(),
        "target tokens under tgt_mask (T, T)": of_target(None, with_itself(given.mask(T, T, share=0.2))),
        "target tokens under tgt_mask (B, 1, T, T)": of_target(None, with_itself(given.mask(T, 1, T, T, share=0.2))),
        "source tokens": of_source(),
        "source tokens under src_mask (B, 1, 1, S)": of_source(hidden),
        "source tokens under both masks": of_source(hidden, no_future(given, T)),
        "source tokens under src_mask (B, T, S)": of_source(given.mask(S, T, S), alone),
    }


FREE = (
    "output of the blocked sentence",
    "output of the blocked sentence in float16",
    "slope along the parameters",
    "rows at large scores with other hidden tokens, compared with usual scores",
    "other sentences, compared with no sentence blocked",
)


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=DECODER,
    judge=Like(tolerance=1e-3, free=FREE),
    requires_any=COMPUTED,
    trials=1,
)
def test_blocked_for_good(impl, given):
    B, T, S, V = given.sizes("B T S V")
    (ids, source), (src_mask, tgt_mask) = targets_and_source(given), two_masks(given)
    other, other_source, blocked = ids.clone(), source.clone(), given.number(0, B)
    other[:, -1] = (ids[:, -1] + 1) % V
    other_source[:, 0] += 1
    scaled = at_two_scales(given, new_decoder(impl, given, 1), decoder_shapes(given, 1))
    one_each = given.tensor([[key == 1 + query % (S - 1) for key in range(S)] for query in range(T)], "bool")
    calls = (other, other_source), (ids, source)
    alone = [part(*call, one_each, itself_alone(given, T))[:, :-1] for part, call in zip(scaled, calls, strict=True)]

    module = decoder(impl, given, 1)
    before = module(ids, source, src_mask, tgt_mask)
    src_mask[blocked], tgt_mask[blocked, :, 0] = False, False
    after, others = module(ids, source, src_mask, tgt_mask), [row for row in range(B) if row != blocked]
    half = decoder(impl, given, 1, dtype="float16")(
        ids, given.normal(*source.shape, dtype="float16"), src_mask, tgt_mask
    )
    return {
        "rows at large scores with other hidden tokens, compared with usual scores": alone,
        "other sentences, compared with no sentence blocked": [after[others], before[others]],
        "output of the blocked sentence": after[blocked],
        "slope along the parameters": given.slope(after, *module.parameters()),
        "output of the blocked sentence in float16": half[blocked],
    }


UNCHANGED = (
    "rows before a changed token, compared with no change",
    "output with other hidden source tokens, compared with none changed",
)


@check(
    "no row depends on later tokens or on hidden source tokens",
    points=3,
    of=DECODER,
    judge=Like(tolerance=1e-4, free=(*UNCHANGED, "change of the rows from the changed token on")),
    requires_any=COMPUTED,
)
def test_no_look_ahead(impl, given):
    B, T, S, V = given.sizes("B T S V")
    module, (ids, encoder_output) = decoder(impl, given), targets_and_source(given)
    src_mask, tgt_mask = given.mask(S).expand(B, 1, 1, S), no_future(given, T)
    later, other = given.number(1, T), ids.clone()
    other[:, later] = (ids[:, later] + 1) % V
    hidden = given.torch.where(src_mask[0, 0, 0, :, None], encoder_output, encoder_output + 1)
    before = module(ids, encoder_output, src_mask, tgt_mask)
    after = module(other, encoder_output, src_mask, tgt_mask)
    change = (after - before)[:, later:]
    return {
        UNCHANGED[0]: [after[:, :later], before[:, :later]],
        UNCHANGED[1]: [module(ids, hidden, src_mask, tgt_mask), before],
        "change of the rows from the changed token on": change,
        "rows from the changed token on that change": int((change.abs().amax(dim=-1) > 1e-5).sum()),
    }


@check(
    "the dropout rate reaches the positions, the blocks and their parts",
    points=2,
    of=DECODER,
    trials=1,
    requires_any=COMPUTED,
)
def test_dropout_rate(impl, given):
    module, inputs = decoder(impl, given, dropout=ALL), targets_and_source(given)
    first, last = module.decoder_blocks[0], module.decoder_blocks[-1]
    parts = {  # what drops everything, and what then gets no gradient, but for a bias after it
        "positional encoding": (module.positional_encoding, module.embedding),
        "first block": (first, first.feed_forward),
        "self-attention of the last block": (last.self_attention, last.self_attention),
        "cross-attention of the last block": (last.cross_attention, last.cross_attention),
        "feed-forward of the last block": (last.feed_forward, last.feed_forward),
    }
    found = {}
    for name, (part, judged) in parts.items():
        module.eval()
        part.train()
        (count,) = trained_in(given, module(*inputs), judged)
        found[f"numbers that still count with everything dropped in the {name}"] = count
    return found


TWO_CALLS = (
    "same ids without masks, compared with before masks were given",
    "one sentence, compared with the same sentence in a batch",
    "one token and a source of one, compared with a longer call in which it sees no others",
    "seq_len tokens that see no later ones, compared with the first of them",
    "a source longer than seq_len of which most is hidden, compared with the rest",
)


@check(
    "batches of any size and any two lengths work, call after call",
    points=2,
    of=DECODER,
    judge=Like(tolerance=1e-4, free=TWO_CALLS),
    requires_any=COMPUTED,
)
def test_any_size(impl, given):
    T, S, N = given.sizes("T S N")
    module, (ids, source) = decoder(impl, given, 3), targets_and_source(given)
    longest, long_source = targets_and_source(given, 1, N, N + 2)
    before = module(ids, source)
    module(ids, source, *two_masks(given))
    first = given.tensor([[key == 0 for key in range(S)]] * T, "bool")
    start = given.tensor([[[[key < S for key in range(N + 2)]]]], "bool")
    earlier = no_future(given, N)
    pairs = (
        [module(ids, source), before],
        [module(ids[:1], source[:1]), before[:1]],
        [module(ids[:1, :1], source[:1, :1]), module(ids[:1], source[:1], first, itself_alone(given, T))[:, :1]],
        [
            module(longest, source[:1], None, earlier)[:, :T],
            module(longest[:, :T], source[:1], None, earlier[:T, :T]),
        ],
        [module(longest[:, :2], long_source, start), module(longest[:, :2], long_source[:, :S])],
    )
    other = module(ids, source.flip(0) + 1)
    return {
        **dict(zip(TWO_CALLS, pairs, strict=True)),
        "rows that change with another source": int(((other - before).abs().amax(dim=-1) > 1e-5).sum()),
        "rows of the position table": module.positional_encoding.pe.size(1),
    }


@check(
    "every block has its own parameters, and all of them get a gradient",
    points=2,
    of=DECODER,
    requires_any=COMPUTED,
)
def test_parameters(impl, given):
    D, H, F, N = given.sizes("D H F N")
    sizes = {"vocab_size": given.number(40, 400), "d_model": D, "num_heads": H, "d_ff": F, "seq_len": N}
    module = impl.Decoder(**sizes, dropout=0.1, num_decoder_blocks=3).to(given.device)
    trained = [parameter for parameter in module.parameters() if parameter.requires_grad]
    ids, encoder_output = targets_and_source(given)
    encoder_output = encoder_output.float().requires_grad_()
    *gradients, of_source = given.gradients(module(ids, encoder_output), *trained, encoder_output)
    reached = sum(
        parameter.numel() for parameter, gradient in zip(trained, gradients, strict=True) if gradient is not None
    )
    return {
        **given.trainable(module),
        "numbers that a gradient reaches": reached,
        "the encoder output gets a gradient": of_source is not None,
    }


DTYPES = Like(free=("output, compared with float32",))


@check(
    "float64, bfloat16 and float16 models keep their dtype",
    points=1,
    of=DECODER,
    trials=1,
    judge=DTYPES,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    masks, found = two_masks(given), {}
    for dtype in ("float64", "bfloat16", "float16"):
        module, (ids, source) = decoder(impl, given, 1, dtype=dtype), targets_and_source(given, dtype=dtype)
        narrow = module(ids, source, *masks)
        found[dtype] = {DTYPES.free[0]: [narrow, module.float()(ids, source.float(), *masks)]}
    return found


ON_CPU = Like(tolerance=1e-4, free=("output", "output under masks", "slope along the parameters"))


@check(
    "new tensors are on the device of the input", points=1, of=DECODER, trials=1, judge=ON_CPU, requires_any=COMPUTED
)
def test_device(impl, given):
    module, inputs, masks = decoder(impl, given, 1), targets_and_source(given), two_masks(given)

    def run(device):
        model = module.to(device)
        return {
            "output": model(*(tensor.to(device) for tensor in inputs)),
            "output under masks": model(*(tensor.to(device) for tensor in (*inputs, *masks))),
        }

    here = run("cpu")  # a tensor kept from these calls must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        found = {name: [output, here[name]] for name, output in there.items()}
        return {**found, "slope along the parameters": given.slope(there["output under masks"], *module.parameters())}


ENGLISH = ["I", "have", "seen", "the", "film"]
GERMAN = {"ich": "I", "habe": "have", "den": "the", "Film": "film", "gesehen": "seen"}


@picture("cross-attention: each German word finds its English word", rows="query", columns="key; weights set by hand")
def picture_cross(impl, given):
    source = given.tensor([[a == b for b in ENGLISH] for a in ENGLISH])  # (S, D): one feature per word
    target = given.tensor([[GERMAN[a] == b for b in ENGLISH] for a in GERMAN])
    D = F = len(ENGLISH)
    state = {name: given.tensor(0.0).expand(shape) for name, shape in block_shapes(D, F).items()}
    state |= {f"layer_norm_{i}.alpha": given.tensor(1.0).expand(D) for i in (1, 2, 3)}
    state |= {"cross_attention.w_q.weight": 4 * source, "cross_attention.w_k.weight": source}
    block = given.fill(impl.DecoderBlock(D, 1, F, 0.0), state)
    block(target[None], source[None])
    return block.cross_attention.attention_weights[0, 0], list(GERMAN), ENGLISH
