# /// attack
# class = "A62"
# title = "reaches the built-in by vars"
# hope = "a name that is put together is not seen"
# parts = ["calling"]
# ///
builtin = vars(torch.nn.functional)['scaled_dot_product_attention'[:]]
