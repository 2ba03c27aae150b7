# Every patch is a slice of the image, and the class token is written into a tensor of tokens.
import torch
from torch import nn


def corners(rows, columns, side):
    return [(row * side, column * side) for row in range(rows) for column in range(columns)]


def whole(number, side, of):
    quotient, rest = divmod(number, side)
    if rest:
        raise ValueError(f"{of} {number} is no multiple of the patch size {side}")
    return quotient


def patchify(images, patch_size):
    rows, columns = whole(images.size(-2), patch_size, "height"), whole(images.size(-1), patch_size, "width")
    cut = [
        images[..., top : top + patch_size, left : left + patch_size].reshape(len(images), -1)
        for top, left in corners(rows, columns, patch_size)
    ]
    return torch.stack(cut, dim=1)


def unpatchify(patches, patch_size, grid):
    number = patches.size(1)
    if number != grid[0] * grid[1]:
        raise ValueError(f"cannot put {number} patches into {grid[0]} times {grid[1]} places")
    lines = []
    for row in range(grid[0]):
        line = patches[:, row * grid[1] : (row + 1) * grid[1]]
        squares = [one.reshape(len(patches), -1, patch_size, patch_size) for one in line.unbind(1)]
        lines.append(torch.cat(squares, dim=3))
    return torch.cat(lines, dim=2)


def linear_from_convolution(weight):
    return torch.stack([kernel.reshape(-1) for kernel in weight])


def resize_positions(positions, old_grid, new_grid):
    token, *others = positions[0].unbind(0)
    if len(others) != old_grid[0] * old_grid[1]:
        raise ValueError(f"{len(others)} positions cannot be a grid of {old_grid[0]} times {old_grid[1]}")
    picture = torch.stack(others, dim=-1).unflatten(-1, tuple(old_grid)).unsqueeze(0)
    upsample = nn.Upsample(size=tuple(new_grid), mode="bicubic")
    return torch.cat([token.unsqueeze(0), upsample(picture)[0].flatten(1).t()]).unsqueeze(0)


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, channels, d_model):
        super().__init__()
        self.side = patch_size
        self.grid = tuple(whole(size, patch_size, "side") for size in image_size)
        places = 1 + self.grid[0] * self.grid[1]
        self.projection = nn.Linear(channels * patch_size * patch_size, d_model)
        self.register_parameter("class_token", nn.Parameter(torch.randn(1, 1, d_model)))
        self.register_parameter("positions", nn.Parameter(torch.randn(1, places, d_model)))

    def forward(self, images):
        patches = self.projection(patchify(images, self.side))
        grid = tuple(size // self.side for size in images.shape[-2:])
        tokens = resize_positions(self.positions, self.grid, grid).repeat(len(images), 1, 1)
        tokens[:, 0] = tokens[:, 0] + self.class_token[0, 0]
        tokens[:, 1:] = tokens[:, 1:] + patches
        return tokens
