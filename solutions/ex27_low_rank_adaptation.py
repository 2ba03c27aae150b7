# %% [markdown]
# # ex27: low-rank adaptation
#
# A trained model should learn a new task, but you cannot afford to train all of its weights. *LoRA*
# freezes the model and learns a small change for some of its matrices (Hu et al. 2021, arXiv
# 2106.09685, section 4.1, equation 3):
#
# $$h = W x + b + \frac{\alpha}{r}\,B A x$$
#
# $W$ is the trained matrix `(out, in)`, and it never changes. $A$ is `(r, in)` and $B$ is
# `(out, r)`. Their product has the shape of $W$, but its rank is at most $r$. For `in = out = 4096`
# and `r = 8`, the two have 65,536 numbers instead of 16.8 million.
#
# | tensor | shape | at the start | trained |
# |---|---|---|---|
# | `x` | `(..., in)` | | |
# | `linear.weight` $W$, `linear.bias` $b$ | `(out, in)`, `(out,)` | as they are | no |
# | `lora_A` $A$ | `(r, in)` | random | yes |
# | `lora_B` $B$ | `(out, r)` | zeros | yes |
# | result | `(..., out)` | equal to `linear(x)` | |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`p.requires_grad_(False)`] | freezes a parameter, or all parameters of a module |
# | [`w.new_zeros(shape)`], [`torch.randn_like(w)`] | a new tensor with dtype and device of `w` |
# | [`model.named_modules()`] | every module inside a model with its dotted name, such as `layers.0.attn.q_proj` |
# | [`model.get_submodule(name)`] | the module with this dotted name; `""` is the model itself |
# | `setattr(module, name, part)` | replaces a part of a module |
#
# [`p.requires_grad_(False)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.requires_grad_
# [`w.new_zeros(shape)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.new_zeros.html
# [`torch.randn_like(w)`]: https://docs.pytorch.org/docs/stable/generated/torch.randn_like.html
# [`model.named_modules()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.named_modules
# [`model.get_submodule(name)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.get_submodule
#
# **Why one of the two is zero.** With $B = 0$ the new layer computes what the old one did. So
# training starts from the trained model. The gradient of $B$ contains $A x$, which is not zero. So
# $B$ moves in the first step, and $A$ from the second on. If both were zero, both gradients would
# be zero forever. If neither were, the model would start with a random change.
#
# **The factor** $\alpha / r$ keeps the size of the change alike when you try another rank. *Other
# convention:* $\alpha / \sqrt{r}$ (rsLoRA, Kalajdzievski 2023, arXiv 2312.03732).
#
# **Merging.** $W + \frac{\alpha}{r} B A$ is one matrix. So a merged layer is as fast as the old
# one.
#
# **By hand**, with $r = 1$, $\alpha = 4$ and no bias:
#
# ```text
#   W = [1 2]     A = [1 -1]     B = [1]     x = [3 1]
#       [0 1]                        [2]
#
#   W x = [5 1]       A x = [2]       B A x = [2 4]       4/1 · B A x = [8 16]
#   result = [13 17]
#
#   merged: W + 4 B A = [1 2] + 4 · [1 -1] = [5 -2]      [5 -2] x = [13]
#                       [0 1]       [2 -2]   [8 -7]      [8 -7]     [17]
# ```
#
# In a `ModernModel` (ex22), the usual targets are `q_proj` and `v_proj` of every layer (section
# 7.1). All else is frozen, the norms and the embeddings too.
#
# **Not allowed:** the package `peft`.

# %%
from collections.abc import Sequence

import torch
from torch import Tensor, nn


# %%
class LoRALinear(nn.Module):
    """A frozen linear layer plus a trained change of low rank (Hu et al. 2021, equation 3).

    Attributes:
        linear: the given layer. Its parameters are frozen.
        lora_A: `nn.Parameter` (rank, in), random.
        lora_B: `nn.Parameter` (out, rank), zeros. Both have the dtype and the device of the layer.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        """Raise ValueError with the rank if it is below 1."""
        super().__init__()
        # TODO ex27: refuse a rank below 1. Freeze the layer and store it. Create lora_A, lora_B and the factor.
        ### BEGIN SOLUTION
        if rank < 1:
            raise ValueError(f"rank must be 1 or more, got {rank}")
        self.linear = linear.requires_grad_(False)
        weight = linear.weight  # (out, in)
        self.lora_A = nn.Parameter(torch.randn_like(weight[:1].expand(rank, -1)) / weight.size(1) ** 0.5)
        self.lora_B = nn.Parameter(weight.new_zeros(weight.size(0), rank))
        self.factor = alpha / rank
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Return linear(x) + alpha / rank * x A^T B^T: (..., out) for x (..., in)."""
        # TODO ex27: add the scaled change to the result of the frozen layer.
        ### BEGIN SOLUTION
        change = x @ self.lora_A.T @ self.lora_B.T  # (..., out)
        return self.linear(x) + self.factor * change
        ### END SOLUTION

    def merge(self) -> nn.Linear:
        """Return a new layer with the weight W + alpha / rank * B A and the same bias. Nothing here changes."""
        # TODO ex27: create a layer of the same sizes, dtype and device. Copy the summed weight and the bias into it.
        ### BEGIN SOLUTION
        weight, bias = self.linear.weight, self.linear.bias
        merged = nn.Linear(
            weight.size(1), weight.size(0), bias=bias is not None, device=weight.device, dtype=weight.dtype
        )
        with torch.no_grad():
            merged.weight.copy_(weight + self.factor * self.lora_B @ self.lora_A)
            if bias is not None:
                merged.bias.copy_(bias)
        return merged
        ### END SOLUTION


# %%
def add_lora(model: nn.Module, rank: int, alpha: float, targets: Sequence[str] = ("q_proj", "v_proj")) -> list[str]:
    """Replace layers of a model by `LoRALinear`, freeze all else, and return the names of the replaced layers.

    A layer is replaced if it is an `nn.Linear` and the last part of its name is in `targets`. The names are dotted, in
    the order of `named_modules()`.
    """
    # TODO ex27: freeze the model. Find the layers first, then replace each in the module that holds it.
    ### BEGIN SOLUTION
    model.requires_grad_(False)
    found = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in targets
    ]
    for name, linear in found:
        holder, _, last = name.rpartition(".")
        setattr(model.get_submodule(holder), last, LoRALinear(linear, rank, alpha))
    return [name for name, _ in found]
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train a small `ModernModel` on one text. Then add LoRA with rank 4, and train on another text. How
# many numbers are trained before and after? Merge the layers, and compare the logits.
#
# Set `lora_B` to zero again. Does the model still know the first text? Then train all weights on
# the second text instead. Does it still know the first one?
