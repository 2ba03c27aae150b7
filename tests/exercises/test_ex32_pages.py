"""ex32: blocks, their users, the pages of requests, attention over them, and a server.

Which free block a program takes is its own choice, so no check observes it. Attention and the server get caches of this
file, so a mistake in PagedCache costs nothing there. The model computes with whole numbers: its next id depends on
every id in the cache, so a right answer proves that the cache held the right ids, in the right order.
"""

from autograder.checks import Like, Raises, check, picture

POOL, CACHE, ATTENTION, SERVE = "BlockPool", "PagedCache", "paged_attention", "serve"
POOLED = ("pool_taken", "pool_shared")
STORED = ("gathered", "forked", "filled")  # the last one fills its blocks, so a program without a cut passes it
SERVED = ("served", "ended", "room")
AGREEING = Like(tolerance=1e-4)
SIZE = 4  # tokens of a block
PRIME = 997


# The pool


@check("each block is taken once, and comes back after its release", points=2, of=POOL)
def test_pool_taken(impl, given):
    blocks = given.number(6, 12)
    pool = impl.BlockPool(blocks)
    unused = sum(pool.users(block) for block in range(blocks))
    first = [pool.take() for _ in range(blocks)]
    left = pool.num_free
    back = given.distinct(0, blocks, blocks // 2)
    for block in back:
        pool.release(block)
    free = pool.num_free
    again = [pool.take() for _ in range(blocks // 2 - 1)]
    return {
        "blocks taken": sorted(first),
        "free blocks, num_blocks": [left, free, pool.num_free, pool.num_blocks],
        "blocks taken again that were not released": sorted(set(again) - set(back)),
        "different blocks taken again": len(set(again)),
        "users of all blocks, summed, at first and now": [unused, sum(pool.users(block) for block in range(blocks))],
    }


@check("a block is free when its last user releases it", points=2, of=POOL)
def test_pool_shared(impl, given):
    pool, more = impl.BlockPool(5), given.number(2, 6)
    pool.take()
    block = pool.take()
    for _ in range(more):
        pool.share(block)
    seen = [[pool.users(block), pool.num_free]]
    for _ in range(more + 1):
        pool.release(block)
        seen.append([pool.users(block), pool.num_free])
    return {"users and free blocks, after each release": seen}


@check(
    "without a free block, take raises OutOfBlocks", points=1, of=POOL, judge=Raises("OutOfBlocks"), requires_any=POOLED
)
def test_pool_empty(impl, given):
    blocks = given.number(11, 20)
    pool = impl.BlockPool(blocks)
    for _ in range(blocks):
        pool.take()
    return given.raises(pool.take, blocks)


def used_once(impl, given):
    """Return a pool and a block that was taken and released."""
    pool = impl.BlockPool(given.number(11, 20))
    blocks = [pool.take() for _ in range(pool.num_blocks)]
    block = max(blocks)
    pool.release(block)
    return pool, block


@check("a free block cannot be released", points=1, of=POOL, judge=Raises(), requires_any=POOLED)
def test_pool_released_twice(impl, given):
    pool, block = used_once(impl, given)
    return given.raises(lambda: pool.release(block), block)


@check("a free block cannot be shared", points=1, of=POOL, judge=Raises(), requires_any=POOLED)
def test_pool_shared_free(impl, given):
    pool, block = used_once(impl, given)
    return given.raises(lambda: pool.share(block), block)


# The cache


def new_tokens(given, T, dtype="float32"):
    """Return key and value (T, G, K) of T tokens."""
    G, K = given.sizes("G K")
    return given.normal(T, G, K, dtype=dtype), given.normal(T, G, K, dtype=dtype)


def tokens_of(cache, name):
    """Return what `gather` gives as a dict; what is no pair stays as it is."""
    both = cache.gather(name)
    if not isinstance(both, tuple | list) or len(both) != 2:
        return both
    return {"keys": both[0].clone(), "values": both[1].clone()}


def add(cache, given, name, T):
    cache.append(name, *new_tokens(given, T))


def interleaved(impl, given):
    """Return a cache of three requests whose tokens came in turns, and their names."""
    cache = impl.PagedCache(num_blocks=30, block_size=SIZE)
    names = given.shuffled(["a", "b", "c"])
    for name, T in zip(names * 3, given.shuffled([1, 2, 3, 4, 5, 6, 7, 8, 9]), strict=True):
        add(cache, given, name, T)
    return cache, names


@check("gather returns all tokens of a request, in the order of the text", points=3, of=CACHE)
def test_gathered(impl, given):
    cache, names = interleaved(impl, given)
    return {f"request {name}": tokens_of(cache, name) for name in names}


@check("token i is in row i % block_size of the block table[i // block_size]", points=2, of=CACHE, requires_any=STORED)
def test_pages(impl, given):
    cache, names = interleaved(impl, given)
    seen = {"shape of the pages": list(cache.keys.shape)}
    for name in names:
        pages = [cache.keys[cache.tables[name]], cache.values[cache.tables[name]]]
        seen[f"keys and values in the pages of {name}"] = [both.flatten(0, 1)[: cache.lengths[name]] for both in pages]
    return seen


@check("a request takes a block only when its last one is full", points=2, of=CACHE, requires_any=STORED)
def test_blocks_needed(impl, given):
    cache = impl.PagedCache(num_blocks=30, block_size=SIZE)
    counts = []
    for T in given.shuffled([1, 1, 2, 3, 4, 5]):
        add(cache, given, "a", T)
        add(cache, given, "b", 1)
        counts.append([cache.lengths["a"], len(cache.tables["a"]), len(cache.tables["b"]), cache.pool.num_free])
    return {"tokens and blocks of a, blocks of b, free blocks": counts}


@check("the blocks of a request that ends are free, and the others keep theirs", points=2, of=CACHE)
def test_released(impl, given):
    cache, names = interleaved(impl, given)
    cache.release(names[1])
    free = cache.pool.num_free
    add(cache, given, "new", SIZE)
    add(cache, given, names[2], SIZE * (free - 1))  # whose next blocks lay between those that it has
    return {
        "free blocks": [free, cache.pool.num_free],
        "requests": sorted(cache.tables) + sorted(cache.lengths),
        **{f"request {name}": tokens_of(cache, name) for name in (names[0], names[2])},
        "tokens of the new one": [both[-SIZE:] for both in cache.gather("new")],
    }


def forked(impl, given, T, blocks=16):
    """Return a cache in which b is a fork of a, which has T tokens."""
    cache = impl.PagedCache(num_blocks=blocks, block_size=SIZE)
    add(cache, given, "a", T)
    cache.fork("a", "b")
    return cache


@check("a fork has all tokens, and takes no block", points=2, of=CACHE)
def test_forked(impl, given):
    cache = forked(impl, given, SIZE * given.number(2, 5) + given.number(1, 4))
    cache.fork("b", "c")
    return {
        "free blocks": cache.pool.num_free,
        "users of the blocks of b": [cache.pool.users(block) for block in cache.tables["b"]],
        "b": tokens_of(cache, "b"),
        "c": tokens_of(cache, "c"),
    }


@check("after a fork, each request has its own next tokens", points=3, of=CACHE)
def test_written_after_fork(impl, given):
    cache = forked(impl, given, 2 * SIZE + given.number(1, 4))
    cache.fork("a", "c")
    for name, T in (("b", 6), ("c", 1), ("a", 2), ("b", 1), ("a", 5)):  # the first copies a block and takes another
        add(cache, given, name, T)
    return {name: tokens_of(cache, name) for name in ("a", "b", "c")}


@check(
    "only a last block with empty rows is copied, and only while others use it", points=2, of=CACHE, requires_any=STORED
)
def test_blocks_copied(impl, given):
    seen = {}
    for name, T in (("is full", 3 * SIZE), ("has empty rows", 3 * SIZE + given.number(1, 3))):
        cache = forked(impl, given, T, blocks=6)  # just enough: the second tokens need no block
        cache.fork("a", "c")
        free = [cache.pool.num_free]
        for request in given.shuffled(["a", "b", "c"]) + given.shuffled(["a", "b", "c"]):
            add(cache, given, request, 1)
            free.append(cache.pool.num_free)
        users = [[cache.pool.users(block) for block in cache.tables[request]] for request in "abc"]
        seen[f"the last block {name}"] = {"free blocks": free, "users": users}
    return seen


@check("a fork outlives its source, and the last one frees the blocks", points=2, of=CACHE)
def test_fork_released(impl, given):
    cache = forked(impl, given, 2 * SIZE + given.number(1, 4))
    add(cache, given, "b", 1)
    cache.release("a")
    free = [cache.pool.num_free]
    add(cache, given, "other", SIZE * free[0])
    seen = {"b after other requests took the free blocks": tokens_of(cache, "b")}
    for name in ("other", "b"):
        cache.release(name)
        free.append(cache.pool.num_free)
    return {**seen, "free blocks": free}


@check(
    "without enough blocks, append raises OutOfBlocks with both numbers",
    points=1,
    of=CACHE,
    judge=Raises("OutOfBlocks"),
    requires_any=STORED,
)
def test_refused(impl, given):
    blocks, T = given.number(33, 39), given.number(1, 4)
    cache = impl.PagedCache(num_blocks=blocks, block_size=SIZE)
    add(cache, given, "a", 10 * SIZE + T)  # 11 blocks
    cache.fork("a", "b")
    key, value = new_tokens(given, SIZE * (blocks - 10) - T)  # they fill all blocks, and the last one must be copied
    return given.raises(lambda: cache.append("a", key, value), blocks - 10, blocks - 11)


@check("after this error, nothing has changed", points=2, of=CACHE, requires_any=STORED)
def test_refused_unchanged(impl, given):
    cache = forked(impl, given, SIZE + 2, blocks=given.number(13, 19))
    free = [cache.pool.num_free]
    new, more = new_tokens(given, SIZE * free[0] + 1), new_tokens(given, 2 + SIZE * (free[0] - 1) + given.number(1, 4))
    for name, tokens in (("new", new), ("a", more)):  # a needs all free blocks, and one for the copy of its last
        given.raises(lambda name=name, tokens=tokens: cache.append(name, *tokens))
        free.append(cache.pool.num_free)
    return {
        "free blocks before, and after two errors": free,
        "tables": {name: len(cache.tables[name]) for name in sorted(cache.tables)},
        "lengths": {name: cache.lengths[name] for name in sorted(cache.lengths)},
        "users of the blocks of a": [cache.pool.users(block) for block in cache.tables["a"]],
        "a": tokens_of(cache, "a"),
    }


@check("as many tokens fit as there are free rows, and one token of one head is enough", points=1, of=CACHE)
def test_filled(impl, given):
    blocks, T = given.number(5, 9), given.number(1, 4)
    cache = impl.PagedCache(num_blocks=blocks, block_size=SIZE)
    add(cache, given, "a", T)
    add(cache, given, "a", blocks * SIZE - T)
    one, (key, value) = impl.PagedCache(num_blocks=1, block_size=SIZE), new_tokens(given, 1)
    one.append("b", key[:, :1], value[:, :1])
    return {
        "free blocks": cache.pool.num_free,
        "last tokens": [both[-SIZE:] for both in cache.gather("a")],
        "one token of one head": tokens_of(one, "b"),
    }


@check("a fork to a name that is in use is refused", points=1, of=CACHE, judge=Raises(), requires_any=STORED)
def test_fork_refused(impl, given):
    cache, name = forked(impl, given, 6), given.text(5)
    add(cache, given, name, 2)
    return given.raises(lambda: cache.fork("a", name), name)


@check(
    "a new token and a fork move no old tokens, one block apart",
    points=2,
    of=CACHE,
    requires_any=STORED,
    idea=True,
)
def test_nothing_moved(impl, given):
    T, (G, K) = given.number(30, 40), given.sizes("G K")
    cache = impl.PagedCache(num_blocks=20, block_size=SIZE)
    add(cache, given, "a", T)
    key, value = new_tokens(given, 1)

    def call():
        cache.append("a", key, value)
        cache.fork("a", "b")
        cache.append("b", key, value)
        return cache.lengths["b"]

    return {"tokens of the fork": given.bounded(call, 3 * SIZE * G * K)}


@check("the pages have dtype and device of the first keys", points=1, of=CACHE, trials=1, requires_any=STORED)
def test_pages_like_keys(impl, given):
    tokens = [new_tokens(given, T, "float64") for T in (6, 3)]
    with given.another_device() as device:
        cache = impl.PagedCache(num_blocks=6, block_size=SIZE)
        for key, value in tokens:
            cache.append("a", key.to(device), value.to(device))
        keys, values = cache.gather("a")
        return {"keys and values": [keys + key[:1].to(device) * 0, values * 2]}


# Attention


class Rows:
    """The pool of a cache of this file."""

    def __init__(self, num_blocks):
        self.num_blocks, self.num_free = num_blocks, num_blocks


class Pages:
    """A cache of this file, with the names of PagedCache. Every row without a token holds old keys of somebody else."""

    def __init__(self, given, lengths):
        self.block_size, free = SIZE, given.shuffled(range(20))
        self.pool = Rows(20)
        self.keys, self.values = (5 * part.unflatten(0, (20, SIZE)) for part in new_tokens(given, 20 * SIZE))
        self.tables = {name: [free.pop() for _ in range(0, T, SIZE)] for name, T in lengths.items()}
        self.lengths = dict(lengths)
        for name, T in lengths.items():
            for i in range(T):
                for pages in (self.keys, self.values):
                    pages[self.tables[name][i // SIZE], i % SIZE] /= 5

    def gather(self, name):
        return tuple(pages[self.tables[name]].flatten(0, 1)[: self.lengths[name]] for pages in (self.keys, self.values))


def batch(given, lengths):
    """Return a cache with requests of these lengths, their names, and a query (N, G, K)."""
    names = given.shuffled([f"request {i}" for i in range(len(lengths))])
    cache = Pages(given, dict(zip(names, lengths, strict=True)))
    return cache, given.shuffled(names), given.normal(len(lengths), *given.sizes("G K"))


@check("each query attends to the keys of its own request, and to no other row", points=4, of=ATTENTION)
def test_attention(impl, given):
    cache, names, query = batch(given, [1, 3, 6, 8, 9])
    return {"output": impl.paged_attention(query, cache, names)}


ONE_HEAD = "output of one head alone, and among others"


@check(
    "a request gets the same beside others as alone, as does one head, and keeps dtype and device",
    points=1,
    of=ATTENTION,
    judge=Like(tolerance=1e-4, free=(ONE_HEAD,)),
    requires_any=("attention",),
)
def test_attention_alone(impl, given):
    cache, names, query = batch(given, [given.number(5, 8), 10, 3])
    together = impl.paged_attention(query, cache, names)
    alone = [impl.paged_attention(query[i : i + 1], cache, names[i : i + 1])[0] for i in range(len(names))]
    seen = {"output together, and alone": [together, given.torch.stack(alone)]}
    keys, values = cache.keys, cache.values
    cache.keys, cache.values = keys[:, :, :1], values[:, :, :1]
    seen[ONE_HEAD] = [impl.paged_attention(query[:1, :1], cache, names[:1]), together[:1, :1]]
    with given.another_device() as device:
        cache.keys, cache.values = keys.double().to(device), values.double().to(device)
        there = impl.paged_attention(query.double().to(device), cache, names)
        return {
            **seen,
            "dtype for float64": str(there.dtype),
            "output on another device, and here": [there.float(), together],
        }


# The server


class Shelf:
    """A cache that holds the ids of requests, with the names of PagedCache."""

    def __init__(self, num_blocks, block_size=SIZE):
        self.pool, self.block_size = Rows(num_blocks), block_size
        self.ids, self.tables, self.lengths = {}, {}, {}

    def add(self, name, ids):
        self.ids[name] = [*self.ids.get(name, ()), *ids]
        self.lengths[name] = len(self.ids[name])
        self.tables[name] = list(range(-(-self.lengths[name] // self.block_size)))
        self.count()

    def count(self):
        self.pool.num_free = self.pool.num_blocks - sum(len(table) for table in self.tables.values())

    def release(self, name):
        for known in (self.ids, self.tables, self.lengths):
            del known[name]
        self.count()


def next_id(ids):
    """Return the id that the model says after these: it depends on all of them and on their order."""
    state = 1
    for place, id_ in enumerate(ids):
        state = (state * 31 + (id_ + 7) * (place + 3)) % PRIME
    return 10 + state % 80


class Diary:
    """A model that keeps who was in each call, and with which ids."""

    def __init__(self, impl, ends=None, eos=None):
        self.impl, self.calls, self.ends, self.eos, self.fewest = impl, [], ends or {}, eos, None

    def __call__(self, names, tokens, cache):
        self.calls.append([[name, list(ids)] for name, ids in zip(names, tokens, strict=True)])
        if len(self.calls) > 150:
            last = "" if names else ": the last call had no request"
            raise RuntimeError(f"the model was called 150 times, and the requests did not end{last}")
        answers = []
        for name, ids in zip(names, tokens, strict=True):
            cache.add(name, [int(id_) for id_ in ids])
            ended = self.ends.get(name) == cache.lengths[name]
            answers.append(self.eos if ended else next_id(cache.ids[name]))
        self.fewest = cache.pool.num_free if self.fewest is None else min(self.fewest, cache.pool.num_free)
        if cache.pool.num_free < 0:
            raise self.impl.OutOfBlocks(f"{-cache.pool.num_free} blocks more are needed than there are")
        return answers


def requests_of(impl, given, sizes):
    """Return requests with prompts of these lengths and these numbers of new ids; the names come in any order."""
    names = given.shuffled([f"request {i}" for i in range(len(sizes))])
    return [impl.Request(n, given.numbers(10, 90, T), more) for n, (T, more) in zip(names, sizes, strict=True)]


def answers_of(found, requests):
    """Return the answers in the order of the requests; what is no dict stays as it is."""
    return [found.get(r.name) for r in requests] if isinstance(found, dict) else found


@check("each request gets the ids that it gets alone", points=4, of=SERVE)
def test_served(impl, given):
    sizes = given.shuffled([(3, 2), (5, 6), (1, 4), (7, 1), (2, 3)])
    requests = requests_of(impl, given, sizes)
    found = impl.serve(Diary(impl), Shelf(40), requests, max_running=3)
    return {"answers": answers_of(found, requests)}


@check(
    "a call has all running requests: new ones with their prompt, others with their last id",
    points=3,
    of=SERVE,
    requires_any=SERVED,
)
def test_calls(impl, given):
    requests, diary = requests_of(impl, given, [(3, 2), (5, 4), (2, 3), (4, 1), (1, 2)]), Diary(impl)
    impl.serve(diary, Shelf(40), requests, max_running=2)
    return {f"call {number}": call for number, call in enumerate(diary.calls, 1)}


@check(
    "the place of a request that ends is not kept empty until the others end",
    points=3,
    of=SERVE,
    requires_any=SERVED,
    idea=True,
)
def test_no_fixed_batches(impl, given):
    long, diary = given.number(12, 16), Diary(impl)
    sizes = [(2, long), (3, 1), (1, long), (2, 1), (2, 1), (4, 1)]
    impl.serve(diary, Shelf(60), requests_of(impl, given, sizes), max_running=2)
    enough = long + 4 + 3
    return {"new ids of a long answer": long, f"calls beyond {enough}": max(0, len(diary.calls) - enough)}


@check("eos ends a request, and belongs to its answer", points=3, of=SERVE)
def test_ended(impl, given):
    requests = requests_of(impl, given, [(3, 9), (5, 8), (2, 7)])
    ends = {request.name: len(request.prompt) + k for request, k in zip(requests, given.distinct(0, 5, 3), strict=True)}

    def served(eos):
        diary = Diary(impl, ends, eos)
        found = impl.serve(diary, Shelf(40), requests, max_running=2, eos=eos)
        return {"answers": answers_of(found, requests), "requests in each call": [len(call) for call in diary.calls]}

    return {**served(given.number(2, 9)), "with eos = 0": served(0)}


@check("requests join only if the blocks that all running ones may need are left", points=2, of=SERVE)
def test_room(impl, given):
    # 2, 2, 3 and 1 blocks of 4 tokens, in 5 blocks: exactly full at first
    sizes = [(5, given.number(2, 5)), (1, 6), (2, given.number(8, 12)), (1, 1)]
    requests, diary = requests_of(impl, given, sizes), Diary(impl)
    found = impl.serve(diary, Shelf(5), requests, max_running=4)
    return {
        "who is in each call": [[name for name, _ in call] for call in diary.calls],
        "answers": answers_of(found, requests),
    }


@check("the last new id needs no row in the cache", points=1, of=SERVE, requires_any=SERVED)
def test_last_id(impl, given):
    T = given.number(1, 4)
    sizes = [(T, 5 - T), (4 - T, T + 1), (T + 2, 7 - T)]  # 1, 1 and 2 blocks of 2, all of them full
    requests, diary = requests_of(impl, given, sizes), Diary(impl)
    impl.serve(diary, Shelf(2), requests, max_running=2)
    return {"who is in each call": [[name for name, _ in call] for call in diary.calls]}


@check("after the last call, no request is in the cache", points=1, of=SERVE, requires_any=SERVED)
def test_all_released(impl, given):
    cache, diary = Shelf(given.number(20, 30)), Diary(impl)
    impl.serve(diary, cache, requests_of(impl, given, [(3, 2), (5, 4), (2, 1)]), max_running=2)
    return {
        "requests": sorted(cache.tables),
        "free blocks at the end, and at the fullest": [cache.pool.num_free, diary.fewest],
    }


@check(
    "a request that can never fit is refused before the first call",
    points=1,
    of=SERVE,
    judge=Raises(),
    requires_any=SERVED,
)
def test_never_fits(impl, given):
    name = given.text(6)
    requests = [impl.Request("first", [11, 12], 3), impl.Request(name, [13] * 5, 9)]

    def silent(*_):
        raise AssertionError("the model was called before the request was refused")

    return given.raises(lambda: impl.serve(silent, Shelf(3), requests, max_running=2), name)


@picture("how many requests share the block of each token: b is a fork of a", rows="request", columns="token")
def picture_blocks(impl, given):
    torch = given.torch
    cache = impl.PagedCache(num_blocks=8, block_size=4)
    for name, T in (("a", 10), ("b", 4), ("a", 2), ("c", 6)):
        if name == "b":
            cache.fork("a", "b")
        token = torch.zeros(T, 1, 1)
        cache.append(name, token, token)
    rows = torch.zeros(3, 14)
    for row, name in enumerate("abc"):
        for i in range(cache.lengths[name]):
            rows[row, i] = cache.pool.users(cache.tables[name][i // 4])
    return rows, list("abc"), []
