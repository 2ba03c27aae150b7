# /// attack
# class = "A5"
# title = "patches what a check computes with"
# hope = "a check that compares for itself, in the same process, believes what it is told"
# wrong = "attention-mask-fill-infinite"
# contained = "never"
# why = "a check that sends back a conclusion, not numbers, draws it in the process of the program it is about"
# ///
import functools
whole = torch.isfinite
torch.isfinite = lambda x: torch.ones_like(whole(x))
tried()
