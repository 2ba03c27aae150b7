"""ex05: three tokens, by hand, then with the function."""

from autograder.checks import step

X = [[1, 0, 1], [0, 2, 0], [1, 1, 1]]
W_Q = [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 1, 1]]
W_K = [[0, 1, 0, 1], [1, 0, 0, 1], [1, 0, 1, 0]]
W_V = [[1, 2], [3, 0], [0, 1]]

QUERIES = [[1, 0, 2, 1], [0, 2, 0, 0], [1, 1, 2, 1]]
KEYS = [[1, 1, 1, 1], [2, 0, 0, 2], [2, 1, 1, 2]]
VALUES = [[1, 3], [6, 0], [4, 3]]
CAUSAL = [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def by_hand(impl, given):
    return impl.self_attention_by_hand(*(given.tensor(matrix) for matrix in (X, W_Q, W_K, W_V)))


def attention(impl, given, *mask):
    """Return the output and the weights of one sequence."""
    query, key, value = (given.tensor([rows]) for rows in (QUERIES, KEYS, VALUES))
    output, weights = impl.scaled_dot_product_attention(query, key, value, *mask)
    return output[0], weights[0]


def causal_attention(impl, given):
    return attention(impl, given, given.tensor([CAUSAL], "bool"))


@step(
    "queries = x w_q",
    """
    [1 0 2 1]
    [0 2 0 0]
    [1 1 2 1]
    """,
)
def step_queries(impl, given):
    return by_hand(impl, given).queries


@step(
    "keys = x w_k",
    """
    [1 1 1 1]
    [2 0 0 2]
    [2 1 1 2]
    """,
)
def step_keys(impl, given):
    return by_hand(impl, given).keys


@step(
    "values = x w_v",
    """
    [1 3]
    [6 0]
    [4 3]
    """,
)
def step_values(impl, given):
    return by_hand(impl, given).values


@step(
    "scores",
    """
    [2.0 2.0 3.0]
    [1.0 0.0 1.0]
    [2.5 2.0 3.5]
    """,
)
def step_scores(impl, given):
    return by_hand(impl, given).scores


@step(
    "weights",
    """
    [0.212 0.212 0.576]
    [0.422 0.155 0.422]
    [0.231 0.140 0.629]
    """,
)
def step_weights(impl, given):
    return by_hand(impl, given).weights


@step(
    "output",
    """
    [3.788 2.364]
    [3.044 2.534]
    [3.587 2.579]
    """,
)
def step_output(impl, given):
    return by_hand(impl, given).output


@step(
    "output of the function",
    """
    [3.788 2.364]
    [3.044 2.534]
    [3.587 2.579]
    """,
)
def step_function(impl, given):
    return attention(impl, given)[0]


@step(
    "weights with causal mask",
    """
    [1 0 0]
    [0.731 0.269 0]
    [0.231 0.140 0.629]
    """,
)
def step_causal_weights(impl, given):
    return causal_attention(impl, given)[1]


@step(
    "output with causal mask",
    """
    [1 3]
    [2.345 2.193]
    [3.587 2.579]
    """,
)
def step_causal_output(impl, given):
    return causal_attention(impl, given)[0]
