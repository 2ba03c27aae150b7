"""The student's language model with its pieces: it continues a text, and measures its loss."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder.play import Stage
from play.learning import initialized
from play.pieces import Pieces

WINDOWS = 16
"""The windows that are evaluated in one batch."""

SAMPLED_IDS = 400
"""The ids that are evaluated of a model that sees later ones: each of them needs a window of its own."""

SAME = 1e-3
"""Two logits that differ by more are different: rounding stays below."""


class AsTransformer(nn.Module):
    """Lets `train_step` call the language model like a Transformer: it reads the target and ignores the source."""

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
        """Return logits (B, T, V) for tgt (B, T), which has no padding to mask."""
        logits: Tensor = self.model(tgt)
        return logits


class Writer:
    """A model with `options`: its width, heads and blocks, and the `window` of pieces that it reads."""

    def __init__(self, stage: Stage, pieces: Pieces, options: Mapping[str, Any]) -> None:
        self.stage, self.pieces, self.options = stage, pieces, options
        self.vocab: dict[str, int] = stage.own("ex12_batching").build_vocab([[piece] for piece in pieces.all])
        self.window = int(options["window"])
        self.model = self.new_model()

    def new_model(self, **others: int) -> nn.Module:
        """Return an untrained model; `others` override its sizes."""
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
        ids: list[int] = self.stage.own("ex12_batching").encode(self.pieces.split(text), self.vocab)
        return ids[1:-1]

    def text(self, ids: Sequence[int]) -> str:
        """Return ids as a text."""
        return "".join(self.stage.own("ex12_batching").decode(ids, self.vocab))

    def batch(self, rows: list[list[int]]) -> Tensor:
        """Return rows of ids as a tensor (B, T) on the device."""
        padded: Tensor = self.stage.own("ex12_batching").pad_batch(rows, device=self.stage.device)
        return padded

    def continued(self, prompt: str, length: int, *, seed: int, **sampling: Any) -> str:
        """Return `length` pieces that continue a line that begins with `prompt`. `sampling` are options of ex14."""
        start = self.batch([self.ids(f"\n{prompt}")])
        generator = torch.Generator(self.stage.device).manual_seed(seed)
        generate = self.stage.own("ex14_generation").generate
        ids = generate(self.model, start, length, generator=generator, **sampling)
        return self.text(ids[0, start.size(1) :].tolist())

    def nats(self, before: Sequence[int], ids: Sequence[int]) -> float:
        """Return the mean of -ln p over ids, each with at least half a window of earlier ids as context.

        It does not use the student's own loss, which may be wrong. A model that sees later ids would read the answers
        in its input. It gets none of them, and the mean is over some of the ids only.
        """
        half = self.window // 2
        stream = torch.tensor([*before[-half:], *ids], device=self.stage.device)
        reach = len(stream) - len(ids)
        self.model.eval()
        with torch.no_grad():
            windows = list(_windows(len(ids), half))
            if self._sees_later(stream[: self.window]):
                windows = [([at], 1) for at in range(0, len(ids), max(1, len(ids) // SAMPLED_IDS))]
            total = sum(self._loss(stream, starts, reach, long) for starts, long in windows)
        return total / sum(len(starts) * long for starts, long in windows)

    def _loss(self, stream: Tensor, starts: Sequence[int], reach: int, long: int) -> float:
        """Return the sum of -ln p over the last `long` ids of windows of a stream (N,)."""
        rows = torch.stack([stream[at : at + reach + long] for at in starts])  # (B, reach + long)
        logits = self.model(rows[:, :-1])[:, -long:]
        return float(functional.cross_entropy(logits.flatten(0, 1), rows[:, -long:].flatten(), reduction="sum"))

    def _sees_later(self, ids: Tensor) -> bool:
        """Return whether the end of a text (N,) changes the logits at its beginning."""
        half = len(ids) // 2
        other = torch.cat([ids[:half], ids[half:].roll(1)])
        logits, others = self.model(torch.stack([ids, other]))  # (N, V) both
        return not float((logits - others)[:half].abs().max()) <= SAME


def _windows(many: int, step: int) -> Iterator[tuple[list[int], int]]:
    """Yield batches of window starts, each with the number of ids that one window adds."""
    whole = [at for at in range(0, many, step) if at + step <= many]
    for first in range(0, len(whole), WINDOWS):
        yield whole[first : first + WINDOWS], step
    if many % step:
        yield [many - many % step], many % step
