# %% [markdown]
# # ex32: pages for keys and values
#
# A server answers many requests at once, and nobody knows how long an answer will be. The cache
# of ex20 reserves `max_len` rows for each of them. Kwon et al. measured that such systems use
# only 20 % to 38 % of this memory for tokens. The rest is reserved, and stays empty.
#
# **Pages.** Operating systems solved this long ago. The memory is cut into **blocks** of
# `block_size` tokens. A request gets a block when it needs one. Its **block table** lists its
# blocks in the order of the text, wherever they are. Token $i$ is in row $i \bmod b$ of the
# block `table[i // b]`, with $b$ for `block_size`. Only the last block has empty rows. Source:
# Kwon et al. 2023, "Efficient Memory Management for Large Language Model Serving with
# PagedAttention", sections 3.1, 4.1 and 4.2.
#
# **Sharing.** Several answers to one question have the same beginning. A **fork** gets a copy of
# the block table, but no copy of the blocks. Each block counts its users, and is free again when
# the last one releases it.
#
# **Copy on write.** Blocks that are full never change, so they can be shared for ever. The last
# block may have empty rows. A request that writes there must be its only user. If it is not, it
# takes a new block, copies the filled rows, and releases the old one. So at most one block is
# copied. Source: Kwon et al. 2023, section 4.4.
#
# **Continuous batching.** A batch of requests is not kept until its longest one ends. After
# every call of the model, finished requests leave and waiting ones join. Source: Yu et al. 2022,
# "Orca: A Distributed Serving System for Transformer-Based Generative Models", section 3.1.
#
# **Who may join?** Each request may need blocks until it ends. In Orca, a request joins only if
# the blocks for its longest possible answer are left. Those of all running ones are counted
# first. So such a server never runs out of blocks. Source: Yu et al. 2022, section 4.2 and
# algorithm 1.
#
# *Other conventions*: vLLM lets requests join earlier. If blocks run out, it stops the newest
# request and computes its keys again later (*preemption*). It also finds equal beginnings by a
# hash of their tokens, and shares only full blocks then.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`list.pop()`], [`list.append(x)`] | take the last element out, or add one at the end |
# | [`dict.pop(name)`] | removes an entry and returns it |
# | [`divmod(a, b)`] | quotient and remainder; `-(-a // b)` is `a / b` rounded up |
# | [`x.new_zeros(*sizes)`] | a new tensor with the dtype and device of `x` |
# | [`pages[table]`] | the blocks of a list of numbers, in its order, as a copy |
# | [`x.flatten(0, 1)`] | joins the first two axes |
# | [`torch.softmax(x, dim)`] | turns scores into weights that sum to 1 along an axis |
# | [`torch.einsum(text, a, b)`] | a sum of products over named axes |
#
# [`list.pop()`]: https://docs.python.org/3/tutorial/datastructures.html#more-on-lists
# [`list.append(x)`]: https://docs.python.org/3/tutorial/datastructures.html#more-on-lists
# [`dict.pop(name)`]: https://docs.python.org/3/library/stdtypes.html#dict.pop
# [`divmod(a, b)`]: https://docs.python.org/3/library/functions.html#divmod
# [`x.new_zeros(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_zeros.html
# [`pages[table]`]: https://docs.pytorch.org/docs/stable/tensor_view.html
# [`x.flatten(0, 1)`]: https://docs.pytorch.org/docs/stable/generated/torch.flatten.html
# [`torch.softmax(x, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.softmax.html
# [`torch.einsum(text, a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.einsum.html
#
# **Traps.** `tables[b] = tables[a]` is one list with two names: copy it. A freed block keeps its
# old keys, so rows past the length are another request's. And count what you need before you
# take the first block. An error in the middle would leave half a request behind.
#
# **Not allowed:** the package `vllm`.

# %% [markdown]
# ## Six blocks of four tokens, by hand
#
# ```text
#   call                    table of a    table of b    free blocks
#   append("a", 6 tokens)   2 blocks      -             4
#   fork("a", "b")          2 blocks      the same      4
#   append("b", 1 token)    2 blocks      1 + 1 new     3    copies 2 rows
#   append("a", 1 token)    2 blocks      1 + 1         3    its last block is its own again
#   append("a", 2 tokens)   3 blocks      1 + 1         2
#   append("b", 30 tokens)  OutOfBlocks: 8 are needed, 2 are free
#   release("a")            -             2 blocks      4
# ```
#
# Four requests need 3, 1, 3 and 1 new tokens, and two may run at once. Each column is one call:
#
# ```text
#   fixed batches       a a a c c c        continuous    a a a d
#                       b     d                          b c c c
# ```
#
# The calls are then `ab`, `ac`, `ac` and `cd`: requests stand in the order in which they joined.

# %%
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


# %%
class OutOfBlocks(Exception):
    """Not enough blocks are free."""


class BlockPool:
    """The numbers of all blocks, 0 ... num_blocks - 1: which are free, and how many users the others have.

    Attributes (or properties):
        num_blocks: how many blocks there are.
        num_free: how many of them are free.
    """

    def __init__(self, num_blocks: int) -> None:
        # TODO ex32: all blocks are free, and none has a user.
        raise NotImplementedError("ex32: BlockPool.__init__")

    def users(self, block: int) -> int:
        """Return how many users a block has. A free block has 0."""
        # TODO ex32: the count of this block.
        raise NotImplementedError("ex32: BlockPool.users")

    def take(self) -> int:
        """Return the number of a free block, which has one user then. Without one, OutOfBlocks names num_blocks."""
        # TODO ex32: refuse if none is free. Otherwise take one out of the free ones, and count its user.
        raise NotImplementedError("ex32: BlockPool.take")

    def share(self, block: int) -> None:
        """Add a user to a block that has one already. A free block is a ValueError with its number."""
        # TODO ex32: refuse a free block. Otherwise count one more.
        raise NotImplementedError("ex32: BlockPool.share")

    def release(self, block: int) -> None:
        """Remove a user of a block. Without any user it is free again. A free block is a ValueError with its number."""
        # TODO ex32: refuse a free block. Otherwise count one fewer, and free it at 0.
        raise NotImplementedError("ex32: BlockPool.release")


# %% [markdown]
# ## The cache
#
# Keys and values of all requests are in two tensors of pages. The first `append` makes them,
# with all blocks at once. No later call makes a tensor as large as a request, except `gather`.


# %%
class PagedCache:
    """The keys and values of many requests, for one layer, in blocks.

    Attributes:
        block_size: the number of tokens of a block.
        pool: the BlockPool of its blocks.
        tables: the block table of each request, a dict from its name to a list of numbers.
        lengths: the number of tokens of each request, a dict from its name.
        keys, values: the pages, (num_blocks, block_size, G, K) each. The first `append` makes them.
    """

    def __init__(self, num_blocks: int, block_size: int) -> None:
        # TODO ex32: a pool, and no request yet.
        raise NotImplementedError("ex32: PagedCache.__init__")

    def append(self, name: str, key: Tensor, value: Tensor) -> None:
        """Add T tokens to a request: key and value (T, G, K), in the order of the text. A new name begins a request.

        The empty rows of its last block are filled first. If that block has other users, a new block takes its place:
        the filled rows are copied, and the old block is released. A block without empty rows is never copied. If fewer
        blocks are free than needed, with that copy, OutOfBlocks names both numbers, and nothing has changed.
        """
        # TODO ex32: count the blocks that are needed, and refuse. Then copy the last block if others use it, take new
        # blocks, and write every token into its row.
        raise NotImplementedError("ex32: PagedCache.append")

    def gather(self, name: str) -> tuple[Tensor, Tensor]:
        """Return the keys and values of a request, (length, G, K) each, in the order of the text."""
        # TODO ex32: the blocks of its table, one after the other, without the empty rows.
        raise NotImplementedError("ex32: PagedCache.gather")

    def fork(self, source: str, name: str) -> None:
        """Begin a request with all tokens of another one. Both share its blocks: none is taken, and none is copied.

        If there is a request of that name already, a ValueError names it, and nothing has changed.
        """
        # TODO ex32: refuse a name that is in use. Otherwise a table of its own, with one more user for every block.
        raise NotImplementedError("ex32: PagedCache.fork")

    def release(self, name: str) -> None:
        """End a request: release its blocks, and forget its table and its length."""
        # TODO ex32: one user fewer for every block.
        raise NotImplementedError("ex32: PagedCache.release")


def paged_attention(query: Tensor, cache: PagedCache, names: list[str]) -> Tensor:
    """Return the attention output (N, G, K) of one query per request, `query` (N, G, K), over all keys of its request.

    Row i belongs to the request names[i]. The requests may have different lengths. The scores are divided by √K, as in
    ex05, and every head has keys of its own. Of the cache, use `gather`, or `keys`, `values`, `tables`, `lengths` and
    `block_size`: it may be of another class with these names.
    """
    # TODO ex32: for every request, scores with its own keys, softmax over them, and the weighted sum of its values.
    raise NotImplementedError("ex32: paged_attention")


# %% [markdown]
# ## A server
#
# `model(names, tokens, cache)` is one call of the model for several requests. `tokens[i]` is the
# list of ids of the request `names[i]` that the cache does not have yet. The model appends their
# keys to the cache itself, and returns a list with the next id of each request.


# %%
@dataclass
class Request:
    """A request: its name, the ids of its prompt, and the most ids that its answer may have, at least 1."""

    name: str
    prompt: list[int]
    max_new_tokens: int


def serve(
    model: Callable[[list[str], list[list[int]], PagedCache], list[int]],
    cache: PagedCache,
    requests: list[Request],
    max_running: int,
    eos: int | None = None,
) -> dict[str, list[int]]:
    """Return the new ids of every request, by its name. The cache is empty before and after.

    Before each call of the model, requests join in their order, while fewer than max_running run and the next one
    fits. It fits if the blocks that it and all running requests may need are at most cache.pool.num_blocks. A request
    may need blocks of cache.block_size tokens for len(prompt) + max_new_tokens - 1 tokens: the last new one is never
    shown to the model. No request overtakes one that waits before it. A request that needs more blocks than there are
    is a ValueError with its name, before the first call.

    A call has all running requests, in the order in which they joined: a new one with its prompt, others with their
    last id. A request ends after max_new_tokens new ids, or after `eos`, which belongs to its answer. It is released
    at once: cache.release(name). Use no more of the cache than these names: it may be of another class.
    """
    # TODO ex32: refuse what can never fit. Until nothing waits or runs: let requests join, call the model, add the new
    # ids, and release what has ended.
    raise NotImplementedError("ex32: serve")


# %% [markdown]
# ## Try
#
# Give ten requests random lengths of answers, up to 200 tokens, and let four run at once. How
# many calls does the model get, and how many with fixed batches of four? Then fork one long
# request eight times. How many blocks do the nine need together, with blocks of 4 tokens and of
# 64?
