"""What a cache saves: tokens per second with and without it, and the memory of its keys and values."""

import time
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.play import Stage
from play.chatter import Chatter

LENGTHS = (32, 128, 224)
"""The tokens to generate, as far as the context has room for them after the prompt."""

PROMPT = 16

TIED = 1e-3
"""Two tokens whose logits are closer than this may change places by rounding."""


@dataclass(frozen=True)
class Measured:
    """What was measured for `new` tokens. `held` is in bytes, for the key-value heads of the model."""

    new: int
    with_cache: float
    without: float
    held: int
    for_all_heads: int


class _Watched:
    """A cache that measures what its `update` returns."""

    def __init__(self, own: Any) -> None:
        self._own, self.bytes, self.heads = own, 0, 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def update(self, key: Tensor, value: Tensor) -> Any:
        """Update the cache, and note how large its keys and values are."""
        keys, values = self._own.update(key, value)
        self.bytes = keys.numel() * keys.element_size() + values.numel() * values.element_size()
        self.heads = keys.size(1)
        return keys, values


def measure(stage: Stage, chatter: Chatter, text: str) -> list[Measured]:
    """Generate from the beginning of a text, with and without the cache, and report a difference of the two."""
    prompt = chatter.batch([[chatter.end, *chatter.ids(text)][:PROMPT]])
    lengths = [new for new in LENGTHS if prompt.size(1) + new <= chatter.window] or [chatter.window - prompt.size(1)]
    chatter.generated(prompt, 2)  # the first call is slow
    found = []
    for new in lengths:
        with_cache, seconds = _timed(chatter, prompt, new, use_cache=True)
        without, slower = _timed(chatter, prompt, new, use_cache=False)
        _compare(stage, chatter, with_cache, without)
        held, heads = _held(chatter, with_cache[:, :-1])
        all_heads = held * int(chatter.arguments["num_heads"]) // heads
        found.append(Measured(new, new / seconds, new / slower, held, all_heads))
    return found


def _timed(chatter: Chatter, prompt: Tensor, new: int, *, use_cache: bool) -> tuple[Tensor, float]:
    started = time.perf_counter()
    ids = chatter.generated(prompt, new, use_cache=use_cache)
    ids.tolist()  # an accelerator must have finished
    return ids, time.perf_counter() - started


def _compare(stage: Stage, chatter: Chatter, one: Tensor, other: Tensor) -> None:
    """Report texts that differ, unless rounding alone decided between two tokens."""
    if one.shape == other.shape and torch.equal(one, other):
        return
    common = min(one.size(1), other.size(1))
    places = (one[:, :common] != other[:, :common]).any(0).nonzero()
    if len(places):
        at = int(places[0])
        with torch.no_grad():
            best, second = chatter.model(one[:, :at])[0, -1].topk(2).values.tolist()
        if best - second < TIED:
            return
    stage.report_fault("ex20_kv_cache", "the text generated with the cache is not the one without it")


def _held(chatter: Chatter, ids: Tensor) -> tuple[int, int]:
    """Return the bytes of all caches after these ids, and the heads that they hold."""
    caches = [_Watched(own) for own in chatter.model.make_cache()]  # type: ignore[operator]
    with torch.no_grad():
        chatter.model(ids[:, :-1], caches)
        chatter.model(ids[:, -1:], caches)
    return sum(cache.bytes for cache in caches), caches[0].heads if caches else 1


def report(stage: Stage, found: list[Measured]) -> None:
    """Print a line for each length."""
    stage.print("Tokens per second, and what the cache holds at the end:")
    for line in found:
        times = line.with_cache / line.without
        stage.print(
            f"  {line.new:>3} tokens: {line.with_cache:,.0f} with the cache, {line.without:,.0f} without "
            f"({times:.1f} times as fast); {line.held:,} bytes, {line.for_all_heads:,} if each query head had its own."
        )
    stage.print("Both ways write the same text.")
