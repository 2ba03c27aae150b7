"""ex10: encoder, decoder and projection as one model. `first_word` and `two_lengths` compare all numbers. The others
judge only their claim, on sentences of one length and two vocabularies of one size: on which tokens a position depends,
or whether two calls agree. So a program whose projection differs can pass them."""

from autograder.checks import Like, check, picture

CLASS = "Transformer"
WORDS = ("encoder.embedding.embedding.weight", "decoder.embedding.embedding.weight", "output_projection.weight")
COMPUTED = ("first_word", "causal", "probabilities")  # one of them passes unless nothing is computed
ALL = 1 - 1e-9  # drops everything, so nothing is random, but 1 / (1 - rate) is still finite


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


def new_transformer(impl, given, blocks=(1, 1), words=None, **others):
    """Return a new model. By default both vocabularies have V words."""
    V, D, H, F, N = given.sizes("V D H F N")
    sizes = {"d_model": D, "num_heads": H, "d_ff": F, "seq_len": N}
    counts = {"num_encoder_blocks": blocks[0], "num_decoder_blocks": blocks[1]}
    return impl.Transformer(V, words or V, **sizes, **counts, **others)


def transformer_shapes(given, D, words=None):
    """Return the parameters of a model of D features with one block in each stack, by name."""
    V, F = given.sizes("V F")
    words = words or V
    encoder = {"encoder_blocks.0": block_shapes(D, F, ["attention"])}
    decoder = {"decoder_blocks.0": block_shapes(D, F, ["self_attention", "cross_attention"])}
    shapes = within("encoder", stack_shapes(V, D, encoder)) | within("decoder", stack_shapes(words, D, decoder))
    return shapes | {"output_projection.weight": (words, D), "output_projection.bias": (words,)}


def random_weights(given, D=None):
    """Return random weights, by name. Both embeddings and the projection have one matrix, which a program may share."""
    state = {}
    for name, shape in transformer_shapes(given, D or given.size("D")).items():
        state[name] = given.normal(*shape, scale=1.2 * shape[-1] ** -0.5 if len(shape) > 1 else 0.7)
    return state | dict.fromkeys(WORDS, state[WORDS[0]])


def transformer(impl, given, *, dtype="float32", **others):
    """Return a model with known weights, as far as it has them, in eval mode."""
    return given.fill(new_transformer(impl, given, **others), random_weights(given), dtype=dtype, strict=False)


def of_two_vocabularies(impl, given, *, strict=False):
    """Return a model from V words to W words in which no weights are shared. One check alone wants them all."""
    W = given.size("W")
    shapes = transformer_shapes(given, given.size("D"), words=W)
    return given.load(new_transformer(impl, given, words=W), shapes, strict=strict)


def at_two_scales(given, module):
    """Yield the module with scores far below -10,000 and far above 10,000, then with usual ones.

    A query that sees one key gives it all the weight, whatever the score: so both give the same output.
    """
    state, asked = random_weights(given), ("w_q.weight", "w_k.weight")
    for size in (200.0, 1.0):
        scaled = {name: tensor * size if name.endswith(asked) else tensor for name, tensor in state.items()}
        yield given.fill(module, scaled, strict=False)


def itself_alone(given, size):
    """Return a mask (size, size) under which every token sees only itself."""
    return given.torch.eye(size, dtype=given.torch.bool, device=given.device)


def with_itself(mask):
    """Return a mask under which every token also sees itself: a residual connection passes it on anyway."""
    return mask | mask.new_ones(mask.shape[-2:]).tril().triu()


def two_masks(given):
    """Return a source mask (B, 1, 1, S) and a target mask (B, 1, S, S)."""
    B, S = given.sizes("B S")
    return given.mask(B, 1, 1, S), with_itself(given.mask(B, 1, S, S))


def sentences(given, T=None, words=None):
    """Return source (B, S) and target (B, T) without padding. By default T is S, and both have V words."""
    B, S, V = given.sizes("B S V")
    return given.integers(1, V, B, S), given.integers(1, words or V, B, T or S)


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


def changed(one, other):
    """Return which rows differ between two logits (B, T, V), for each sentence."""
    rows = (one - other).abs().amax(dim=-1) > 1e-5 * one.abs().amax()
    return [" ".join(str(row) for row, yes in enumerate(sentence) if yes) for sentence in rows.tolist()]


def seen(call, tokens, others):
    """Return by which rows of the logits each token is seen: these change if another token is in its place.

    `tokens` and `others` are one sentence (1, S). Sentence i of the call's batch (S, S) has another token i.
    """
    before = tokens.repeat(tokens.size(1), 1)
    after = before.clone()
    for i in range(tokens.size(1)):
        after[i, i] = others[0, i]
    return {f"rows that see token {i}": rows for i, rows in enumerate(changed(call(before), call(after)))}


def two_vectors(given, model, call, pad=0):
    """Return what a call returns with one vector for the id `pad`, and with another, without the logits of `pad`."""
    state, results = random_weights(given), []
    for _ in range(2):
        table = state[WORDS[0]].clone()
        table[pad] = given.normal(given.size("D"), scale=2.0)
        logits = call(given.fill(model, state | dict.fromkeys(WORDS, table), strict=False))
        results.append(given.torch.cat([logits[..., :pad], logits[..., pad + 1 :]], dim=-1))
    return results


@check("the first word is predicted by encoder, decoder and projection, in this order", points=4, of=CLASS)
def test_first_word(impl, given):
    src, tgt = sentences(given, 1, given.size("W"))  # with one target token, a mask has nothing to hide
    return of_two_vocabularies(impl, given, strict=True)(src, tgt)


SEEN = Like(tolerance=1e-4, likeness=0.2)


@check("a target position sees the whole source, but no later target tokens", points=4, of=CLASS, judge=SEEN)
def test_causal(impl, given):
    S, V = given.sizes("S V")
    model, (src, tgt) = transformer(impl, given), (given.integers(1, V, 1, S) for _ in range(2))
    other_src, other_tgt = (ids % (V - 1) + 1 for ids in (src, tgt))
    return {
        "source": seen(lambda src: model(src, tgt.repeat(S, 1)), src, other_src),
        "target": seen(lambda tgt: model(src.repeat(S, 1), tgt), tgt, other_tgt),
        "logits": model(src, tgt),
    }


@check("no attention sees source padding", points=4, of=CLASS, judge=SEEN, requires_any=COMPUTED)
def test_source_padding(impl, given):
    src, tgt = sentences(given)
    src = padded_right(given, src)
    pair = two_vectors(given, new_transformer(impl, given), lambda model: model(src, tgt))
    return {"logits with two vectors for the padding of the source": pair}


@check("no attention sees target padding", points=3, of=CLASS, judge=SEEN, requires_any=COMPUTED)
def test_target_padding(impl, given):
    src, tgt = sentences(given)
    tgt = padded_between(given, tgt)
    pair = two_vectors(given, new_transformer(impl, given), lambda model: model(src, tgt)[tgt != 0])
    return {"logits of real tokens with two vectors for the padding of the target": pair}


@check("source and target may differ in length, and each has its own mask", points=2, of=CLASS, requires_any=COMPUTED)
def test_two_lengths(impl, given):
    src, tgt = sentences(given, *given.sizes("T W"))
    return of_two_vocabularies(impl, given)(padded_right(given, src), padded_between(given, tgt))


@check("padding is the id pad_idx, and 0 is then a word like any other", points=2, of=CLASS, requires_any=COMPUTED)
def test_pad_idx(impl, given):
    pad = 5
    src, tgt = (ids.masked_fill(ids % 3 == 0, 0).masked_fill(ids == pad, 1) for ids in sentences(given))
    src[:, 0] = tgt[:, 0] = 0
    padded_src, padded_tgt = padded_right(given, src, pad), padded_between(given, tgt, pad)
    calls = {
        "a padded source": lambda model: model(padded_src, tgt),
        "a padded target": lambda model: model(src, padded_tgt) * (padded_tgt != pad)[..., None],
    }
    found = {}
    for name, call in calls.items():
        model = new_transformer(impl, given, pad_idx=pad)
        found[f"rows that see the padding of {name}"] = changed(*two_vectors(given, model, call, pad))
        found[f"rows that see the word 0 of {name}"] = changed(*two_vectors(given, model, call, 0))
    return found


@check("a given mask is used unchanged", points=3, of=CLASS, requires_any=COMPUTED)
def test_given_masks(impl, given):
    S, V = given.sizes("S V")
    model, (src, tgt) = new_transformer(impl, given), (given.integers(1, V, 1, S) for _ in range(2))
    other_src, other_tgt = (ids % (V - 1) + 1 for ids in (src, tgt))
    opened, padded = given.torch.ones_like(given.mask(1, 1, 1, S)), src.clone()
    padded[0, 1] = 0

    def of_source(src_mask):
        return seen(lambda src: model(src, tgt.repeat(S, 1), src_mask), src, other_src)

    def of_target(src_mask, tgt_mask):
        return seen(lambda tgt: model(src.repeat(S, 1), tgt, src_mask=src_mask, tgt_mask=tgt_mask), tgt, other_tgt)

    shown = changed(*two_vectors(given, model, lambda model: model(padded, tgt, opened)))
    given.fill(model, random_weights(given), strict=False)
    return {
        "rows that see padding of the source which a src_mask shows": shown,
        "source under src_mask (B, 1, 1, S)": of_source(given.mask(S, 1, 1, S)),
        "target under tgt_mask (T, T)": of_target(None, with_itself(given.mask(S, S, share=0.3))),
        "target under tgt_mask (B, T, T)": of_target(None, with_itself(given.mask(S, S, S, share=0.3))),
        "target under both masks": of_target(opened, with_itself(given.mask(S, 1, S, S, share=0.3))),
    }


FREE = (
    "rows at large scores with other hidden tokens, compared with usual scores",
    "other sentences, compared with none of only padding",
    "logits of the padding",
    "logits of the padding in float16",
    "slope along the parameters",
)


@check(
    "a mask works at large scores, and a fully blocked row stays finite",
    points=1,
    of=CLASS,
    judge=Like(tolerance=1e-3, free=FREE),
    trials=1,
    requires_any=COMPUTED,
)
def test_blocked_for_good(impl, given):
    B, S, V = given.sizes("B S V")
    src, tgt = sentences(given)
    other_src, other_tgt, blocked = (src + 1) % V, tgt.clone(), given.number(0, B)
    other_src[:, 0], other_tgt[:, -1] = src[:, 0], tgt[:, -1] % (V - 1) + 1
    first = given.tensor([key == 0 for key in range(S)], "bool").expand(B, 1, 1, S)
    scaled = at_two_scales(given, new_transformer(impl, given))
    calls = (other_src, other_tgt), (src, tgt)
    alone = [part(*call, first, itself_alone(given, S))[:, :-1] for part, call in zip(scaled, calls, strict=True)]

    model = transformer(impl, given)
    before = model(src, tgt)
    src[blocked], tgt[blocked, 0] = 0, 0
    after, others = model(src, tgt), [row for row in range(B) if row != blocked]
    seen = (
        alone,
        [after[others], before[others]],
        after[blocked],
        transformer(impl, given, dtype="float16")(src, tgt)[blocked],
        given.slope(after, *model.parameters()),
    )
    return dict(zip(FREE, seen, strict=True))


@check(
    "forward_with_softmax returns the probability of each word, with the same masks",
    points=3,
    of=CLASS,
    judge=SEEN,
)
def test_probabilities(impl, given):
    src, tgt = sentences(given)
    src, masks = padded_right(given, src), two_masks(given)
    model = transformer(impl, given)
    return {
        f"probabilities with {what}, compared with the softmax of the logits": [
            model.forward_with_softmax(src, tgt, *given_masks),
            given.torch.softmax(model(src, tgt, *given_masks), dim=-1),
        ]
        for what, given_masks in (("masks from the ids", ()), ("given masks", masks))
    }


@check(
    "each stack has its own number of blocks, and there are no extra parameters",
    points=3,
    of=CLASS,
    requires_any=COMPUTED,
)
def test_blocks(impl, given):
    W = given.size("W")
    return {
        f"{encoder} encoder blocks and {decoder} decoder blocks": given.trainable(
            new_transformer(impl, given, (encoder, decoder), W)
        )
        for encoder, decoder in ((2, 1), (1, 3))
    }


@check("dropout acts inside both stacks, but not on the logits", points=2, of=CLASS, requires_any=COMPUTED)
def test_dropout(impl, given):
    src, tgt = sentences(given)
    model, found = transformer(impl, given, dropout=ALL), {}
    for name in ("encoder", "decoder"):
        stack = getattr(model.eval(), name).train()
        parts = [stack.embedding, *(block.feed_forward for block in getattr(stack, f"{name}_blocks"))]
        trained = [parameter for part in parts for parameter in part.parameters()]
        matrices = [parameter for parameter in trained if parameter.dim() > 1]  # a bias may come after what is dropped
        gradients = given.gradients(model(src, tgt), *matrices)
        count = sum(int((gradient != 0).sum()) for gradient in gradients if gradient is not None)
        found[f"numbers of the {name} that still count with everything dropped in it"] = count
    found["logits that are 0 with everything dropped"] = int((model.train()(src, tgt) == 0).sum())
    return found


@check("gradients reach every parameter, also those of the encoder", points=2, of=CLASS, requires_any=COMPUTED)
def test_gradients(impl, given):
    model = transformer(impl, given)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    gradients = given.gradients(model(*sentences(given)), *trained)
    pairs = zip(trained, gradients, strict=True)
    return {
        "trained numbers without a gradient": sum(
            parameter.numel() for parameter, gradient in pairs if gradient is None
        )
    }


@check(
    "a call does not modify its inputs or affect the next call, which may have one token",
    points=2,
    of=CLASS,
    judge=SEEN,
    requires_any=COMPUTED,
)
def test_calls_apart(impl, given):
    model = transformer(impl, given)
    src, tgt = sentences(given)
    src, tgt, masks = padded_right(given, src), padded_between(given, tgt), two_masks(given)
    arguments = (src, tgt, *masks)
    copies = [argument.clone() for argument in arguments]
    before = model(src, tgt)
    other = model(*sentences(given))
    model(*arguments)
    model.forward_with_softmax(*arguments)
    model.train().forward_with_softmax(*sentences(given))
    is_training = model.training
    model.eval()
    same = zip(arguments, copies, strict=True)
    return {
        "arguments unchanged after the call": [bool((one == copy).all()) for one, copy in same],
        "the model is in train mode after the call": is_training,
        "logits of the same ids, compared with those of the first call": [model(*copies[:2]), before],
        "logits of other ids": other,
        "logits of one token with every number set to 0": model(src[:1, :1], tgt[:1, :1]) * 0,
        "probabilities of one token with every number set to 0": model.forward_with_softmax(src[:1, :1], tgt[:1, :1])
        * 0,
    }


@check(
    "sizes are the given ones; the defaults are the paper's base model",
    points=2,
    of=CLASS,
    trials=1,
    judge=SEEN,
    requires_any=COMPUTED,
)
def test_sizes(impl, given):
    V, W, D, H, F, K, N = given.sizes("V W D H F K N")
    one_each = {"num_encoder_blocks": 1, "num_decoder_blocks": 1}
    deep = impl.Transformer(V, W, D, H)
    wide = impl.Transformer(V, W, d_ff=F, seq_len=N, **one_each)
    state, ids = random_weights(given, D=8 * K), sentences(given)
    logits = [
        given.fill(impl.Transformer(V, V, d_model=8 * K, d_ff=F, **one_each, **heads), state, strict=False)(*ids)
        for heads in ({}, {"num_heads": 8})
    ]
    return {
        **given.trainable(deep),
        "position tables": [position_table(stack) for stack in (deep.encoder, deep.decoder)],
        "position tables of N rows": [position_table(stack) for stack in (wide.encoder, wide.decoder)],
        "dropout": [stack.positional_encoding.dropout.p for stack in (deep.encoder, deep.decoder)],
        "logits, compared with those of eight heads": logits,
    }


DTYPES = Like(free=("logits, compared with float32",))


@check(
    "float64, bfloat16 and float16 models keep their dtype",
    points=1,
    of=CLASS,
    trials=1,
    judge=DTYPES,
    requires_any=COMPUTED,
)
def test_dtypes(impl, given):
    (src, tgt), found = sentences(given), {}
    for dtype in ("float64", "bfloat16", "float16"):
        model = transformer(impl, given, dtype=dtype)
        logits, probabilities = model(src, tgt), model.forward_with_softmax(src, tgt)
        found[dtype] = {DTYPES.free[0]: [logits, model.float()(src, tgt)], "probabilities": probabilities.dtype}
    return found


AS_ON_CPU = Like(tolerance=1e-4, free=("logits", "slope along the parameters", "probabilities"))


@check(
    "new tensors are on the device of the input", points=1, of=CLASS, trials=1, judge=AS_ON_CPU, requires_any=COMPUTED
)
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
