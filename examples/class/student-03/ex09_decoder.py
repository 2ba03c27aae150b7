# %% [markdown]
# # ex09: the decoder
#
# The decoder writes the target sequence, one token after the other, and reads two things while it does: what it has
# written so far, and what the encoder made of the source. So its block has three sublayers (Vaswani et al. 2017,
# section 3.1), each again as $\mathrm{LayerNorm}(x + \mathrm{Dropout}(\mathrm{Sublayer}(x)))$:
#
# | sublayer | queries | keys and values | mask | weights |
# |---|---|---|---|---|
# | masked self-attention | decoder | decoder | `tgt_mask`: padding and future | `(B, H, T, T)` |
# | cross-attention | decoder | encoder output | `src_mask`: padding of the source | `(B, H, T, S)` |
# | feed-forward | | | | |
#
# **Masked self-attention.** In training the whole target goes through at once. Position $t$ is to predict token
# $t + 1$, which stands beside it, so it must not look: `tgt_mask` is True on and below the diagonal, and False where
# the target is padding (ex04).
#
# **Cross-attention** (section 3.2.3) asks with the decoder's vectors and is answered by the encoder's: keys *and*
# values are the encoder output. The queries decide how many rows come out, so the result keeps the length $T$ of the
# target. The source is known whole. There is no future in it, and its only mask hides padding.
#
# **Every block reads the same encoder output**, that of the last encoder block after its norm. Only the decoder's own
# vectors go from block to block; the residual adds to those, never to the encoder's.
#
# | step | shape |
# |---|---|
# | target ids | `(B, T)` |
# | embeddings, scaled (ex01), with positions (ex02) | `(B, T, D)` |
# | each block, with encoder output `(B, S, D)` | `(B, T, D)` |
# | a final layer norm, this course's choice as in ex08 | `(B, T, D)` |

# %% [markdown]
# ## Reading the source, by hand
#
# Two target tokens ask three source tokens, the last of which is padding. $D = 3$, one head, projections that change
# nothing, a norm with `alpha` one and `bias` zero:
#
# ```text
#   x            encoder output     src_mask        scores = x encoder_outputᵀ / √3
#   [1 0 1]         [2 0 0]            True            [1.155 1.155 4.619]
#   [0 1 0]         [0 2 2]            True            [0.000 1.155 2.309]
#                   [4 4 4]            False
#
#   weights                     read = weights encoder_output    x + read               layer norm
#   [0.500 0.500 0.000]            [1.000 1.000 1.000]           [2.000 1.000 2.000]    [ 0.707 -1.414 0.707]
#   [0.240 0.760 0.000]            [0.479 1.521 1.521]           [0.479 2.521 1.521]    [-1.233  1.216 0.017]
# ```
#
# Two rows ask, so two rows come back, whatever the length of the source. Without `src_mask` the padding would get 0.941
# and 0.707 of the weights. The residual adds what was read to the token that asked: 0.479 = 0 + 0.240·2 and
# 2.521 = 1 + 0.760·2.

# %%
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


# %%
class DecoderBlock(nn.Module):
    """Masked self-attention, attention over the encoder output, feed-forward; each with residual and norm."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        # TODO ex09: make self_attention, cross_attention, feed_forward, layer_norm_1 to layer_norm_3 and dropout; the
        # rate of dropout is for the three sublayers as well.
        raise NotImplementedError("ex09: DecoderBlock.__init__")

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return (B, T, D) for x (B, T, D) and encoder_output (B, S, D); the masks as in ex06."""
        # TODO ex09: the three sublayers in their order, each with its dropout, residual and norm. Which of the two
        # masks belongs to which attention?
        raise NotImplementedError("ex09: DecoderBlock.forward")


class Decoder(nn.Module):
    """Embeddings with positions, a stack of decoder blocks over one encoder output, and a final layer norm.

    `seq_len` is the length of the table of positions: the longest sequence it takes.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        num_decoder_blocks: int,
        seq_len: int,
    ) -> None:
        super().__init__()
        # TODO ex09: make embedding, positional_encoding, decoder_blocks and layer_norm, as the contract names them.
        raise NotImplementedError("ex09: Decoder.__init__")

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return (B, T, D) for Long ids (B, T) and encoder_output (B, S, D); the masks hold in every block."""
        # TODO ex09: from ids to vectors with positions, through the blocks in their order, and the last norm.
        raise NotImplementedError("ex09: Decoder.forward")


# %% [markdown]
# ## Try
#
# Give the decoder a target of five ids, then the same with another fifth id. Compare the two outputs row by row, once
# with the look-ahead mask of ex04 and once without. In how many rows do they differ, and which model could be trained?
