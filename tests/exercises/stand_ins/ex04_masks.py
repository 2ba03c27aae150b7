"""Stand-in for ex04, by the mask that torch.nn.Transformer makes."""

from torch import nn

__all__ = ["create_look_ahead_mask", "create_padding_mask", "create_target_mask"]


def create_padding_mask(seq, pad_idx=0):
    return seq.ne(pad_idx)[:, None, None]


def create_look_ahead_mask(size, device=None):
    return nn.Transformer.generate_square_subsequent_mask(size, device=device).eq(0)


def create_target_mask(tgt, pad_idx=0):
    return create_padding_mask(tgt, pad_idx).logical_and(create_look_ahead_mask(tgt.size(1), tgt.device))
