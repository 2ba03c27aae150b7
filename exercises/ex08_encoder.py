# %% [markdown]
# # ex08: the encoder
#
# With attention (ex06), the tokens of a sentence look at each other. With the feed-forward network
# (ex07), each token processes what it collected. An *encoder block* does both, once. The encoder
# has $N$ blocks, one after the other. Its input is a row of ids. Its output is one vector per id,
# and each vector depends on the whole sentence (Vaswani et al. 2017, section 3.1).
#
# Attention and feed-forward are called the two *sublayers* of the block. Each is surrounded by the
# same three steps (section 3.1, section 5.4 for the dropout):
#
# $$\mathrm{LayerNorm}\bigl(x + \mathrm{Dropout}(\mathrm{Sublayer}(x))\bigr)$$
#
# - **Residual.** The output of the sublayer is added to its input $x$. So the token itself passes
#   through all blocks, and the gradient has a direct way back.
# - **Dropout** acts on what is added, not on the sum. The input itself is never dropped.
# - **Layer norm** comes after the sum (*post-norm*). Many later models normalize before the
#   sublayer (*pre-norm*). With the same weights these are two different functions. This course uses
#   post-norm, as in 2017.
#
# | step | shape |
# |---|---|
# | ids | `(B, S)` |
# | embeddings, scaled (ex01), with positions (ex02) | `(B, S, D)` |
# | block 0: attention, add, norm; feed-forward, add, norm | `(B, S, D)` |
# | block 1 takes the output of block 0, and so on | `(B, S, D)` |
# | a final layer norm | `(B, S, D)` |
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
#
# The output of a block has the shape of its input, so you can stack any number of blocks. Each
# block has its own parameters.
#
# The final norm is a choice of this course. The paper has none after a post-norm stack. With
# `alpha` all ones and `bias` all zeros the final norm changes almost nothing, because its input is
# already normalized. Training then gives the output its own scale.
#
# **The mask** of an encoder hides padding, nothing else. The whole source sentence is known, so
# every token may look at every real token. The mask goes to the attention of *every* block.

# %% [markdown]
# ## One block, by hand
#
# There are two tokens of $D = 3$ features. Both sublayers are simple enough to compute by hand:
# attention is the mean of the tokens, and feed-forward is $\mathrm{relu}(x)$. The norms have
# `alpha` one and `bias` zero.
#
# ```text
#                                       token 0                   token 1
#   x                             [3.000  0.000  0.000]     [ 1.000  2.000 3.000]
#   attention: the mean           [2.000  1.000  1.500]     [ 2.000  1.000 1.500]
#   x + attention                 [5.000  1.000  1.500]     [ 3.000  3.000 4.500]
#   layer norm 1                  [1.405 -0.843 -0.562]     [-0.707 -0.707 1.414]
#   feed-forward: relu            [1.405  0.000  0.000]     [ 0.000  0.000 1.414]
#   layer norm 1 + feed-forward   [2.810 -0.843 -0.562]     [-0.707 -0.707 2.828]
#   layer norm 2                  [1.411 -0.790 -0.621]     [-0.707 -0.707 1.414]
# ```
#
# For token 0, `x + attention` has mean (5 + 1 + 1.5) / 3 = 2.5 and standard deviation 1.780. So 5
# becomes (5 - 2.5) / 1.780 = 1.405. The second residual adds to the output of layer norm 1, not to
# x. A pre-norm block would return `[4.489 -0.354 0.259]` and `[1.095 1.646 4.630]` for the same
# tokens.

# %%
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex03_layer_norm import LayerNormalization
from ex06_multi_head_attention import MultiHeadAttention
from ex07_feed_forward import FeedForwardNetwork
from torch import Tensor, nn


# %%
class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward, each as LayerNorm(x + Dropout(Sublayer(x))) (section 3.1).

    Attributes:
        attention: `MultiHeadAttention` (ex06).
        feed_forward: `FeedForwardNetwork` (ex07).
        layer_norm_1, layer_norm_2: `LayerNormalization` (ex03), the first after attention.
        dropout: `nn.Dropout`, on the output of each sublayer. Attention and feed-forward get the same rate.

    Not allowed, here and below: `nn.MultiheadAttention` and the Transformer classes of the library.
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        # TODO ex08: create attention, feed_forward, layer_norm_1, layer_norm_2 and dropout.
        raise NotImplementedError("ex08: EncoderBlock.__init__")

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, S, D) for x (B, S, D); mask as in ex06."""
        # TODO ex08: apply self-attention, then feed-forward, each with its dropout, residual and norm.
        raise NotImplementedError("ex08: EncoderBlock.forward")


class Encoder(nn.Module):
    """Embeddings with positions, a stack of encoder blocks, and a final layer norm.

    Attributes:
        embedding: `InputEmbeddings` (ex01).
        positional_encoding: `PositionalEncoding` (ex02) with `seq_len` rows, the longest sequence.
        encoder_blocks: `nn.ModuleList` of `num_encoder_blocks` blocks, each with its own parameters.
        layer_norm: `LayerNormalization` (ex03).
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
        # TODO ex08: create embedding, positional_encoding, encoder_blocks and layer_norm.
        raise NotImplementedError("ex08: Encoder.__init__")

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return (B, S, D) for Long ids (B, S). The mask, as in ex06, applies to every block."""
        # TODO ex08: embed the ids, add the positions, apply the blocks in order, then the final norm.
        raise NotImplementedError("ex08: Encoder.forward")


# %% [markdown]
# ## Try
#
# Stack 24 untrained blocks. Take the gradient of one number of the output with respect to the
# embeddings. Then do the same without the two residuals. How much of the gradient is left, and what
# could the first block still learn?
