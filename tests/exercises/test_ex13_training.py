"""ex13: the loss, the learning rate, one step, and many steps."""

from autograder.checks import Like, Same, SameInputs, check, picture

AS_ON_CPU = Like(tolerance=1e-4, free=("loss",))  # other checks judge its value
PARAMETERS = ("source.weight", "target.weight", "output_projection.weight", "output_projection.bias")
OF_LOSS = "loss, compared with sequence_loss"
OF_STEPS = "losses, compared with those of train_step"
CHANGES = tuple(f"change of the weights after {mode} mode" for mode in ("eval", "train"))
# A step is compared with one that is made here with the program's own loss, and an epoch with its own steps.
OWN = Like(tolerance=2e-4, free=(*PARAMETERS, *CHANGES, OF_LOSS, OF_STEPS))
COMPUTED = ("cross_entropy", "padding", "pad_idx", "large_logits", "gradient", "rate")


def labelled(given, pad_idx=None):
    """Return logits (B, T, V) and labels (B, T); with a `pad_idx`, rows end early and 0 may be a real token."""
    B, T, V = given.sizes("B T V")
    return given.normal(B, T, V, scale=2.0), tokens(given, T, V, pad_idx)


def tokens(given, length, words, pad_idx=None):
    """Return ids (B, length) of as many words; with a `pad_idx`, row b ends b + 1 places early."""
    B = given.size("B")
    ids = given.integers(5, words, B, length)
    if pad_idx is not None:
        ids[:, 1] = 0 if pad_idx != 0 else 5
        for row in range(B):
            ids[row, length - 1 - row :] = pad_idx
    return ids


def batch(given, pad_idx=None):
    """Return src (B, S) and tgt (B, T)."""
    S, T, V, W = given.sizes("S T V W")
    return tokens(given, S, V, pad_idx), tokens(given, T, W, pad_idx)


def small_model(given):
    """Return a model with known weights and the call of a Transformer, but without attention."""
    torch = given.torch
    D, V, W = given.sizes("D V W")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.source = torch.nn.Embedding(V, D)
            self.target = torch.nn.Embedding(W, D)
            self.output_projection = torch.nn.Linear(D, W)

        def forward(self, src, tgt, src_mask=None, tgt_mask=None):  # noqa: ARG002
            context = self.source(src).mean(dim=1, keepdim=True)
            return self.output_projection(6 * torch.tanh(self.target(tgt) + context))

        def forward_with_softmax(self, src, tgt, src_mask=None, tgt_mask=None):
            return self(src, tgt, src_mask, tgt_mask).softmax(dim=-1)

    shapes = {
        "source.weight": (V, D),
        "target.weight": (W, D),
        "output_projection.weight": (W, D),
        "output_projection.bias": (W,),
    }
    return given.load(Model(), shapes)


def two_models(given):
    """Return two models of the same weights."""
    state = {name: value.detach().clone() for name, value in small_model(given).named_parameters()}
    return [given.fill(small_model(given), state) for _ in range(2)]


def descent(given, model, rate=0.03, momentum=0.5):
    """Return gradient descent with momentum. (The library's own takes a second to load.)"""
    torch = given.torch

    class Descent(torch.optim.Optimizer):
        def __init__(self):
            self.defaults = {"lr": rate}
            self.param_groups = [{"params": list(model.parameters()), **self.defaults}]
            self.state = {}

        def zero_grad(self, set_to_none=True):
            for parameter in self.param_groups[0]["params"]:
                if parameter.grad is not None:
                    parameter.grad = None if set_to_none else torch.zeros_like(parameter.grad)

        def step(self, closure=None):
            loss = closure() if closure else None
            with torch.no_grad():
                for parameter in self.param_groups[0]["params"]:
                    if parameter.grad is not None:
                        pace = parameter.grad + momentum * self.state.get(parameter, 0.0)
                        self.state[parameter] = pace
                        parameter -= self.param_groups[0]["lr"] * pace
            return loss

    return Descent()


def own_step(impl, given, model, batch, *, optimizer=None, pad_idx=0, most=None, rate=0.03):
    """Take a step with the program's own loss. Return the loss before the update."""
    (src, tgt), torch = batch, given.torch
    optimizer = optimizer or descent(given, model, rate)
    model.train()
    optimizer.zero_grad()
    loss = impl.sequence_loss(model(src, tgt[:, :-1]), tgt[:, 1:], pad_idx)
    loss.backward()
    if most is not None:
        length = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).norm()
        for parameter in model.parameters():
            parameter.grad *= (most / length).clamp(max=1.0)
    optimizer.step()
    return loss.item()


def parameters(model, other):
    """Observe the parameters of two models, each beside the other's."""
    pairs = zip(model.named_parameters(), other.parameters(), strict=True)
    return {name: [one.detach().clone(), two.detach().clone()] for (name, one), two in pairs}


def losses(given, values, others):
    """Observe one or several losses beside others."""
    lists = [value if isinstance(value, list | tuple) else [value] for value in (values, others)]
    return [given.tensor([float(value) for value in numbers], "float64") for numbers in lists]


def are_floats(values):
    """Observe whether a value, or each of a list, is a float."""
    return all(isinstance(value, float) for value in (values if isinstance(values, list | tuple) else [values]))


def number(value):
    """Observe a float, also one of NumPy, as a float, and anything else unchanged."""
    return float(value) if isinstance(value, float) else value


@check("the loss is the mean cross-entropy of the labels", points=3, of="sequence_loss")
def test_cross_entropy(impl, given):
    return {"loss": impl.sequence_loss(*labelled(given))}


@check("padding is not in the sum and not in the count", points=3, of="sequence_loss")
def test_padding(impl, given):
    return {"loss": impl.sequence_loss(*labelled(given, pad_idx=0))}


@check("the pad_idx argument sets the padding id", points=1, of="sequence_loss")
def test_pad_idx(impl, given):
    pad_idx = given.number(1, 5)
    logits, labels = labelled(given, pad_idx)
    return {
        "loss": impl.sequence_loss(logits, labels, pad_idx),
        "loss, pad_idx by name": impl.sequence_loss(logits, labels, pad_idx=pad_idx),
    }


@check("label smoothing spreads its share over all classes", points=2, of="sequence_loss")
def test_label_smoothing(impl, given):
    logits, labels = labelled(given, pad_idx=0)
    return {
        "loss with label_smoothing 0.1": impl.sequence_loss(logits, labels, label_smoothing=0.1),
        "loss with label_smoothing 0.4": impl.sequence_loss(logits, labels, 0, 0.4),
        "loss with label_smoothing 0.4 and padding 3": impl.sequence_loss(*labelled(given, 3), 3, 0.4),
    }


@check("large logits do not overflow", points=1, of="sequence_loss")
def test_large_logits(impl, given):
    logits, labels = labelled(given)
    return {"loss": impl.sequence_loss(logits * 500, labels)}


@check("logits may be float64 or bfloat16", points=1, of="sequence_loss", judge=Same(tolerance=0.02))
def test_dtypes(impl, given):
    logits, labels = labelled(given, pad_idx=0)
    dtypes = {"float64": given.torch.float64, "bfloat16": given.torch.bfloat16}
    # The dtype of the loss is free: a sum in float32 is also right.
    return {name: impl.sequence_loss(logits.to(dtype), labels).float() for name, dtype in dtypes.items()}


@check("logits and labels may be slices of longer tensors, down to one token", points=1, of="sequence_loss")
def test_slices(impl, given):
    logits, labels = labelled(given)
    return {
        "loss": impl.sequence_loss(logits[:, :-1], labels[:, 1:]),
        "loss of one sentence": impl.sequence_loss(logits[:1], labels[:1]),
        "loss of one token": impl.sequence_loss(logits[:1, :1], labels[:1, :1]),
    }


@check(
    "the gradient of the logits is right, and 0 at padding", points=2, of="sequence_loss", judge=Same(exact_zeros=True)
)
def test_gradient(impl, given):
    logits, labels = labelled(given, pad_idx=0)
    loss = impl.sequence_loss(logits.requires_grad_(), labels)
    return {"gradient of the logits": given.gradients(loss, logits)[0]}


@check("the rate rises linearly, then falls with the square root of the step", points=3, of="warmup_learning_rate")
def test_rate(impl, given):
    D, warmup = given.size("D"), given.number(20, 60)
    steps = (1, 2, warmup // 2, warmup, warmup + 1, 4 * warmup, 1000 * warmup)
    rates = {step: number(impl.warmup_learning_rate(step, D, warmup)) for step in steps}
    return {f"rate at step {step} with {warmup} warm-up steps": rate for step, rate in rates.items()}


@check("step 0 is treated as step 1", points=1, of="warmup_learning_rate")
def test_step_zero(impl, given):
    D, warmup = given.size("D"), given.number(20, 60)
    return {"rate at step 0": number(impl.warmup_learning_rate(0, D, warmup))}


@check(
    "a step returns the loss before the update, as a float",
    points=2,
    of="train_step",
    judge=OWN,
    requires_any=COMPUTED,
)
def test_step_loss(impl, given):
    (model, other), inputs = two_models(given), batch(given)
    loss = impl.train_step(model, descent(given, model), *inputs)
    return {"is a float": are_floats(loss), OF_LOSS: losses(given, loss, own_step(impl, given, other, inputs))}


@check(
    "a step lets the optimizer update the parameters from their gradients",
    points=3,
    of="train_step",
    judge=OWN,
    requires_any=COMPUTED,
)
def test_update(impl, given):
    (model, other), inputs = two_models(given), batch(given)
    impl.train_step(model, descent(given, model), *inputs)
    own_step(impl, given, other, inputs)
    return parameters(model, other)


@check(
    "each step uses only the gradients of its own batch", points=2, of="train_step", judge=OWN, requires_any=COMPUTED
)
def test_own_gradients(impl, given):
    model, other = two_models(given)
    optimizer, others = descent(given, model), descent(given, other)
    for _ in range(3):
        inputs = batch(given)
        impl.train_step(model, optimizer, *inputs)
        own_step(impl, given, other, inputs, optimizer=others)
    return parameters(model, other)


@check(
    "a step learns nothing from padding, whatever its id", points=2, of="train_step", judge=OWN, requires_any=COMPUTED
)
def test_step_padding(impl, given):
    seen = {}
    for name, pad_idx in (("pad_idx is given", given.number(1, 5)), ("pad_idx is left out", 0)):
        (model, other), inputs = two_models(given), batch(given, pad_idx)
        options = (pad_idx,) if pad_idx else ()
        loss = impl.train_step(model, descent(given, model), *inputs, *options)
        own = own_step(impl, given, other, inputs, pad_idx=pad_idx)
        seen[name] = {OF_LOSS: losses(given, loss, own), **parameters(model, other)}
    return seen


@check("a step puts the model into training mode", points=2, of="train_step", judge=OWN, requires_any=COMPUTED)
def test_train_mode(impl, given):
    def mix_up(module, inputs):  # in eval mode the features are shifted by one
        return None if module.training else inputs[0].roll(1, dims=-1)

    seen = {}
    for name, training in zip(CHANGES, (False, True), strict=True):
        models, inputs, changes = two_models(given), batch(given), []
        model, other = models
        for one in models:
            one.output_projection.register_forward_pre_hook(mix_up)
        before = model.output_projection.weight.detach().clone()
        impl.train_step(model.train(training), descent(given, model), *inputs)
        own_step(impl, given, other, inputs)
        for one in models:
            changes.append((one.output_projection.weight - before)[:, :6])
        seen[name] = changes
    return seen


@check(
    "gradients longer than max_grad_norm are scaled down to it, by one factor",
    points=2,
    of="train_step",
    judge=OWN,
    requires_any=COMPUTED,
)
def test_clipped(impl, given):
    seen = {}
    for most, pad_idx in ((0.01, 0), (0.0, 0), (0.01, 3)):
        (model, other), inputs = two_models(given), batch(given, pad_idx or None)
        options = (pad_idx,) if pad_idx else ()
        impl.train_step(model, descent(given, model, rate=5.0), *inputs, *options, max_grad_norm=most)
        own_step(impl, given, other, inputs, pad_idx=pad_idx, most=most, rate=5.0)
        seen[f"max_grad_norm {most}, padding {pad_idx}"] = parameters(model, other)
    return seen


@check(
    "gradients shorter than max_grad_norm do not change", points=1, of="train_step", judge=OWN, requires_any=COMPUTED
)
def test_not_clipped(impl, given):
    (model, other), inputs = two_models(given), batch(given)
    impl.train_step(model, descent(given, model), *inputs, 0, 5e4)
    own_step(impl, given, other, inputs)
    return parameters(model, other)


def batches_of(given, pad_idx=None):
    """Return three batches (src, tgt), each with fewer tokens than the one before."""
    whole = [batch(given, pad_idx) for _ in range(3)]
    return [(src[: 3 - i], tgt[: 3 - i, : tgt.size(1) - i]) for i, (src, tgt) in enumerate(whole)]


def own_epochs(impl, given, model, batches, epochs, *options):
    """Train with the program's own steps, and return the mean loss of each epoch."""
    optimizer, means = descent(given, model), []
    for _ in range(epochs):
        taken = [float(impl.train_step(model, optimizer, src, tgt, *options)) for src, tgt in batches]
        means.append(sum(taken) / len(taken))
    return means


@check("every epoch trains on every batch once, in order", points=3, of="fit", judge=OWN, requires_any=COMPUTED)
def test_every_batch(impl, given):
    (model, other), batches = two_models(given), batches_of(given)
    impl.fit(model, descent(given, model), batches, 3)
    own_epochs(impl, given, other, batches, 3)
    return parameters(model, other)


@check("the loss of an epoch is the mean over its batches", points=3, of="fit", judge=OWN, requires_any=COMPUTED)
def test_epoch_losses(impl, given):
    (model, other), batches = two_models(given), batches_of(given)
    found = impl.fit(model, descent(given, model), batches, epochs=3)
    own = own_epochs(impl, given, other, batches, 3)
    return {"are floats in a list": isinstance(found, list) and are_floats(found), OF_STEPS: losses(given, found, own)}


@check("fit learns nothing from padding", points=1, of="fit", judge=OWN, requires_any=COMPUTED)
def test_fit_padding(impl, given):
    seen = {}
    for name, options in (("pad_idx is given", (given.number(1, 5),)), ("pad_idx is left out", ())):
        (model, other), batches = two_models(given), batches_of(given, *(options or (0,)))
        found = impl.fit(model, descent(given, model), batches, 2, *options)
        own = own_epochs(impl, given, other, batches, 2, *options)
        seen[name] = {OF_STEPS: losses(given, found, own), **parameters(model, other)}
    return seen


@check("new tensors are on the device of the input", points=1, trials=1, judge=AS_ON_CPU)
def test_device(impl, given):
    model, (src, tgt), (logits, labels) = small_model(given), batch(given, 0), labelled(given, 0)

    def run(device):
        scores = logits.to(device).requires_grad_()
        loss = impl.sequence_loss(scores, labels.to(device), label_smoothing=0.1)
        optimizer = descent(given, model.to(device))
        impl.train_step(model, optimizer, src.to(device), tgt.to(device), max_grad_norm=0.1)
        (gradient,) = given.torch.autograd.grad(loss, [scores])
        bias = model.output_projection.bias
        return {"loss": loss, "gradient of the logits": gradient[..., :5], "bias after a step": bias.detach().clone()}

    start = {name: value.clone() for name, value in model.state_dict().items()}
    here = run("cpu")
    model.load_state_dict(start)
    with given.another_device() as device:
        return {name: [there, here[name]] for name, there in run(device).items()}


@check("the inputs are not modified", points=1, requires_any=("cross_entropy", "device"), judge=SameInputs())
def test_inputs_kept(impl, given):
    logits, labels = labelled(given, pad_idx=0)
    impl.sequence_loss(logits, labels)
    model = small_model(given)
    src, tgt = batch(given, pad_idx=0)
    impl.train_step(model, descent(given, model), src, tgt)
    batches = batches_of(given, pad_idx=0)
    impl.fit(model, descent(given, model), batches, 1)
    return {"logits": logits, "labels": labels, "src": src, "tgt": tgt, "batches": batches}


@picture("learning rate: 4,000 warm-up steps", rows="rate × 10,000", columns="800 steps each")
def picture_rate(impl, given):
    return given.tensor([1e4 * impl.warmup_learning_rate(800 * i, 512, 4000) for i in range(1, 26)])


@picture("loss of one batch, learned by heart", rows="loss", columns="epoch")
def picture_loss(impl, given):
    model = small_model(given)
    src, tgt = batch(given, pad_idx=0)
    return given.tensor(impl.fit(model, descent(given, model, rate=0.06), [(src, tgt)], 12))
