"""ex13: the loss, the learning rate, one step, and many steps."""

from autograder.checks import Like, Same, SameInputs, check, picture

AS_ON_CPU = Like(tolerance=1e-4, free=("loss",))  # other checks judge its value
SEVERAL_STEPS = Same(tolerance=2e-4)


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


def trained(model):
    """Observe the parameters."""
    return {name: value.detach().clone() for name, value in model.named_parameters()}


def number(value):
    """Observe a float, also one of NumPy, as a float, and anything else unchanged."""
    return float(value) if isinstance(value, float) else value


def numbers(values):
    """Observe a list of floats."""
    return [number(value) for value in values] if isinstance(values, list | tuple) else values


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


@check("a step returns the loss before the update, as a float", points=2, of="train_step")
def test_step_loss(impl, given):
    model = small_model(given)
    return {"loss": number(impl.train_step(model, descent(given, model), *batch(given)))}


@check("a step lets the optimizer update the parameters from their gradients", points=3, of="train_step")
def test_update(impl, given):
    model = small_model(given)
    impl.train_step(model, descent(given, model), *batch(given))
    return trained(model)


@check("each step uses only the gradients of its own batch", points=2, of="train_step", judge=SEVERAL_STEPS)
def test_own_gradients(impl, given):
    model = small_model(given)
    optimizer = descent(given, model)
    losses = [number(impl.train_step(model, optimizer, *batch(given))) for _ in range(3)]
    return {"loss of the third step": losses[2], **trained(model)}


@check("a step learns nothing from padding, whatever its id", points=2, of="train_step")
def test_step_padding(impl, given):
    model, pad_idx = small_model(given), given.number(1, 5)
    loss = impl.train_step(model, descent(given, model), *batch(given, pad_idx), pad_idx)
    usual = small_model(given)
    usual_loss = impl.train_step(usual, descent(given, usual), *batch(given, 0))
    return {"loss": number(loss), **trained(model), "loss if no pad_idx is given": number(usual_loss)}


@check("a step puts the model into training mode", points=2, of="train_step", judge=Like())
def test_train_mode(impl, given):
    model = small_model(given)
    weight = model.output_projection.weight

    def mix_up(module, inputs):  # in eval mode the features are shifted by one
        return None if module.training else inputs[0].roll(1, dims=-1)

    model.output_projection.register_forward_pre_hook(mix_up)
    seen = {}
    for mode in ("eval", "train"):
        before = weight.detach().clone()
        impl.train_step(model.train(mode == "train"), descent(given, model), *batch(given))
        seen[f"change of the weights after {mode} mode"] = (weight - before)[:, :6]
    return seen


@check("gradients longer than max_grad_norm are scaled down to it, by one factor", points=2, of="train_step")
def test_clipped(impl, given):
    model = small_model(given)
    impl.train_step(model, descent(given, model, rate=5.0), *batch(given), max_grad_norm=0.1)
    still = small_model(given)
    impl.train_step(still, descent(given, still), *batch(given), max_grad_norm=0.0)
    padded = small_model(given)
    impl.train_step(padded, descent(given, padded, rate=5.0), *batch(given, 3), 3, max_grad_norm=0.1)
    return {
        **trained(model),
        "bias with max_grad_norm 0": trained(still)["output_projection.bias"],
        "bias with max_grad_norm 0.1 and padding 3": trained(padded)["output_projection.bias"],
    }


@check("gradients shorter than max_grad_norm do not change", points=1, of="train_step")
def test_not_clipped(impl, given):
    model = small_model(given)
    impl.train_step(model, descent(given, model), *batch(given), 0, 50.0)
    return trained(model)


def batches_of(given, pad_idx=None):
    """Return three batches (src, tgt), each with fewer tokens than the one before."""
    whole = [batch(given, pad_idx) for _ in range(3)]
    return [(src[: 3 - i], tgt[: 3 - i, : tgt.size(1) - i]) for i, (src, tgt) in enumerate(whole)]


@check("every epoch trains on every batch once, in order", points=3, of="fit", judge=SEVERAL_STEPS)
def test_every_batch(impl, given):
    model = small_model(given)
    impl.fit(model, descent(given, model), batches_of(given), 3)
    return trained(model)


@check("the loss of an epoch is the mean over its batches", points=3, of="fit", judge=SEVERAL_STEPS)
def test_epoch_losses(impl, given):
    model = small_model(given)
    return {"losses": numbers(impl.fit(model, descent(given, model), batches_of(given), epochs=3))}


@check("fit learns nothing from padding", points=1, of="fit", judge=SEVERAL_STEPS)
def test_fit_padding(impl, given):
    model, pad_idx = small_model(given), given.number(1, 5)
    losses = impl.fit(model, descent(given, model), batches_of(given, pad_idx), 2, pad_idx)
    usual = small_model(given)
    usual_losses = impl.fit(usual, descent(given, usual), batches_of(given, 0), 1)
    return {"losses": numbers(losses), **trained(model), "losses if no pad_idx is given": numbers(usual_losses)}


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
