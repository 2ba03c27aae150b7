# A rank is an object that holds its own tensors; the functions only collect what the ranks send.
import functools
import operator

import torch
import torch.nn.functional as F


class Rank:
    def __init__(self, number, names, values):
        self.number = number
        self.own = dict(zip(names, values))

    def product(self, transposed=True):
        weight = self.own["weight"]
        return torch.matmul(self.own["input"], weight.T if transposed else weight)


def ranks_with(**lists):
    return [Rank(number, lists.keys(), values) for number, values in enumerate(zip(*lists.values()))]


def column_shards(weight, bias, ranks):
    size, rest = divmod(len(weight), ranks)
    if rest:
        raise ValueError(f"a weight with {len(weight)} rows does not fit {ranks} ranks")
    return [*weight.reshape(ranks, size, -1)], [*bias.reshape(ranks, size)]


def row_shards(weight, ranks):
    size, rest = divmod(weight.shape[-1], ranks)
    if rest:
        raise ValueError(f"a weight with {weight.shape[-1]} columns does not fit {ranks} ranks")
    return [weight[:, i * size : (i + 1) * size] for i in range(ranks)]


def column_parallel(xs, weights, biases):
    return [rank.product() + rank.own["bias"] for rank in ranks_with(input=xs, weight=weights, bias=biases)]


def column_parallel_backward(group, grads, weights):
    return group.all_reduce([rank.product(transposed=False) for rank in ranks_with(input=grads, weight=weights)])


def row_parallel(group, xs, weights, bias):
    summed = group.all_reduce([rank.product() for rank in ranks_with(input=xs, weight=weights)])
    return list(map(functools.partial(operator.add, bias), summed))


def vocab_parallel_cross_entropy(group, logits, targets):
    """Each rank gives a logsumexp; their logsumexp is that of the vocabulary."""
    own = [torch.logsumexp(part, dim=-1) for part in logits]
    top = group.all_reduce(own, operation="max")
    total = group.all_reduce([torch.exp(mine - most) for mine, most in zip(own, top)])

    def of_target(rank, part):
        lower = rank * part.size(-1)
        here = torch.logical_and(targets.ge(lower), targets.lt(lower + part.size(-1)))
        index = torch.where(here, targets - lower, 0)[..., None]
        return torch.where(
            here, part.take_along_dim(index, -1)[..., 0], torch.zeros((), dtype=part.dtype, device=part.device)
        )

    target = group.all_reduce([of_target(rank, part) for rank, part in enumerate(logits)])
    return [most + torch.log(sums) - logit for most, sums, logit in zip(top, total, target)]


def average_gradients(group, gradients, counts):
    everything = group.all_reduce([count.clone() for count in counts])
    shares = [own / whole for own, whole in zip(counts, everything)]
    parameters = range(len(gradients[0]))
    reduced = [group.all_reduce([share * own[i] for share, own in zip(shares, gradients)]) for i in parameters]
    return [[reduced[i][rank] for i in parameters] for rank in range(group.size)]


def flat_shards(parameters, ranks):
    joined = torch.cat(list(map(torch.ravel, parameters)))
    while len(joined) % ranks:
        joined = F.pad(joined, (0, 1))
    return list(joined.reshape(ranks, -1).unbind())


def gather_parameters(group, shards, shapes):
    def unflatten(vector):
        for shape in shapes:
            length = functools.reduce(operator.mul, shape, 1)
            yield vector[:length].reshape(tuple(shape))
            vector = vector[length:]

    return [list(unflatten(vector)) for vector in group.all_gather(shards)]


def scatter_gradients(group, gradients):
    flat = [torch.stack(flat_shards(own, group.size)).reshape(-1) for own in gradients]
    return [torch.div(piece, len(gradients)) for piece in group.reduce_scatter(flat)]
