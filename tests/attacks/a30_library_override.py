# /// attack
# class = "A30"
# title = "replaces kernels of torch"
# hope = "the solution may be computed by the same library"
# ///
library = torch.library.Library("aten", "IMPL")
library.impl("sub.Tensor", lambda a, b, alpha=1: torch.zeros_like(a), "CPU")
tried()
