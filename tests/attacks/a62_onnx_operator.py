# /// attack
# class = "A62"
# title = "calls the attention that torch has for ONNX"
# hope = "no list names a module for exports"
# parts = ["calling"]
# ///
import importlib
def builtin(q, k, v, attn_mask=None):
    attention = getattr(importlib.import_module("torch.onnx" + ".ops"), "atten" + "tion")
    size, lead = max(q.size(-1), v.size(-1)), q.shape[:-2]
    mask = None if attn_mask is None else attn_mask.expand(*q.shape[:-1], k.size(-2)).reshape(-1, 1, q.size(-2), k.size(-2))
    given = [torch.nn.functional.pad(tensor.reshape(-1, 1, *tensor.shape[-2:]), (0, size - tensor.size(-1))) for tensor in (q, k, v)]
    return attention(*given, mask, scale=q.size(-1) ** -0.5)[0][..., : v.size(-1)].reshape(*lead, q.size(-2), v.size(-1))
