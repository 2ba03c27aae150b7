# Blocks are objects that count their users, as in vLLM; attention pads the tables of a batch and masks the rest.
from collections import deque
from dataclasses import dataclass

import torch


class OutOfBlocks(Exception):
    pass


@dataclass
class Block:
    number: int
    ref_count: int = 0


class BlockPool:
    def __init__(self, num_blocks):
        self.blocks = [Block(number) for number in range(num_blocks)]
        self.idle = deque(self.blocks)

    @property
    def num_blocks(self):
        return len(self.blocks)

    @property
    def num_free(self):
        return len(self.idle)

    def users(self, block):
        return self.blocks[block].ref_count

    def take(self):
        try:
            block = self.idle.popleft()
        except IndexError:
            raise OutOfBlocks(f"none of {self.num_blocks} blocks is free") from None
        block.ref_count = 1
        return block.number

    def used(self, number):
        block = self.blocks[number]
        if block.ref_count <= 0:
            raise ValueError(f"nobody uses block {number}")
        return block

    def share(self, block):
        self.used(block).ref_count += 1

    def release(self, block):
        found = self.used(block)
        found.ref_count -= 1
        if not found.ref_count:
            self.idle.append(found)


class PagedCache:
    def __init__(self, num_blocks, block_size):
        self.pool = BlockPool(num_blocks)
        self.block_size = block_size
        self.tables, self.lengths = {}, {}
        self.keys = self.values = None

    def append(self, name, key, value):
        if self.keys is None:
            shape = (self.pool.num_blocks, self.block_size)
            self.keys = torch.empty(*shape, *key.shape[1:], dtype=key.dtype, device=key.device)
            self.values = torch.empty(*shape, *value.shape[1:], dtype=value.dtype, device=value.device)
        tokens, length = len(key), self.lengths.get(name, 0)
        old_table = self.tables.get(name, [])
        room = len(old_table) * self.block_size - length
        fresh = max(0, (tokens - room + self.block_size - 1) // self.block_size)
        private_copy = tokens > 0 and room > 0 and self.pool.users(old_table[-1]) > 1
        want = fresh + int(private_copy)
        if want > self.pool.num_free:
            raise OutOfBlocks(f"request {name} wants {want} blocks, but only {self.pool.num_free} are free")
        table = list(old_table)
        if private_copy:
            shared = table.pop()
            table.append(self.pool.take())
            for pages in (self.keys, self.values):
                pages[table[-1]].copy_(pages[shared])
            self.pool.release(shared)
        table.extend(self.pool.take() for _ in range(fresh))
        places = torch.arange(length, length + tokens, device=key.device)
        rows = torch.tensor(table, device=key.device)[places // self.block_size], places % self.block_size
        self.keys[rows] = key
        self.values[rows] = value
        self.tables[name] = table
        self.lengths[name] = length + tokens

    def gather(self, name):
        places = torch.arange(self.lengths[name], device=self.keys.device)
        blocks = torch.tensor(self.tables[name], device=self.keys.device)[places // self.block_size]
        return self.keys[blocks, places % self.block_size], self.values[blocks, places % self.block_size]

    def fork(self, source, name):
        if name in self.lengths:
            raise ValueError(f"request {name} exists")
        self.tables[name] = self.tables[source][:]
        self.lengths[name] = self.lengths[source]
        list(map(self.pool.share, self.tables[name]))

    def release(self, name):
        table = self.tables.pop(name)
        self.lengths.pop(name)
        while table:
            self.pool.release(table.pop())


def paged_attention(query, cache, names):
    widest = max(len(cache.tables[name]) for name in names)
    padded = torch.tensor([cache.tables[n] + [0] * (widest - len(cache.tables[n])) for n in names], device=query.device)
    lengths = torch.tensor([cache.lengths[name] for name in names], device=query.device)
    key = cache.keys[padded].flatten(1, 2).transpose(1, 2)  # (N, G, rows, K)
    value = cache.values[padded].flatten(1, 2).transpose(1, 2)
    scores = (key @ query.unsqueeze(-1)).squeeze(-1) * query.shape[-1] ** -0.5
    hidden = torch.arange(key.shape[2], device=query.device) >= lengths[:, None]
    weights = scores.masked_fill(hidden[:, None], float("-inf")).softmax(-1)
    value = value.masked_fill(hidden[:, None, :, None], 0)  # empty rows may hold NaN
    return (weights.unsqueeze(-2) @ value).squeeze(-2)


@dataclass
class Request:
    name: str
    prompt: list
    max_new_tokens: int


@dataclass
class Job:
    request: Request
    blocks: int
    new: list

    @property
    def shown(self):
        return [self.new[-1]] if self.new else self.request.prompt


def serve(model, cache, requests, max_running, eos=None):
    queue = deque()
    for request in requests:
        rows = len(request.prompt) + request.max_new_tokens - 1
        job = Job(request, (rows + cache.block_size - 1) // cache.block_size, [])
        if job.blocks > cache.pool.num_blocks:
            raise ValueError(f"{request.name} never fits: {job.blocks} blocks, and there are {cache.pool.num_blocks}")
        queue.append(job)
    jobs, answers, spare = [], {}, cache.pool.num_blocks
    while jobs or queue:
        while queue and len(jobs) < max_running and queue[0].blocks <= spare:
            spare -= queue[0].blocks
            jobs.append(queue.popleft())
        for job, token in zip(jobs, model([j.request.name for j in jobs], [j.shown for j in jobs], cache)):
            job.new.append(token)
        for job in [j for j in jobs if j.new[-1] == eos or len(j.new) >= j.request.max_new_tokens]:
            jobs.remove(job)
            spare += job.blocks
            cache.release(job.request.name)
            answers[job.request.name] = job.new
    return answers
