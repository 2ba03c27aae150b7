# %% [markdown]
# # ex34: image patches
#
# A Transformer reads a sequence of vectors. A text has tokens. An image has pixels: far too many of
# them for attention. So the *Vision Transformer* (ViT) cuts an image into square *patches*. Each
# patch becomes one vector, and the rest of the model stays as it is. Source: Dosovitskiy et al.
# 2020, "An Image is Worth 16x16 Words", section 3.1.
#
# PyTorch stores images as `(B, C, H, W)`: batch, channel, row, column. $P$ is the side of a patch.
# There are $N = (H / P) \cdot (W / P)$ patches, and each has $C \cdot P^2$ numbers. Take 224 × 224
# pixels, 3 channels and $P = 16$: that is 14 · 14 = 196 patches of 768 numbers.
#
# **Two orders.** The patches come row by row, from the top left one. In a patch, the numbers come
# by channel, then by row, then by column. A convolution's weight `(D, C, P, P)` has the same order.
# So a convolution with kernel $P$ and stride $P$ is a linear layer on patches. Most libraries use
# the convolution, as it is fast. Here you cut by hand.
#
# **Not allowed:** `torch.ops`, and the packages `einops`, `timm` and `torchvision`. The same holds
# for every `conv`, fold (`nn.Unfold`, `im2col`, `col2im`) and pixel shuffle of PyTorch.
#
# *Other conventions*: the code of MAE (He et al. 2021) has row, column, channel in a patch. A model
# that was trained with one order is useless with the other.
#
# **The class token.** One more vector stands before the patches. It is a parameter, the same for
# every image. At the end of the model, its output stands for the whole image, as in BERT.
#
# **Positions.** Attention does not know where a patch is. So each of the $1 + N$ places has a
# learned vector, which is added. The first one belongs to the class token.
#
# **Another image size.** A model was trained on 224 × 224 pixels, and an image has 384 × 384. That
# is 24 · 24 patches, and the model has too few positions. The $N$ positions form a grid, as the
# patches do. So the grid is resized like an image with $D$ channels (section 3.2 of the paper).
# The class token has no place in the grid, and its position stays as it is.
#
# This course follows DeiT (Touvron et al. 2021, "Training data-efficient image transformers"):
# bicubic interpolation with `align_corners=False`. *Other conventions*: newer versions of timm use
# `antialias=True`, which has another cubic kernel and smooths before a grid gets smaller. Its early
# versions were bilinear. Qwen3-VL in Transformers is bilinear with `align_corners=True`.
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`x.reshape(*sizes)`] | the same numbers in the same order, with other axes |
# | [`x.permute(*axes)`] | puts the axes in another order |
# | [`x.unflatten(dim, sizes)`], [`x.flatten(start, end)`] | splits one axis; joins several axes |
# | [`nn.functional.interpolate(x, size, mode=...)`] | resizes the last two axes of `(B, C, H, W)` |
# | [`torch.cat(tensors, dim)`] | joins tensors along an axis |
# | [`x.expand(*sizes)`] | repeats axes of size 1, without a copy |
# | [`nn.Parameter(tensor)`] | a tensor that the module trains |
#
# [`x.reshape(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.reshape.html
# [`x.permute(*axes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.permute.html
# [`x.unflatten(dim, sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.unflatten.html
# [`x.flatten(start, end)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.flatten.html
# [`nn.functional.interpolate(x, size, mode=...)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
# [`torch.cat(tensors, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
# [`x.expand(*sizes)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.expand.html
# [`nn.Parameter(tensor)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
#
# **Traps.** `images.reshape(B, N, -1)` has the right shape, and no patch in it: a reshape never
# moves a number. First split each axis in two, then permute, then join. Rows and columns are mixed
# up easily, and a square image hides it. So test with images that are not square.

# %% [markdown]
# ## One image, by hand
#
# A grey image of 4 × 4 pixels, and patches of 2 × 2:
#
# ```text
#    0  1 |  2  3          patch 0    0  1  4  5
#    4  5 |  6  7          patch 1    2  3  6  7
#   ------+------          patch 2    8  9 12 13
#    8  9 | 10 11          patch 3   10 11 14 15
#   12 13 | 14 15
# ```
#
# The axes of the same numbers, step by step, for one image with one channel:
#
# ```text
#   image             (1, 4, 4)            channel, row, column
#   axes split        (1, 2, 2, 2, 2)      channel, patch row, row, patch column, column
#   axes permuted     (2, 2, 1, 2, 2)      patch row, patch column, channel, row, column
#   axes joined       (4, 4)               patch, number
# ```
#
# A patch with two channels, `[[1 2] [3 4]]` and `[[5 6] [7 8]]`, is `1 2 3 4 5 6 7 8`. In the order
# of MAE it would be `1 5 2 6 3 7 4 8`.
#
# A grid of 2 × 2 patches has the positions `1 2` and `3 4`. The class token has the position `9`.
# For a grid of 2 × 4, bicubic interpolation gives:
#
# ```text
#   class token   9
#   row 0         0.895 1.227 1.773 2.105
#   row 1         2.895 3.227 3.773 4.105
# ```
#
# The first number is below 1: bicubic interpolation goes on beyond the outer ones. Bilinear gives
# `1 1.25 1.75 2`.

# %%
import torch
from torch import Tensor, nn

# %% [markdown]
# ## Patches


# %%
def patchify(images: Tensor, patch_size: int) -> Tensor:
    """Return the patches (B, N, C * P * P) of images (B, C, H, W), where P is `patch_size` and N = (H / P) * (W / P).

    Patches come row by row. The numbers of a patch come by channel, then row, then column. If P does not divide H or
    W, a ValueError has that size and P.
    """
    # TODO ex34: refuse sizes that do not fit; split rows and columns, permute, and join the axes.
    raise NotImplementedError("ex34: patchify")


def unpatchify(patches: Tensor, patch_size: int, grid: tuple[int, int]) -> Tensor:
    """Return the images (B, C, H, W) whose patches (B, N, C * P * P) are these.

    `grid` has the rows and the columns of patches: H / P and W / P. If N is not their product, a ValueError has N and
    both numbers.
    """
    # TODO ex34: refuse a grid that does not fit; then go the way of patchify back.
    raise NotImplementedError("ex34: unpatchify")


def linear_from_convolution(weight: Tensor) -> Tensor:
    """Return the weight (D, C * P * P) of the linear layer on patches that equals a convolution with stride P.

    The `weight` of the convolution is (D, C, P, P).
    """
    # TODO ex34: which order do the numbers of a patch have?
    raise NotImplementedError("ex34: linear_from_convolution")


# %% [markdown]
# ## Positions of another grid


# %%
def resize_positions(positions: Tensor, old_grid: tuple[int, int], new_grid: tuple[int, int]) -> Tensor:
    """Return positions (1, 1 + M, D) for a grid of patches with other sizes, from positions (1, 1 + N, D).

    Args:
        positions: that of the class token, then those of the patches, row by row.
        old_grid: the rows and the columns of the patches: N = rows * columns. If not, a ValueError has N and both
            numbers.
        new_grid: the same of the result, with M = rows * columns.

    The position of the class token stays. The others are interpolated: bicubic, `align_corners=False`, without
    `antialias`.
    """
    # TODO ex34: take the class token's position apart; make the others an image, resize it, and join both again.
    raise NotImplementedError("ex34: resize_positions")


# %% [markdown]
# ## The tokens of an image


# %%
class PatchEmbedding(nn.Module):
    """Turn images into the tokens that a Transformer reads.

    Args:
        image_size: rows and columns of pixels, H and W. If patch_size does not divide one of them, a ValueError has
            that size and patch_size.
        patch_size: P, the side of a patch.
        channels: C.
        d_model: D, the size of a token.

    Attributes:
        projection: an `nn.Linear` from the numbers of a patch to D, with a bias.
        class_token: a parameter (1, 1, D).
        positions: a parameter (1, 1 + N, D), that of the class token first. Both begin as you like.
    """

    def __init__(self, image_size: tuple[int, int], patch_size: int, channels: int, d_model: int) -> None:
        super().__init__()
        # TODO ex34: refuse sizes that do not fit, store the grid, and make the three attributes.
        raise NotImplementedError("ex34: PatchEmbedding.__init__")

    def forward(self, images: Tensor) -> Tensor:
        """Return tokens (B, 1 + N, D): the class token, then the projected patches, all plus their positions.

        Images (B, C, H, W) of another size than `image_size` get resized positions; the parameter stays.
        """
        # TODO ex34: project the patches, put the class token before them, and add positions of the right grid.
        raise NotImplementedError("ex34: PatchEmbedding.forward")


# %% [markdown]
# ## Try
#
# Take a photo of your own as a tensor, or draw one with `torch.linspace`. Cut it, shuffle its
# patches with `torch.randperm`, and put it together again. Then give the tokens to the encoder of
# ex08: it needs no change. What happens to its output if you shuffle the patches, without positions
# and with them?
