import torch


def create_padding_mask(seq, pad_idx=0):
    B, S = seq.shape
    mask = torch.zeros(B, 1, 1, S, dtype=torch.bool, device=seq.device)
    for b in range(B):
        for s in range(S):
            mask[b, 0, 0, s] = seq[b, s] != pad_idx
    return mask


def create_look_ahead_mask(size, device=None):
    mask = torch.zeros(size, size, dtype=torch.bool, device=device)
    for t in range(size):
        # the token itself and everything before it
        mask[t, 0 : t + 1] = True
    return mask


def create_target_mask(tgt, pad_idx=0):
    T = tgt.size(1)
    padding = create_padding_mask(tgt, pad_idx)
    look_ahead = create_look_ahead_mask(T, tgt.device)
    return torch.logical_and(padding, look_ahead.reshape(1, 1, T, T))
