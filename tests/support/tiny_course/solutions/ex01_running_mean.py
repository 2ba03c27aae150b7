# %% [markdown]
# # A running mean
#
# At each place, the mean of everything up to it: (2, 4, 9) becomes (2, 3, 5).

# %%
import torch
from torch import Tensor


# %%
def running_mean(x: Tensor) -> Tensor:
    """Return the mean of each number of x (..., T) and those before it: (..., T). An empty x is a ValueError."""
    # TODO ex01: the running sum over the last axis, divided by how many numbers are in it
    ### BEGIN SOLUTION
    if x.size(-1) == 0:
        raise ValueError(f"nothing has no mean: x has shape {tuple(x.shape)}")
    count = torch.arange(1, x.size(-1) + 1, device=x.device)  # (T,)
    return x.cumsum(dim=-1) / count  # (..., T)
    ### END SOLUTION
