# %% [markdown]
# # ex09: the decoder
#
# The decoder writes the target sequence, for example a translation, one token after the other. It
# reads two things: the tokens written so far, and the encoder output of the source. So its block
# has three sublayers (Vaswani et al. 2017, section 3.1), each again as
# $\mathrm{LayerNorm}(x + \mathrm{Dropout}(\mathrm{Sublayer}(x)))$:
#
# | sublayer | queries | keys and values | mask | weights |
# |---|---|---|---|---|
# | masked self-attention | decoder | decoder | `tgt_mask`: padding and future | `(B, H, T, T)` |
# | cross-attention | decoder | encoder output | `src_mask`: source padding | `(B, H, T, S)` |
# | feed-forward | | | | |
#
# **Masked self-attention.** In training, the whole target is processed at once. Position $t$ must
# predict token $t + 1$ without seeing it. So `tgt_mask` is True only on and below the diagonal, and
# there only in columns of real tokens (ex04).
#
# **Cross-attention** (section 3.2.3) takes its queries from the decoder. Its keys *and* values are
# the encoder output. The number of queries is the number of output rows, so the result has the
# length $T$ of the target. The whole source is known, so there is no future to hide. `src_mask`
# hides only padding.
#
# **Every block reads the same encoder output**: the output of the last encoder block, after the
# final norm. Only the decoder's own vectors go from block to block. Each residual adds to these
# vectors, never to the encoder output.
#
# | step | shape |
# |---|---|
# | target ids | `(B, T)` |
# | embeddings, scaled (ex01), with positions (ex02) | `(B, T, D)` |
# | each block, with encoder output `(B, S, D)` | `(B, T, D)` |
# | a final layer norm, a choice of this course as in ex08 | `(B, T, D)` |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.ModuleList(modules)`] | a list of modules whose parameters are trained; in a plain list they are not |
# | [`nn.Dropout(p)`] | in training, sets elements to 0 with probability `p`, and scales up the others |
# | [`model.named_parameters()`] | name and tensor of every trained parameter, to look at |
#
# [`nn.ModuleList(modules)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
# [`nn.Dropout(p)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html
# [`model.named_parameters()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.named_parameters

# %% [markdown]
# ## Reading the source, by hand
#
# Two target tokens attend to three source tokens, and the last source token is padding. $D = 3$,
# with one head, projections that change nothing, and a norm with `alpha` one and `bias` zero:
#
# ```text
#   x            encoder output     src_mask        scores = x encoder_outputᵀ / √3
#   [1 0 1]         [2 0 0]            True            [1.155 1.155 4.619]
#   [0 1 0]         [0 2 2]            True            [0.000 1.155 2.309]
#                   [4 4 4]            False
#
#   weights                     read = weights encoder_output
#   [0.500 0.500 0.000]            [1.000 1.000 1.000]
#   [0.240 0.760 0.000]            [0.479 1.521 1.521]
#
#   x + read                    layer norm
#   [2.000 1.000 2.000]            [ 0.707 -1.414 0.707]
#   [0.479 2.521 1.521]            [-1.233  1.216 0.017]
# ```
#
# There are two queries, so the result has two rows, for any length of the source. Without
# `src_mask`, the padding would get weights of 0.941 and 0.707. The residual adds `read` to the
# token of the query. So 0.479 = 0 + 0.240·2 and 2.521 = 1 + 0.760·2.

# %%
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


# %%
class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention and feed-forward, each with residual and norm.

    Attributes:
        self_attention, cross_attention: `MultiHeadAttention` (ex06).
        feed_forward: `FeedForwardNetwork` (ex07).
        layer_norm_1, layer_norm_2, layer_norm_3: `LayerNormalization` (ex03), one after each sublayer, in order.
        dropout: `nn.Dropout`, on the output of each sublayer. The three sublayers get the same rate.

    Not allowed, here and below: `nn.MultiheadAttention` and the Transformer classes of the library.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        # TODO ex09: create self_attention, cross_attention, feed_forward, layer_norm_1 to layer_norm_3 and dropout.
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForwardNetwork(d_model, d_ff, dropout)
        self.layer_norm_1 = LayerNormalization(d_model)
        self.layer_norm_2 = LayerNormalization(d_model)
        self.layer_norm_3 = LayerNormalization(d_model)
        self.dropout = nn.Dropout(dropout)
        ### END SOLUTION

    def forward(
        self, x: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return (B, T, D) for x (B, T, D) and encoder_output (B, S, D); masks as in ex06."""
        # TODO ex09: apply the three sublayers in order, each with its dropout, residual and norm. Which of the two
        # masks belongs to which attention?
        ### BEGIN SOLUTION
        own = self.self_attention(x, x, x, tgt_mask)  # (B, T, D)
        x = self.layer_norm_1(x + self.dropout(own))  # (B, T, D)
        read = self.cross_attention(x, encoder_output, encoder_output, src_mask)  # (B, T, D)
        x = self.layer_norm_2(x + self.dropout(read))  # (B, T, D)
        return self.layer_norm_3(x + self.dropout(self.feed_forward(x)))  # (B, T, D)
        ### END SOLUTION


class Decoder(nn.Module):
    """Embeddings with positions, a stack of decoder blocks over one encoder output, and a final layer norm.

    Attributes:
        embedding: `InputEmbeddings` (ex01).
        positional_encoding: `PositionalEncoding` (ex02) with `seq_len` rows, the longest target.
        decoder_blocks: `nn.ModuleList` of `num_decoder_blocks` blocks, each with its own parameters.
        layer_norm: `LayerNormalization` (ex03).
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
        # TODO ex09: create embedding, positional_encoding, decoder_blocks and layer_norm.
        ### BEGIN SOLUTION
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.decoder_blocks = nn.ModuleList(
            DecoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_decoder_blocks)
        )
        self.layer_norm = LayerNormalization(d_model)
        ### END SOLUTION

    def forward(
        self, ids: Tensor, encoder_output: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None
    ) -> Tensor:
        """Return (B, T, D) for Long ids (B, T) and encoder_output (B, S, D). The masks apply to every block."""
        # TODO ex09: embed the ids, add the positions, apply the blocks in order, then the final norm.
        ### BEGIN SOLUTION
        x = self.positional_encoding(self.embedding(ids))  # (B, T, D)
        for block in self.decoder_blocks:
            x = block(x, encoder_output, src_mask, tgt_mask)  # (B, T, D)
        return self.layer_norm(x)  # (B, T, D)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Give the decoder a target of five ids, then the same target with a different fifth id. Compare the
# two outputs row by row, with the look-ahead mask of ex04 and without it. In how many rows do the
# outputs differ? In which of the two cases could you train the model?
