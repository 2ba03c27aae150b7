# %% [markdown]
# # A matrix power
#
# A matrix multiplied n times by itself; n = 0 gives the identity.

# %%
import torch
from ex01_running_mean import running_mean
from torch import Tensor


# %%
def matrix_power(a: Tensor, n: int) -> Tensor:
    """Return a (..., N, N) to the power n >= 0: (..., N, N). Another n is a ValueError."""
    # TODO ex02: start from the identity
    ### BEGIN SOLUTION
    if n < 0:
        raise ValueError(f"n is {n}, expected 0 or more")
    power = torch.eye(a.size(-1), dtype=a.dtype, device=a.device).expand_as(a)  # (..., N, N)
    for _ in range(n):
        power = power @ a
    return power
    ### END SOLUTION


# %%
def mean_power(a: Tensor, n: int) -> Tensor:
    """Return the mean of the powers 1 to n of a (..., N, N)."""
    # TODO ex02: running_mean of exercise 1 does most of it
    ### BEGIN SOLUTION
    powers = torch.stack([matrix_power(a, k) for k in range(1, n + 1)], dim=-1)  # (..., N, N, n)
    return running_mean(powers)[..., -1]
    ### END SOLUTION
