# /// attack
# class = "A61"
# title = "calls what it should write"
# hope = "the built-in gives the right numbers"
# parts = ["calling"]
# ///
builtin = torch.nn.functional.scaled_dot_product_attention
