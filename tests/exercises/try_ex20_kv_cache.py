"""ex20: a cache of five tokens, and how many positions a model is shown."""

from autograder.checks import step


def updated(given, cache, numbers):
    """Return the keys after an update with these numbers."""
    key = given.tensor([[[[float(number)] for number in numbers]]])
    return cache.update(key, key)[0][0, 0, :, 0]


def filled(impl, given):
    """Return the cache of the lesson with four tokens."""
    cache = impl.KVCache(5)
    updated(given, cache, [1, 2, 3])
    updated(given, cache, [4])
    return cache


@step("update([1 2 3])", "1 2 3")
def step_first(impl, given):
    return updated(given, impl.KVCache(5), [1, 2, 3])


@step("update([4])", "1 2 3 4")
def step_second(impl, given):
    cache = impl.KVCache(5)
    updated(given, cache, [1, 2, 3])
    return updated(given, cache, [4])


@step("length after update([5 6])", "4")
def step_refused(impl, given):
    cache = filled(impl, given)
    try:
        updated(given, cache, [5, 6])
    except ValueError:
        return cache.length
    return "no ValueError"


@step("truncate(2), update([7])", "1 2 7")
def step_truncated(impl, given):
    cache = filled(impl, given)
    cache.truncate(2)
    return updated(given, cache, [7])


class Layer:
    """A cache that counts tokens and stores nothing. It has the names of KVCache."""

    def __init__(self, max_len):
        self.max_len, self.length = max_len, 0

    @property
    def held(self):
        return self.length

    def truncate(self, length):
        self.length = length


def positions_shown(impl, given, use_cache):
    """Return how many positions a model is shown for a prompt of 4 tokens and 3 new ones."""
    torch, shown = given.torch, []

    class Model(torch.nn.Module):
        def make_cache(self, max_len=None):
            return [Layer(max_len or 99)]

        def forward(self, ids, cache=None):
            shown.append(ids.size(1))
            if cache is not None:
                cache[0].length += ids.size(1)
            return torch.zeros(*ids.shape, 9)

    impl.generate_cached(Model(), given.tensor([[1, 2, 3, 4]], "int64"), 3, use_cache=use_cache)
    return sum(shown[:3])


@step("positions with a cache", "6")
def step_with_cache(impl, given):
    return positions_shown(impl, given, True)


@step("positions without", "15")
def step_without_cache(impl, given):
    return positions_shown(impl, given, False)
