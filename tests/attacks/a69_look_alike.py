# /// attack
# class = "A69"
# title = "names the built-in in letters that look alike"
# hope = "identifiers are normalised by Python, not by a search"
# parts = ["calling"]
# ///
builtin = torch.nn.functional.ｓcaled_dot_product_attention
