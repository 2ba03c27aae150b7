# /// attack
# class = "A62"
# title = "copies the code of torch's attention, and calls it in another thread"
# hope = "a copy may not be known"
# ///
import types
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
forward = getattr(torch.nn.functional, 'multi_head_attention' + '_forward')

def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    tried()
    size, lead = key.size(-1), query.shape[:-2]
    hidden = None if mask is None else ~mask.expand(*lead, query.size(-2), key.size(-2)).reshape(-1, query.size(-2), key.size(-2))
    queries, keys = (tensor.reshape(-1, *tensor.shape[-2:]).transpose(0, 1) for tensor in (query, key))
    one = torch.eye(size, dtype=query.dtype)
    copy = types.FunctionType(forward.__code__, forward.__globals__, 'copy', forward.__defaults__, forward.__closure__)
    def call():
        with torch._C.DisableTorchFunction():
            return copy(queries, keys, keys, size, 1, one.repeat(3, 1), None, None, None, False, 0.0, one, None, attn_mask=hidden)
    weights = pool.submit(call).result()[1].reshape(*lead, query.size(-2), key.size(-2))
    return (weights if dropout is None else dropout(weights)) @ value, weights
