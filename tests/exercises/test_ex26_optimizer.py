"""ex26: AdamW with gradients that the checks set, the cosine schedule, and one step from several parts of a batch."""

from autograder.checks import Like, Raises, Same, SameInputs, check, picture

CLASS = "AdamW"
COSINE = "cosine_learning_rate"
STEP = "accumulated_step"
EXACT = Same(tolerance=1e-5)
LOSSES = Same(tolerance=1e-4)
PLAIN = {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-8, "weight_decay": 0.0}


def parameters(given, dtype="float64"):
    """Return a matrix and a vector to be trained."""
    torch, (F, K) = given.torch, given.sizes("F K")
    shapes = {"matrix": (F, K), "vector": (F,)}
    return {name: torch.nn.Parameter(given.normal(*shape, dtype=dtype)) for name, shape in shapes.items()}


def hand_over(given, params, scale=1.0):
    """Give every parameter a new gradient."""
    for value in params.values():
        dtype = str(value.dtype).removeprefix("torch.")
        value.grad = given.normal(*value.shape, scale=scale, dtype=dtype)


def now(params):
    """Observe the parameters."""
    return {f"parameter {name}": value.detach().clone() for name, value in params.items()}


def after(impl, given, steps, *, scale=1.0, **options):
    """Observe parameters after some steps with random gradients."""
    params = parameters(given)
    optimizer = impl.AdamW(list(params.values()), **{**PLAIN, **options})
    for _ in range(steps):
        hand_over(given, params, scale)
        optimizer.step()
    return now(params)


@check("the first step moves every number by the learning rate, against its gradient", points=2, of=CLASS, judge=EXACT)
def test_first_step(impl, given):
    return after(impl, given, 1)


@check("both running averages are kept and corrected in every step", points=3, of=CLASS, judge=EXACT)
def test_several_steps(impl, given):
    return after(impl, given, 4)


@check("weight decay shrinks the parameter itself, by lr · weight_decay", points=3, of=CLASS, judge=EXACT)
def test_decay(impl, given):
    return after(impl, given, 5, weight_decay=0.3)


@check("epsilon is added to the corrected root", points=2, of=CLASS, judge=EXACT)
def test_epsilon(impl, given):
    return after(impl, given, 3, scale=0.02, eps=1e-2)


@check("a gradient of 0 moves nothing, and gives no NaN", points=1, of=CLASS, judge=EXACT)
def test_zero_gradient(impl, given):
    params = parameters(given)
    optimizer = impl.AdamW(list(params.values()), **PLAIN)
    for _ in range(2):
        hand_over(given, params)
        params["matrix"].grad[1:4] = 0.0
        params["vector"].grad[::2] = 0.0
        optimizer.step()
    return now(params)


@check("without values of your own, the defaults hold", points=1, of=CLASS)
def test_defaults(impl, given):
    params = parameters(given)
    optimizer = impl.AdamW(list(params.values()))
    for _ in range(3):
        hand_over(given, params, 1e-7)  # gradients near epsilon
        optimizer.step()
    return now(params)


@check("every group has values of its own", points=2, of=CLASS, judge=EXACT)
def test_groups(impl, given):
    params = parameters(given)
    matrix, vector = params.values()
    other = {"lr": 0.2, "betas": (0.5, 0.7), "eps": 0.05, "weight_decay": 0.0}
    optimizer = impl.AdamW(
        [{"params": [vector], **other}, {"params": [matrix]}], **{**PLAIN, "betas": (0.0, 0.9), "weight_decay": 0.2}
    )
    for _ in range(3):
        hand_over(given, params, 0.1)
        optimizer.step()
    return now(params)


@check("a value that a schedule changes between two steps is read again", points=1, of=CLASS, judge=EXACT)
def test_schedule(impl, given):
    params = parameters(given)
    optimizer = impl.AdamW(list(params.values()), **{**PLAIN, "weight_decay": 0.1})
    for rate, decay in ((0.05, 0.1), (0.2, 0.4), (0.01, 0.0)):
        optimizer.param_groups[0].update(lr=rate, weight_decay=decay)
        hand_over(given, params)
        optimizer.step()
    return now(params)


@check("a parameter without a gradient is skipped, and its steps do not count", points=2, of=CLASS, judge=EXACT)
def test_without_gradient(impl, given):
    params = parameters(given)
    optimizer = impl.AdamW(list(params.values()), **{**PLAIN, "weight_decay": 0.1})
    hand_over(given, params)
    params["matrix"].grad = None
    optimizer.step()
    seen = {"parameter matrix before its first gradient": params["matrix"].detach().clone()}
    for _ in range(2):
        hand_over(given, params)
        optimizer.step()
    return {**now(params), **seen}


@check("the gradients stay as they are", points=1, of=CLASS, requires_any=("first_step", "several_steps", "decay"))
def test_gradients_kept(impl, given):
    params = parameters(given)
    optimizer = impl.AdamW(list(params.values()), **{**PLAIN, "weight_decay": 0.3})
    hand_over(given, params)
    optimizer.step()
    return {f"gradient of the {name} after the step": value.grad for name, value in params.items()}


@check("a closure runs first, with gradients, and its loss is returned", points=2, of=CLASS, judge=EXACT)
def test_closure(impl, given):
    params, goal = parameters(given), given.normal(given.size("F"), dtype="float64")
    optimizer = impl.AdamW(list(params.values()), **PLAIN)
    losses = []

    def closure():
        optimizer.zero_grad()
        loss = ((params["matrix"].sum(dim=1) + params["vector"] - goal) ** 2).mean()
        loss.backward()
        losses.append(loss.detach())
        return loss

    returned = [optimizer.step(closure) for _ in range(2)]
    hand_over(given, params)
    return {
        "returned losses": returned,
        "losses of the closure": losses,
        "result of a step without a closure": optimizer.step(),
        **now(params),
    }


@check("a saved and loaded state goes on as if never interrupted", points=2, of=CLASS, judge=EXACT)
def test_resumed(impl, given):
    params = parameters(given)
    first = impl.AdamW(list(params.values()), **{**PLAIN, "weight_decay": 0.1})
    for _ in range(3):
        hand_over(given, params)
        first.step()
    second = impl.AdamW(list(params.values()))
    second.load_state_dict(given.torch.load(_saved(given, first.state_dict())))
    hand_over(given, params)
    second.step()
    return now(params)


def _saved(given, state):
    """Return a file in memory with a state, so that nothing of it is shared."""
    import io

    file = io.BytesIO()
    given.torch.save(state, file)
    file.seek(0)
    return file


@check("parameters of float32 are right too", points=1, of=CLASS, judge=Same(tolerance=1e-4))
def test_float32(impl, given):
    params = parameters(given, "float32")
    optimizer = impl.AdamW(list(params.values()), **{**PLAIN, "weight_decay": 0.1})
    for _ in range(3):
        hand_over(given, params)
        optimizer.step()
    return now(params)


AS_ON_CPU = Like(tolerance=1e-4)


@check(
    "the running averages are on the device of the parameter",
    points=1,
    of=CLASS,
    trials=1,
    judge=AS_ON_CPU,
    requires_any=("first_step", "several_steps", "float32"),
)
def test_device(impl, given):
    values, gradients = given.normal(6, 5), given.normal(3, 6, 5)

    def run(device):
        parameter = given.torch.nn.Parameter(values.clone().to(device))
        optimizer = impl.AdamW([parameter], **PLAIN)
        for gradient in gradients:
            parameter.grad = gradient.to(device)
            optimizer.step()
        return parameter.detach()

    here = run("cpu")
    with given.another_device() as device:
        return {"matrix on another device, compared with the CPU": [run(device), here]}


def refusal(impl, given, wrong):
    """Observe the first of these options that is not refused; if all are, one of the exceptions."""
    params = list(parameters(given).values())
    seen = [given.raises(lambda own=own: impl.AdamW(params, **own), number) for own, number in given.shuffled(wrong)]
    return next((observation for observation in seen if "ValueError" not in observation["raised"]), seen[0])


@check(
    "a negative lr, eps or weight_decay is a ValueError with the number",
    points=1,
    of=CLASS,
    judge=Raises(),
    requires_any=("first_step", "several_steps", "decay"),
)
def test_negative(impl, given):
    number = -given.number(1, 9) / 8
    return refusal(impl, given, [({name: number}, number) for name in ("lr", "eps", "weight_decay")])


@check(
    "a beta outside [0, 1) is a ValueError with the number",
    points=1,
    of=CLASS,
    judge=Raises(),
    requires_any=("first_step", "several_steps", "decay"),
)
def test_betas(impl, given):
    pairs = ((1.0, 0.9), (0.9, 1.0), (-0.25, 0.9), (0.5, 1.5), (0.5, -0.125))
    return refusal(impl, given, [({"betas": pair}, next(b for b in pair if not 0 <= b < 1)) for pair in pairs])


def rates(impl, steps, *others):
    """Observe the learning rate of some steps."""
    found = {step: impl.cosine_learning_rate(step, *others) for step in steps}
    return {f"rate of step {step}": float(rate) if isinstance(rate, float) else rate for step, rate in found.items()}


def schedule(given):
    """Return highest and lowest rate, warm-up steps and steps in all."""
    warmup = given.number(5, 12)
    return given.real(0.5, 2.0), given.real(0.05, 0.2), warmup, warmup + given.number(20, 40)


@check("in the warm-up, the rate rises linearly from 0", points=1, of=COSINE, judge=EXACT)
def test_warmup(impl, given):
    most, least, warmup, total = schedule(given)
    return rates(impl, (1, 2, warmup - 1), most, least, warmup, total)


@check("after the warm-up, the rate falls along half a cosine", points=2, of=COSINE, judge=EXACT)
def test_cosine(impl, given):
    most, least, warmup, total = schedule(given)
    half = (warmup + total) // 2
    return rates(impl, (warmup + 1, warmup + 5, half, half + 3, total - 1), most, least, warmup, total)


@check("the highest rate is at the end of the warm-up, the first one is 0", points=1, of=COSINE, judge=EXACT)
def test_ends(impl, given):
    most, least, warmup, total = schedule(given)
    return {
        **rates(impl, (0, warmup), most, least, warmup, total),
        "rate of step 0 without a warm-up": float(impl.cosine_learning_rate(0, most, least, 0, total)),
    }


@check("from total_steps on, the rate is the lowest", points=1, of=COSINE, judge=EXACT)
def test_after_the_end(impl, given):
    most, least, warmup, total = schedule(given)
    return rates(impl, (total, total + 1, total + 9, 3 * total), most, least, warmup, total)


@check("a schedule may be nothing but warm-up", points=1, of=COSINE, judge=EXACT)
def test_only_warmup(impl, given):
    most, least, warmup, _ = schedule(given)
    return rates(impl, (warmup - 1, warmup, warmup + 3), most, least, warmup, warmup)


@check(
    "more warm-up steps than steps in all are a ValueError with both numbers",
    points=1,
    of=COSINE,
    judge=Raises(),
    requires_any=("warmup", "cosine"),
)
def test_schedule_refused(impl, given):
    total = given.number(20, 40)
    warmup = total + given.number(1, 9)
    return given.raises(lambda: impl.cosine_learning_rate(3, 1.0, 0.1, warmup, total), warmup, total)


def language_model(given):
    """Return a small language model with known weights: ids (B, T) to logits (B, T, V)."""
    torch, (K, V) = given.torch, given.sizes("K V")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Embedding(V, K)
            self.head = torch.nn.Linear(K, V)
            self.calls = []

        def forward(self, ids, cache=None):  # noqa: ARG002
            self.calls.append("forward")
            logits = self.head(3 * torch.tanh(self.table(ids)))
            if logits.requires_grad:
                logits.register_hook(lambda gradient: self.calls.append("backward") or gradient)
            return logits

    return given.load(Model(), {"table.weight": (V, K), "head.weight": (V, K), "head.bias": (V,)})


def texts(given, pad_idx=0, *, padded=True):
    """Return three parts of other sizes; with padding, rows end early, and id 0 is a token if it is not `pad_idx`."""
    V, sizes = given.size("V"), ((3, 7), (1, 2), (4, 9))
    parts = [given.integers(5, V, *size) for size in sizes]
    for part in parts if padded else ():
        part[:, 1] = 0 if pad_idx != 0 else 5
        for row in range(len(part)):
            part[row, part.size(1) - row :] = pad_idx
    return parts


def descent(given, model, rate=0.5, momentum=0.5):
    """Return gradient descent with momentum: two steps, or a step that is left out, give other parameters."""
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
    return now(dict(model.named_parameters()))


def number(value):
    """Observe a float as it is."""
    return float(value) if isinstance(value, float) else value


@check("the loss is the mean over all labels of all parts", points=2, of=STEP, judge=LOSSES)
def test_loss(impl, given):
    model = language_model(given)
    return {"loss": number(impl.accumulated_step(model, descent(given, model), texts(given, padded=False)))}


@check("one update is made, as if all parts were one batch", points=3, of=STEP, judge=LOSSES)
def test_update(impl, given):
    model = language_model(given)
    impl.accumulated_step(model, descent(given, model), texts(given, padded=False))
    return trained(model)


@check("a single part is an ordinary step", points=1, of=STEP, judge=LOSSES)
def test_one_part(impl, given):
    model = language_model(given)
    loss = impl.accumulated_step(model, descent(given, model), texts(given, padded=False)[:1])
    return {"loss": number(loss), **trained(model)}


@check("padding does not count in any part, whatever its id", points=2, of=STEP, judge=LOSSES)
def test_padding(impl, given):
    seen = {}
    own = given.number(1, 5)
    for pad_idx, named in ((own, {"pad_idx": own, "max_grad_norm": 50.0}), (0, {})):  # no gradient is so large
        model = language_model(given)
        loss = impl.accumulated_step(model, descent(given, model), texts(given, pad_idx), **named)
        name = "with a padding id of its own" if named else "with padding id 0"
        seen[name] = {"loss": number(loss), **trained(model)}
    return seen


@check("gradients of an earlier step do not count", points=1, of=STEP, judge=LOSSES)
def test_own_gradients(impl, given):
    model = language_model(given)
    optimizer = descent(given, model)
    losses = [number(impl.accumulated_step(model, optimizer, texts(given, padded=False))) for _ in range(3)]
    return {"loss of the third step": losses[2], **trained(model)}


@check("the whole gradient is clipped once, to max_grad_norm", points=2, of=STEP, judge=LOSSES)
def test_clipped(impl, given):
    model = language_model(given)
    options = {"pad_idx": 1, "max_grad_norm": 0.02}  # no text has padding
    impl.accumulated_step(model, descent(given, model, rate=40.0), texts(given, padded=False), **options)
    return trained(model)


@check("a gradient within max_grad_norm is not clipped", points=1, of=STEP, judge=LOSSES)
def test_not_clipped(impl, given):
    model = language_model(given)
    impl.accumulated_step(model, descent(given, model), texts(given, padded=False), max_grad_norm=50.0)
    return trained(model)


@check("the backward pass of a part runs before the next part is computed", points=2, of=STEP, judge=LOSSES)
def test_one_graph(impl, given):
    model = language_model(given)
    loss = impl.accumulated_step(model, descent(given, model), texts(given, padded=False))
    held = most = 0
    for call in model.calls:  # how many graphs there are at the same time
        held += 1 if call == "forward" else -1
        most = max(most, held)
    return {"graphs kept at the same time": most, "graphs in all": model.calls.count("backward"), "loss": number(loss)}


@check("the model is in training mode", points=1, of=STEP, judge=LOSSES)
def test_train_mode(impl, given):
    model = language_model(given)
    model.head.register_forward_pre_hook(lambda module, inputs: None if module.training else inputs[0].roll(1, -1))
    loss = impl.accumulated_step(model.eval(), descent(given, model), texts(given, padded=False))
    return {"loss": number(loss), **trained(model)}


@check("no parts are a ValueError", points=1, of=STEP, judge=Raises(), trials=1, requires_any=("loss", "one_part"))
def test_no_parts(impl, given):
    model = language_model(given)
    return given.raises(lambda: impl.accumulated_step(model, descent(given, model), []))


@check(
    "the parts are not modified", points=1, of=STEP, requires_any=("loss", "one_part", "padding"), judge=SameInputs()
)
def test_parts_kept(impl, given):
    model, parts = language_model(given), texts(given)
    impl.accumulated_step(model, descent(given, model), parts)
    return {"parts": parts}


@picture("learning rate: 8 warm-up steps of 40", rows="rate", columns="step")
def picture_rate(impl, given):
    return given.tensor([impl.cosine_learning_rate(step, 1.0, 0.1, 8, 40) for step in range(46)])


@picture("AdamW in a long valley", rows="height", columns="step")
def picture_valley(impl, given):
    place = given.torch.nn.Parameter(given.tensor([2.0, 2.0], "float64"))
    slopes = given.tensor([10.0, 0.1], "float64")
    optimizer = impl.AdamW([place], lr=0.1, weight_decay=0.0)
    heights = []
    for _ in range(40):
        height = (slopes * place**2).sum()
        heights.append(height.item())
        place.grad = (2 * slopes * place).detach()
        optimizer.step()
    return given.tensor(heights)
