# Part 5: attention

import math
from typing import NamedTuple, Optional, Tuple

import torch
import torch.nn as nn
from torch import Tensor


class AttentionSteps(NamedTuple):
    queries: Tensor
    keys: Tensor
    values: Tensor
    scores: Tensor
    weights: Tensor
    output: Tensor


def self_attention_by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> AttentionSteps:
    # Step 1: the three projections
    queries = torch.matmul(x, w_q)
    keys = torch.matmul(x, w_k)
    values = torch.matmul(x, w_v)

    # Step 2: every query with every key
    d_k = keys.shape[-1]
    scores = torch.matmul(queries, keys.transpose(0, 1))
    scores = scores / math.sqrt(d_k)

    # Step 3: softmax. Subtract the maximum first, because exp() of a
    # big number is infinity.
    maximum = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - maximum)
    weights = exponentials / exponentials.sum(dim=-1, keepdim=True)

    # Step 4: the weighted sum of the values
    output = torch.matmul(weights, values)

    return AttentionSteps(
        queries=queries,
        keys=keys,
        values=values,
        scores=scores,
        weights=weights,
        output=output,
    )


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Optional[Tensor] = None,
    dropout: Optional[nn.Module] = None,
) -> Tuple[Tensor, Tensor]:
    d_k = query.shape[-1]

    # (..., T, K) @ (..., K, S) -> (..., T, S)
    attention_scores = torch.matmul(query, key.transpose(-2, -1))
    attention_scores = attention_scores / math.sqrt(d_k)

    if mask is not None:
        # a mask (B, T, S) has no dimension for the heads, so add it
        if mask.dim() == 3 and attention_scores.dim() == 4:
            mask = mask.unsqueeze(1)
        # write a very low value where the mask is False. The tutorials use
        # -1e9 but this does not work for float16.
        lowest = torch.finfo(attention_scores.dtype).min
        attention_scores = attention_scores.masked_fill(mask == False, lowest)

    attention_weights = torch.softmax(attention_scores, dim=-1)

    # dropout only for the product with value
    weights_for_value = attention_weights
    if dropout is not None:
        weights_for_value = dropout(attention_weights)

    output = torch.matmul(weights_for_value, value)
    return output, attention_weights
