# %% [markdown]
# # ex36: a kernel
#
# Every call of PyTorch reads its inputs from the memory of the device and writes its result there.
# A softmax of four calls reads and writes the same numbers four times. The arithmetic takes much
# less time than the memory. A *kernel* does all four steps on numbers that it has read once. ex24
# did this for attention, in PyTorch. Here you write the kernels themselves, in
# [Triton](https://triton-lang.org), a language inside Python that compiles for GPUs (Tillet et al.
# 2019, "Triton: an intermediate language and compiler for tiled neural network computations").
#
# **You need Triton.** It exists for Linux: `pip install triton`, or the extra `triton` of this kit.
# Nobody needs this exercise for full marks: without Triton, `course` leaves it out.
#
# **Programs.** A launch `kernel[grid](...)` starts one *program* for each place of the grid. All of
# them run the same function. `tl.program_id(0)` tells a program which one it is. Here, a program
# computes one row of a softmax, or one tile of a product.
#
# **Blocks.** A program works on blocks of numbers, not on single ones. The length of a block is a
# power of two. It is known before the kernel runs (`tl.constexpr`). So a row of 29 numbers needs a
# block of 32, and 3 places are too many.
#
# **Pointers.** A kernel gets the address of a tensor's first number, and no shape. Number `[i, j]`
# is at `pointer + i * stride(0) + j * stride(1)`. An *offset* is what you add to the pointer. The
# offsets of a tile are a column of row offsets plus a row of column offsets:
#
# $$\text{rows}[:, \text{None}] \cdot s_0 + \text{columns}[\text{None}, :] \cdot s_1$$
#
# **Masks.** Nothing stops a program at the end of a row. Without a mask it reads the next row, or
# memory of something else, and writes there too. `tl.load(..., mask=mask, other=value)` reads
# nothing where the mask is false, and puts `value` there. For a maximum, `other` must be $-\infty$.
# For a sum, it must be 0.
#
# **The interpreter.** With `TRITON_INTERPRET=1`, Triton runs the programs one after another in
# NumPy, on the CPU. It is slow, but you can use `print` in a kernel. The checks run your kernels
# so, and they look at every address that a program reads or writes. On a machine with an NVIDIA
# GPU, start Python with `TRITON_INTERPRET=0`, and call your functions with tensors on `cuda`.
# Then Triton compiles your kernels for the GPU. The checks do not do that.
#
# **Triton you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`tl.program_id(axis)`] | the place of this program in the grid |
# | [`tl.arange(0, n)`] | the numbers 0 to n - 1; n is a power of two |
# | [`tl.load(pointers, mask, other)`] | reads a block |
# | [`tl.store(pointers, values, mask)`] | writes a block; it converts to the dtype of the pointer |
# | [`tl.max(x, axis)`] [`tl.sum(x, axis)`] | one number for a block, or for each of its rows |
# | [`tl.exp(x)`] | for float32 |
# | [`tl.zeros(shape, dtype)`] | a block of zeros |
# | [`tl.dot(a, b, acc)`] | `acc` plus the product of two tiles; each side has at least 16 numbers |
# | [`triton.cdiv(n, block)`] | how many blocks `n` numbers need |
#
# [`tl.program_id(axis)`]: https://triton-lang.org/main/python-api/generated/triton.language.program_id.html
# [`tl.arange(0, n)`]: https://triton-lang.org/main/python-api/generated/triton.language.arange.html
# [`tl.load(pointers, mask, other)`]: https://triton-lang.org/main/python-api/generated/triton.language.load.html
# [`tl.store(pointers, values, mask)`]: https://triton-lang.org/main/python-api/generated/triton.language.store.html
# [`tl.max(x, axis)`]: https://triton-lang.org/main/python-api/generated/triton.language.max.html
# [`tl.sum(x, axis)`]: https://triton-lang.org/main/python-api/generated/triton.language.sum.html
# [`tl.exp(x)`]: https://triton-lang.org/main/python-api/generated/triton.language.exp.html
# [`tl.zeros(shape, dtype)`]: https://triton-lang.org/main/python-api/generated/triton.language.zeros.html
# [`tl.dot(a, b, acc)`]: https://triton-lang.org/main/python-api/generated/triton.language.dot.html
# [`triton.cdiv(n, block)`]: https://triton-lang.org/main/python-api/generated/triton.language.cdiv.html
#
# And `triton.next_power_of_2(n)` is the smallest power of two that is not below `n`.
#
# **Traps.** A mask of the rows alone lets the columns run out. `tl.exp` refuses float16, so
# convert with `.to(tl.float32)` after the load. A sum of float16 products needs a float32
# accumulator: it may pass 65504 on the way. The interpreter of Triton 3.9 multiplies bfloat16 and
# float64 wrongly in `tl.dot`. So the products here are of float32 and float16. On a GPU, `tl.dot`
# rounds float32 to TF32 unless you add `input_precision="ieee"`. And `torch.empty` holds any
# numbers: what no program writes stays so. The checks fill it with NaN.
#
# **Not allowed:** what does this work in one call. In PyTorch that is every softmax, product,
# linear layer, GELU and attention, `torch.exp`, and the operator `@`. In Triton it is `tl.softmax`.
#
# The tutorials of Triton explain both kernels further ("Fused Softmax", "Matrix Multiplication").

# %% [markdown]
# ## By hand
#
# **A softmax.** A row has 3 numbers, so the block has 4. It is contiguous, so row 1 of a matrix
# (2, 3) begins at offset 3:
#
# ```text
#   offsets in the row    0      1      2      3
#   mask: offset < 3      true   true   true   false
#   loaded                0      0.69   0      -inf
#   exp(x - max)          0.5    1      0.5    0         the sum is 2
#   stored                0.25   0.5    0.25   (nothing)
# ```
#
# With `other=0`, the last place would be `exp(0 - 0.69) = 0.5`, and the sum 2.5.
#
# **A product.** `a` is (20, 40), `b` is (40, 20), and the block is 16. The result needs 2 tiles in
# each direction, since 20 / 16 is rounded up. So 4 programs run. Program (1, 0) has the rows 16 to
# 31 and the columns 0 to 15. Its mask keeps the rows 16 to 19. Each program takes 3 steps of 16
# along the 40. In the last step only 8 of 16 numbers are there, and the others must count as 0.
#
# **GELU.** `gelu(x) = x / 2 * (1 + erf(x / √2))`, so `gelu(0) = 0`, and `gelu(1) = 0.8413`.

# %%
import os

os.environ.setdefault("TRITON_INTERPRET", "1")  # before the import of triton, which reads it

import torch
import triton
import triton.language as tl
from torch import Tensor


# %%
@triton.jit
def softmax_kernel(y, x, y_row, y_column, x_row, x_column, columns, BLOCK: tl.constexpr):
    """Write the softmax of one row of `x` to the same row of `y`, for the program of this row.

    `x` and `y` are pointers. The next four are strides: how far the next row, and the next column, is. A row has
    `columns` numbers, and BLOCK is a power of two that is not below.
    """
    # TODO ex36: a block of offsets, a masked load, the softmax in float32, and a masked store.
    ### BEGIN SOLUTION
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    block = tl.load(x + row * x_row + offsets * x_column, mask=mask, other=-float("inf")).to(tl.float32)
    shares = tl.exp(block - tl.max(block, axis=0))
    tl.store(y + row * y_row + offsets * y_column, shares / tl.sum(shares, axis=0), mask=mask)
    ### END SOLUTION


def softmax(x: Tensor) -> Tensor:
    """Return the softmax of each row of `x` (R, C), in its dtype and on its device. One program computes one row.

    `x` is float32, float16 or bfloat16, and may be any view: its strides say where the numbers are. The program
    computes in float32.
    """
    # TODO ex36: an empty result, the block size, and a launch with a program for each row.
    ### BEGIN SOLUTION
    rows, columns = x.shape
    y = torch.empty(rows, columns, dtype=x.dtype, device=x.device)
    softmax_kernel[(rows,)](y, x, *y.stride(), *x.stride(), columns, BLOCK=triton.next_power_of_2(columns))
    return y
    ### END SOLUTION


# %%
@triton.jit
def gelu(x):
    """Return x / 2 * (1 + erf(x / √2)) of each number of a block. Kernels can call it."""
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def matmul_kernel(
    c, a, b, bias, M, N, K, c_row, c_column, a_row, a_column, b_row, b_column, BLOCK: tl.constexpr, FUSED: tl.constexpr
):
    """Write one tile (BLOCK, BLOCK) of the product of `a` (M, K) and `b` (K, N) to `c` (M, N).

    `c`, `a`, `b` and `bias` are pointers. Program (i, j) has the rows from i * BLOCK on and the columns from j * BLOCK
    on. It adds the products of tiles along K in float32. If FUSED, it writes gelu(product + bias), where `bias` has N
    numbers, one after another. If not, `bias` is None.
    """
    # TODO ex36: the rows and columns of this program, a loop along K with masked loads, and a masked store.
    ### BEGIN SOLUTION
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        inner = start + tl.arange(0, BLOCK)
        mask_a = (rows[:, None] < M) & (inner[None, :] < K)
        mask_b = (inner[:, None] < K) & (columns[None, :] < N)
        tile_a = tl.load(a + rows[:, None] * a_row + inner[None, :] * a_column, mask=mask_a, other=0.0)
        tile_b = tl.load(b + inner[:, None] * b_row + columns[None, :] * b_column, mask=mask_b, other=0.0)
        total = tl.dot(tile_a, tile_b, total)
    if FUSED:
        total = gelu(total + tl.load(bias + columns, mask=columns < N, other=0.0)[None, :])
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * c_row + columns[None, :] * c_column, total, mask=mask)
    ### END SOLUTION


def matmul(a: Tensor, b: Tensor, block: int = 16) -> Tensor:
    """Return the product (M, N) of `a` (M, K) and `b` (K, N), in the dtype and on the device of `a`.

    One program computes one tile (block, block) of the result. `block` is 16, 32 or 64, and need not divide M, N or K.
    `a` and `b` are float32 or float16, and may be any views. If their K differ, a ValueError says both.
    """
    # TODO ex36: an empty result, a grid with two axes, and a launch with all strides.
    ### BEGIN SOLUTION
    (M, K), (inner, N) = a.shape, b.shape
    if inner != K:
        raise ValueError(f"a has {K} columns, and b has {inner} rows")
    c = torch.empty(M, N, dtype=a.dtype, device=a.device)
    grid = (triton.cdiv(M, block), triton.cdiv(N, block))
    strides = (*c.stride(), *a.stride(), *b.stride())
    matmul_kernel[grid](c, a, b, None, M, N, K, *strides, BLOCK=block, FUSED=False)
    return c
    ### END SOLUTION


def linear_gelu(x: Tensor, weight: Tensor, bias: Tensor, block: int = 16) -> Tensor:
    """Return gelu(x @ weightᵀ + bias) for `x` (M, D), `weight` (F, D) and `bias` (F), in one launch of one kernel.

    `weight` and `bias` are those of `nn.Linear`. The sum never goes to memory: a program adds the bias and applies
    `gelu` in float32 before it writes its tile. The rest is as with `matmul`.
    """
    # TODO ex36: the launch of matmul, with the strides of weightᵀ and a bias.
    ### BEGIN SOLUTION
    (M, D), F = x.shape, weight.shape[0]
    y = torch.empty(M, F, dtype=x.dtype, device=x.device)
    grid = (triton.cdiv(M, block), triton.cdiv(F, block))
    strides = (*y.stride(), *x.stride(), weight.stride(1), weight.stride(0))
    matmul_kernel[grid](y, x, weight, bias, M, F, D, *strides, BLOCK=block, FUSED=True)
    return y
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Two matrices (1024, 1024) are multiplied with `block=16`. How many numbers does a program read?
# And all programs together? How many do they read with `block=64`? That is why tiles are large.
# Then add a mask to the softmax so that row `i` sees the columns up to `i` only. You now have the
# middle of attention in one kernel, and ex24 shows the rest.
