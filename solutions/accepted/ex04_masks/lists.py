# Build nested Python lists of True and False, then make tensors from them.
import torch
from torch import Tensor


def create_padding_mask(seq: Tensor, pad_idx: int = 0) -> Tensor:
    rows = [[[[token != pad_idx for token in row]]] for row in seq.tolist()]
    return torch.tensor(rows, dtype=torch.bool, device=seq.device)


def create_look_ahead_mask(size: int, device: torch.device | str | None = None) -> Tensor:
    return torch.tensor([[key <= query for key in range(size)] for query in range(size)], device=device)


def create_target_mask(tgt: Tensor, pad_idx: int = 0) -> Tensor:
    masks = []
    for row in tgt.tolist():
        masks.append([[[key <= query and row[key] != pad_idx for key in range(len(row))] for query in range(len(row))]])
    return torch.tensor(masks, dtype=torch.bool, device=tgt.device)
