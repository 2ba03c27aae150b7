# %% [markdown]
# # ex35: look inside
#
# A trained model is a list of numbers. What does it compute with them? In this exercise you write
# four tools that researchers use to find out. They work with every model of this course, and with
# others.
#
# **The logit lens** reads the hidden states in the middle of a model as if they were at its end.
# Each layer adds to the same vector, so the vector after layer 3 already means something. Apply the
# last norm and the last matrix to it, and look at the most likely tokens (nostalgebraist 2020,
# "interpreting GPT: the logit lens"). Without the norm, the vector has another length than the
# matrix was trained for.
#
# **Ablation** takes a head away, and measures how much worse the model gets (Michel et al. 2019,
# "Are Sixteen Heads Really Better than One?"). Before the output matrix of multi-head attention,
# the heads stand side by side. Head 0 has the first `K` features, head 1 the next `K`. *Zero
# ablation* replaces a head's features by 0. *Mean ablation* replaces them by their mean over all
# sentences and positions. Then the rest of the model sees usual numbers.
#
# **Activation patching** asks where a fact is stored. Take two texts that differ in one word, a
# *clean* and a *corrupted* one. Run the model on the corrupted text. Replace the output of one
# module at one position by that of the clean run. If the answer comes back, that place carries the
# fact (Meng et al. 2022, "Locating and Editing Factual Associations in GPT", section 2). How much
# of it comes back is measured between 0 and 1:
#
# $$(p - k) / (c - k)$$
#
# Here $p$ is the answer's logit in the patched run, $c$ in the clean one, $k$ in the corrupted one.
#
# **Induction heads** continue what they have seen: after `A B ... A` they predict `B`. Let a text
# repeat itself with the period `P`. Such a head looks from `i` to `i - P + 1`. There is the token
# *after* the last occurrence of the same token. Its score is the mean weight there (Olsson et al.
# 2022, "In-context Learning and Induction Heads").
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.unflatten(-1, (h, -1))`] | splits the last axis in two |
# | [`x.mean(dim=(0, 1), keepdim=True)`] | the mean over several axes |
# | [`torch.diagonal(x, offset, dim1, dim2)`] | the numbers at `[i, i + offset]`, in a new last axis |
# | [`module.register_forward_hook(f)`] | calls `f(module, inputs, output)` after each forward pass |
# | [`handle.remove()`] | takes a hook away again |
# | [`torch.no_grad()`] | a block without gradients |
#
# [`x.unflatten(-1, (h, -1))`]: https://docs.pytorch.org/docs/stable/generated/torch.unflatten.html
# [`x.mean(dim=(0, 1), keepdim=True)`]: https://docs.pytorch.org/docs/stable/generated/torch.mean.html
# [`torch.diagonal(x, offset, dim1, dim2)`]: https://docs.pytorch.org/docs/stable/generated/torch.diagonal.html
# [`module.register_forward_hook(f)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
# [`handle.remove()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html
# [`torch.no_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
#
# **Traps.** A hook that returns a tensor replaces the output of the module. A hook that stays
# behind changes every later run, so remove it even if the model raises an exception. And a patch
# that is written into the output in place also changes what other code has stored of it.

# %% [markdown]
# ## By hand
#
# **Ablation.** There are two heads of two features, and one sentence of two positions:
#
# ```text
#   output           without head 1, by 0     without head 1, by the mean
#   [1 2 | 3 4]      [1 2 | 0 0]              [1 2 | 4 6]
#   [5 6 | 5 8]      [5 6 | 0 0]              [5 6 | 4 6]
# ```
#
# **Recovery.** The clean run gives the right word the logit 5, and the corrupted run gives 1. The
# patched run gives 4. So (4 - 1) / (5 - 1) = 0.75 of the answer came back.
#
# **Induction.** The text is `A B C A B C`, so the period is 3. Position 3 is the second `A`. The
# token after the first `A` is at position 3 - 3 + 1 = 1. For positions 3, 4 and 5, the weights at
# positions 1, 2 and 3 count. If they are 0.9, 0.6 and 0.3, the score is 0.6.

# %%
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


# %%
def logit_lens(states: Tensor, norm: Callable[[Tensor], Tensor], unembedding: Tensor) -> Tensor:
    """Return the logits (L, B, T, V) that each layer's hidden states would give.

    `states` (L, B, T, D) are those after each of L layers. `norm` is the last norm of the model, and `unembedding`
    (V, D) its last matrix, without a bias.
    """
    # TODO ex35: the norm, then a product with the matrix.
    ### BEGIN SOLUTION
    return norm(states) @ unembedding.transpose(-2, -1)
    ### END SOLUTION


def without_heads(output: Tensor, heads: Sequence[int], num_heads: int, with_mean: bool = False) -> Tensor:
    """Return the outputs of all heads side by side (B, T, D), with those of `heads` replaced.

    Head h has the features h * K to (h + 1) * K - 1, where K is D / num_heads. They become 0, or with `with_mean` their
    mean over all sentences and positions. A head below 0 or not below `num_heads` is a ValueError with its number.
    """
    # TODO ex35: one axis for the heads, new numbers for some of them, and the axes of before.
    ### BEGIN SOLUTION
    for head in heads:
        if not 0 <= head < num_heads:
            raise ValueError(f"there is no head {head}: num_heads is {num_heads}")
    split = output.unflatten(-1, (num_heads, -1))  # (B, T, H, K)
    chosen = torch.zeros(num_heads, 1, dtype=torch.bool, device=output.device)
    chosen[list(heads)] = True
    usual = split.mean(dim=(0, 1), keepdim=True) if with_mean else torch.zeros_like(split[:1, :1])
    return torch.where(chosen, usual, split).flatten(-2)
    ### END SOLUTION


def patched(model: nn.Module, module: nn.Module, clean: Tensor, corrupted: Tensor, position: int) -> Tensor:
    """Return the output of `model` for `corrupted`, with one activation of its run on `clean`.

    `module` is a part of the model that returns a tensor (B, T, ...). Its output at `position` is the one of the clean
    run. No gradients are computed. Afterwards the model is as before: no hook stays, also if a run raises an exception.
    """
    # TODO ex35: a hook that keeps the output of the clean run, then one that replaces it at the position.
    ### BEGIN SOLUTION
    kept: list[Tensor] = []

    def keep(_module: nn.Module, _inputs: object, output: Tensor) -> None:
        kept.append(output)

    def replace(_module: nn.Module, _inputs: object, output: Tensor) -> Tensor:
        changed = output.clone()
        changed[:, position] = kept[0][:, position]
        return changed

    with torch.no_grad():
        for hook, ids in ((keep, clean), (replace, corrupted)):
            handle = module.register_forward_hook(hook)
            try:
                result = model(ids)
            finally:
                handle.remove()
    return result
    ### END SOLUTION


def recovered(patched: Tensor, clean: Tensor, corrupted: Tensor) -> Tensor:
    """Return how much of the way from the corrupted to the clean number a patch brings back, for every element.

    0 where the clean and the corrupted number are equal: there is nothing to bring back.
    """
    # TODO ex35: a quotient of two differences, without a division by 0.
    ### BEGIN SOLUTION
    way = clean - corrupted
    is_none = way == 0
    return torch.where(is_none, 0.0, (patched - corrupted) / torch.where(is_none, 1.0, way))
    ### END SOLUTION


def induction_scores(weights: Tensor, period: int) -> Tensor:
    """Return the induction score (H,) of each head, for texts that repeat themselves with a period.

    `weights` (B, H, T, T) are the attention weights: [..., i, j] is the weight that position i gives to position j. The
    score is the mean weight from i to i - period + 1, over all i from `period` on and all texts.
    """
    # TODO ex35: the weights at i - period + 1, for the positions that have such a token, and their mean.
    ### BEGIN SOLUTION
    later = weights[..., period:, :]  # (B, H, T - P, T): row r is position r + P, so its column is r + 1
    return torch.diagonal(later, offset=1, dim1=-2, dim2=-1).mean(dim=(0, 2))
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train the language model of ex11 on a text that repeats itself, and let `play attention` show its
# heads. Find the head with the highest induction score. Take it away with `without_heads`. How much
# worse does the model continue the text?
