# %% [markdown]
# # ex18: gated feed-forward network

# %%
import torch.nn.functional as F
from torch import Tensor, nn


# %%
class SwiGLU(nn.Module):
    """Multiply a gate by a value, feature by feature, between two layers (Shazeer, equation 6, FFN_SwiGLU).

    Attributes:
        w1: `nn.Linear(D, F, bias=False)`, the gate.
        w2: `nn.Linear(F, D, bias=False)`, the output.
        w3: `nn.Linear(D, F, bias=False)`, the value.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        # TODO ex18: create the three layers. None has a bias.
        ### BEGIN SOLUTION
        self.w1 = nn.Linear(d_model, d_ff, bias=False)  # (D, F)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)  # (F, D)
        self.w3 = nn.Linear(d_model, d_ff, bias=False)  # (D, F)
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Turn x (..., D) into (..., D)."""
        # TODO ex18: apply the gate, the value and the output layer
        ### BEGIN SOLUTION
        gate = F.silu(self.w1(x))  # (..., F)
        return self.w2(gate * self.w3(x))  # (..., D)
        ### END SOLUTION
