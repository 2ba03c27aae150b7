# Every sum is an einsum, and the softmax's derivative is the whole matrix.
import torch


def linear_backward(x, weight, grad):
    return (
        torch.einsum("...o,oi->...i", grad, weight),
        torch.einsum("no,ni->oi", grad.reshape(-1, grad.shape[-1]), x.reshape(-1, x.shape[-1])),
        torch.einsum("no->o", grad.reshape(-1, grad.shape[-1])),
    )


def cross_entropy_backward(logits, targets, ignore_index=-100):
    flat, ids = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    result = torch.zeros_like(flat)
    rows = torch.nonzero(ids != ignore_index).squeeze(-1)
    if rows.numel():
        own = torch.softmax(flat[rows], -1)
        own[torch.arange(len(rows), device=own.device), ids[rows]] -= 1
        result[rows] = own / rows.numel()
    return result.reshape(logits.shape)


def softmax_backward(weights, grad):
    matrix = torch.diag_embed(weights) - torch.einsum("...i,...j->...ij", weights, weights)
    return torch.einsum("...ij,...j->...i", matrix, grad)


def attention_backward(query, key, value, grad, mask=None):
    root = query.shape[-1] ** 0.5
    scores = torch.einsum("...tk,...sk->...ts", query, key) / root
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    back = softmax_backward(weights, torch.einsum("...tv,...sv->...ts", grad, value)) / root
    return (
        torch.einsum("...ts,...sk->...tk", back, key),
        torch.einsum("...ts,...tk->...sk", back, query),
        torch.einsum("...ts,...tv->...sv", weights, grad),
    )


def layer_norm_backward(x, weight, grad, eps=1e-5):
    n = x.shape[-1]
    centered = x - x.sum(-1, keepdim=True) / n
    inverse = torch.rsqrt((centered * centered).sum(-1, keepdim=True) / n + eps)
    x_hat = centered * inverse
    h = grad * weight
    sums = n * h - h.sum(-1, keepdim=True) - x_hat * (h * x_hat).sum(-1, keepdim=True)
    axes = tuple(range(x.dim() - 1))
    return inverse / n * sums, (grad * x_hat).sum(axes), grad.sum(axes)
