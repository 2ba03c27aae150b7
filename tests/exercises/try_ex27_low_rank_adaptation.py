"""ex27: a layer of rank 1 by hand, and the merged one."""

from autograder.checks import step


def layer_of(impl, given):
    """Return the layer of the lesson."""
    layer = impl.LoRALinear(given.torch.nn.Linear(2, 2, bias=False), 1, 4)
    state = {"lora_A": given.tensor([[1, -1]]), "lora_B": given.tensor([[1], [2]])}
    return given.fill(layer, {"linear.weight": given.tensor([[1, 2], [0, 1]]), **state})


@step("W x", "[5 1]", inside=True)
def step_frozen(impl, given):
    layer = layer_of(impl, given)
    return given.out_of(layer, "linear", lambda: layer(given.tensor([3, 1])))


@step("result", "[13 17]")
def step_result(impl, given):
    return layer_of(impl, given)(given.tensor([3, 1]))


@step(
    "merged weight",
    """
    [5 -2]
    [8 -7]
    """,
)
def step_merged(impl, given):
    return layer_of(impl, given).merge().weight


@step("merged layer of x", "[13 17]")
def step_merged_result(impl, given):
    return layer_of(impl, given).merge()(given.tensor([3, 1]))
