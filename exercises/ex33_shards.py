# %% [markdown]
# # ex33: shards
#
# A large model does not fit on one device, and one device reads a large text too slowly. So several
# devices share the work. Each runs the same program and is called a *rank*. A rank sees its own
# tensors only. It gets those of others by a *collective*, a call that all ranks make together:
#
# ```text
#   all_reduce(parts)        every rank gets the sum of all parts, or the maximum
#   all_gather(parts)        every rank gets all parts, joined along the first axis
#   reduce_scatter(parts)    rank r gets the r-th of n equal pieces of the sum
# ```
#
# Collectives are slow. So the question of this exercise is: what must the ranks send, and how many
# bytes is that? Here the ranks live in one process: a list has the tensor of rank `r` at index `r`.
# **Rank `r` may use index `r` of the lists, and results of collectives, but nothing else.**
#
# The checks replace the `Group` below with one of their own. It counts bytes, and may lose what one
# rank sends.
#
# **The cost.** The ranks stand in a ring, and a tensor has $s$ bytes. The table counts what all
# ranks send together. A reduce-scatter and an all-gather make an all-reduce.
#
# | collective | bytes sent | here $s$ is the size of |
# |---|---|---|
# | all-reduce | $2 (n-1) \, s$ | the part of one rank |
# | all-gather | $(n-1) \, s$ | all parts together |
# | reduce-scatter | $(n-1) \, s$ | the part of one rank |
#
# Source: Patarasuk and Yuan 2009, "Bandwidth optimal all-reduce algorithms for clusters of
# workstations".
#
# **Tensor parallelism** cuts each matrix. PyTorch stores a weight as `(O, I)`: $y = x W^\top + b$.
#
# - *Column-parallel*: each rank has some **output** features: rows of $W$, and its piece of $b$.
#   All ranks read the same $x$. Nothing is sent. The gradient of $x$ is a sum over the ranks.
# - *Row-parallel*: each rank has some **input** features: columns of $W$, and its piece of $x$. The
#   outputs are partial sums: one all-reduce adds them. The bias is added once, after it.
#
# The names speak of $W^\top$, as in the paper: there the columns belong to the outputs. A
# column-parallel layer, a ReLU and a row-parallel layer are a feed-forward network. It needs one
# all-reduce. Source: Shoeybi et al. 2019, "Megatron-LM", section 3.
#
# **The loss.** Each rank has the logits of $V / n$ tokens of the vocabulary. Rank 0 has the first
# ones. To gather the logits costs $V$ numbers per position. The loss needs three:
#
# $$-\ln p_t = \ln \sum_v e^{s_v - m} - (s_t - m)$$
#
# These are the maximum $m$, the sum, and the logit $s_t$ of the target. One rank has this logit,
# the others add 0. With 8 ranks and 50,304 tokens, a position costs 168 bytes, not 1,408,512.
#
# **Data parallelism** cuts the batch. Each rank has the whole model, and the gradient of *its* mean
# loss over $c_r$ tokens. The gradient for all tokens is the mean weighted by these counts:
#
# $$g = \frac{\sum_r c_r \, g_r}{\sum_r c_r}$$
#
# *Other conventions*: PyTorch's DDP divides by the number of ranks. That is the same only if all
# ranks have equally many tokens.
#
# **Fully sharded data parallelism** also cuts weights and gradients. All parameters become one flat
# vector, with zeros at its end until $n$ divides its length. Each rank stores one piece. It gathers
# the others before a layer runs, and forgets them afterwards. Gradients are reduced and scattered:
# each rank gets the *mean* over ranks for its own piece. Here the ranks have equally many tokens.
# Sources: Rajbhandari et al. 2020, "ZeRO", section 5; Zhao et al. 2023, "PyTorch FSDP", section
# 3.2.
# *Other conventions*: FSDP2 cuts each parameter along its first axis, and has no flat vector.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.chunk(x, n, dim)`] | at most `n` pieces along an axis; the last may be smaller |
# | [`x.split(sizes)`] | pieces of the lengths in a list, along the first axis |
# | [`torch.cat(tensors)`], [`x.view(shape)`] | joins tensors along the first axis; gives a new shape |
# | [`x.new_zeros(n)`] | zeros with the dtype and device of `x` |
# | [`x.amax(dim)`], [`x.sum(dim)`] | the largest element, and the sum, along an axis |
# | [`x.gather(dim, ids)`] | the elements of `x` at these indices along an axis |
# | [`x.masked_fill(m, number)`] | a new tensor with `number` wherever the Bool mask `m` is True |
# | [`math.prod(shape)`] | the product of all sizes; 1 for `()` |
#
# [`torch.chunk(x, n, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.chunk.html
# [`x.split(sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.split.html
# [`torch.cat(tensors)`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
# [`x.view(shape)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
# [`x.new_zeros(n)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_zeros.html
# [`x.amax(dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.amax.html
# [`x.sum(dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.sum.html
# [`x.gather(dim, ids)`]: https://docs.pytorch.org/docs/stable/generated/torch.gather.html
# [`x.masked_fill(m, number)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
# [`math.prod(shape)`]: https://docs.python.org/3/library/math.html#math.prod
#
# **A trap.** Most mistakes do not show with one rank, or with equal batches. Test with three ranks,
# unequal counts, and sizes that do not divide.
#
# **Not allowed:** `torch.distributed`.

# %% [markdown]
# ## Two ranks, by hand
#
# **Row-parallel.** `x = [1 2 3 4]`, `weight = [[1 0 2 1]]`, `bias = [10]`:
#
# ```text
#                     rank 0            rank 1
#   x, weight         [1 2], [1 0]      [3 4], [2 1]
#   partial sum       1                 10
#   after all_reduce  11                11
#   plus the bias     21                21        (with a bias before the sum: 31)
# ```
#
# **The loss** for the logits `[1 3 2 0]` and the target 2:
#
# ```text
#                     rank 0            rank 1            after all_reduce
#   logits            [1 3]             [2 0]
#   maximum           3                 2                 3
#   exp(logit - 3)    [0.135 1.000]     [0.368 0.050]
#   sum               1.135             0.418             1.553
#   target - 3        0                 -1                -1
#   loss              ln 1.553 + 1 = 1.440
# ```
#
# **Gradients.** Rank 0 has 1 token and the gradient 4, rank 1 has 3 tokens and the gradient 0. The
# mean over all tokens is (1 · 4 + 3 · 0) / 4 = 1. The mean of both ranks would be 2.
#
# **Flat shards.** The parameters `[1 2 3]` and `[[4 5]]` have 5 numbers, so one zero is appended:
#
# ```text
#                          rank 0     rank 1
#   shard                  [1 2 3]    [4 5 0]
#   all gradients          1 1 1 1 1  3 3 3 5 5
#   shard of the mean      [2 2 2]    [3 3 0]
# ```

# %%
import math

import torch
from torch import Tensor


# %%
class Group:
    """The ranks of one process. Each method gets a list with one tensor per rank, and returns such a list.

    Attributes:
        size: the number of ranks.
        sent: how many bytes all ranks together have sent so far, in a ring.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.sent = 0

    def all_reduce(self, parts: list[Tensor], operation: str = "sum") -> list[Tensor]:
        """Return to every rank the sum of all parts, or their maximum if `operation` is "max"."""
        joined = torch.stack(parts)
        result = {"sum": joined.sum, "max": joined.amax}[operation](dim=0)
        self.sent += 2 * (self.size - 1) * parts[0].numel() * parts[0].element_size()
        return [result.clone() for _ in parts]

    def all_gather(self, parts: list[Tensor]) -> list[Tensor]:
        """Return to every rank all parts, joined along the first axis in the order of the ranks."""
        result = torch.cat(parts)
        self.sent += (self.size - 1) * result.numel() * result.element_size()
        return [result.clone() for _ in parts]

    def reduce_scatter(self, parts: list[Tensor]) -> list[Tensor]:
        """Return to rank r the r-th piece of the sum of all parts: `size` equal pieces of the first axis."""
        pieces = torch.stack(parts).sum(dim=0).unflatten(0, (self.size, -1))
        self.sent += (self.size - 1) * parts[0].numel() * parts[0].element_size()
        return [piece.clone() for piece in pieces]


# %% [markdown]
# ## Tensor parallelism


# %%
def column_shards(weight: Tensor, bias: Tensor, ranks: int) -> tuple[list[Tensor], list[Tensor]]:
    """Return the pieces of `weight` (O, I) and `bias` (O,) for column-parallel ranks: (O / ranks, I) and (O / ranks,).

    Rank 0 has the first output features. If `ranks` does not divide O, a ValueError has both numbers.
    """
    # TODO ex33: refuse sizes that do not divide; cut both tensors along the output features.
    raise NotImplementedError("ex33: column_shards")


def row_shards(weight: Tensor, ranks: int) -> list[Tensor]:
    """Return the pieces of `weight` (O, I) for row-parallel ranks: (O, I / ranks).

    Rank 0 has the first input features. If `ranks` does not divide I, a ValueError has both numbers.
    """
    # TODO ex33: refuse sizes that do not divide; cut along the input features.
    raise NotImplementedError("ex33: row_shards")


def column_parallel(xs: list[Tensor], weights: list[Tensor], biases: list[Tensor]) -> list[Tensor]:
    """Return the output features (..., O / ranks) of each rank. Every rank has the same x (..., I) in `xs`."""
    # TODO ex33: a linear layer on each rank; nothing is sent.
    raise NotImplementedError("ex33: column_parallel")


def column_parallel_backward(group: Group, grads: list[Tensor], weights: list[Tensor]) -> list[Tensor]:
    """Return to each rank the whole gradient (..., I) of x, where `grads` (..., O / ranks) are those of the outputs.

    Send one number for each number of x: an all-reduce.
    """
    # TODO ex33: each rank has one part of the gradient of x; add the parts.
    raise NotImplementedError("ex33: column_parallel_backward")


def row_parallel(group: Group, xs: list[Tensor], weights: list[Tensor], bias: Tensor) -> list[Tensor]:
    """Return to each rank the whole output (..., O), from its input features (..., I / ranks).

    Every rank has the whole `bias` (O,). Send one number for each number of the output: an all-reduce.
    """
    # TODO ex33: partial products, their sum over the ranks, and the bias once.
    raise NotImplementedError("ex33: row_parallel")


# %% [markdown]
# ## The loss of a cut vocabulary


# %%
def vocab_parallel_cross_entropy(group: Group, logits: list[Tensor], targets: Tensor) -> list[Tensor]:
    """Return to each rank the cross-entropy (...) of every position: no mean is taken.

    Args:
        logits: (..., V / ranks) on each rank; rank 0 has the first tokens of the vocabulary. A logit may be -inf.
        targets: Long (...), ids of the whole vocabulary, which every rank has.

    Send three numbers for each position: the maximum, the sum and the logit of the target, each by an all-reduce. No
    logit may overflow. The loss has the dtype of the logits.
    """
    # TODO ex33: reduce the maximum; then the sum of exp; then the logit of the target, which is 0 on all other ranks.
    raise NotImplementedError("ex33: vocab_parallel_cross_entropy")


# %% [markdown]
# ## Data parallelism


# %%
def average_gradients(group: Group, gradients: list[list[Tensor]], counts: list[Tensor]) -> list[list[Tensor]]:
    """Return to each rank the gradients of the mean loss over all tokens of all ranks.

    Args:
        gradients: for each rank, those of its parameters, for the mean loss over its own tokens.
        counts: for each rank, how many tokens that are: a float32 tensor of shape ().

    A rank knows its own count only. A count may be 0; then the rank's gradients are zeros. Some count is above 0. Send
    one number for each number of the gradients, and one for the count: all-reduces.
    """
    # TODO ex33: weighted by its count, each rank's gradients are sums; add them and the counts, then divide.
    raise NotImplementedError("ex33: average_gradients")


# %% [markdown]
# ## Fully sharded data parallelism


# %%
def flat_shards(parameters: list[Tensor], ranks: int) -> list[Tensor]:
    """Return the shard (P,) of each rank: all parameters in one axis, in order, and zeros at the end, cut evenly.

    There are as few zeros as make all shards equally long.
    """
    # TODO ex33: flatten and join, append zeros, and cut into pieces of one length.
    raise NotImplementedError("ex33: flat_shards")


def gather_parameters(group: Group, shards: list[Tensor], shapes: list[tuple[int, ...]]) -> list[list[Tensor]]:
    """Return to each rank all parameters, with these shapes, from the shards (P,) that `flat_shards` made.

    Send each shard once, by one all-gather. A shape may be ().
    """
    # TODO ex33: gather the flat vector; cut it into the parameters, without the zeros at its end.
    raise NotImplementedError("ex33: gather_parameters")


def scatter_gradients(group: Group, gradients: list[list[Tensor]]) -> list[Tensor]:
    """Return to each rank its shard (P,) of the mean over ranks of the gradients, cut as `flat_shards` cuts.

    `gradients` has the gradients of all parameters, for each rank. Send each flat vector once, by one reduce-scatter.
    """
    # TODO ex33: flatten the gradients of each rank, with the zeros; reduce-scatter the sum, and make it a mean.
    raise NotImplementedError("ex33: scatter_gradients")


# %% [markdown]
# ## Try
#
# Make `Group(4)`, and cut the two weights of a feed-forward network with `column_shards` and
# `row_shards`. Run both layers with a ReLU between them. Is the output that of one device? What
# does `group.sent` show? Then make both layers column-parallel. What must be sent between them now?
