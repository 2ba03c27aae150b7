# Everything that is reduced in the same way travels together, in one bucket.
import torch


def _parts(length, ranks, what):
    if length % ranks != 0:
        raise ValueError(f"{ranks} ranks cannot share {length} {what} evenly")
    return length // ranks


def column_shards(weight, bias, ranks):
    n = _parts(weight.shape[0], ranks, "outputs")
    return list(torch.split(weight, n)), list(torch.split(bias, n))


def row_shards(weight, ranks):
    return list(torch.split(weight, _parts(weight.shape[1], ranks, "inputs"), dim=-1))


def column_parallel(xs, weights, biases):
    return [torch.nn.functional.linear(*operands) for operands in zip(xs, weights, biases)]


def column_parallel_backward(group, grads, weights):
    parts = []
    for rank in range(group.size):
        parts.append(torch.einsum("...o,oi->...i", grads[rank], weights[rank]))
    return group.all_reduce(parts, "sum")


def row_parallel(group, xs, weights, bias):
    outputs = group.all_reduce([torch.nn.functional.linear(xs[rank], weights[rank]) for rank in range(group.size)])
    for output in outputs:
        output += bias
    return outputs


def vocab_parallel_cross_entropy(group, logits, targets):
    n = logits[0].shape[-1]
    highest = group.all_reduce([torch.max(part, dim=-1).values for part in logits], "max")
    pairs = []
    for rank, (part, top) in enumerate(zip(logits, highest)):
        mine = torch.arange(rank * n, (rank + 1) * n, device=part.device) == targets[..., None]
        own = torch.where(mine, part - top[..., None], torch.zeros_like(part)).sum(-1)
        pairs.append(torch.stack([torch.exp(part - top[..., None]).sum(-1), own]))
    return [torch.log(both[0]) - both[1] for both in group.all_reduce(pairs)]


def average_gradients(group, gradients, counts):
    buckets = []
    for own, count in zip(gradients, counts):
        flat = [grad.reshape(-1) * count for grad in own]
        buckets.append(torch.cat([*flat, count.reshape(1).to(flat[0].dtype)]))
    results = []
    for own, bucket in zip(gradients, group.all_reduce(buckets)):
        mean, at, shaped = bucket[:-1] / bucket[-1], 0, []
        for grad in own:
            shaped.append(mean[at : at + grad.numel()].reshape(grad.shape))
            at += grad.numel()
        results.append(shaped)
    return results


def flat_shards(parameters, ranks):
    numbers = sum(parameter.numel() for parameter in parameters)
    each = (numbers + ranks - 1) // ranks
    padded = parameters[0].new_zeros(each * ranks)
    padded[:numbers] = torch.cat([parameter.flatten() for parameter in parameters])
    return [padded[rank * each : (rank + 1) * each] for rank in range(ranks)]


def gather_parameters(group, shards, shapes):
    results = []
    for flat in group.all_gather(shards):
        at, own = 0, []
        for shape in shapes:
            count = torch.Size(shape).numel()
            own.append(flat[at : at + count].reshape(shape))
            at += count
        results.append(own)
    return results


def scatter_gradients(group, gradients):
    flat = [torch.cat(flat_shards(own, group.size)) / group.size for own in gradients]
    return group.reduce_scatter(flat)
