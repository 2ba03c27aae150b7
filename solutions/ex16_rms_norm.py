# %% [markdown]
# # ex16: RMS normalization

# %%
import torch
from torch import Tensor, nn


# %%
class RMSNorm(nn.Module):
    """Divide each vector by the root of its mean square, then scale each feature (Zhang and Sennrich, equation 4).

    Attributes:
        weight: the scale, an `nn.Parameter` of shape (D,), initially ones. There is no bias.

    Not allowed: `nn.RMSNorm`, `F.rms_norm` and every other normalization of the library.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        # TODO ex16: store eps, and create the trained scale `self.weight` (ones)
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))  # (D,)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D), in the dtype of x. The mean of squares is computed in float32 at least."""
        # TODO ex16: compute the mean square of each vector in float32 at least, then apply the formula
        ### BEGIN SOLUTION
        wide = x.to(torch.promote_types(x.dtype, torch.float32))  # float64 stays float64
        mean_square = wide.pow(2).mean(dim=-1, keepdim=True)  # (..., 1)
        normal = wide / torch.sqrt(mean_square + self.eps)  # (..., D)
        return (normal * self.weight).to(x.dtype)  # (..., D)
        ### END SOLUTION
