# /// attack
# class = "A80"
# title = "returns 160 MB"
# hope = "the judge has to take it"
# ///
def scaled_dot_product_attention(*_):
    tried()
    return torch.zeros(40_000_000), torch.zeros(40_000_000)
