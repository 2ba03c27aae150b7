"""ex21: a window of three and one sink."""

from autograder.checks import step

UPDATES = ([0, 1], [2, 3, 4], [5], [6, 7])


def updated(impl, given, count):
    """Return the cache of the lesson after some updates, and the keys of the last one."""
    cache, keys = impl.RollingKVCache(3, 1), None
    for numbers in UPDATES[:count]:
        key = given.tensor([[[[float(number)] for number in numbers]]])
        keys, _ = cache.update(key, key)
    return cache, keys[0, 0, :, 0]


@step("6 queries and 6 keys", "x . . . . .\nx x . . . .\nx x x . . .\nx x x x . .\nx . x x x .\nx . . x x x")
def step_mask(impl, given):
    return impl.sliding_window_mask(6, 6, 3, 1)


@step("2 queries at the end", "x . x x x .\nx . . x x x")
def step_end(impl, given):
    return impl.sliding_window_mask(2, 6, 3, 1)


@step("first two updates", "0 1 2 3 4")
def step_second(impl, given):
    return updated(impl, given, 2)[1]


@step("last 3 rows of update 3", "3 4 5")
def step_third(impl, given):
    return updated(impl, given, 3)[1][-3:]


@step("sink of update 4", "0")
def step_sink(impl, given):
    return updated(impl, given, 4)[1][0]


@step("last 4 rows of update 4", "4 5 6 7")
def step_fourth(impl, given):
    return updated(impl, given, 4)[1][-4:]


@step("length after update 4", "8")
def step_length(impl, given):
    return updated(impl, given, 4)[0].length
