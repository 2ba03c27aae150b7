# All parameters of a group at once, by torch._foreach; the schedule as a table of cases.
import math

import torch
from ex13_training import sequence_loss


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        values = {"lr": lr, "eps": eps, "weight_decay": weight_decay}
        wrong = [f"{name}={value}" for name, value in values.items() if not value >= 0]
        wrong += [f"beta={beta}" for beta in betas if beta < 0 or beta >= 1]
        if wrong:
            raise ValueError(", ".join(wrong))
        super().__init__(params, {**values, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.set_grad_enabled(True):
                loss = closure()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if not params:
                continue
            gradients = [p.grad for p in params]
            for p in params:
                if "count" not in self.state[p]:
                    self.state[p]["count"] = 0.0
                    self.state[p]["exp_avg"] = torch.zeros_like(p)
                    self.state[p]["exp_avg_sq"] = torch.zeros_like(p)
                self.state[p]["count"] += 1
            counts = [self.state[p]["count"] for p in params]
            averages = [self.state[p]["exp_avg"] for p in params]
            squares = [self.state[p]["exp_avg_sq"] for p in params]
            b1, b2 = group["betas"]
            torch._foreach_mul_(params, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_lerp_(averages, gradients, 1 - b1)
            torch._foreach_mul_(squares, b2)
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - b2)
            roots = torch._foreach_sqrt(squares)
            torch._foreach_div_(roots, [math.sqrt(1 - b2**t) for t in counts])
            torch._foreach_add_(roots, group["eps"])
            torch._foreach_addcdiv_(params, averages, roots, [-group["lr"] / (1 - b1**t) for t in counts])
        return loss


def cosine_learning_rate(step, max_learning_rate, min_learning_rate, warmup_steps, total_steps):
    if warmup_steps > total_steps:
        raise ValueError(f"warmup {warmup_steps}, total {total_steps}")
    falling = total_steps - warmup_steps
    if warmup_steps > 0 and step < warmup_steps:
        return max_learning_rate * (step / warmup_steps)
    progress = min(1.0, (step - warmup_steps) / falling) if falling else 1.0
    middle, half = (max_learning_rate + min_learning_rate) / 2, (max_learning_rate - min_learning_rate) / 2
    return middle + half * math.cos(progress * math.pi)


def accumulated_step(model, optimizer, parts, pad_idx=0, max_grad_norm=None):
    if not parts:
        raise ValueError("parts is empty")
    real = torch.stack([part[:, 1:].ne(pad_idx).sum() for part in parts])
    weights = (real / real.sum()).tolist()
    model.train()
    for parameter in model.parameters():
        parameter.grad = None
    losses = []
    for part, weight in zip(parts, weights, strict=True):
        loss = sequence_loss(model(part[:, :-1]), part[:, 1:], pad_idx=pad_idx)
        (weight * loss).backward()
        losses.append(weight * loss.detach().item())
    if max_grad_norm is not None:
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norm = torch.stack([g.norm() for g in gradients]).norm()
        if norm > max_grad_norm:
            for g in gradients:
                g.mul_(max_grad_norm / (norm + 1e-6))
    optimizer.step()
    return math.fsum(losses)
