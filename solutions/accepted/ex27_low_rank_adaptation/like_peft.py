# The factors are layers, as in peft; the merged layer is a deep copy.
import copy

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha):
        if rank < 1:
            raise ValueError(f"rank is {rank}")
        super().__init__()
        self.linear = linear.requires_grad_(False)
        there = {"device": linear.weight.device, "dtype": linear.weight.dtype, "bias": False}
        self.down = nn.Linear(linear.in_features, rank, **there)
        self.up = nn.Linear(rank, linear.out_features, **there)
        nn.init.zeros_(self.up.weight)
        self.scaling = alpha / rank

    def from_reference(self, state):
        self.linear.weight.data.copy_(state["linear.weight"])
        if "linear.bias" in state:
            self.linear.bias.data.copy_(state["linear.bias"])
        self.down.weight.data.copy_(state["lora_A"])
        self.up.weight.data.copy_(state["lora_B"])

    def forward(self, x):
        return self.linear(x) + self.up(self.down(x)) * self.scaling

    def merge(self):
        merged = copy.deepcopy(self.linear)
        with torch.no_grad():
            merged.weight += self.scaling * self.up.weight @ self.down.weight
        return merged


def add_lora(model, rank, alpha, targets=("q_proj", "v_proj")):
    model.requires_grad_(False)
    names = [name for name, part in model.named_modules() if type(part) is nn.Linear and name.split(".")[-1] in targets]
    for name in names:
        *path, last = name.split(".")
        holder = model
        for step in path:
            holder = getattr(holder, step)
        setattr(holder, last, LoRALinear(getattr(holder, last), rank, alpha))
    return names
