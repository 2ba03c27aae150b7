# Users are counted in a Counter, tables are tuples, tokens are written one block at a time, and PyTorch attends.
from collections import Counter, namedtuple
from math import ceil

import torch

Request = namedtuple("Request", "name prompt max_new_tokens")


class OutOfBlocks(Exception):
    """Too few blocks are free."""


class BlockPool:
    def __init__(self, num_blocks):
        self.num_blocks = num_blocks
        self.num_free = num_blocks
        self.owners = Counter()

    def users(self, block):
        return self.owners[block]

    def take(self):
        for block in range(self.num_blocks):
            if not self.owners[block]:
                self.owners[block] = 1
                self.num_free -= 1
                return block
        raise OutOfBlocks(f"there are only {self.num_blocks} blocks")

    def share(self, block):
        self._must_be_used(block)
        self.owners.update([block])

    def release(self, block):
        self._must_be_used(block)
        self.owners.subtract([block])
        self.num_free += self.owners[block] == 0

    def _must_be_used(self, block):
        if self.owners[block] < 1:
            raise ValueError(f"block {block} has no user")


class PagedCache:
    def __init__(self, num_blocks, block_size):
        self.pool, self.block_size = BlockPool(num_blocks), block_size
        self.tables = {}
        self.lengths = {}

    def blocks_for(self, name, tokens):
        """Return how many new blocks the tokens need, and whether the last block must be copied."""
        length, table = self.lengths.get(name, 0), self.tables.get(name, ())
        new = ceil((length + tokens) / self.block_size) - len(table)
        written_on = tokens and length % self.block_size
        return new, bool(written_on and self.pool.users(table[-1]) > 1)

    def append(self, name, key, value):
        tokens = key.shape[0]
        new, copied = self.blocks_for(name, tokens)
        if new + copied > self.pool.num_free:
            raise OutOfBlocks(f"{new + copied} needed, {self.pool.num_free} free")
        if not hasattr(self, "keys"):
            self.keys = key.new_empty((self.pool.num_blocks, self.block_size, *key.shape[1:]))
            self.values = value.new_empty((self.pool.num_blocks, self.block_size, *value.shape[1:]))
        table, length = tuple(self.tables.get(name, ())), self.lengths.get(name, 0)
        if copied:
            own = self.pool.take()
            filled = length % self.block_size
            self.keys[own, :filled] = self.keys[table[-1], :filled]
            self.values[own, :filled] = self.values[table[-1], :filled]
            self.pool.release(table[-1])
            table = (*table[:-1], own)
        table += tuple(self.pool.take() for _ in range(new))
        done = 0
        while done < tokens:
            place, row = (length + done) // self.block_size, (length + done) % self.block_size
            step = min(self.block_size - row, tokens - done)
            self.keys[table[place], row : row + step] = key[done : done + step]
            self.values[table[place], row : row + step] = value[done : done + step]
            done += step
        self.tables[name], self.lengths[name] = list(table), length + tokens

    def gather(self, name):
        length = self.lengths[name]
        both = []
        for pages in (self.keys, self.values):
            parts = [pages[block] for block in self.tables[name]]
            both.append(torch.cat(parts)[:length])
        return tuple(both)

    def fork(self, source, name):
        if self.tables.get(name) is not None:
            raise ValueError("the name " + name + " is taken")
        self.tables[name], self.lengths[name] = list(self.tables[source]), self.lengths[source]
        for block in self.tables[name]:
            self.pool.share(block)

    def release(self, name):
        for block in self.tables[name]:
            self.pool.release(block)
        del self.tables[name], self.lengths[name]


def paged_attention(query, cache, names):
    output = torch.empty_like(query)
    for i, name in enumerate(names):
        keys, values = cache.gather(name)
        heads = query[i].unsqueeze(1), keys.transpose(0, 1), values.transpose(0, 1)
        output[i] = torch.nn.functional.scaled_dot_product_attention(*heads).squeeze(1)
    return output


def serve(model, cache, requests, max_running, eos=None):
    most = {r.name: ceil((len(r.prompt) - 1 + r.max_new_tokens) / cache.block_size) for r in requests}
    for name in most:
        if most[name] > cache.pool.num_blocks:
            raise ValueError(f"{name} needs {most[name]} blocks")
    result = {r.name: [] for r in requests}
    left = {r.name: r.max_new_tokens for r in requests}
    unseen = {r.name: list(r.prompt) for r in requests}
    line, active = [r.name for r in requests], []
    while True:
        while line and len(active) < max_running:
            if sum(most[name] for name in [*active, line[0]]) > cache.pool.num_blocks:
                break
            active.append(line.pop(0))
        if not active:
            return result
        tokens = model(list(active), [unseen[name] for name in active], cache)
        still = []
        for name, token in zip(active, tokens):
            result[name].append(token)
            unseen[name] = [token]
            left[name] -= 1
            if left[name] and token != eos:
                still.append(name)
            else:
                cache.release(name)
        active = still
