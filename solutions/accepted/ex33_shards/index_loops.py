# Plain loops over the ranks, with the names of Megatron-LM.
import torch


def column_shards(weight, bias, ranks):
    if weight.shape[0] % ranks:
        raise ValueError(f"{weight.shape[0]} is not divisible by {ranks}")
    step = weight.shape[0] // ranks
    weights, biases = [], []
    for rank in range(ranks):
        weights.append(weight[rank * step : rank * step + step].clone())
        biases.append(bias[rank * step : rank * step + step].clone())
    return weights, biases


def row_shards(weight, ranks):
    if weight.shape[1] % ranks:
        raise ValueError(f"{weight.shape[1]} is not divisible by {ranks}")
    return [piece.contiguous() for piece in torch.tensor_split(weight, ranks, dim=1)]


def column_parallel(xs, weights, biases):
    outputs = []
    for rank in range(len(weights)):
        outputs.append(torch.matmul(xs[rank], weights[rank].t()) + biases[rank])
    return outputs


def column_parallel_backward(group, grads, weights):
    partial = [None] * group.size
    for rank in range(group.size):
        partial[rank] = torch.matmul(grads[rank], weights[rank])
    return group.all_reduce(partial)


def row_parallel(group, xs, weights, bias):
    partial = [None] * group.size
    for rank in range(group.size):
        partial[rank] = torch.matmul(xs[rank], weights[rank].t())
    whole = group.all_reduce(partial)
    return [whole[rank] + bias for rank in range(group.size)]


def vocab_parallel_cross_entropy(group, logits, targets):
    vocab_size = logits[0].size(-1)
    logits_max = group.all_reduce([part.max(dim=-1)[0] for part in logits], "max")
    predicted, sums = [], []
    for rank in range(group.size):
        part = logits[rank] - logits_max[rank].unsqueeze(-1)
        vocab_start, vocab_end = rank * vocab_size, (rank + 1) * vocab_size
        target_mask = (targets < vocab_start) | (targets >= vocab_end)
        masked_target = targets.clone() - vocab_start
        masked_target[target_mask] = 0
        logits_2d = part.reshape(-1, vocab_size)
        rows = torch.arange(logits_2d.size(0), device=logits_2d.device)
        predicted_1d = logits_2d[rows, masked_target.reshape(-1)].clone()
        predicted_logits = predicted_1d.reshape(targets.shape)
        predicted_logits[target_mask] = 0.0
        predicted.append(predicted_logits)
        sums.append(part.exp().sum(dim=-1))
    predicted, sums = group.all_reduce(predicted), group.all_reduce(sums)
    return [torch.log(sums[rank]) - predicted[rank] for rank in range(group.size)]


def average_gradients(group, gradients, counts):
    total = group.all_reduce(counts)
    for_all = [[] for _ in range(group.size)]
    for index in range(len(gradients[0])):
        scaled = []
        for rank in range(group.size):
            scaled.append(gradients[rank][index] * (counts[rank] / total[rank]))
        reduced = group.all_reduce(scaled)
        for rank in range(group.size):
            for_all[rank].append(reduced[rank])
    return for_all


def _flatten(tensors, ranks):
    flat = torch.cat([tensor.contiguous().view(-1) for tensor in tensors])
    remainder = flat.numel() % ranks
    if remainder:
        flat = torch.nn.functional.pad(flat, (0, ranks - remainder))
    return flat


def flat_shards(parameters, ranks):
    flat = _flatten(parameters, ranks)
    per_rank = flat.numel() // ranks
    return [flat.narrow(0, rank * per_rank, per_rank).clone() for rank in range(ranks)]


def gather_parameters(group, shards, shapes):
    gathered = group.all_gather(shards)
    parameters = []
    for rank in range(group.size):
        mine, offset = [], 0
        for shape in shapes:
            numel = 1
            for size in shape:
                numel *= size
            mine.append(gathered[rank].narrow(0, offset, numel).view(shape))
            offset += numel
        parameters.append(mine)
    return parameters


def scatter_gradients(group, gradients):
    shards = group.reduce_scatter([_flatten(own, group.size) for own in gradients])
    for shard in shards:
        shard.div_(group.size)
    return shards
