# Each parameter as one long vector; log-softmax and gather for the loss; numpy for the schedule.
import numpy as np
import torch


class AdamW(torch.optim.Optimizer):
    """Keeps m and v stacked in one tensor (2, ...)."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01):
        if min(lr, eps, weight_decay) < 0:
            raise ValueError(f"{min(lr, eps, weight_decay)} is below 0")
        if not (min(betas) >= 0 and max(betas) < 1):
            raise ValueError(f"betas {betas}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    def step(self, closure=None):
        if closure is None:
            loss = None
        else:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if "averages" not in state:
                        state["averages"] = torch.zeros((2, p.numel()), dtype=p.dtype, device=p.device)
                        state["t"] = 0
                    state["t"] += 1
                    betas = torch.tensor(group["betas"], dtype=p.dtype, device=p.device).unsqueeze(1)
                    gradient = p.grad.flatten()
                    new = torch.stack([gradient, gradient.square()])
                    state["averages"] = betas * state["averages"] + (1 - betas) * new
                    m, v = state["averages"] / (1 - betas ** state["t"])
                    decayed = p.flatten() * (1 - group["lr"] * group["weight_decay"])
                    p.copy_((decayed - group["lr"] * m / (v.sqrt() + group["eps"])).view_as(p))
        return loss


def cosine_learning_rate(step, max_learning_rate, min_learning_rate, warmup_steps, total_steps):
    if warmup_steps > total_steps:
        raise ValueError(f"{warmup_steps} > {total_steps}")
    span = max(total_steps - warmup_steps, 1)
    cosine = np.cos(np.pi * np.clip((step - warmup_steps) / span, 0, 1))
    falling = min_learning_rate + (1 + cosine) / 2 * (max_learning_rate - min_learning_rate)
    if step < warmup_steps:
        return max_learning_rate * step / warmup_steps
    return min_learning_rate if step >= total_steps else float(falling)


def accumulated_step(model, optimizer, parts, pad_idx=0, max_grad_norm=None):
    if not parts:
        raise ValueError("nothing to learn from")
    optimizer.zero_grad()
    model.train()
    count = sum(int((part[:, 1:] != pad_idx).sum()) for part in parts)
    total = 0.0
    for part in parts:
        logs = model(part[:, :-1]).log_softmax(-1)
        labels = part[:, 1:]
        real = (labels != pad_idx).to(logs.dtype)
        loss = -(logs.gather(-1, labels[..., None])[..., 0] * real).sum() / count
        loss.backward()
        total += loss.item()
    if max_grad_norm is not None:
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_grad_norm)
    optimizer.step()
    return total
