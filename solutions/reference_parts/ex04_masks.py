"""Reference part for ex04: by comparing positions."""

import torch


def create_padding_mask(seq, pad_idx=0):
    return seq.eq(pad_idx).logical_not().unsqueeze(1).unsqueeze(1)


def create_look_ahead_mask(size, device=None):
    places = torch.arange(size, device=device)
    return places.unsqueeze(-1).ge(places)


def create_target_mask(tgt, pad_idx=0):
    return torch.logical_and(create_look_ahead_mask(tgt.size(1), tgt.device), create_padding_mask(tgt, pad_idx))
