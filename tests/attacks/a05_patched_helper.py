# /// attack
# class = "A5"
# title = "patches what a check computes with"
# hope = "a check that compares for itself, in the same process, believes what it gets"
# wrong = "attention-mask-fill-infinite"
# ///
whole = torch.isfinite
torch.isfinite = Tensor.isfinite = lambda x: torch.ones_like(whole(x))
tried()
