# Writes into `.data` with new tensors; the powers of the betas are kept as running products.
from math import cos, pi

import torch
from ex12_batching import teacher_forcing
from ex13_training import sequence_loss
from torch import nn
from torch.optim import Optimizer


class AdamW(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        for value in (lr, eps, weight_decay):
            if value < 0:
                raise ValueError(f"{value} is negative")
        for beta in betas:
            if not (beta >= 0 and beta < 1):
                raise ValueError(f"{beta} is not in [0, 1)")
        defaults = {"lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)

    def step(self, closure=None):
        loss = None
        if closure:
            loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self._move(p, p.grad.data, group, self.state[p])
        return loss

    def _move(self, p, g, group, state):
        b1, b2 = group["betas"]
        if not state:
            state["m"] = state["v"] = torch.zeros_like(p.data)
            state["b1_power"] = state["b2_power"] = 1.0
        state["b1_power"] *= b1
        state["b2_power"] *= b2
        state["m"] = b1 * state["m"] + (1 - b1) * g
        state["v"] = b2 * state["v"] + (1 - b2) * g.pow(2)
        m_hat = state["m"] / (1 - state["b1_power"])
        v_hat = state["v"] / (1 - state["b2_power"])
        shrunk = p.data - group["lr"] * group["weight_decay"] * p.data
        p.data = shrunk - group["lr"] * m_hat / (v_hat**0.5 + group["eps"])


def cosine_learning_rate(step, max_learning_rate, min_learning_rate, warmup_steps, total_steps):
    if warmup_steps > total_steps:
        raise ValueError(f"warmup_steps = {warmup_steps} is larger than total_steps = {total_steps}")
    if step < warmup_steps:
        rate = max_learning_rate * step / warmup_steps
    elif step < total_steps:
        x = (step - warmup_steps) / (total_steps - warmup_steps)
        rate = min_learning_rate + 0.5 * (1 + cos(pi * x)) * (max_learning_rate - min_learning_rate)
    else:
        rate = min_learning_rate
    return float(rate)


def accumulated_step(model, optimizer, parts, pad_idx=0, max_grad_norm=None):
    if not parts:
        raise ValueError("no parts")
    model.train()
    optimizer.zero_grad()
    shifted = [teacher_forcing(part) for part in parts]
    total = sum((labels != pad_idx).sum() for _, labels in shifted)
    result = 0
    for inputs, labels in shifted:
        mean = sequence_loss(model(inputs), labels, pad_idx)
        part_of_loss = mean * (labels != pad_idx).sum() / total
        part_of_loss.backward()
        result += part_of_loss.detach()
    if max_grad_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return float(result)
