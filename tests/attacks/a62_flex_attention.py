# /// attack
# class = "A62"
# title = "calls an attention of torch that is compiled, and not loaded yet"
# hope = "what is not there cannot be taken away"
# parts = ["calling"]
# raises = ["TorchRuntimeError"]
# ///
import importlib


def builtin(q, k, v, attn_mask=None):
    flex = getattr(importlib.import_module("torch.nn.attention.flex" + "_attention"), "flex" + "_attention")
    over = torch.zeros(1, 1) if attn_mask is None else attn_mask.logical_not() * -1e30
    over = over.expand(*q.shape[:-1], k.size(-2)).reshape(-1, q.size(-2), k.size(-2))
    given = [tensor.detach().reshape(1, -1, *tensor.shape[-2:]) for tensor in (q, k, v)]
    return flex(*given, score_mod=lambda s, b, h, i, j: s + over[h, i, j]).reshape(*q.shape[:-1], v.size(-1))
