"""ex09: a block that reads its own sequence and the encoder's, and a stack of them over ids."""

from autograder.checks import Like, SameInputs, check, picture

BLOCK = "DecoderBlock"
DECODER = "Decoder"
COMPUTED = ("block_dropout", "device", "no_look_ahead")  # one of them passes unless nothing is computed
AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters",))
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


def decoder_block(impl, given, *, dropout=0.1, train=False):
    """Return a block with known weights."""
    D, H, F = given.sizes("D H F")
    return given.load(impl.DecoderBlock(D, H, F, dropout), block_shapes(D, F), train=train)


def new_decoder(impl, given, blocks, *, dropout=0.1):
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


def decoder(impl, given, blocks=2, *, dropout=0.1, dtype="float32", train=False):
    """Return a decoder with known weights."""
    made = new_decoder(impl, given, blocks, dropout=dropout)
    return given.load(made, decoder_shapes(given, blocks), dtype=dtype, train=train)


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


def masks_of_other_forms(given):
    """Return a source mask (B, T, S) and a target mask (T, T)."""
    B, T, S = given.sizes("B T S")
    return given.mask(B, T, S), given.mask(T, T)


def no_future(given):
    """Return the target mask (T, T) under which no token sees a later one."""
    T = given.size("T")
    return given.tensor([[key <= query for key in range(T)] for query in range(T)], "bool")


def with_part_in_training(given, module, part, *inputs):
    """Return the output of a module with dropout active in only one of its parts."""
    module.eval()
    part.train()
    given.restart_randomness()
    return given.steady(lambda: module(*inputs))


@check("a block is self-attention, cross-attention, feed-forward, each with residual and norm", points=5, of=BLOCK)
def test_block(impl, given):
    return decoder_block(impl, given)(*two_sequences(given))


@check("src_mask hides source tokens, and tgt_mask hides target tokens", points=3, of=BLOCK)
def test_block_masks(impl, given):
    B, T, S, H = given.sizes("B T S H")
    block, inputs = decoder_block(impl, given), two_sequences(given)
    src_mask, tgt_mask = two_masks(given)
    return {
        "output with only tgt_mask": block(*inputs, tgt_mask=tgt_mask),
        "output with only src_mask": block(*inputs, src_mask),
        "output with both masks": block(*inputs, src_mask, tgt_mask),
        "output with masks of other shapes": block(*inputs, given.mask(B, H, T, S), given.mask(T, T)),
    }


@check("in training, dropout acts on the output of each sublayer", points=2, of=BLOCK)
def test_block_dropout(impl, given):
    block, inputs = decoder_block(impl, given, dropout=ALL, train=True), two_sequences(given)
    given.restart_randomness()
    return {"output with every sublayer dropped": block(*inputs)}


@check("the gradients of a block's input and of the encoder output are right", points=2, of=BLOCK)
def test_block_gradients(impl, given):
    x, encoder_output = (tensor.requires_grad_() for tensor in two_sequences(given))
    output = decoder_block(impl, given)(x, encoder_output, *two_masks(given))
    gradients = given.gradients(output, x, encoder_output)
    return {"gradient of the input": gradients[0], "gradient of the encoder output": gradients[1]}


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
    return decoder(impl, given)(*targets_and_source(given))


@check("both masks apply to every block, and there are no other masks", points=3, of=DECODER)
def test_decoder_masks(impl, given):
    module, inputs = decoder(impl, given), targets_and_source(given)
    src_mask, tgt_mask = two_masks(given)
    return {
        "output with both masks": module(*inputs, src_mask, tgt_mask),
        "output with only tgt_mask": module(*inputs, tgt_mask=tgt_mask),
        "output with only src_mask": module(*inputs, src_mask=src_mask),
        "output with masks of other shapes": module(*inputs, *masks_of_other_forms(given)),
    }


FREE = ("output of the blocked sentence", "output of the blocked sentence in float16", "slope along the parameters")


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=DECODER,
    judge=Like(tolerance=1e-3, likeness=0.2, free=FREE),  # with 200 numbers or more, 0.2 is not chance
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


@check(
    "no row depends on later tokens or on hidden source tokens",
    points=3,
    of=DECODER,
    judge=Like(tolerance=1e-4, likeness=0.3),
)
def test_no_look_ahead(impl, given):
    B, T, S, V = given.sizes("B T S V")
    module, (ids, encoder_output) = decoder(impl, given), targets_and_source(given)
    src_mask, tgt_mask = given.mask(S).expand(B, 1, 1, S), no_future(given)
    later, other = given.number(1, T), ids.clone()
    other[:, later] = (ids[:, later] + 1) % V
    hidden = given.torch.where(src_mask[0, 0, 0, :, None], encoder_output, encoder_output + 1)
    before = module(ids, encoder_output, src_mask, tgt_mask)

    after = module(other, encoder_output, src_mask, tgt_mask)
    return {
        "rows before a changed token, compared with no change": [after[:, :later], before[:, :later]],
        "change of the rows from the changed token on": (after - before)[:, later:],
        "output with other hidden source tokens, compared with none changed": [
            module(ids, hidden, src_mask, tgt_mask),
            before,
        ],
    }


@check("the dropout rate reaches the positions, the blocks and their parts", points=2, of=DECODER, trials=1)
def test_dropout_rate(impl, given):
    module, inputs = decoder(impl, given, dropout=ALL), targets_and_source(given)
    first, last = module.decoder_blocks[0], module.decoder_blocks[-1]
    parts = {
        "positional encoding": module.positional_encoding,
        "first block": first,
        "self-attention of the last block": last.self_attention,
        "cross-attention of the last block": last.cross_attention,
        "feed-forward of the last block": last.feed_forward,
    }
    return {
        f"output with everything dropped in the {name}": with_part_in_training(given, module, part, *inputs)
        for name, part in parts.items()
    }


@check("batches of any size and any two lengths work, call after call", points=2, of=DECODER)
def test_any_size(impl, given):
    N = given.size("N")
    module, inputs = decoder(impl, given, 3), targets_and_source(given)
    return {
        "output of three blocks under masks": module(*inputs, *two_masks(given)),
        "output of the same ids without masks": module(*inputs),
        "output of the same ids with another source": module(inputs[0], targets_and_source(given)[1]),
        "output of one token and a source of one": module(*targets_and_source(given, T=1)),
        "output of seq_len tokens and a source of one": module(*targets_and_source(given, 1, N, 1)),
        "output for a source longer than seq_len": module(*targets_and_source(given, 1, 2, N + 2)),
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


@check("float64, bfloat16 and float16 models keep their dtype", points=1, of=DECODER, trials=1)
def test_dtypes(impl, given):
    masks, seen = two_masks(given), {}
    for dtype in ("float64", "bfloat16", "float16"):
        seen[dtype] = decoder(impl, given, 1, dtype=dtype)(*targets_and_source(given, dtype=dtype), *masks)
    # A float32 table is no mistake. So for float64 only the dtype counts, and the values in float32 precision.
    seen["float64"] = [seen["float64"].dtype, seen["float64"].float()]
    return seen


@check("new tensors are on the device of the input", points=1, of=DECODER, trials=1, judge=AS_ON_CPU)
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
        seen = {name: [output, here[name]] for name, output in there.items()}
        return {**seen, "slope along the parameters": given.slope(there["output under masks"], *module.parameters())}


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
