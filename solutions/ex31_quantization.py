# %% [markdown]
# # ex31: quantization
#
# A model of 7 billion weights in float16 has 14 GB. Each new token reads all of them (ex20), so
# smaller weights mean a smaller and a faster model. *Quantization* stores each weight as a small
# whole number, its **code**. A few weights share one **scale**, the size of a step.
#
# **Eight bits, symmetric.** Each output channel, a row of the weight `(O, I)`, has a scale of its
# own. The largest absolute weight of the row gets the code 127:
#
# $$s = \frac{\max |w|}{127} \qquad q = \mathrm{round}(w / s) \qquad \hat{w} = s \, q$$
#
# The codes go from -127 to 127, in int8. Source: Dettmers et al. 2022, "LLM.int8()", sections 2.1
# and 3.
#
# **Four bits, in groups, asymmetric.** Sixteen codes are few, and none should be wasted. So only
# `group_size` neighbours of a row share a scale. The range of a group goes from $l = \min(w, 0)$
# to $h = \max(w, 0)$. The weight $l$ gets the code 0, $h$ gets 15, and a weight of 0 gets the
# **zero point** $z$:
#
# $$s = \frac{h - l}{15} \qquad z = \mathrm{round}(-l / s) \qquad
# q = \mathrm{clamp}(\mathrm{round}(w / s) + z, 0, 15) \qquad \hat{w} = s \, (q - z)$$
#
# The range always contains 0, so $z$ is a code itself, and a weight of 0 stays 0. Sources: Jacob et
# al. 2018, "Quantization and Training of Neural Networks", section 2.1; Frantar et al. 2022,
# "GPTQ", section 4; Lin et al. 2023, "AWQ", which has groups of 128.
#
# **The error.** Rounding moves a number by at most a half. So $|w - \hat{w}| \le s / 2$ for every
# weight. One large weight makes $s$ large, and all weights that share it lose their digits. With
# one scale for the whole matrix, one *outlier* ruins everything. In groups it ruins its group.
#
# **Packing.** The smallest number in memory is a byte, so two codes share one. Here the first code
# is in the low four bits (the low *nibble*), the second one in the high four bits:
# `byte = first | second << 4`. If the number of codes is odd, the last high nibble is 0. A group of
# 32 weights has 16 bytes of codes, 4 of scale and 1 of zero point. That is 5.25 bits per weight.
#
# *Other conventions*: Q4_0 of llama.cpp has groups of 32 weights. A byte has code `j` of the group
# low and code `j + 16` high. It is symmetric: $\hat{w} = s \, (q - 8)$. Its Q4_1 stores the minimum
# in place of the zero point. Some libraries give a channel of zeros the scale 0. Here it is 1.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.amax(dim, keepdim)`], [`x.amin(dim, keepdim)`] | largest and smallest element along an axis |
# | [`torch.round(x)`] | to the nearest whole number; a half goes to the even one, 2.5 to 2 |
# | [`x.clamp(min, max)`], [`x.masked_fill(m, number)`] | limit numbers; replace those where `m` is True |
# | [`x.unflatten(dim, sizes)`], [`x.flatten(a, b)`] | divide an axis into several, or join some |
# | [`x.repeat_interleave(n, dim)`] | repeats each element `n` times: `a a b b` |
# | [`x & 15`], [`x << 4`] | the low four bits; all bits four places up, also `>>` |
# | [`torch.nn.functional.pad(x, (0, 1))`] | adds a 0 at the end of the last axis |
# | [`torch.stack(tensors, dim)`], [`torch.cat(tensors, dim)`] | join tensors along a new axis, or an old one |
#
# [`x.amax(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.amax.html
# [`x.amin(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.amin.html
# [`torch.round(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.round.html
# [`x.clamp(min, max)`]: https://docs.pytorch.org/docs/stable/generated/torch.clamp.html
# [`x.masked_fill(m, number)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html
# [`x.unflatten(dim, sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.unflatten.html
# [`x.flatten(a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.flatten.html
# [`x.repeat_interleave(n, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.repeat_interleave.html
# [`x & 15`]: https://docs.pytorch.org/docs/stable/generated/torch.bitwise_and.html
# [`x << 4`]: https://docs.pytorch.org/docs/stable/generated/torch.bitwise_left_shift.html
# [`torch.nn.functional.pad(x, (0, 1))`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pad.html
# [`torch.stack(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.stack.html
# [`torch.cat(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
#
# **Traps.** In uint8, `3 - 5` is 254: convert codes before you subtract the zero point. `.to(int8)`
# cuts digits off, it does not round. And 128 becomes -128 in int8.
#
# **Not allowed:** `torch.ao`, `torch.ops`, the packages `torchao` and `bitsandbytes`. The same
# holds for every function of PyTorch with `quantiz`, `fake_quant`, `qparams`, `int4pack`,
# `int8pack`, `_int_mm` or `fbgemm` in its name.

# %% [markdown]
# ## By hand
#
# A channel of four weights, with 8 bits. The scale is 2.54 / 127 = 0.02, so no error is above 0.01:
#
# ```text
#   weight         0.305 -2.54 0.075 1.00
#   weight / scale 15.25  -127  3.75   50
#   code              15  -127     4   50
#   dequantized     0.30 -2.54  0.08 1.00
# ```
#
# A row of eight weights, with 4 bits in groups of four. Both groups have a range of 1.5:
#
# ```text
#   weight        -0.6  0.0  0.9 0.23 |  0.4  1.5 0.72  1.1
#   scale                         0.1 |                 0.1
#   zero point                      6 |                   0
#   code             0    6   15    8 |    4   15    7   11
#   dequantized   -0.6  0.0  0.9  0.2 |  0.4  1.5  0.7  1.1
#   bytes                96  143      |        244  183
# ```
#
# The first byte is 0 + 16 · 6 = 96. Now let the weight 1.5 be 30, an outlier:
#
# ```text
#   in groups     -0.6  0.0  0.9  0.2 |  0.0 30.0  0.0  2.0       scales 0.1 and 2
#   in one group   0.0  0.0  0.0  0.0    0.0 30.6  0.0 2.04       scale 2.04
# ```

# %%
import torch
from torch import Tensor


# %%
def quantize_int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the codes, int8 (O, I), and the scales, float32 (O, 1), of `weight` (O, I): symmetric, one per row.

    The scale is the largest absolute weight of the row, divided by 127. A code is weight / scale, rounded to the
    nearest whole number, a half to the even one. The weight may be float32, bfloat16 or float16: it is converted to
    float32 first. A row of zeros has the scale 1 and the codes 0. Any other row uses its own scale, however small.
    """
    # TODO ex31: one scale per row, then divide and round. No row may divide by 0.
    ### BEGIN SOLUTION
    weight = weight.float()
    scale = weight.abs().amax(dim=1, keepdim=True) / 127  # (O, 1)
    scale = scale.masked_fill(scale == 0, 1.0)
    codes = torch.round(weight / scale).to(torch.int8)
    return codes, scale
    ### END SOLUTION


def quantize_int4(weight: Tensor, group_size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the codes, uint8 (O, I), scales, float32 (O, I / group_size), and zero points, uint8 like the scales.

    The groups are `group_size` neighbours of a row of `weight` (O, I). The range of a group goes from min(w, 0) to
    max(w, 0) of its weights. The scale is the range / 15, and the zero point is round(-min(w, 0) / scale). A code is
    round(w / scale) + zero point, limited to 0 ... 15. A group of zeros has the scale 1, the zero point 0 and the codes
    0. The weight is converted to float32 first. If I is no multiple of `group_size`, a ValueError names both numbers.
    """
    # TODO ex31: divide the last axis into groups. Then lowest and highest weight, scale, zero point and codes.
    ### BEGIN SOLUTION
    columns = weight.size(1)
    if columns % group_size:
        raise ValueError(f"rows of {columns} weights cannot be divided into groups of {group_size}")
    groups = weight.float().unflatten(1, (-1, group_size))  # (O, I / group_size, group_size)
    low = groups.amin(dim=-1, keepdim=True).clamp(max=0)  # (O, I / group_size, 1)
    high = groups.amax(dim=-1, keepdim=True).clamp(min=0)
    step = (high - low) / 15
    step = step.masked_fill(step == 0, 1.0)
    zero = torch.round(-low / step)
    numbers = (torch.round(groups / step) + zero).clamp(0, 15)
    return numbers.to(torch.uint8).flatten(1), step.squeeze(-1), zero.squeeze(-1).to(torch.uint8)
    ### END SOLUTION


def dequantize(codes: Tensor, scale: Tensor, zero_point: Tensor | None = None) -> Tensor:
    """Return scale * (codes - zero point) in float32, of the shape (O, I) of `codes`.

    `scale` and `zero_point` are (O, n): one number for each of n groups of neighbours in a row. `codes` are int8
    without a zero point, which then counts as 0, and uint8 with one.
    """
    # TODO ex31: repeat each scale and zero point over its group. Convert to float32 before you subtract.
    ### BEGIN SOLUTION
    group_size = codes.size(1) // scale.size(1)
    steps = codes.float()
    if zero_point is not None:
        steps = steps - zero_point.float().repeat_interleave(group_size, dim=1)
    return steps * scale.repeat_interleave(group_size, dim=1)
    ### END SOLUTION


def pack_int4(codes: Tensor) -> Tensor:
    """Return the codes 0 ... 15, uint8 (..., N), two in a byte: uint8 (..., ceil(N / 2)).

    Code 2j is the low nibble of byte j, code 2j + 1 the high one. For an odd N the last high nibble is 0.
    """
    # TODO ex31: make the number of codes even. Then join the even and the odd places.
    ### BEGIN SOLUTION
    if codes.size(-1) % 2:
        codes = torch.nn.functional.pad(codes, (0, 1))
    return codes[..., 0::2] | codes[..., 1::2] << 4
    ### END SOLUTION


def unpack_int4(packed: Tensor, length: int) -> Tensor:
    """Return the `length` codes, uint8 (..., length), that `pack_int4` packed: uint8 (..., ceil(length / 2))."""
    # TODO ex31: both nibbles of each byte, in their order, and no more than `length`.
    ### BEGIN SOLUTION
    nibbles = torch.stack([packed & 15, packed >> 4], dim=-1)  # (..., ceil(length / 2), 2)
    return nibbles.flatten(-2)[..., :length]
    ### END SOLUTION


# %% [markdown]
# ## A product without the matrix
#
# The packed weight saves memory only if the whole matrix never exists in another form. So the
# product dequantizes a few rows, uses them, and forgets them. GPU kernels do the same in registers.


# %%
def int4_matmul(x: Tensor, packed: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    """Return x @ W.T, of shape (..., O) and the dtype of `x`, for the weight W (O, I) of these packed codes.

    `x` is (..., I), `packed` is uint8 (O, ceil(I / 2)), and `scale` and `zero_point` are (O, n), as `quantize_int4`
    returns them. The product is computed in float32. No tensor on the way has O * I elements or more, of any dtype:
    the weight is unpacked and dequantized in parts, for example some rows at a time.
    """
    # TODO ex31: for some rows at a time, unpack, dequantize and multiply. Join the results.
    ### BEGIN SOLUTION
    wide, parts = x.float(), []
    for row in range(packed.size(0)):
        codes = unpack_int4(packed[row : row + 1], x.size(-1))  # (1, I)
        weight = dequantize(codes, scale[row : row + 1], zero_point[row : row + 1])
        parts.append(wide @ weight.T)  # (..., 1)
    return torch.cat(parts, dim=-1).to(x.dtype)
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Make a random weight of 256 × 256. Quantize it with 8 bits, and with 4 bits in groups of 32 and of
# 128. How large is the mean error, and how many bytes do codes, scales and zero points have? Then
# multiply one weight by 100. How does the error of the other weights grow in each case?
