# A function computes the change; the class is a thin shell, and the layer is copied through its state dict.
import torch
from torch import nn


def change(a, b, factor):
    return b.mul(factor).matmul(a)


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        if rank < 1:
            raise ValueError(f"rank = {rank}; it must be positive")
        w = linear.weight.detach()
        self.linear = linear
        self.lora_A = nn.Parameter(nn.init.xavier_normal_(w.new_empty(rank, w.shape[1])))
        self.lora_B = nn.Parameter(w.new_zeros((w.shape[0], rank)))
        self.factor = alpha / rank
        for each in linear.parameters():
            each.requires_grad_(False)

    def forward(self, x):
        y = self.linear(x)
        return y + torch.matmul(torch.matmul(x, self.lora_A.mT), self.lora_B.mT).mul(self.factor)

    def merge(self):
        state = {name: value.clone() for name, value in self.linear.state_dict().items()}
        state["weight"] += change(self.lora_A.detach(), self.lora_B.detach(), self.factor)
        merged = nn.Linear(self.linear.in_features, self.linear.out_features, "bias" in state)
        merged.to(state["weight"]).load_state_dict(state)
        return merged


def add_lora(model, rank, alpha, targets=("q_proj", "v_proj")):
    names = []
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for name, module in tuple(model.named_modules()):
        if not isinstance(module, nn.Linear):
            continue
        holder, last = name.split(".")[:-1], name.split(".")[-1]
        if last not in targets:
            continue
        names.append(name)
        setattr(model.get_submodule(".".join(holder)), last, LoRALinear(module, rank, alpha))
    return names
