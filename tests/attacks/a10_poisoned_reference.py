# /// attack
# class = "A10"
# title = "makes torch as wrong as itself"
# hope = "the solution may run in the same process"
# ///
matmul = torch.matmul
torch.softmax = torch.nn.functional.softmax = Tensor.softmax = lambda x, *_, **__: x * 0
torch.matmul = Tensor.__matmul__ = lambda a, b: matmul(a, b) * 0
math.sqrt = lambda _: 1.0
tried()
