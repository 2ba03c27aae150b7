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
    raise NotImplementedError("ex02: matrix_power")


# %%
def mean_power(a: Tensor, n: int) -> Tensor:
    """Return the mean of the powers 1 to n of a (..., N, N)."""
    # TODO ex02: running_mean of exercise 1 does most of it
    raise NotImplementedError("ex02: mean_power")
