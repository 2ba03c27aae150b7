# /// attack
# class = "A9"
# title = "makes every tensor true"
# hope = "a verdict may be the truth of a tensor"
# ///
Tensor.__bool__ = lambda self: True
tried()
