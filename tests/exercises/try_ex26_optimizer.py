"""ex26: two steps of AdamW on one number, the rates of seven steps, and two parts of a batch."""

from autograder.checks import step


def number_after(impl, given, *gradients):
    """Return a number that starts at 1, after steps with these gradients."""
    number = given.torch.nn.Parameter(given.tensor([1.0], "float64"))
    optimizer = impl.AdamW([number], lr=0.1, betas=(0.9, 0.99), weight_decay=0.1)
    for gradient in gradients:
        number.grad = given.tensor([gradient], "float64")
        optimizer.step()
    return number.detach()


@step("p after step 1", "0.890")
def step_first(impl, given):
    return number_after(impl, given, 0.5)


@step("p after step 2", "0.830")
def step_second(impl, given):
    return number_after(impl, given, 0.5, -0.1)


@step("cosine: steps 0, 2, 4", "0 0.5 1")
def step_warmup(impl, given):
    return [float(impl.cosine_learning_rate(at, 1.0, 0.1, 4, 12)) for at in (0, 2, 4)]


@step("steps 6, 8, 10", "0.868 0.550 0.232")
def step_cosine(impl, given):
    return [float(impl.cosine_learning_rate(at, 1.0, 0.1, 4, 12)) for at in (6, 8, 10)]


@step("steps 12 and 13", "0.100 0.100")
def step_end(impl, given):
    return [float(impl.cosine_learning_rate(at, 1.0, 0.1, 4, 12)) for at in (12, 13)]


def two_parts(impl, given):
    """Return the loss of two parts: one with 3 labels of loss 2, one with a label of loss 4."""
    torch = given.torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.zero = torch.nn.Parameter(torch.zeros(()))

        def forward(self, ids):  # a label of 1 has the probability exp(-2), or exp(-4) for one token
            loss = 2.0 if ids.size(1) > 1 else 4.0
            right = torch.full((*ids.shape, 1), -loss)
            others = torch.log1p(-right.exp())
            return torch.cat([others, right], dim=-1) + self.zero

    class Nothing:
        def __init__(self, model):
            self.param_groups = [{"params": list(model.parameters())}]

        def zero_grad(self, set_to_none=True):
            pass

        def step(self):
            pass

    model = Model()
    parts = [given.tensor([[1] * 4], "int64"), given.tensor([[1] * 2], "int64")]
    return impl.accumulated_step(model, Nothing(model), parts)


@step("loss of the whole batch", "2.5")
def step_loss(impl, given):
    return two_parts(impl, given)
