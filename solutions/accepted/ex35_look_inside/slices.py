# Slices and loops over heads, layers and positions.
import torch


def logit_lens(states, norm, unembedding):
    layers = [torch.nn.functional.linear(norm(layer), unembedding) for layer in states]
    return torch.stack(layers)


def without_heads(output, heads, num_heads, with_mean=False):
    wrong = [head for head in heads if head < 0 or head >= num_heads]
    if wrong:
        raise ValueError(f"no such head: {wrong[0]}")
    size = output.shape[-1] // num_heads
    result = output.clone()
    for head in heads:
        part = slice(head * size, head * size + size)
        result[:, :, part] = output[:, :, part].mean(dim=1).mean(dim=0) if with_mean else 0.0
    return result


@torch.no_grad()
def patched(model, module, clean, corrupted, position):
    store = {}

    def hook(_, __, out):
        if "clean" not in store:
            store["clean"] = out.detach().clone()
            return None
        pieces = [out[:, :position], store["clean"][:, position : position + 1], out[:, position + 1 :]]
        return torch.cat(pieces, dim=1)

    handle = module.register_forward_hook(hook)
    try:
        model(clean)
        return model(corrupted)
    finally:
        handle.remove()


def recovered(patched, clean, corrupted):
    share = (patched - corrupted) / (clean - corrupted)
    share[clean == corrupted] = 0
    return share


def induction_scores(weights, period):
    total = 0
    places = range(period, weights.shape[-1])
    for i in places:
        total = total + weights[:, :, i, i - period + 1].mean(0)
    return total / len(places)
