"""Reference part for ex14, as far as later exercises need it: one token for each row of logits."""

import math

import torch


def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if temperature == 0:
        return logits.max(-1).indices
    order = logits.argsort(-1, descending=True)
    rank = order.argsort(-1)
    scores = logits.div(temperature)
    if top_k is not None:
        scores = scores.masked_fill(rank.ge(top_k), -math.inf)
    shares = scores.softmax(-1)
    if top_p is not None and top_p < 1:
        ordered = shares.gather(-1, order)
        likelier = ordered.cumsum(-1).sub(ordered).gather(-1, rank)
        shares = shares.masked_fill(torch.logical_and(likelier.ge(top_p), rank.gt(0)), 0.0)
    return torch.multinomial(shares, 1, generator=generator).select(-1, 0)
