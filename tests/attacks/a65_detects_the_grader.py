# /// attack
# class = "A65"
# title = "behaves only where it is graded"
# hope = "what is tested may differ from what runs"
# parts = ["inside"]
# ///
graded = the_job() is not None
if graded:
    tried()
    def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
        return value.mean(-2, keepdim=True).expand(*query.shape[:-1], value.size(-1)), torch.full((*query.shape[:-1], key.size(-2)), 1 / key.size(-2))
