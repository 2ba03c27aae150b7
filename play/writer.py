"""A language model of the student's, the pieces it speaks, and how it goes on with a text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder.learner.play.stage import Stage
from play.learning import initialized
from play.pieces import Pieces

TESTED = 16
"""So many windows are tested at once."""

SOME = 400
"""So many ids are tested of a model that sees what comes later."""

SAME = 1e-3
"""Two logits that differ by more are not the same."""


class Paired(nn.Module):
    """The language model as `train_step` calls a Transformer: what is shown is the target, and there is no source."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        src: Tensor,  # noqa: ARG002
        tgt: Tensor,
        src_mask: Tensor | None = None,  # noqa: ARG002
        tgt_mask: Tensor | None = None,  # noqa: ARG002
    ) -> Tensor:
        """Return logits (B, T, V) for tgt (B, T), which has no padding that a mask would have to hide."""
        logits: Tensor = self.model(tgt)
        return logits


class Writer:
    """A model made by `options`: the width, heads, blocks, and the `window` of pieces that it looks at."""

    def __init__(self, stage: Stage, pieces: Pieces, options: Mapping[str, Any]) -> None:
        self.stage, self.pieces, self.options = stage, pieces, options
        self.vocab: dict[str, int] = stage.own("ex12_batching").build_vocab([[each] for each in pieces.all])
        self.window = int(options["window"])
        self.model = self.new_model()

    def new_model(self, **others: int) -> nn.Module:
        """Return an untrained model; `others` are sizes in the place of its own."""
        torch.manual_seed(self.stage.seed)
        sizes = {**self.options, **others}
        width = int(sizes["width"])
        model: nn.Module = self.stage.own("ex11_language_model").LanguageModel(
            len(self.vocab),
            d_model=width,
            num_heads=sizes["heads"],
            d_ff=2 * width,
            num_layers=sizes["blocks"],
            seq_len=self.window,
            dropout=0.0,
        )
        return initialized(model).to(self.stage.device)

    def ids(self, text: str) -> list[int]:
        """Return a text as ids, without the <SOS> and <EOS> that ex12 puts around a sentence."""
        ids: list[int] = self.stage.own("ex12_batching").encode(self.pieces.cut(text), self.vocab)
        return ids[1:-1]

    def text(self, ids: Sequence[int]) -> str:
        """Return ids as a text."""
        return "".join(self.stage.own("ex12_batching").decode(ids, self.vocab))

    def batch(self, rows: list[list[int]]) -> Tensor:
        """Return rows of ids as a tensor (B, T) on the device."""
        padded: Tensor = self.stage.own("ex12_batching").pad_batch(rows, device=self.stage.device)
        return padded

    def continued(self, prompt: str, length: int, *, seed: int, **knobs: Any) -> str:
        """Return what comes after a prompt, which begins a line: `length` pieces of it. `knobs` are those of ex14."""
        start = self.batch([self.ids(f"\n{prompt}")])
        generator = torch.Generator(self.stage.device).manual_seed(seed)
        generate = self.stage.own("ex14_generation").generate
        ids = generate(self.model, start, length, generator=generator, **knobs)
        return self.text(ids[0, start.size(1) :].tolist())

    def nats(self, before: Sequence[int], ids: Sequence[int]) -> float:
        """Return the mean of -ln p over ids, each seen with at least half a window of what is before it.

        Not by the student's own loss: this is the figure that it is judged by. A model that sees what comes later would
        find the answers in its input, so it is shown none of them: then it is the mean over some of the ids.
        """
        half = self.window // 2
        stream = torch.tensor([*before[-half:], *ids], device=self.stage.device)
        reach = len(stream) - len(ids)
        self.model.eval()
        with torch.no_grad():
            windows = list(_windows(len(ids), half))
            if self._sees_later(stream[: self.window]):
                windows = [([at], 1) for at in range(0, len(ids), max(1, len(ids) // SOME))]
            total = sum(self._loss(stream, starts, reach, long) for starts, long in windows)
        return total / sum(len(starts) * long for starts, long in windows)

    def _loss(self, stream: Tensor, starts: Sequence[int], reach: int, long: int) -> float:
        """Return the sum of -ln p over the last `long` ids of windows of a stream (N,)."""
        rows = torch.stack([stream[at : at + reach + long] for at in starts])  # (B, reach + long)
        logits = self.model(rows[:, :-1])[:, -long:]
        return float(functional.cross_entropy(logits.flatten(0, 1), rows[:, -long:].flatten(), reduction="sum"))

    def _sees_later(self, ids: Tensor) -> bool:
        """Say whether another end of a text (N,) changes what is said at its beginning."""
        half = len(ids) // 2
        other = torch.cat([ids[:half], ids[half:].roll(1)])
        logits, others = self.model(torch.stack([ids, other]))  # (N, V) both
        return not float((logits - others)[:half].abs().max()) <= SAME


def _windows(many: int, step: int) -> Iterator[tuple[list[int], int]]:
    """Yield where windows start that each add `step` ids, some at a time, and how many ids they add."""
    whole = [at for at in range(0, many, step) if at + step <= many]
    for first in range(0, len(whole), TESTED):
        yield whole[first : first + TESTED], step
    if many % step:
        yield [many - many % step], many % step
