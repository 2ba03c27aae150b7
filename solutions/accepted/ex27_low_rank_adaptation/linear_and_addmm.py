# F.linear twice, scaled in between; the holders are listed with their parts, and replaced afterwards.
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        if not rank >= 1:
            raise ValueError(f"expected a rank of 1 or more, got {rank}")
        _out, inside = linear.weight.shape
        start = torch.rand(rank, inside).sub(0.5).to(linear.weight)
        self.register_parameter("lora_A", nn.Parameter(start))
        self.register_parameter("lora_B", nn.Parameter(torch.zeros_like(linear.weight[:, :1]).repeat(1, rank)))
        self.add_module("linear", linear)
        linear.weight.requires_grad_(False)
        if linear.bias is not None:
            linear.bias.requires_grad_(False)
        self.scale = float(alpha) / rank

    def forward(self, x: Tensor) -> Tensor:
        small = F.linear(x, self.lora_A) * self.scale
        return F.linear(small, self.lora_B) + self.linear(x)

    def merge(self) -> nn.Linear:
        with torch.no_grad():
            summed = torch.addmm(self.linear.weight, self.lora_B, self.lora_A, alpha=self.scale)
        layer = nn.Linear(*reversed(summed.shape), bias=self.linear.bias is not None)
        layer.weight = nn.Parameter(summed)
        if self.linear.bias is not None:
            layer.bias = nn.Parameter(self.linear.bias.detach().clone())
        return layer


def add_lora(model, rank, alpha, targets=("q_proj", "v_proj")):
    for parameter in model.parameters():
        parameter.requires_grad = False
    places = []
    for path, holder in model.named_modules():
        for name, part in holder.named_children():
            if name in targets and isinstance(part, nn.Linear):
                places.append((f"{path}.{name}" if path else name, holder, name, part))
    order = {name: at for at, (name, _) in enumerate(model.named_modules())}
    for _, holder, name, part in places:
        setattr(holder, name, LoRALinear(part, rank, alpha))
    return sorted((name for name, *_ in places), key=order.__getitem__)
