# A list of chunks that is joined on each read; the length is counted beside it.
import torch
from ex14_generation import sample_next
from torch import Tensor, nn


class KVCache:
    def __init__(self, max_len: int) -> None:
        self.max_len = max_len
        self.length = 0
        self.chunks: list[tuple[Tensor, Tensor]] = []

    @property
    def held(self) -> int:
        return sum(key.size(2) for key, _ in self.chunks)

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        T = key.size(2)
        if self.length > self.max_len - T:
            raise ValueError(f"{self.length} and {T} more tokens ({self.length + T}) exceed {self.max_len}")
        self.chunks.append((key.clone(), value.clone()))
        self.length += T
        keys, values = zip(*self.chunks, strict=True)
        return torch.cat(keys, dim=2), torch.cat(values, dim=2)

    def truncate(self, length: int) -> None:
        if length not in range(self.length + 1):
            raise ValueError(f"{length} is outside 0 ... {self.length}")
        if self.chunks:
            keys, values = (torch.cat(each, dim=2)[:, :, :length] for each in zip(*self.chunks, strict=True))
            self.chunks = [(keys, values)]
        self.length = length


def generate_cached(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float | None = None,
    eos_idx: int | None = None,
    pad_idx: int = 0,
    generator: torch.Generator | None = None,
    use_cache: bool = True,
) -> Tensor:
    if max_new_tokens == 0:
        return prompt
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        columns = list(prompt.unbind(dim=1))
        ended = [False] * prompt.size(0)
        cache = model.make_cache(len(columns) + max_new_tokens - 1) if use_cache else None
        seen = 0
        for _ in range(max_new_tokens):
            new = torch.stack(columns[seen:], dim=1)
            logits = model(new, cache)[:, -1]
            if use_cache:
                seen = len(columns)
            tokens = sample_next(logits, temperature, top_k, top_p, generator).tolist()
            tokens = [pad_idx if over else token for token, over in zip(tokens, ended, strict=True)]
            columns.append(torch.tensor(tokens, device=prompt.device))
            if eos_idx is not None:
                ended = [over or token == eos_idx for token, over in zip(tokens, ended, strict=True)]
                if all(ended):
                    break
    model.train(was_training)
    return torch.stack(columns, dim=1)
