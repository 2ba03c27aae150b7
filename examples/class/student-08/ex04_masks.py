import torch


def create_padding_mask(seq, pad_idx=0):
    batch, length = seq.size()
    real = seq.ne(pad_idx)
    return real.view(batch, 1, 1, length)


def create_look_ahead_mask(size, device=None):
    columns = torch.arange(size, device=device).view(1, size)
    rows = torch.arange(size, device=device).view(size, 1)
    return columns <= rows


def create_target_mask(tgt, pad_idx=0):
    padding = create_padding_mask(tgt, pad_idx)
    look_ahead = create_look_ahead_mask(tgt.size(1), tgt.device)
    return padding.logical_and(look_ahead)
