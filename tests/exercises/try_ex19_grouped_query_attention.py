"""ex19: four query heads and two key-value heads."""

from autograder.checks import step

X = [[1, 0, 2, 1], [0, 1, 1, 2]]
IDENTITY = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
KEYS = [[1, 0, 0, 0], [0, 0, 1, 0]]  # feature 0 and feature 2
VALUES = [[0, 1, 0, 0], [0, 0, 0, 1]]  # feature 1 and feature 3


class Cache:
    """A cache that keeps every key and value."""

    def __init__(self, torch):
        self.torch, self.length, self.kept = torch, 0, None

    def update(self, keys, values):
        self.length += keys.size(2)
        both = (keys, values)
        if self.kept is not None:
            both = tuple(self.torch.cat([old, new], dim=2) for old, new in zip(self.kept, both, strict=True))
        self.kept = both
        return both


def by_hand(impl, given):
    """Return the module of the lesson."""
    module = impl.GroupedQueryAttention(4, 4, 2)
    matrices = {"q_proj": IDENTITY, "k_proj": KEYS, "v_proj": VALUES, "output_proj": IDENTITY}
    return given.fill(module, {f"{name}.weight": given.tensor(rows) for name, rows in matrices.items()})


@step("repeat_kv, 2 heads 2 times", "0 0 1 1")
def step_repeat_kv(impl, given):
    return impl.repeat_kv(given.tensor([[[[0]], [[1]]]]), 2)[0, :, 0, 0]


@step("weights of token 1", "[0.500 0.500]\n[0.731 0.269]\n[0.731 0.269]\n[0.881 0.119]")
def step_weights(impl, given):
    module = by_hand(impl, given)
    module(given.tensor([X]))
    return module.attention_weights[0, :, 1]


@step("output of token 0", "[0 0 1 1]")
def step_first(impl, given):
    return by_hand(impl, given)(given.tensor([X]))[0, 0]


@step("output of token 1", "[0.500 0.269 1.269 1.119]")
def step_second(impl, given):
    return by_hand(impl, given)(given.tensor([X]))[0, 1]


@step("token 1 through a cache", "[0.500 0.269 1.269 1.119]")
def step_cached(impl, given):
    module, cache, x = by_hand(impl, given), Cache(given.torch), given.tensor([X])
    module(x[:, :1], cache=cache)
    return module(x[:, 1:], cache=cache)[0, 0]


@step("2 queries at the end of 5", "x x x x .\nx x x x x")
def step_end(impl, given):
    module, cache = by_hand(impl, given), Cache(given.torch)
    x = given.tensor([[*X, *X, X[0]]])
    module(x[:, :3], cache=cache)
    module(x[:, 3:], cache=cache)
    return module.attention_weights[0, 3] > 0
