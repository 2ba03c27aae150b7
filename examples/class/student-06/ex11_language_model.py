# %% [markdown]
# # ex11: a language model
#
# A language model continues a text. It needs no second sequence, so of the Transformer only one stack is left: the
# *decoder-only* model (Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training", section 3.1,
# after Vaswani et al. 2017). What is called a decoder there has no encoder to look at; without that attention its
# blocks are those of ex08. All that makes a decoder of them is the mask. At each position the model says how probable
# each word is as the next one:
#
# $$x^{(0)} = \mathrm{Positions}(\mathrm{Embedding}(y)), \qquad x^{(l)} = \mathrm{Block}_l(x^{(l-1)}, \mathrm{mask}),$$
#
# $$P(y_{t+1} \mid y_0, \ldots, y_t) = \mathrm{softmax}(W x^{(L)}_t + b)$$
#
# | tensor | shape | what it is |
# |---|---|---|
# | `ids` $y$ | `(B, T)` | the text so far |
# | $x^{(0)}, \ldots, x^{(L)}$ | `(B, T, D)` | a vector for each token, before the blocks and after each of them |
# | mask | `(T, T)`, or with a batch | who may look at whom |
# | logits | `(B, T, V)` | how much speaks for each word as the next one, at every position |
#
# **The causal mask always holds.** A single pass answers `T` questions at once: what comes after the first token, after
# the first two, and so on. This works only if no position sees the answer, which stands right beside it. Without the
# mask the loss falls to almost nothing, since the model copies the next token, and the first text it has to write
# itself is nonsense, because there is no next token to copy. A notebook that this course draws on trains a model left
# to right without one, and says so itself.
#
# **A mask that is given is combined with it**: a token is seen where both masks allow it. (Unlike in ex10, where a mask
# that is given is used as it is.) The model has no idea which id is padding; who pads gives a mask.
#
# **No final norm.** The blocks are post-norm, so what leaves the last one is normalized already. Nothing stands between
# it and the projection.

# %% [markdown]
# ## Without a single block
#
# With `num_layers = 0` the model can be computed by hand. $D = 2$, three words, and the ids `[0 2]`:
#
# ```text
#   table      √2 · row         position          sum             W          b
#   0 [1 0]    [1.414 0.000]    [0.000 1.000]    [1.414 1.000]    [1  0]     0
#   1 [0 1]
#   2 [1 1]    [1.414 1.414]    [0.841 0.540]    [2.256 1.955]    [0  1]     0
#                                                                 [1 -1]     1
#
#   logits                     probabilities of the next word
#     [1.414 1.000 1.414]        [0.376 0.248 0.376]
#     [2.256 1.955 1.301]        [0.471 0.348 0.181]
# ```
#
# Such a model knows the last word and its place, and nothing of what was before. Blocks change that, and the mask says
# how far they reach. Three tokens, the first of them padding that a given mask blocks:
#
# ```text
#   causal        given          both
#   [1 0 0]                      [0 0 0]
#   [1 1 0]      [0 1 1]         [0 1 0]
#   [1 1 1]                      [0 1 1]
# ```
#
# The first query is left with nothing to attend to. Its output means nothing, but it has to be finite (ex05), or the
# gradients of all the others are lost with it.

# %%
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock
from torch import Tensor, nn


# %%
class LanguageModel(nn.Module):
    """Continues a text: ids in, logits of the next token out, at every position (Radford et al. 2018, section 3.1)."""

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
        super().__init__()
        # TODO ex11: make embedding, positional_encoding, layers (a ModuleList of num_layers blocks of ex08) and
        # output_projection (a linear layer with a bias).
        raise NotImplementedError("ex11: LanguageModel.__init__")

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) for ids (B, T). The mask, of any form of ex05, is combined with the causal one."""
        # TODO ex11: the mask for a text of this length, on the device of the ids; then embed, go through the layers,
        # project. No softmax.
        raise NotImplementedError("ex11: LanguageModel.forward")


# %% [markdown]
# ## Try
#
# Take a model as it was made, untrained, and compute the mean cross-entropy of its logits with the ids moved one to the
# left. Compare it with `math.log(vocab_size)`, the loss of pure guessing: how much worse is the new model, and what in
# its first weights makes it so sure? Then train on texts `a b a b ...`, and on texts `a b a c a b a c ...` that begin
# at any place: which of the two can a model without a block learn, and which needs a look at the past?
