import torch


def create_padding_mask(seq, pad_idx=0):
    return (seq != pad_idx)[:, None, None]


def create_look_ahead_mask(size, device=None):
    t = torch.arange(size, device=device)
    return t[:, None] >= t


def create_target_mask(tgt, pad_idx=0):
    return create_padding_mask(tgt, pad_idx) & create_look_ahead_mask(tgt.shape[1], tgt.device)
