# %% [markdown]
# # ex29: backward by hand
#
# `loss.backward()` computes the gradient of every weight. Behind it, each operation has a
# *backward* function. It gets the gradient of its output, and returns the gradient of each input.
# In this exercise you write these functions for a linear layer, the cross-entropy, the softmax,
# attention and layer normalization. Libraries have the same functions in C++ and CUDA.
#
# A gradient has the shape of its tensor. If $y = f(x)$ and the loss is $L$, write $\bar{x}$ for the
# gradient $\partial L / \partial x$. The chain rule says, for every element:
#
# $$\bar{x}_i = \sum_j \bar{y}_j \, \frac{\partial y_j}{\partial x_i}$$
#
# The sum is over all outputs $y_j$ that $x_i$ takes part in. Three rules follow from it:
#
# 1. **A matrix product.** For $Y = X W^\top$, with $X$ of shape `(N, I)` and $W$ of shape `(O, I)`:
#    $\bar{X} = \bar{Y} W$ and $\bar{W} = \bar{Y}^\top X$. The shapes leave no other choice.
# 2. **A broadcast.** A bias is added to every row, so its gradient is the *sum* over all rows. What
#    the forward pass copies, the backward pass adds up.
# 3. **A mean.** If the loss is a mean over $n$ tokens, every gradient has the factor $1/n$.
#
# **The softmax.** With $p = \mathrm{softmax}(s)$, every output depends on every score of its row:
# $\partial p_j / \partial s_i = p_i (\delta_{ij} - p_j)$. The sum over $j$ gives
#
# $$\bar{s}_i = p_i \Big( \bar{p}_i - \sum_j \bar{p}_j \, p_j \Big)$$
#
# The sum is one number per row. Without it, the gradient is that of independent exponentials.
#
# **Cross-entropy.** The loss of one token is $-\ln p_t$, where $t$ is its target and $p$ the
# softmax of its logits. The formula above becomes $\bar{s} = p - \mathrm{onehot}(t)$: the
# probabilities, minus 1 at the target. Source: Goodfellow et al. 2016, "Deep Learning", section
# 6.2.2.3.
#
# **Layer normalization.** With $\hat{x} = (x - \mu) / \sigma$, where $\sigma = \sqrt{\mathrm{var} +
# \varepsilon}$, and $y = g \, \hat{x} + b$, let $h = \bar{y} \, g$. Mean and deviation depend on
# $x$ too, so two terms are subtracted:
#
# $$\bar{x} = \big( h - \mathrm{mean}(h) - \hat{x} \, \mathrm{mean}(h \, \hat{x}) \big) / \sigma$$
#
# The means are over the features of one token. Source: Ba et al. 2016, "Layer Normalization",
# section 5.1 and supplement; Ioffe and Szegedy 2015, "Batch Normalization", section 3.
#
# **Attention** is a chain of these: $S = Q K^\top / \sqrt{d_k}$, $P = \mathrm{softmax}(S)$, $O = P
# V$. Go through it from the end: first $\bar{V}$ and $\bar{P}$, then $\bar{S}$, then $\bar{Q}$ and
# $\bar{K}$. Source: Dao et al. 2022, "FlashAttention", appendix B.2.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.flatten(0, -2)`] | one row per token: all axes but the last become one |
# | [`a.transpose(-2, -1)`] | swaps the last two axes |
# | [`x.sum(dim, keepdim)`], [`x.mean(dim, keepdim)`] | sum and mean along one axis, or several |
# | [`torch.softmax(x, dim)`] | turns scores into positive weights that sum to 1 along an axis |
# | [`F.one_hot(ids, n)`] | a 1 at each id, in a new last axis of size `n`; int64 |
# | [`x.masked_fill(m, number)`] | a new tensor with `number` wherever the Bool mask `m` is True |
# | [`x.var(dim, correction, keepdim)`] | the variance; `correction=0` divides by the count |
#
# [`x.flatten(0, -2)`]: https://docs.pytorch.org/docs/stable/generated/torch.flatten.html
# [`a.transpose(-2, -1)`]: https://docs.pytorch.org/docs/stable/generated/torch.transpose.html
# [`x.sum(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.sum.html
# [`x.mean(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.mean.html
# [`torch.softmax(x, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.softmax.html
# [`F.one_hot(ids, n)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html
# [`x.masked_fill(m, number)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
# [`x.var(dim, correction, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.var.html
#
# **A trap.** An average and a sum look alike in a test with one row. Test with several rows, and
# with more than one axis before the last. `grad.sum(dim=0)` is right for two axes and wrong for
# three.

# %% [markdown]
# ## One token, by hand
#
# There are three scores, `s = [1 2 3]`. Their softmax is `p = [0.090 0.245 0.665]`. The target is
# the second one. The loss is $-\ln 0.245 = 1.408$, and its gradient is `p` minus 1 at the target:
#
# ```text
#   p                [0.090  0.245 0.665]
#   gradient of s    [0.090 -0.755 0.665]      its sum is 0
# ```
#
# Now let the gradient of `p` be `[1 0 2]`, whatever comes after it:
#
# ```text
#   gradient of p times p     [0.090 0 1.330]       the sum of the row is 1.421
#   gradient of p minus it    [-0.421 -1.421 0.579]
#   gradient of s, times p    [-0.038 -0.348 0.385]      its sum is 0 again
# ```
#
# A softmax does not change if all scores grow by the same number. So the gradient of the scores
# always sums to 0. Layer normalization has the same property, for the features of a token. Let `x`
# be `[1 2 6]`, with weight 1 and no `eps`. The mean is 3, the variance 14/3, and $\sigma$ is 2.160.
# The gradient of the output is `[1 0 0]`:
#
# ```text
#   normalized x             [-0.926 -0.463 1.389]
#   h - mean(h)              [0.667 -0.333 -0.333]
#   mean(h · normalized x)   -0.309
#   gradient of x            [0.176 -0.220 0.044]
# ```

# %%
import math

import torch
from torch import Tensor
from torch.nn import functional as F

# %% [markdown]
# The functions get the inputs of the forward pass and `grad`, the gradient of the output. They
# never call autograd. Not allowed: `requires_grad_`, `torch.autograd`, `torch.func`, `torch.ops`,
# and every function of PyTorch with `backward` in its name.


# %%
def linear_backward(x: Tensor, weight: Tensor, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of `x` (..., I), `weight` (O, I) and `bias` (O,) of y = x @ weight.T + bias.

    `grad` (..., O) is the gradient of y. There are one or more axes before the last one.
    """
    # TODO ex29: three gradients; those of weight and bias are sums over all rows.
    raise NotImplementedError("ex29: linear_backward")


def cross_entropy_backward(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> Tensor:
    """Return the gradient (..., V) of the logits (..., V) for the mean cross-entropy over the targets (...).

    Targets that are `ignore_index` do not count: their rows are 0, and the mean is over the others. If all of them are
    ignored, the gradient is 0 everywhere. The gradient of the loss itself is 1.
    """
    # TODO ex29: the probabilities minus a 1 at each target, for the tokens that count, divided by how many they are.
    raise NotImplementedError("ex29: cross_entropy_backward")


def softmax_backward(weights: Tensor, grad: Tensor) -> Tensor:
    """Return the gradient (..., S) of the scores, where `weights` (..., S) are their softmax over the last axis.

    `grad` (..., S) is the gradient of the weights.
    """
    # TODO ex29: the weights times the gradient minus its weighted sum, one number per row.
    raise NotImplementedError("ex29: softmax_backward")


def attention_backward(
    query: Tensor, key: Tensor, value: Tensor, grad: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of `query` (..., T, K), `key` (..., S, K) and `value` (..., S, Kv) of attention.

    `grad` (..., T, Kv) is the gradient of softmax(query @ key.T / sqrt(K)) @ value. The Bool `mask` (T, S), or any
    shape that broadcasts to (..., T, S), is True where attention is allowed; every query may attend to some key.
    """
    # TODO ex29: compute the weights again, then go back: value, weights, scores, and at last query and key.
    raise NotImplementedError("ex29: attention_backward")


def layer_norm_backward(x: Tensor, weight: Tensor, grad: Tensor, eps: float = 1e-5) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients of `x` (..., D), `weight` (D,) and `bias` (D,) of layer normalization over the last axis.

    `grad` (..., D) is the gradient of weight * (x - mean) / sqrt(var + eps) + bias. The variance divides by D.
    """
    # TODO ex29: the gradient of x subtracts two means per token; those of weight and bias are sums over all tokens.
    raise NotImplementedError("ex29: layer_norm_backward")


# %% [markdown]
# ## Try
#
# Compare your functions with autograd in float64, in a file of your own. Make inputs with
# `requires_grad=True`, and call `torch.nn.functional`. Multiply the output by a random tensor
# before you sum it. That tensor is then `grad`. By how much do the two differ? Then compare in
# float32 and in bfloat16.
