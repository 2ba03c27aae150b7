# Every label becomes a distribution over the classes. Masks are made here, and gradients by autograd.grad.
import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn
from torch.nn import functional


def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    classes = logits.size(-1)
    wanted = functional.one_hot(labels, classes).to(logits.dtype)
    wanted = wanted * (1 - label_smoothing) + label_smoothing / classes
    wanted = wanted * (labels != pad_idx).unsqueeze(-1)
    scores = logits - logits.logsumexp(dim=-1, keepdim=True)
    return -torch.einsum("btv,btv->", wanted, scores) / (labels != pad_idx).sum()


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    counted = torch.tensor(float(max(1, step)), dtype=torch.float64)
    return (d_model**-0.5 * torch.minimum(counted.rsqrt(), counted * warmup_steps**-1.5)).item()


def masks(src: Tensor, decoder_input: Tensor, pad_idx: int) -> tuple[Tensor, Tensor]:
    T = decoder_input.size(1)
    look_ahead = torch.ones(T, T, dtype=torch.bool, device=src.device).tril()
    of_source = (src != pad_idx)[:, None, None, :]
    return of_source, (decoder_input != pad_idx)[:, None, None, :] & look_ahead


def train_step(
    model: nn.Module, optimizer, src: Tensor, tgt: Tensor, pad_idx: int = 0, max_grad_norm: float | None = None
) -> float:
    model = model.train()
    decoder_input, labels = teacher_forcing(tgt)
    logits = model(src, decoder_input, *masks(src, decoder_input, pad_idx))
    loss = sequence_loss(logits, labels, pad_idx)
    parameters = [each for each in model.parameters() if each.requires_grad]
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    if max_grad_norm is not None:
        norm = torch.linalg.vector_norm(torch.cat([each.grad.flatten() for each in parameters]))
        for each in parameters:
            each.grad = each.grad * torch.clamp(max_grad_norm / norm, max=1.0)
    optimizer.step()
    return loss.tolist()


def fit(model: nn.Module, optimizer, batches: list, epochs: int, pad_idx: int = 0) -> list[float]:
    history: list[float] = []
    while len(history) < epochs:
        losses = torch.tensor([train_step(model, optimizer, *pair, pad_idx) for pair in batches], dtype=torch.float64)
        history.append(losses.mean().item())
    return history
