"""ex06: one token through two heads."""

from autograder.checks import step

X = [[1, 0, 2, 0], [0, 1, 2, 2]]
IDENTITY = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def attended(impl, given, num_heads):
    """Return the output of token 0, and its weights in every head."""
    attention = impl.MultiHeadAttention(4, num_heads, dropout=0.0)
    weights = {f"w_{name}.weight": given.tensor(IDENTITY) for name in "qkvo"}
    given.fill(attention, {**weights, "w_o.bias": given.tensor([0, 0, 0, 0])})
    x = given.tensor([X])
    return attention(x, x, x)[0, 0], attention.attention_weights[0, :, 0]


@step("weights of head 0", "[0.670 0.330]")
def step_head_0(impl, given):
    return attended(impl, given, 2)[1][0]


@step("weights of head 1", "[0.500 0.500]")
def step_head_1(impl, given):
    return attended(impl, given, 2)[1][1]


@step("output of token 0", "[0.670 0.330 2.000 1.000]")
def step_output(impl, given):
    return attended(impl, given, 2)[0]


@step("one head: weights", "[0.622 0.378]")
def step_one_head(impl, given):
    return attended(impl, given, 1)[1][0]
