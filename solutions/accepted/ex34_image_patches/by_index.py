# A table says which pixel of the flat image each number of a patch is; the inverse is its argsort.
import torch
from torch import nn
from torch.nn.functional import interpolate


def pixel_table(channels, height, width, side, device=None):
    if height % side:
        raise ValueError(f"height {height} is not divisible by {side}")
    if width % side:
        raise ValueError(f"width {width} is not divisible by {side}")
    every = torch.arange(channels * height * width, device=device).view(channels, height, width)
    columns = torch.stack(every.split(side, dim=2))  # (columns, C, H, P)
    squares = torch.stack(columns.split(side, dim=2))  # (rows, columns, C, P, P)
    return squares.reshape(-1, channels * side * side)


def patchify(images, patch_size):
    _, channels, height, width = images.shape
    table = pixel_table(channels, height, width, patch_size, images.device)
    return images.flatten(1)[:, table]


def unpatchify(patches, patch_size, grid):
    rows, columns = grid
    batch, number, size = patches.shape
    if rows * columns != number:
        raise ValueError(f"a grid of {rows} x {columns} does not have {number} patches")
    shape = size // patch_size**2, rows * patch_size, columns * patch_size
    back = pixel_table(*shape, patch_size, patches.device).flatten().argsort()
    return patches.flatten(1)[:, back].view(batch, *shape)


def linear_from_convolution(weight):
    d, c, p, q = weight.shape
    return weight.reshape(d, c * p * q)


def resize_positions(positions, old_grid, new_grid):
    (rows, columns), size = old_grid, positions.shape[-1]
    if positions.shape[1] != 1 + rows * columns:
        raise ValueError(f"{rows} x {columns} patches, {positions.shape[1] - 1} positions")
    grid = positions[0, 1:].T.reshape(1, size, rows, columns)
    new = interpolate(grid, tuple(new_grid), mode="bicubic", align_corners=False)
    return torch.cat((positions[:, 0:1], new.flatten(2).mT), 1)


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, channels, d_model):
        super().__init__()
        number, size = pixel_table(channels, *image_size, patch_size).shape
        self.image_size, self.patch_size = tuple(image_size), patch_size
        self.projection = nn.Linear(size, d_model)
        self.class_token = nn.Parameter(torch.full((1, 1, d_model), 0.01))
        self.positions = nn.Parameter(torch.zeros(1, number + 1, d_model))

    def grid_of(self, height, width):
        return height // self.patch_size, width // self.patch_size

    def forward(self, images):
        positions = self.positions
        if tuple(images.shape[2:]) != self.image_size:
            positions = resize_positions(positions, self.grid_of(*self.image_size), self.grid_of(*images.shape[2:]))
        patches = self.projection(patchify(images, self.patch_size)) + positions[:, 1:]
        first = (self.class_token + positions[:, :1]).expand(len(patches), 1, -1)
        return torch.cat([first, patches], dim=1)
