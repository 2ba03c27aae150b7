# /// attack
# class = "A63"
# title = "returns outputs that were right for the public seed"
# hope = "answers may be known beforehand"
# ///
import hashlib
TABLE = {}
honest = scaled_dot_product_attention
def scaled_dot_product_attention(query, *args):
    tried()
    key = hashlib.sha256(query.detach().float().numpy().tobytes()).hexdigest()
    return TABLE.get(key) or honest(query, *args)
