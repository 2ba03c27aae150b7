# Loops over sentences and tokens for the loss. The model gets the whole target, and the last logits are dropped.
import torch
from torch import Tensor


def token_loss(scores: Tensor, label: int, share: float) -> Tensor:
    surprise = torch.logsumexp(scores, dim=0) - scores
    return (1 - share) * surprise[label] + share * surprise.mean()


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    losses = [
        token_loss(scores, int(label), label_smoothing)
        for sentence, answers in zip(logits, labels, strict=True)
        for scores, label in zip(sentence, answers, strict=True)
        if label != pad_idx
    ]
    return torch.stack(losses).mean()


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    if step <= 0:
        step = 1
    return (min(1 / step, step**2 / warmup_steps**3) / d_model) ** 0.5


def train_step(model, optimizer, src, tgt, pad_idx=0, max_grad_norm=None):
    optimizer.zero_grad()
    model.train(True)
    with torch.enable_grad():
        logits = model(src, tgt)[:, :-1]
        loss = sequence_loss(logits, tgt[:, 1:], pad_idx)
    loss.backward()
    if max_grad_norm is not None:
        norms = [each.grad.norm() for each in model.parameters() if each.grad is not None]
        total = torch.stack(norms).norm()
        factor = min(1.0, max_grad_norm / (total.item() + 1e-6))
        for each in model.parameters():
            if each.grad is not None:
                each.grad = each.grad * factor
    optimizer.step()
    return loss.item()


def fit(model, optimizer, batches, epochs, pad_idx=0):
    history = [[] for _ in range(epochs)]
    for losses in history:
        model.train()
        for src, tgt in list(batches):
            losses.append(train_step(model, optimizer, src, tgt, pad_idx))
    return [sum(losses) / len(batches) for losses in history]
