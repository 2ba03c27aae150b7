# %% [markdown]
# # ex08: the encoder
#
# Attention (ex06) lets the tokens of a sentence look at each other, the feed-forward network (ex07) lets each think
# about what it saw. An *encoder block* does both, once; the encoder does it $N$ times over. What goes in is a row of
# ids, what comes out is a vector for each of them that knows its sentence (Vaswani et al. 2017, section 3.1).
#
# Around each of the two *sublayers* stand the same three things (section 3.1, section 5.4 for the dropout):
#
# $$\mathrm{LayerNorm}\bigl(x + \mathrm{Dropout}(\mathrm{Sublayer}(x))\bigr)$$
#
# - **Residual.** The sublayer only adds to what was there. So the token itself passes through all the blocks, and the
#   gradient has a way back that no weight can close.
# - **Dropout** acts on what is added, not on the sum: what was there before is never dropped.
# - **Layer norm** comes after the sum (*post-norm*). Many later models normalise before the sublayer instead
#   (*pre-norm*); with the same weights the two are different functions. Here it is the one of 2017.
#
# | step | shape |
# |---|---|
# | ids | `(B, S)` |
# | embeddings, scaled (ex01), with positions (ex02) | `(B, S, D)` |
# | block 0: attention, add, norm; feed-forward, add, norm | `(B, S, D)` |
# | block 1 takes what block 0 returned, and so on | `(B, S, D)` |
# | a final layer norm | `(B, S, D)` |
#
# A block returns the shape that it takes, so any number of them can be stacked. Each has parameters of its own.
#
# The final norm is this course's choice: the paper has none after a post-norm stack. With `alpha` all ones and `bias`
# all zeros it changes next to nothing, since what comes in has just been normalised; trained, it is a scale of its own.
#
# **The mask** of an encoder hides padding, nothing else: a sentence that is to be understood is known from its first
# word to its last, so every token may look at every real one. The mask goes to the attention of *every* block.

# %% [markdown]
# ## One block, by hand
#
# Two tokens of $D = 3$ features, and two sublayers that are done in the head: attention is the average of the tokens,
# feed-forward is $\mathrm{relu}(x)$. The norms have `alpha` one and `bias` zero.
#
# ```text
#                                       token 0                   token 1
#   x                             [3.000  0.000  0.000]     [ 1.000  2.000 3.000]
#   attention: the average        [2.000  1.000  1.500]     [ 2.000  1.000 1.500]
#   x + that                      [5.000  1.000  1.500]     [ 3.000  3.000 4.500]
#   layer norm 1                  [1.405 -0.843 -0.562]     [-0.707 -0.707 1.414]
#   feed-forward: relu            [1.405  0.000  0.000]     [ 0.000  0.000 1.414]
#   layer norm 1 + that           [2.810 -0.843 -0.562]     [-0.707 -0.707 2.828]
#   layer norm 2                  [1.411 -0.790 -0.621]     [-0.707 -0.707 1.414]
# ```
#
# Token 0 becomes `x + that` with mean (5 + 1 + 1.5) / 3 = 2.5 and standard deviation 1.780; so 5 becomes
# (5 - 2.5) / 1.780 = 1.405. The second residual starts from layer norm 1, not from x. A pre-norm block would return
# `[4.489 -0.354 0.259]` and `[1.095 1.646 4.630]` for the same tokens.

# %%
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


# %%
class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward; each as LayerNorm(x + Dropout(Sublayer(x))) (section 3.1)."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        # TODO ex08: make attention, feed_forward, layer_norm_1, layer_norm_2 and dropout, as the contract names them;
        # the rate of dropout is for the two sublayers as well.
        raise NotImplementedError("ex08: EncoderBlock.__init__")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, S, D) for x (B, S, D); mask as in ex06."""
        # TODO ex08: first attention, of x to itself, then feed-forward, each with its dropout, residual and norm.
        raise NotImplementedError("ex08: EncoderBlock.forward")


class Encoder(nn.Module):
    """Embeddings with positions, a stack of encoder blocks, and a final layer norm.

    `seq_len` is the length of the table of positions: the longest sequence it takes.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        num_encoder_blocks: int,
        seq_len: int,
    ) -> None:
        super().__init__()
        # TODO ex08: make embedding, positional_encoding, encoder_blocks and layer_norm, as the contract names them.
        raise NotImplementedError("ex08: Encoder.__init__")

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, S, D) for Long ids (B, S); the mask, as in ex06, holds in every block."""
        # TODO ex08: from ids to vectors with positions, through the blocks in their order, and the last norm.
        raise NotImplementedError("ex08: Encoder.forward")


# %% [markdown]
# ## Try
#
# Stack 24 untrained blocks and take the gradient of one number of the output with respect to the embeddings. Then do it
# without the two residuals. How much of the gradient is left, and what would the first block still learn?
