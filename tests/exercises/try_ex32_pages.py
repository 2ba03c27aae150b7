"""ex32: six blocks of four tokens, and four requests of which two run at once."""

from autograder.checks import step


def add(given, cache, name, T):
    token = given.torch.zeros(T, 1, 1)
    cache.append(name, token, token)


def counts(cache):
    """Return the number of blocks of a, of b, and of free ones."""
    return [len(cache.tables.get("a", ())), len(cache.tables.get("b", ())), cache.pool.num_free]


def after(impl, given, calls):
    """Return the counts after the first so many calls of the lesson."""
    cache = impl.PagedCache(6, 4)
    add(given, cache, "a", 6)
    cache.fork("a", "b")
    for name, T in (("b", 1), ("a", 1), ("a", 2))[:calls]:
        add(given, cache, name, T)
    return cache


@step("a, b, free after the fork", "2 2 4")
def step_fork(impl, given):
    return counts(after(impl, given, 0))


@step("b gets a token", "2 2 3")
def step_copy(impl, given):
    return counts(after(impl, given, 1))


@step("a gets a token", "2 2 3")
def step_own(impl, given):
    return counts(after(impl, given, 2))


@step("a gets 2 tokens", "3 2 2")
def step_more(impl, given):
    return counts(after(impl, given, 3))


@step("b gets 30 tokens", "OutOfBlocks")
def step_refused(impl, given):
    try:
        add(given, after(impl, given, 3), "b", 30)
    except Exception as error:
        return type(error).__name__
    return "no error"


@step("a is released", "0 2 4")
def step_released(impl, given):
    cache = after(impl, given, 3)
    cache.release("a")
    return counts(cache)


@step("calls of the model", "ab ac ac cd")
def step_calls(impl, given):
    calls = []

    class Cache:
        block_size = 4
        pool = type("Pool", (), {"num_blocks": 9, "num_free": 9})()

        def release(self, name):
            pass

    def model(names, tokens, cache):
        calls.append("".join(names))
        return [1] * len(names)

    lengths = {"a": 3, "b": 1, "c": 3, "d": 1}
    impl.serve(model, Cache(), [impl.Request(name, [1], n) for name, n in lengths.items()], 2)
    return calls
