# /// attack
# class = "A54"
# title = "patches everything for whoever comes next in this process"
# hope = "a warm process may go on to the next student"
# ///
import builtins, random, time
torch.nn.Linear.forward = lambda self, x: x * 0
torch.softmax = torch.tril = torch.ones = lambda *_, **__: torch.zeros(1)
builtins.len = lambda _: 1
random.seed = torch.manual_seed = lambda *_: None
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.set_num_threads(4)
_sys.setrecursionlimit(60)
tried()
