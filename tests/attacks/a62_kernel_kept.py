# /// attack
# class = "A62"
# title = "keeps the built-in's kernel from before it was taken away"
# hope = "another exercise may use it"
# parts = ["calling"]
# ///
tried()
kernel = torch.library.get_kernel('aten::scaled_dot_product' + '_attention', 'CPU')
def builtin(q, k, v, attn_mask=None):
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    return kernel.call_boxed(keys, q, k, v, attn_mask)
