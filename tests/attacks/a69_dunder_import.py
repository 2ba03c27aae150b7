# /// attack
# class = "A69"
# title = "imports by __import__"
# hope = "an import that is a call is not an import statement"
# parts = ["calling"]
# ///
builtin = __import__('torch.nn.' + 'functional', fromlist=['x']).scaled_dot_product_attention
