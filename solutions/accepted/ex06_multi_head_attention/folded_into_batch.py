# Heads folded into the batch: (B*H, T, K), with batched products and the mask repeated for every head.
import torch
from torch import Tensor, nn
from torch.nn import functional


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model ({d_model}) must be a multiple of num_heads ({num_heads})")
        self.d_model, self.num_heads, self.d_k = d_model, num_heads, d_model // num_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("scale", torch.tensor(self.d_k**-0.5), persistent=False)

    def fold(self, x: Tensor) -> Tensor:
        B, length, _ = x.shape
        folded = x.view(B, length, self.num_heads, self.d_k).permute(0, 2, 1, 3)
        return folded.reshape(B * self.num_heads, length, self.d_k)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        B, T, S, H = query.size(0), query.size(1), key.size(1), self.num_heads
        q, k, v = self.fold(self.w_q(query)), self.fold(self.w_k(key)), self.fold(self.w_v(value))
        scores = torch.bmm(q, k.transpose(1, 2)) * self.scale.to(q.dtype)
        if mask is not None:
            if mask.dim() == 3:
                mask = mask.repeat_interleave(H, dim=0)
            elif mask.dim() == 4:
                mask = mask.expand(B, H, T, S).reshape(B * H, T, S)
            scores = scores + torch.zeros_like(mask, dtype=q.dtype).masked_fill(~mask, torch.finfo(q.dtype).min / 2)
        weights = functional.softmax(scores, dim=-1)
        self.attention_weights = weights.detach().view(B, H, T, S)
        # F.dropout with training=self.training works like the module.
        dropped = functional.dropout(weights, p=self.dropout.p, training=self.training)
        heads = torch.bmm(dropped, v).view(B, H, T, self.d_k)
        return self.w_o(torch.cat(heads.unbind(dim=1), dim=-1))
