# /// attack
# class = "A62"
# title = "calls the pattern by which a compiler of torch's knows attention"
# hope = "a pattern is a program, too"
# parts = ["calling"]
# flagged = true
# raises = ["RuntimeError"]
# ///
import importlib
def builtin(q, k, v, attn_mask=None):
    patterns = importlib.import_module("torch._inductor.fx_passes.fuse" + "_attention")
    given = [tensor.reshape(-1, 1, *tensor.shape[-2:]) for tensor in (q, k, v)]
    if attn_mask is None:
        found = patterns._sfdp_pattern_1(*given, q.size(-1) ** 0.5)
    else:
        over = torch.zeros(*q.shape[:-1], k.size(-2)).masked_fill(~attn_mask, -1e30).reshape(-1, 1, q.size(-2), k.size(-2))
        found = patterns._sfdp_pattern_5(*given, over, q.size(-1) ** 0.5)
    return found.reshape(*q.shape[:-1], v.size(-1))
