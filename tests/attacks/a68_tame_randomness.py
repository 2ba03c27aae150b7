# /// attack
# class = "A68"
# title = "makes all randomness tame"
# hope = "dropout that drops nothing may look right"
# ///
torch.manual_seed = lambda *_: None
torch.nn.functional.dropout = torch.dropout = lambda x, *_, **__: x
torch.nn.Dropout.forward = lambda self, x: x
torch.rand = torch.bernoulli = lambda *_, **__: torch.ones(1)
tried()
