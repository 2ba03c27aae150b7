# The product B A first, as one matrix for F.linear; the model is searched by recursion.
import torch
import torch.nn.functional as F
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        if rank <= 0:
            raise ValueError(f"a rank of {rank} leaves nothing to learn")
        self.linear = linear
        for parameter in self.linear.parameters():
            parameter.requires_grad = False
        options = {"dtype": linear.weight.dtype, "device": linear.weight.device}
        self.lora_A = nn.Parameter(torch.empty(rank, linear.in_features, **options))
        self.lora_B = nn.Parameter(torch.zeros(linear.out_features, rank, **options))
        nn.init.kaiming_uniform_(self.lora_A, a=5**0.5)
        self.rank, self.alpha = rank, alpha

    def weight(self):
        return self.linear.weight + (self.lora_B @ self.lora_A) * (self.alpha / self.rank)

    def forward(self, x):
        return F.linear(x, self.weight(), self.linear.bias)

    @torch.no_grad()
    def merge(self):
        old = self.linear
        new = nn.Linear(old.in_features, old.out_features, old.bias is not None).to(old.weight)
        new.weight.data = self.weight()
        if old.bias is not None:
            new.bias.data = old.bias.clone()
        return new


def add_lora(model, rank, alpha, targets=("q_proj", "v_proj")):
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return replaced(model, "", rank, alpha, set(targets))


def replaced(module, prefix, rank, alpha, targets):
    names = []
    for name, part in list(module.named_children()):
        if isinstance(part, nn.Linear) and name in targets:
            setattr(module, name, LoRALinear(part, rank, alpha))
            names.append(prefix + name)
        else:
            names += replaced(part, f"{prefix}{name}.", rank, alpha, targets)
    return names
