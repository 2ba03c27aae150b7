"""The decoder-only model, a stack with one cached causal mask per device."""

from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock, Stack
from torch import Tensor, device, inference_mode, nn


class LanguageModel(Stack):
    blocks_name = "layers"

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        seq_len: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__(
            vocab_size,
            d_model,
            seq_len,
            dropout,
            num_layers,
            lambda: EncoderBlock(d_model, num_heads, d_ff, dropout),
        )
        self.output_projection = nn.Linear(d_model, vocab_size)
        self._causal: dict[device, Tensor] = {}

    def causal(self, size: int, where: device) -> Tensor:
        if where not in self._causal or len(self._causal[where]) < size:
            with inference_mode(False):
                self._causal[where] = create_look_ahead_mask(size, where)
        return self._causal[where][:size, :size]

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        allowed = self.causal(ids.size(1), ids.device)
        return self.output_projection(self.run(ids, allowed if mask is None else mask.logical_and(allowed)))
