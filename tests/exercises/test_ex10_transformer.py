"""ex10: encoder, decoder and projection as one model."""

from autograder.checks import Like, Same, check, picture

CLASS = "Transformer"
AS_ON_CPU = Like(tolerance=1e-4, free=("slope along the parameters", "probabilities"))


def within(prefix, shapes):
    return {f"{prefix}.{name}": shape for name, shape in shapes.items()}


def block_shapes(D, F, attentions):
    """Return the parameters of a block, by name: its attentions, a feed-forward network and the norms."""
    shapes = {"feed_forward.linear_1.weight": (F, D), "feed_forward.linear_1.bias": (F,)}
    shapes |= {"feed_forward.linear_2.weight": (D, F), "feed_forward.linear_2.bias": (D,)}
    for attention in attentions:
        shapes |= within(attention, {f"w_{letter}.weight": (D, D) for letter in "qkvo"} | {"w_o.bias": (D,)})
    for i in range(len(attentions) + 1):
        shapes |= within(f"layer_norm_{i + 1}", {"alpha": (D,), "bias": (D,)})
    return shapes


def stack_shapes(words, D, blocks):
    """Return the parameters of an encoder or a decoder, by name."""
    shapes = {"embedding.embedding.weight": (words, D), "layer_norm.alpha": (D,), "layer_norm.bias": (D,)}
    for name, block in blocks.items():
        shapes |= within(name, block)
    return shapes


def new_transformer(impl, given, blocks, **others):
    """Return a new model from V words to W words."""
    V, W, D, H, F, N = given.sizes("V W D H F N")
    sizes = {"d_model": D, "num_heads": H, "d_ff": F, "seq_len": N}
    return impl.Transformer(V, W, **sizes, num_encoder_blocks=blocks[0], num_decoder_blocks=blocks[1], **others)


def transformer(impl, given, *, blocks=(1, 1), dtype="float32", **others):
    """Return a model from V words to W words with known weights, as the contract names them, in eval mode."""
    model = new_transformer(impl, given, blocks, **others)
    return given.load(model, transformer_shapes(given, given.size("D"), blocks), dtype=dtype)


def transformer_shapes(given, D, blocks):
    """Return the parameters of a model of D features with that many encoder and decoder blocks, by name."""
    V, W, F = given.sizes("V W F")
    encoder = {f"encoder_blocks.{i}": block_shapes(D, F, ["attention"]) for i in range(blocks[0])}
    decoder = {
        f"decoder_blocks.{i}": block_shapes(D, F, ["self_attention", "cross_attention"]) for i in range(blocks[1])
    }
    shapes = within("encoder", stack_shapes(V, D, encoder)) | within("decoder", stack_shapes(W, D, decoder))
    shapes |= {"output_projection.weight": (W, D), "output_projection.bias": (W,)}
    return shapes


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


def sentences(given):
    """Return source (B, S) and target (B, T) without padding."""
    B, S, T, V, W = given.sizes("B S T V W")
    return given.integers(1, V, B, S), given.integers(1, W, B, T)


def padded_right(given, ids, pad=0):
    """Return the ids with padding on the right of every sentence but the first."""
    padded = ids.clone()
    for row in padded[1:]:
        row[given.number(2, len(row)) :] = pad
    return padded


def padded_between(given, ids, pad=0):
    """Return the ids with padding at any position but the first, so that real tokens follow it."""
    padded = ids.clone()
    padded[:, 1:] = padded[:, 1:].masked_fill(~given.mask(len(ids), ids.size(1) - 1), pad)
    return padded


def position_table(stack):
    return list(stack.positional_encoding.pe.shape)


@check("the first word is predicted by encoder, decoder and projection, in this order", points=4, of=CLASS)
def test_first_word(impl, given):
    src, tgt = sentences(given)
    return transformer(impl, given)(src, tgt[:, :1])  # with one target token, a mask has nothing to hide


@check("a target position sees the whole source, but no later target tokens", points=4, of=CLASS)
def test_causal(impl, given):
    return transformer(impl, given)(*sentences(given))


@check("no attention sees source padding", points=4, of=CLASS)
def test_source_padding(impl, given):
    src, tgt = sentences(given)
    return transformer(impl, given)(padded_right(given, src), tgt)


@check("no attention sees target padding", points=3, of=CLASS)
def test_target_padding(impl, given):
    src, tgt = sentences(given)
    return transformer(impl, given)(src, padded_between(given, tgt))


@check("source and target of equal length each have their own mask", points=2, of=CLASS)
def test_one_length(impl, given):
    src, tgt = sentences(given)
    length = min(src.size(1), tgt.size(1))
    return transformer(impl, given)(padded_right(given, src[:, :length]), padded_between(given, tgt[:, :length]))


@check("padding is the id pad_idx, and 0 is then a word like any other", points=2, of=CLASS)
def test_pad_idx(impl, given):
    src, tgt = (ids.masked_fill(ids % 3 == 0, 0) for ids in sentences(given))
    model = transformer(impl, given, pad_idx=5)
    src, tgt = src.masked_fill(src == 5, 1), tgt.masked_fill(tgt == 5, 1)
    src[:, 0] = tgt[:, 0] = 0
    return {
        "logits with a padded source": model(padded_right(given, src, 5), tgt),
        "logits with a padded target": model(src, padded_between(given, tgt, 5)),
    }


@check("a given mask is used unchanged", points=4, of=CLASS)
def test_given_masks(impl, given):
    B, S, T = given.sizes("B S T")
    src, tgt = sentences(given)
    src, tgt = padded_right(given, src), padded_between(given, tgt)
    model = transformer(impl, given)
    src_mask = given.mask(B, 1, 1, S)
    itself = given.torch.eye(T, dtype=given.torch.bool, device=given.device)
    return {
        "logits under src_mask (B, 1, 1, S)": model(src, tgt, src_mask),
        "logits under tgt_mask (T, T)": model(src, tgt, None, given.mask(T, T) | itself),
        "logits under tgt_mask (B, T, T)": model(src, tgt, tgt_mask=given.mask(B, T, T) | itself),
        "logits with both masks": model(src, tgt, src_mask, given.mask(B, 1, T, T) | itself),
    }


FREE = ("logits of the padding", "logits of the padding in float16", "slope along the parameters")


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-3, likeness=0.2, free=FREE),  # with 200 numbers or more, 0.2 is not chance
    trials=1,
    requires_any=("first_word", "causal"),
)
def test_blocked_for_good(impl, given):
    B, S, T, V, W = given.sizes("B S T V W")
    src, tgt = sentences(given)
    other_src, other_tgt, blocked = (src + 1) % V, tgt.clone(), given.number(0, B)
    other_src[:, 0], other_tgt[:, -1] = src[:, 0], tgt[:, -1] % (W - 1) + 1
    first = given.tensor([key == 0 for key in range(S)], "bool").expand(B, 1, 1, S)
    shapes = transformer_shapes(given, given.size("D"), (1, 1))
    scaled = at_two_scales(given, new_transformer(impl, given, (1, 1)), shapes)
    calls = (other_src, other_tgt), (src, tgt)
    alone = [part(*call, first, itself_alone(given, T))[:, :-1] for part, call in zip(scaled, calls, strict=True)]

    model = transformer(impl, given)
    before = model(src, tgt)
    src[blocked], tgt[blocked, 0] = 0, 0
    after, others = model(src, tgt), [row for row in range(B) if row != blocked]
    return {
        "rows at large scores with other hidden tokens, compared with usual scores": alone,
        "other sentences, compared with none of only padding": [after[others], before[others]],
        "logits of the padding": after[blocked],
        "slope along the parameters": given.slope(after, *model.parameters()),
        "logits of the padding in float16": transformer(impl, given, dtype="float16")(src, tgt)[blocked],
    }


@check("forward_with_softmax returns the probability of each word, with the same masks", points=3, of=CLASS)
def test_probabilities(impl, given):
    B, S, T = given.sizes("B S T")
    src, tgt = sentences(given)
    src = padded_right(given, src)
    model = transformer(impl, given)
    masks = given.mask(B, 1, 1, S), given.mask(T, T) | given.torch.eye(T, dtype=given.torch.bool, device=given.device)
    return {
        "probabilities with masks from the ids": model.forward_with_softmax(src, tgt),
        "probabilities with given masks": model.forward_with_softmax(src, tgt, *masks),
    }


@check("each stack has its own number of blocks, and there are no extra parameters", points=2, of=CLASS)
def test_blocks(impl, given):
    model = transformer(impl, given, blocks=(2, 1))
    return {**given.trainable(model), "logits": model(*sentences(given))}


@check("dropout acts inside both stacks, but not on the logits", points=2, of=CLASS)
def test_dropout(impl, given):
    src, tgt = sentences(given)
    model = transformer(impl, given, dropout=1.0)  # everything is dropped: only norms and biases are left
    seen = {"eval mode": model(src, tgt)}
    model.encoder.train()
    seen["logits with the encoder in train mode"] = model(src, tgt)
    model.encoder.eval()
    model.decoder.train()
    seen["logits with the decoder in train mode"] = model(src, tgt)
    seen["logits in train mode"] = model.train()(src, tgt)
    return seen


@check("gradients reach every parameter, also those of the encoder", points=2, of=CLASS, judge=Same(tolerance=1e-3))
def test_gradients(impl, given):
    model = transformer(impl, given)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    pairs = list(zip(trained, given.gradients(model(*sentences(given)), *trained), strict=True))
    return {
        "trained numbers without a gradient": sum(
            parameter.numel() for parameter, gradient in pairs if gradient is None
        ),
        "slope along the parameters": sum(
            (parameter * gradient).sum() for parameter, gradient in pairs if gradient is not None
        ),
    }


@check("a call does not modify its inputs or affect the next call, which may have one token", points=2, of=CLASS)
def test_calls_apart(impl, given):
    B, S, T = given.sizes("B S T")
    model = transformer(impl, given)
    first, second = sentences(given), sentences(given)
    src, tgt = padded_right(given, second[0]), padded_between(given, second[1])
    src_mask, tgt_mask = given.mask(B, 1, 1, S), given.mask(B, 1, T, T)
    model(*first)
    model(src, tgt, src_mask, tgt_mask)
    model.forward_with_softmax(src, tgt, src_mask, tgt_mask)
    model.train().forward_with_softmax(*first)
    return {
        "arguments after the call": [src, tgt, src_mask, tgt_mask],
        "the model is in train mode after the call": model.training,
        "logits of the next call": model.eval()(src, tgt),
        "logits of a shorter next call": model(src[1:, :-1], tgt[1:, :-2]),
        "logits of one token with every number set to 0": model(src[:1, :1], tgt[:1, :1]) * 0,
        "probabilities of one token with every number set to 0": model.forward_with_softmax(src[:1, :1], tgt[:1, :1])
        * 0,
    }


@check("sizes are the given ones; the defaults are the paper's base model", points=2, of=CLASS, trials=1)
def test_sizes(impl, given):
    V, W, D, H, F, K, N = given.sizes("V W D H F K N")
    one_each = {"num_encoder_blocks": 1, "num_decoder_blocks": 1}
    deep = impl.Transformer(V, W, D, H)
    wide = impl.Transformer(V, W, d_ff=F, seq_len=N, **one_each)
    eight_heads = impl.Transformer(V, W, d_model=8 * K, d_ff=F, **one_each)
    given.load(eight_heads, transformer_shapes(given, 8 * K, (1, 1)))
    return {
        **given.trainable(deep),
        "position tables": [position_table(stack) for stack in (deep.encoder, deep.decoder)],
        "position tables of N rows": [position_table(stack) for stack in (wide.encoder, wide.decoder)],
        "dropout": [stack.positional_encoding.dropout.p for stack in (deep.encoder, deep.decoder)],
        "logits": eight_heads(*sentences(given)),
    }


@check("float64, bfloat16 and float16 models keep their dtype", points=1, of=CLASS, trials=1)
def test_dtypes(impl, given):
    src, tgt = sentences(given)
    seen = {}
    for dtype in ("float64", "bfloat16", "float16"):
        model = transformer(impl, given, dtype=dtype)
        seen[dtype] = {"logits": model(src, tgt), "probabilities": model.forward_with_softmax(src, tgt).dtype}
    # A float32 table is no mistake. So for float64 only the dtype counts, and the values in float32 precision.
    logits = seen["float64"]["logits"]
    seen["float64"]["logits"] = [logits.dtype, logits.float()]
    return seen


@check("new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=AS_ON_CPU)
def test_device(impl, given):
    src, tgt = sentences(given)
    src, tgt = padded_right(given, src), padded_between(given, tgt)
    model = transformer(impl, given)

    def run(device):
        moved, inputs = model.to(device), (src.to(device), tgt.to(device))
        return {"logits": moved(*inputs), "probabilities": moved.forward_with_softmax(*inputs)}

    here = run("cpu")  # a tensor kept from these calls must not be used on the other device
    with given.another_device() as device:
        there = run(device)
        seen = {name: [output, here[name]] for name, output in there.items()}
        return {**seen, "slope along the parameters": given.slope(there["logits"], *model.parameters())}


SOURCE, TARGET = ["the", "cat", "sleeps"], ["<SOS>", "le", "chat", "dort"]


@picture("what each prediction depends on: the source, and the target so far", rows="prediction after", columns="word")
def picture_depends(impl, given):
    S, T, D, F = len(SOURCE), len(TARGET), 16, 32
    other = S + T + 1  # an id that is not one of the words
    V = other + 1
    encoder = {"encoder_blocks.0": block_shapes(D, F, ["attention"])}
    decoder = {"decoder_blocks.0": block_shapes(D, F, ["self_attention", "cross_attention"])}
    shapes = within("encoder", stack_shapes(V, D, encoder)) | within("decoder", stack_shapes(V, D, decoder))
    shapes |= {"output_projection.weight": (V, D), "output_projection.bias": (V,)}
    sizes = {"d_model": D, "num_heads": 2, "d_ff": F, "num_encoder_blocks": 1, "num_decoder_blocks": 1}
    model = given.load(impl.Transformer(V, V, **sizes, dropout=0.0, seq_len=max(S, T)), shapes)
    ids = given.tensor([[other if place == row else place + 1 for place in range(S + T)] for row in range(V)], "int64")
    logits = model(ids[:, :S], ids[:, S:])  # (V, T, V); row i replaces word i, the last rows replace none
    moved = (logits[: S + T] - logits[-1:]).norm(dim=-1).T
    return moved > 1e-5, TARGET, SOURCE + TARGET
