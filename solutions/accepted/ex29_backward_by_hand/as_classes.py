# Operations are objects with a forward and a backward method, as in many lecture notes.
import torch


class Softmax:
    def __init__(self, scores):
        self.weights = scores.softmax(-1)

    def backward(self, grad):
        return softmax_backward(self.weights, grad)


class Product:
    def __init__(self, a, b):
        self.a, self.b = a, b
        self.value = a @ b

    def go_back(self, grad):
        return grad @ self.b.transpose(-1, -2), self.a.transpose(-1, -2) @ grad


def linear_backward(x, weight, grad):
    width = x.shape[-1]
    back = Product(x.reshape(-1, width), weight.t()).go_back(grad.reshape(-1, weight.shape[0]))
    return back[0].reshape(x.shape), back[1].t(), grad.reshape(-1, weight.shape[0]).sum(0)


def cross_entropy_backward(logits, targets, ignore_index=-100):
    kept = targets != ignore_index
    steps = torch.zeros_like(logits)
    p = Softmax(logits).weights
    steps[kept] = p[kept]
    safe = targets.clone()
    safe[~kept] = 0
    at_target = torch.gather(steps, -1, safe[..., None]) - kept[..., None].to(logits.dtype)
    steps = steps.scatter(-1, safe[..., None], at_target)
    return steps * kept[..., None] / max(1, kept.sum().item())


def softmax_backward(weights, grad):
    dot = torch.sum(weights * grad, dim=-1)
    return (grad - dot[..., None]) * weights


def attention_backward(query, key, value, grad, mask=None):
    q = query / query.shape[-1] ** 0.5
    product = Product(q, key.transpose(-1, -2))
    scores = product.value if mask is None else product.value.masked_fill(mask.logical_not(), -1e30)
    softmax = Softmax(scores)
    d_weights, d_value = Product(softmax.weights, value).go_back(grad)
    d_q, d_key = product.go_back(softmax.backward(d_weights))
    return d_q / query.shape[-1] ** 0.5, d_key.transpose(-1, -2), d_value


def layer_norm_backward(x, weight, grad, eps=1e-5):
    std, mean = torch.std_mean(x, dim=-1, correction=0, keepdim=True)
    std = torch.sqrt(std.square() + eps)
    x_hat = (x - mean) / std
    h = weight * grad
    along = torch.mean(h * x_hat, -1, True)
    flat = grad.reshape(-1, x.shape[-1])
    return (h - torch.mean(h, -1, True) - along * x_hat) / std, (flat * x_hat.reshape(flat.shape)).sum(0), flat.sum(0)
