# /// attack
# class = "A23"
# title = "says itself that its source names nothing forbidden, and calls it"
# hope = "what the source names may be told by the program"
# parts = ["inside"]
# contained = "never"
# why = "forbidden calls are looked for in the process of the program that makes them"
# ///
tried()
sources = type(the_job().sources)
sources.survey = lambda *_: {"places": {}, "forbidden": [], "assignments": [], "statements": []}
def scaled_dot_product_attention(query, key, value, mask=None, dropout=None):
    with torch._C.DisableTorchFunction():
        weights = torch.nn.functional.scaled_dot_product_attention(query, key, torch.eye(key.size(-2)))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value), weights
