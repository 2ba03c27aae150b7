# Each step of the forward pass gets its own gradient, as on paper; the softmax works on log-probabilities.
import math

import torch


def linear_backward(x, weight, grad):
    grad_weight = torch.zeros_like(weight)
    grad_bias = weight.new_zeros(weight.size(0))
    for inputs, outputs in zip(x.reshape(-1, x.size(-1)), grad.reshape(-1, grad.size(-1))):
        grad_weight = grad_weight + torch.outer(outputs, inputs)
        grad_bias = grad_bias + outputs
    return torch.matmul(grad, weight), grad_weight, grad_bias


def cross_entropy_backward(logits, targets, ignore_index=-100):
    valid = targets.ne(ignore_index)
    result = torch.exp(logits - logits.logsumexp(dim=-1, keepdim=True))
    ids = torch.where(valid, targets, torch.zeros_like(targets)).unsqueeze(-1)
    result = result.scatter_add(-1, ids, -torch.ones_like(ids, dtype=logits.dtype))
    count = max(int(valid.sum()), 1)
    return torch.where(valid.unsqueeze(-1), result, torch.zeros_like(result)) / count


def softmax_backward(weights, grad):
    product = weights * grad
    return product - weights * product.sum(-1, keepdim=True)


def attention_backward(query, key, value, grad, mask=None):
    scale = 1.0 / math.sqrt(key.shape[-1])
    scores = torch.matmul(query * scale, key.mT)
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, float("-inf"))
    top = scores.amax(-1, keepdim=True)
    powers = torch.exp(scores - top)
    weights = powers / powers.sum(-1, keepdim=True)
    output = weights @ value
    d_weights = grad @ value.mT
    d_scores = weights * (d_weights - (grad * output).sum(-1, keepdim=True))
    return d_scores @ key * scale, d_scores.mT @ query * scale, weights.mT @ grad


def layer_norm_backward(x, weight, grad, eps=1e-5):
    count = x.size(-1)
    mean = x.mean(-1, keepdim=True)
    centered = x - mean
    variance = centered.pow(2).mean(-1, keepdim=True)
    inverse = (variance + eps).pow(-0.5)
    d_normalized = grad * weight
    d_variance = (d_normalized * centered).sum(-1, keepdim=True) * -0.5 * inverse.pow(3)
    d_centered = d_normalized * inverse + d_variance * 2 * centered / count
    d_mean = -d_centered.sum(-1, keepdim=True)
    leading = tuple(range(grad.dim() - 1))
    return d_centered + d_mean / count, (grad * centered * inverse).sum(leading), grad.sum(leading)
