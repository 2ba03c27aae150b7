# One reshape, one permute, one reshape; positions in float32 as in timm.
import torch
import torch.nn as nn
import torch.nn.functional as F


def patchify(imgs, p):
    n, c, height, width = imgs.shape
    if height % p != 0 or width % p != 0:
        raise ValueError(f"image of {height} x {width}, patches of {p}")
    h, w = height // p, width // p
    x = imgs.reshape(n, c, h, p, w, p)
    x = torch.einsum("nchpwq->nhwcpq", x)
    return x.reshape(n, h * w, c * p * p)


def unpatchify(x, p, hw):
    h, w = hw
    if h * w != x.shape[1]:
        raise ValueError(f"{x.shape[1]} patches, but the grid is {h} x {w}")
    c = x.shape[2] // (p * p)
    x = x.reshape(x.shape[0], h, w, c, p, p)
    x = torch.einsum("nhwcpq->nchpwq", x)
    return x.reshape(x.shape[0], c, h * p, w * p)


def linear_from_convolution(weight):
    return weight.view(weight.shape[0], -1)


def resize_positions(posemb, old, new):
    prefix, posemb = posemb[:, :1], posemb[:, 1:]
    if posemb.shape[1] != old[0] * old[1]:
        raise ValueError(f"positions: {posemb.shape[1]}, grid: {old[0]} x {old[1]}")
    dtype = posemb.dtype
    posemb = posemb.float().reshape(1, old[0], old[1], -1).permute(0, 3, 1, 2)
    posemb = F.interpolate(posemb, size=(new[0], new[1]), mode="bicubic", antialias=False)
    posemb = posemb.permute(0, 2, 3, 1).reshape(1, new[0] * new[1], -1).to(dtype)
    return torch.cat([prefix, posemb], dim=1)


class PatchEmbedding(nn.Module):
    def __init__(self, image_size, patch_size, channels, d_model):
        super().__init__()
        height, width = image_size
        if height % patch_size or width % patch_size:
            raise ValueError(f"image_size {height} x {width} is not made of patches of {patch_size}")
        self.p = patch_size
        self.size = height // patch_size, width // patch_size
        self.projection = nn.Linear(channels * patch_size * patch_size, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.empty(1, self.size[0] * self.size[1] + 1, d_model))
        nn.init.trunc_normal_(self.positions, std=0.02)

    def forward(self, x):
        new = x.shape[2] // self.p, x.shape[3] // self.p
        x = self.projection(patchify(x, self.p))
        cls = self.class_token.repeat(x.shape[0], 1, 1)
        pos = self.positions
        if new != self.size:
            pos = resize_positions(pos, self.size, new)
        return torch.cat((cls, x), dim=1) + pos
