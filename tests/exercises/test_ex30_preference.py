"""ex30: losses from preferences and rewards. Where a claim is not about the value itself, a loss is compared with
itself, so that a mistake in the formula costs its own check alone.
"""

from autograder.checks import Like, Raises, SameInputs, check, picture

ANSWER, DPO, GROUP = "answer_log_probs", "dpo_loss", "group_advantages"
CLIPPED, DISTANCE = "clipped_loss", "kl_estimate"
COMPUTED = ("answers", "dpo", "group", "near", "distance")
AGREEING = Like(tolerance=1e-4)
ROUGH = Like(tolerance=1e-3)


def of_each(given, function, *tensors, **options):
    """Return the loss of each row alone, as one tensor: a mistake in the formula leaves them alike."""
    rows = [[tensor[row : row + 1] for tensor in tensors] for row in range(tensors[0].size(0))]
    return given.torch.stack([function(*row, **options) for row in rows])


def gradients(given, output, *tensors):
    """Return the gradients of some tensors; zeros for one that none reaches."""
    found = given.gradients(output, *tensors) if output.requires_grad else [None for _ in tensors]
    return [given.torch.zeros_like(t) if g is None else g for g, t in zip(found, tensors, strict=True)]


def answers(given, *, scale=2.0, dtype="float32"):
    """Return logits (B, T, V) and ids (B, T)."""
    B, T, V = given.sizes("B T V")
    return given.normal(B, T, V, scale=scale, dtype=dtype), given.integers(0, V, B, T)


def all_but_first(given, ids):
    mask = given.torch.ones_like(ids, dtype=given.torch.bool)
    mask[:, 0] = False
    return mask


@check("the logits of a position predict the next token, and an answer is the sum of its tokens", points=4, of=ANSWER)
def test_answers(impl, given):
    logits, ids = answers(given)
    return {"log-probabilities": impl.answer_log_probs(logits, ids, all_but_first(given, ids))}


@check(
    "only tokens that the mask names count, where they are predicted",
    points=3,
    of=ANSWER,
    judge=AGREEING,
    requires_any=("answers",),
)
def test_answer_mask(impl, given):
    logits, ids = answers(given)
    T = ids.size(1)
    begin, end = 2, given.number(4, T)
    mask = all_but_first(given, ids)
    answer = mask.clone()
    answer[:, :begin] = False
    answer[:, end:] = False
    cut = impl.answer_log_probs(logits[:, :end], ids[:, :end], mask[:, :end])
    prompt = impl.answer_log_probs(logits[:, :begin], ids[:, :begin], mask[:, :begin])
    found = impl.answer_log_probs(logits.requires_grad_(), ids, answer)
    return {
        "an answer behind a prompt, and text minus prompt": [found, cut - prompt],
        "gradient of the logits": gradients(given, found, logits)[0],
    }


@check(
    "the first token has no prediction, so it never counts",
    points=1,
    of=ANSWER,
    judge=AGREEING,
    requires_any=("answers",),
)
def test_answer_first(impl, given):
    logits, ids = answers(given)
    mask = all_but_first(given, ids)
    return {
        "with the first token in the mask, and without": [
            impl.answer_log_probs(logits, ids, mask | True),
            impl.answer_log_probs(logits, ids, mask),
        ]
    }


@check("logits of 1,000 and more do not overflow", points=1, of=ANSWER, judge=ROUGH, requires_any=("answers",))
def test_answer_large(impl, given):
    logits, ids = answers(given)
    logits, mask = (logits * 8).round() / 8, all_but_first(given, ids)  # exact in float32 after the sum
    moved = impl.answer_log_probs(logits + 1024.0, ids, mask)
    return {"moved by 1024, and not": [moved, impl.answer_log_probs(logits, ids, mask)]}


ONE_ANSWER = "log-probability of one answer, and of all"


@check(
    "bfloat16 logits give a float32 sum, and there may be one answer",
    points=1,
    of=ANSWER,
    judge=Like(tolerance=1e-4, free=(ONE_ANSWER,)),
    trials=1,
    requires_any=("answers",),
)
def test_answer_half(impl, given):
    logits, ids = answers(given, dtype="bfloat16")
    mask = all_but_first(given, ids)
    half, wide = impl.answer_log_probs(logits, ids, mask), impl.answer_log_probs(logits.float(), ids, mask)
    one = impl.answer_log_probs(logits[:1].float(), ids[:1], mask[:1])
    return {
        "dtype": str(half.dtype),
        "in bfloat16, and in float32": [half.float(), wide],
        ONE_ANSWER: [one, wide[:1]],
    }


def pairs(given, *, scale=3.0, dtype="float32"):
    """Return the log-probabilities (B,) of policy and reference for chosen and rejected answers."""
    return [given.normal(given.size("B") + 3, scale=scale, shift=-20.0, dtype=dtype) for _ in range(4)]


@check("the loss is the log-sigmoid of how much more the policy prefers the chosen answer", points=4, of=DPO)
def test_dpo(impl, given):
    return {"loss": impl.dpo_loss(*pairs(given), given.real(0.1, 0.3))}


@check("a gradient reaches the policy, and none the reference", points=2, of=DPO, judge=Like(), requires_any=("dpo",))
def test_dpo_gradient(impl, given):
    tensors = [tensor.requires_grad_() for tensor in pairs(given, scale=1.0)]
    found = gradients(given, impl.dpo_loss(*tensors, 0.5), *tensors)
    names = ("chosen", "rejected")
    zero = given.torch.zeros_like(found[0])
    return {
        **{f"gradient of the policy, {name}": found[i] for i, name in enumerate(names)},
        **{f"gradient of the reference, {name}, and no gradient": [found[i + 2], zero] for i, name in enumerate(names)},
    }


@check("a pair that is very wrong has a finite loss", points=1, of=DPO, judge=AGREEING, requires_any=("dpo",))
def test_dpo_far(impl, given):
    tensors = pairs(given)
    far = given.real(2000.0, 3000.0)
    wrong = [tensors[0] - far, *tensors[1:]]
    losses = of_each(given, lambda *row: impl.dpo_loss(*row, 1.0), *wrong)
    halved = of_each(given, lambda *row: impl.dpo_loss(*row, 0.5), *wrong)
    return {"loss of very wrong pairs, and twice that with half of beta": [losses, 2 * halved]}


def rewards(given):
    G, K = given.sizes("G K")
    return given.normal(G, K, shift=1.0) * given.tensor([[1.0 + row] for row in range(G)])


@check("an advantage is the reward minus the mean of its group", points=3, of=GROUP)
def test_group(impl, given):
    return {
        "advantages, not divided": impl.group_advantages(rewards(given), normalize=False),
        "advantages, not divided, with eps = 1": impl.group_advantages(rewards(given), normalize=False, eps=1.0),
    }


@check(
    "with normalize, each group is divided by its own deviation",
    points=3,
    of=GROUP,
    requires_any=("group",),
)
def test_group_divided(impl, given):
    return {
        "advantages": impl.group_advantages(rewards(given)),
        "advantages with eps = 1": impl.group_advantages(rewards(given), eps=1.0),
    }


@check(
    "a group of equal rewards has the advantages 0, and may be the only one",
    points=1,
    of=GROUP,
    requires_any=("group", "group_divided"),
)
def test_group_equal(impl, given):
    equal = given.tensor([float(given.number(1, 9))] * given.size("K"))
    both = given.torch.stack((equal, rewards(given)[0]))
    return {
        "advantages of equal rewards": impl.group_advantages(both)[0],
        "of others": impl.group_advantages(both)[1] != 0,
        "advantages of one group, set to 0": given.torch.zeros_like(impl.group_advantages(both[:1])),
    }


def tokens(given, *, spread=0.05, dtype="float32"):
    """Return log-probabilities now and before (B, T), advantages (B,) and a mask (B, T) with unlike lengths."""
    torch = given.torch
    B, T = given.size("B") + 3, given.size("T")
    old = given.normal(B, T, shift=-2.0, scale=0.5, dtype=dtype)
    new = old + given.uniform(B, T, low=-spread, high=spread, dtype=dtype)
    lengths = torch.tensor([2 + row % (T - 1) for row in range(B)])
    mask = torch.arange(T) < lengths[:, None]
    return new, old, given.normal(B, scale=2.0, shift=0.5, dtype=dtype), mask


def everywhere(mask):
    return mask | True


@check("each token has its ratio times the advantage of its answer", points=3, of=CLIPPED)
def test_near(impl, given):
    new, old, advantages, mask = tokens(given)
    return {"loss, nothing is clipped": impl.clipped_loss(new, old, advantages, everywhere(mask))}


@check(
    "a ratio beyond the limit brings no more, if the advantage agrees",
    points=2,
    of=CLIPPED,
    judge=AGREEING,
    requires_any=("near",),
)
def test_clipped(impl, given):
    new, old, advantages, mask = tokens(given)
    far = given.real(0.3, 0.6)  # ratios of 1.35 to 1.83, and of 0.55 to 0.75: just beyond the limit
    signs = advantages.sign()[:, None]
    losses = [
        of_each(given, impl.clipped_loss, old + more * far * signs, old, advantages, everywhere(mask))
        for more in (1.0, 2.0)
    ]
    varied = [
        of_each(given, impl.clipped_loss, new, old, advantages, everywhere(mask), clip=limit) for limit in (0.2, 0.3)
    ]
    wide = [
        of_each(given, impl.clipped_loss, old + far * signs, old, advantages, everywhere(mask), clip=50.0, per=per)
        for per in ("answer", "token")
    ]
    return {
        "twice as far, and once": losses,
        "two limits that nothing reaches": varied,
        "a limit of 50, per answer and per token": wide,
    }


@check(
    "a ratio beyond the limit still counts, if the advantage disagrees",
    points=2,
    of=CLIPPED,
    judge=AGREEING,
    requires_any=("near",),
)
def test_not_clipped(impl, given):
    _, old, advantages, mask = tokens(given)
    far, all_of_it = -given.real(0.5, 0.9) * advantages.sign()[:, None], everywhere(mask)
    near = of_each(given, impl.clipped_loss, old + far, old, advantages, all_of_it)
    never = of_each(given, impl.clipped_loss, old + far, old, advantages, all_of_it, clip=50.0)
    return {"with the limit 0.2, and without a limit": [near, never]}


@check("the mean over each answer counts its own tokens only", points=2, of=CLIPPED, requires_any=("near",))
def test_mask(impl, given):
    return {"loss per answer": impl.clipped_loss(*tokens(given, spread=0.15))}


@check("tokens outside the mask change nothing", points=1, of=CLIPPED, judge=AGREEING, requires_any=("near",))
def test_padding(impl, given):
    new, old, advantages, mask = tokens(given)
    found = []
    for per in ("answer", "token"):
        other = new.masked_fill(~mask, 3.0)
        found.append([of_each(given, impl.clipped_loss, one, old, advantages, mask, per=per) for one in (other, new)])
    return {"per answer: other padding, and this": found[0], "per token: other padding, and this": found[1]}


@check('per "token" is the mean over all tokens that count', points=2, of=CLIPPED, requires_any=("near",))
def test_per_token(impl, given):
    apart = tokens(given, spread=0.15)
    return {
        "loss per token": impl.clipped_loss(*apart, per="token"),
        "loss per token, with a limit that nothing reaches": impl.clipped_loss(*apart, clip=0.3, per="token"),
    }


@check("no gradient reaches the old policy", points=1, of=CLIPPED, judge=Like(), requires_any=("near",))
def test_old(impl, given):
    new, old, advantages, mask = tokens(given)
    new, old = new.requires_grad_(), old.requires_grad_()
    seen = {}
    for per in ("answer", "token"):
        found = gradients(given, impl.clipped_loss(new, old, advantages, everywhere(mask), per=per), new, old)
        seen[f"gradient now, per {per}"] = found[0]
        seen[f"gradient before, and no gradient, per {per}"] = [found[1], given.torch.zeros_like(found[1])]
    return seen


@check("any other `per` is a ValueError with it", points=1, of=CLIPPED, judge=Raises(), requires_any=("near",))
def test_per_refused(impl, given):
    per = given.text(6)
    return given.raises(lambda: impl.clipped_loss(*tokens(given), per=per), per)


def both(given, dtype="float32"):
    """Return log-probabilities of policy and reference (B, T)."""
    B, T = given.sizes("B T")
    return given.normal(B, T, shift=-2.0, dtype=dtype), given.normal(B, T, shift=-2.0, dtype=dtype)


@check("the estimate is e^d - d - 1, for each token", points=4, of=DISTANCE)
def test_distance(impl, given):
    return {"estimate": impl.kl_estimate(*both(given))}


@check(
    "no gradient reaches the reference, and one token keeps its axes",
    points=1,
    of=DISTANCE,
    judge=Like(),
    requires_any=("distance",),
)
def test_distance_gradient(impl, given):
    policy, reference = (tensor.requires_grad_() for tensor in both(given))
    found = gradients(given, impl.kl_estimate(policy, reference), policy, reference)
    return {
        "gradient of the policy": found[0],
        "gradient of the reference, and no gradient": [found[1], given.torch.zeros_like(found[1])],
        "estimate for one token, set to 0": given.torch.zeros_like(impl.kl_estimate(policy[:1, :1], reference[:1, :1])),
    }


def everything(given, dtype="float32"):
    """Return the tensors that each function gets, by name."""
    logits, ids = answers(given, dtype=dtype)
    return {
        ANSWER: [logits, ids, all_but_first(given, ids)],
        DPO: pairs(given, dtype=dtype),
        GROUP: [rewards(given)],
        CLIPPED: list(tokens(given, dtype=dtype)),
        DISTANCE: list(both(given, dtype=dtype)),
    }


def results(impl, given, tensors):
    """Return what each function returns for these tensors: of a loss, that of each row."""
    return {
        ANSWER: impl.answer_log_probs(*tensors[ANSWER]),
        DPO: of_each(given, lambda *row: impl.dpo_loss(*row, 0.3), *tensors[DPO]),
        GROUP: impl.group_advantages(*tensors[GROUP]),
        CLIPPED: of_each(given, impl.clipped_loss, *tensors[CLIPPED]),
        f"{CLIPPED} per token": of_each(given, impl.clipped_loss, *tensors[CLIPPED], per="token"),
        DISTANCE: impl.kl_estimate(*tensors[DISTANCE]),
    }


@check("new tensors are on the device of the input", points=1, trials=1, judge=AGREEING, requires_any=COMPUTED)
def test_device(impl, given):
    tensors = everything(given)
    here = results(impl, given, tensors)
    with given.another_device() as device:
        there = results(impl, given, {name: [one.to(device) for one in own] for name, own in tensors.items()})
        return {name: [there[name], here[name]] for name in here}


@check("the inputs are not modified", points=1, requires_any=COMPUTED, judge=SameInputs())
def test_inputs_kept(impl, given):
    tensors = everything(given)
    mask = tensors[ANSWER][2]
    mask[:, 0], mask[:, 2] = True, False  # the first is often set to False, and ids where it is False to 0
    tensors[ANSWER][1][:, 2].clamp_(min=1)
    results(impl, given, tensors)
    impl.dpo_loss(*tensors[DPO], 0.3)
    impl.clipped_loss(*tensors[CLIPPED])
    return {f"{name}, argument {i + 1}": one for name, own in tensors.items() for i, one in enumerate(own)}


@picture("the loss of a token by its ratio (across) and its advantage (down)", rows="advantage", columns="ratio")
def picture_clip(impl, given):
    ratios = [0.4 + 0.1 * i for i in range(13)]
    advantages = [1.0, 0.5, -0.5, -1.0]
    token = given.torch.tensor([[True]])
    rows = [
        [
            float(
                impl.clipped_loss(
                    given.tensor([[ratio]]).log(), given.tensor([[0.0]]), given.tensor([advantage]), token
                )
            )
            for ratio in ratios
        ]
        for advantage in advantages
    ]
    return given.tensor(rows), [f"{one:g}" for one in advantages], [f"{ratio:.1f}" for ratio in ratios]
