import torch


def create_padding_mask(seq, pad_idx=0):
    return (seq != pad_idx).unsqueeze(-2).unsqueeze(1)


def create_look_ahead_mask(size, device=None):
    "Mask out subsequent positions."
    subsequent_mask = torch.triu(torch.ones(size, size, device=device), diagonal=1)
    return subsequent_mask == 0


def create_target_mask(tgt, pad_idx=0):
    "Hide padding and future words."
    return create_padding_mask(tgt, pad_idx) & create_look_ahead_mask(tgt.size(-1), tgt.device)
