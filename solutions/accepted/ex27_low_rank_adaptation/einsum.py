# Everything as einsum; the factors are drawn in float32 and cast; the bias is added by hand.
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        if rank < 1:
            raise ValueError(f"rank {rank} is below 1")
        self.linear = linear
        self.linear.requires_grad_(False)
        like = {"device": linear.weight.device, "dtype": linear.weight.dtype}
        a = torch.empty(rank, linear.in_features).normal_(std=1 / rank)
        self.lora_A = nn.Parameter(a.to(**like))
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank).to(**like))
        self.share = math.prod((alpha, 1 / rank))

    def forward(self, x):
        out = torch.einsum("...i,oi->...o", x, self.linear.weight)
        out = out + self.share * torch.einsum("...i,ri,or->...o", x, self.lora_A, self.lora_B)
        return out if self.linear.bias is None else out + self.linear.bias

    def merge(self):
        weight = self.linear.weight + self.share * torch.einsum("ri,or->oi", self.lora_A, self.lora_B)
        merged = nn.utils.skip_init(nn.Linear, weight.size(1), weight.size(0), self.linear.bias is not None)
        state = {"weight": weight.detach()}
        if self.linear.bias is not None:
            state["bias"] = self.linear.bias.detach()
        merged = merged.to(weight.device, weight.dtype)
        merged.load_state_dict(state)
        return merged


def add_lora(model, rank, alpha, targets=("q_proj", "v_proj")):
    model.requires_grad_(False)
    layers = dict(model.named_modules())
    wanted = [name for name, each in layers.items() if isinstance(each, nn.Linear) and name.split(".").pop() in targets]
    for name in wanted:
        parts = name.split(".")
        layers[".".join(parts[:-1])].add_module(parts[-1], LoRALinear(layers[name], rank, alpha))
    return wanted
