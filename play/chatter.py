"""The student's modern model with their own tokenizer: it continues a text with a cache, and measures its loss."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from autograder.play import Stage
from play.writer import Writer

END = "<|end|>"
"""The special token for a blank line: the end of a tale, or of a paragraph."""

BLANK = "\n\n"

SAMPLE = 60_000
"""The characters that the tokenizer learns from: the speed of the student's `train_bpe` is free."""

PRE_TOKEN = re.compile(r"'(?:[sdmt]|ll|ve|re)| ?[^\W\d_]+| ?\d+| ?(?:_|[^\s\w])+|\s+(?!\S)|\s+")
"""The pattern of ex15. No merge goes beyond a pre-token, so equal ones are encoded once."""


class Chatter(Writer):
    """A modern model with `arguments`, those of `ModernModel`, and a tokenizer that was trained before."""

    def __init__(
        self,
        stage: Stage,
        vocab: Mapping[int, bytes],
        merges: Sequence[tuple[bytes, bytes]],
        arguments: Mapping[str, Any],
    ) -> None:
        self.stage, self.arguments = stage, dict(arguments)
        self.vocabulary, self.merges = dict(vocab), list(merges)
        self.tokenizer: Any = stage.own("ex15_byte_pair_encoding").Tokenizer(dict(vocab), list(merges), [END])
        self.end = int(self.tokenizer.encode(END)[0])
        self.window = int(arguments["context_length"])
        self.model = self.new_model()
        self._word = cache(lambda word: tuple(self.tokenizer.encode(word)))

    def new_model(self, **others: Any) -> nn.Module:
        """Return an untrained model; `others` override its arguments."""
        torch.manual_seed(self.stage.seed)
        model: nn.Module = self.stage.own("ex22_modern_model").ModernModel(**{**self.arguments, **others})
        return model.to(self.stage.device)

    def ids(self, text: str) -> list[int]:
        """Return a text as ids; a blank line becomes `END`."""
        ids: list[int] = []
        for at, part in enumerate(text.split(BLANK)):
            ids += [self.end] if at else []
            for word in PRE_TOKEN.findall(part):
                ids += self._word(word)
        return ids

    def text(self, ids: Sequence[int]) -> str:
        """Return ids as a text."""
        decoded: str = self.tokenizer.decode(list(ids))
        return decoded.replace(END, BLANK)

    def batch(self, rows: list[list[int]]) -> Tensor:
        """Return rows of ids as a tensor (B, T) on the device."""
        return torch.tensor(rows, device=self.stage.device)

    def continued(self, prompt: str, length: int, *, seed: int, **sampling: Any) -> str:
        """Return up to `length` tokens that continue a text which begins with `prompt`; `END` ends it."""
        before = [self.end, *self.ids(prompt)]
        length = min(length, self.window - 1)
        start = self.batch([before[-(self.window - length) :]])
        generator = torch.Generator(self.stage.device).manual_seed(seed)
        ids = self.generated(start, length, eos_idx=self.end, generator=generator, **sampling)
        return self.text([id_ for id_ in ids[0, start.size(1) :].tolist() if id_ != self.end])

    def generated(self, start: Tensor, length: int, **options: Any) -> Tensor:
        """Return `generate_cached` of ex20."""
        ids: Tensor = self.stage.own("ex20_kv_cache").generate_cached(self.model, start, length, **options)
        return ids


def learn_tokenizer(stage: Stage, text: str, entries: int) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Return the vocabulary and the merges that the student's `train_bpe` learns from the beginning of a text."""
    vocab, merges = stage.own("ex15_byte_pair_encoding").train_bpe(text[:SAMPLE].replace(BLANK, END), entries, [END])
    return dict(vocab), [(first, second) for first, second in merges]
