# The cache stores positions beside the rows, and an index selects; the mask multiplies conditions on distances.
import torch
from torch import Tensor


def sliding_window_mask(
    query_len: int, key_len: int, window: int | None = None, sinks: int = 0, device: torch.device | None = None
) -> Tensor:
    if query_len > key_len or (window is not None and window < 1):
        raise ValueError(f"query_len={query_len}, key_len={key_len}, window={window}")
    row = torch.arange(query_len, device=device)[:, None] + key_len - query_len
    column = torch.arange(key_len, device=device)[None, :]
    distance = row - column
    reach = key_len + 1 if window is None else window
    near = torch.logical_and(distance >= 0, distance < reach)
    sunk = torch.logical_and(column < sinks, distance >= 0)
    return torch.logical_or(near, sunk)


class RollingKVCache:
    def __init__(self, window: int, sinks: int = 0) -> None:
        self.window, self.sinks, self.length = window, sinks, 0
        self.positions: list[int] = []
        self.rows: list[Tensor] | None = None

    @property
    def held(self) -> int:
        return len(self.positions)

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        positions = self.positions + list(range(self.length, self.length + key.shape[2]))
        old = self.rows or [each.narrow(2, 0, 0) for each in (key, value)]
        keys, values = torch.cat([old[0], key], dim=-2), torch.cat([old[1], value], dim=-2)
        self.length += key.shape[2]
        kept = [n for n, p in enumerate(positions) if p < self.sinks or p > self.length - self.window]
        index = torch.tensor(kept, device=key.device, dtype=torch.long)
        self.rows = [each.index_select(2, index) for each in (keys, values)]
        self.positions = [positions[n] for n in kept]
        return keys, values
