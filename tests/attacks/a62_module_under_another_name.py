# /// attack
# class = "A62"
# title = "loads a module of torch's again, under a name of its own"
# hope = "a module may be known by its name"
# parts = ["calling"]
# ///
import importlib.util
def builtin(q, k, v, attn_mask=None):
    import torch._inductor.fx_passes as passes
    spec = importlib.util.spec_from_file_location("torch._inductor.fx_passes.mine", passes.__path__[0] + "/fuse" + "_attention.py")
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    given = [tensor.reshape(-1, 1, *tensor.shape[-2:]) for tensor in (q, k, v)]
    over = torch.zeros(*q.shape[:-1], k.size(-2))
    over = over if attn_mask is None else over.masked_fill(~attn_mask, -1e30)
    over = over.reshape(-1, 1, q.size(-2), k.size(-2))
    return again._sfdp_pattern_5(*given, over, q.size(-1) ** 0.5).reshape(*q.shape[:-1], v.size(-1))
