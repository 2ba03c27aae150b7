# All rows of all blocks are one long axis; a table of row numbers does the rest. Counts are a tensor.
import heapq

import torch
from torch.nn.functional import pad


class OutOfBlocks(Exception):
    def __init__(self, needed, free):
        super().__init__(f"needed: {needed}, free: {free}")


class BlockPool:
    def __init__(self, num_blocks: int):
        self.num_blocks = num_blocks
        self.reference_counts = torch.zeros(num_blocks, dtype=torch.long)
        self.heap = [*range(num_blocks)]

    num_free = property(lambda self: len(self.heap))

    def users(self, block):
        return self.reference_counts[block].item()

    def take(self):
        if len(self.heap) == 0:
            raise OutOfBlocks(1, f"0 of {self.num_blocks}")
        block = heapq.heappop(self.heap)
        self.reference_counts[block] += 1
        return block

    def share(self, block):
        if block in self.heap:
            raise ValueError(f"cannot share the free block {block}")
        self.reference_counts[block] += 1

    def release(self, block):
        if block in self.heap:
            raise ValueError(f"cannot release the free block {block}")
        self.reference_counts[block] -= 1
        if self.users(block) == 0:
            heapq.heappush(self.heap, block)


class PagedCache:
    def __init__(self, num_blocks: int, block_size: int):
        self.block_size = block_size
        self.pool = BlockPool(num_blocks)
        self.tables = {}
        self.lengths = {}
        self.store = None

    @property
    def keys(self):
        return self.store[0].unflatten(0, (-1, self.block_size))

    @property
    def values(self):
        return self.store[1].unflatten(0, (-1, self.block_size))

    def rows(self, table, first, last):
        """Return the numbers of the rows of tokens first ... last - 1."""
        return [table[i // self.block_size] * self.block_size + i % self.block_size for i in range(first, last)]

    def append(self, name, key, value):
        first = self.lengths.get(name, 0)
        last = first + key.size(0)
        table = list(self.tables.get(name, ()))
        count = (last - 1) // self.block_size + 1 if last else 0
        needed = count - len(table)
        begun = first % self.block_size
        shared = begun != 0 and last > first and self.pool.users(table[-1]) >= 2
        if shared:
            needed += 1
        if needed > self.pool.num_free:
            raise OutOfBlocks(needed, self.pool.num_free)
        if self.store is None:
            total = self.pool.num_blocks * self.block_size
            self.store = [key.new_zeros(total, *key.shape[1:]), value.new_zeros(total, *value.shape[1:])]
        if shared:
            before = self.rows(table, first - begun, first)
            self.pool.release(table[-1])
            table[-1] = self.pool.take()
            after = self.rows(table, first - begun, first)
            for tensor in self.store:
                tensor[after] = tensor[before]
        while len(table) < count:
            table.append(self.pool.take())
        where = self.rows(table, first, last)
        self.store[0][where], self.store[1][where] = key, value
        self.tables.update({name: table})
        self.lengths.update({name: last})

    def gather(self, name):
        where = self.rows(self.tables[name], 0, self.lengths[name])
        return self.store[0][where], self.store[1][where]

    def fork(self, source, name):
        if name in self.tables:
            raise ValueError(f"{name=} is there already")
        for block in self.tables[source]:
            self.pool.share(block)
        self.tables[name] = self.tables[source].copy()
        self.lengths[name] = self.lengths[source]

    def release(self, name):
        del self.lengths[name]
        [self.pool.release(block) for block in reversed(self.tables.pop(name))]


def paged_attention(query, cache, names):
    both = [cache.gather(name) for name in names]
    longest = max(len(key) for key, _ in both)
    keys = torch.stack([pad(key, (0, 0, 0, 0, 0, longest - len(key))) for key, _ in both])
    values = torch.stack([pad(value, (0, 0, 0, 0, 0, longest - len(value))) for _, value in both])
    scores = (keys * query.unsqueeze(1)).sum(-1) / query.size(-1) ** 0.5  # (N, T, G)
    for i, (key, _) in enumerate(both):
        scores[i, len(key) :] = -torch.inf
    return (torch.softmax(scores, 1).unsqueeze(-1) * values).sum(1)


class Request:
    def __init__(self, name, prompt, max_new_tokens):
        self.name, self.prompt, self.max_new_tokens = name, prompt, max_new_tokens

    def blocks(self, size):
        return (len(self.prompt) + self.max_new_tokens + size - 2) // size


def serve(model, cache, requests, max_running, eos=None):
    size, all_blocks = cache.block_size, cache.pool.num_blocks
    too_large = [r.name for r in requests if r.blocks(size) > all_blocks]
    if too_large:
        raise ValueError("too large for this cache: " + ", ".join(too_large))
    texts, slots, upcoming = {r.name: list(r.prompt) for r in requests}, [], 0
    started = set()
    while True:
        while upcoming < len(requests) and len(slots) < max_running:
            candidate = requests[upcoming]
            if sum(r.blocks(size) for r in [*slots, candidate]) > all_blocks:
                break
            slots += [candidate]
            upcoming += 1
        if not slots:
            break
        given = [texts[r.name][-1:] if r.name in started else texts[r.name][:] for r in slots]
        ids = model([r.name for r in slots], given, cache)
        kept = []
        for r, token in zip(slots, ids):
            started.add(r.name)
            texts[r.name].append(token)
            if token == eos or len(texts[r.name]) == len(r.prompt) + r.max_new_tokens:
                cache.release(r.name)
            else:
                kept.append(r)
        slots = kept
    return {r.name: texts[r.name][len(r.prompt) :] for r in requests}
