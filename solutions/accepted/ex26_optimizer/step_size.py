# The corrections are in the step size, with epsilon scaled to match; averages by lerp_ and addcmul_.
import math

import torch
from ex12_batching import teacher_forcing
from torch.nn import functional


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= betas[0] < 1.0:
            raise ValueError(f"Invalid beta parameter: {betas[0]} - should be in [0.0, 1.0)")
        if not 0.0 <= betas[1] < 1.0:
            raise ValueError(f"Invalid beta parameter: {betas[1]} - should be in [0.0, 1.0)")
        if eps < 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        for group in self.param_groups:
            with torch.no_grad():
                self.update(**group)
        return loss

    def update(self, params, lr, betas, eps, weight_decay, **_):
        for p in params:
            if p.grad is None:
                continue
            state = self.state[p]
            if len(state) == 0:
                state.update(t=torch.zeros(()), m=p.new_zeros(p.shape), v=p.new_zeros(p.shape))
            state["t"] += 1
            t = state["t"].item()
            c1, c2 = 1 - betas[0] ** t, 1 - betas[1] ** t
            state["m"].lerp_(p.grad, 1 - betas[0])
            state["v"].mul_(betas[1]).addcmul_(p.grad, p.grad, value=1 - betas[1])
            p.sub_(p, alpha=lr * weight_decay)
            p.addcdiv_(state["m"], state["v"].sqrt() + eps * math.sqrt(c2), value=-lr * math.sqrt(c2) / c1)


def cosine_learning_rate(step, max_learning_rate, min_learning_rate, warmup_steps, total_steps):
    if total_steps < warmup_steps:
        raise ValueError(f"total_steps {total_steps} < warmup_steps {warmup_steps}")
    if step >= total_steps:
        return min_learning_rate
    if step < warmup_steps:
        return step / warmup_steps * max_learning_rate
    angle = math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
    share = math.cos(angle / 2) ** 2
    return share * max_learning_rate + (1 - share) * min_learning_rate


def accumulated_step(model, optimizer, parts, pad_idx=0, max_grad_norm=None):
    # Sums of losses; the gradients are divided once, before clipping.
    if len(parts) == 0:
        raise ValueError("expected at least one part")
    model.train(True)
    optimizer.zero_grad(set_to_none=False)
    loss, labels_in_all = 0.0, 0
    for part in parts:
        ids, labels = teacher_forcing(part)
        logits = model(ids)
        summed = functional.cross_entropy(
            logits.reshape(-1, logits.size(-1)), labels.reshape(-1), ignore_index=pad_idx, reduction="sum"
        )
        summed.backward()
        loss += float(summed)
        labels_in_all += (labels != pad_idx).sum().item()
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad.div_(labels_in_all)
    if max_grad_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss / labels_in_all
