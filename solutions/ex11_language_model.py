# %% [markdown]
# # ex11: a language model
#
# A language model continues a text. It needs no second sequence, so it has one stack of blocks, not
# an encoder and a decoder. This is the *decoder-only* model (Radford et al. 2018, "Improving
# Language Understanding by Generative Pre-Training", section 3.1, after Vaswani et al. 2017). This
# decoder has no encoder output to read. Without cross-attention, its blocks are those of ex08. Only
# the mask makes them a decoder. At each position, the model predicts how probable each word is as
# the next one:
#
# $$x^{(0)} = \mathrm{Positions}(\mathrm{Embedding}(y)), \qquad
# x^{(l)} = \mathrm{Block}_l(x^{(l-1)}, \mathrm{mask}),$$
#
# $$P(y_{t+1} \mid y_0, \ldots, y_t) = \mathrm{softmax}(W x^{(L)}_t + b)$$
#
# $L$ is the number of blocks, and $W$ and $b$ are the weight and the bias of the last layer.
#
# | tensor | shape | what it is |
# |---|---|---|
# | `ids` $y$ | `(B, T)` | the text so far |
# | $x^{(0)}, \ldots, x^{(L)}$ | `(B, T, D)` | the vectors before the blocks and after each block |
# | mask | `(T, T)`, or with axes for batch and head | which token may see which |
# | logits | `(B, T, V)` | at every position, a score for each word as the next one |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.ModuleList(modules)`] | a list of modules whose parameters are trained; in a plain list they are not |
# | [`nn.Linear(m, n)`] | a trained layer from `m` to `n` features, with a bias unless `bias=False` |
# | [`a & b`] | combines two Bool tensors with *and*, element by element; shapes broadcast |
# | [`x.size(i)`], [`x.device`] | the length of an axis, and the device of a tensor |
#
# [`nn.ModuleList(modules)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
# [`nn.Linear(m, n)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html
# [`a & b`]: https://docs.pytorch.org/docs/stable/generated/torch.logical_and.html
# [`x.size(i)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.size.html
# [`x.device`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.device.html
#
# **The causal mask always applies.** It is the look-ahead mask of ex04. One pass makes `T`
# predictions at once: for the token after the first, after the first two, and so on. This works
# only if no position sees its answer, the next token. Without the mask, the model copies the next
# token, and the loss falls to almost 0. But during generation there is no next token to copy, and
# the text is nonsense. One public notebook trains a left-to-right model without this mask, and says
# so itself.
#
# **A given mask is combined with the causal mask.** A token is visible only where both masks allow
# it. (In ex10, a given mask is used unchanged.) The model does not know which id is padding. If the
# caller pads, the caller passes a mask.
#
# **No final norm.** The blocks are post-norm, so the output of the last block is already
# normalized. The projection follows directly.

# %% [markdown]
# ## Without a single block
#
# With `num_layers = 0` you can compute the model by hand. Here $D = 2$, there are three words, and
# the ids are `[0 2]`. The table has one row per word, and so have `W` and `b` of the last layer:
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
# Such a model knows the current word and its position, but no earlier word. Blocks change that, and
# the mask limits how far they look. Here are three tokens. The first is padding that a given mask
# blocks:
#
# ```text
#   causal        given          both
#   [1 0 0]                      [0 0 0]
#   [1 1 0]      [0 1 1]         [0 1 0]
#   [1 1 1]                      [0 1 1]
# ```
#
# The first query has nothing to attend to. Its output has no meaning, but it must be finite (ex05).
# Otherwise NaN spreads to the gradients of the model.

# %%
from ex01_embeddings import InputEmbeddings
from ex02_positional_encoding import PositionalEncoding
from ex04_masks import create_look_ahead_mask
from ex08_encoder import EncoderBlock
from torch import Tensor, nn


# %%
class LanguageModel(nn.Module):
    """Map ids to logits of the next token, at every position (Radford et al. 2018, section 3.1).

    Attributes:
        embedding: `InputEmbeddings` (ex01).
        positional_encoding: `PositionalEncoding` (ex02) with `seq_len` rows.
        layers: `nn.ModuleList` of `num_layers` encoder blocks (ex08), each with its own parameters.
        output_projection: `nn.Linear` from D to V with a bias. There is no norm before it.

    Not allowed: `nn.MultiheadAttention` and the Transformer classes of the library.
    """

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
        # TODO ex11: create embedding, positional_encoding, layers and output_projection.
        ### BEGIN SOLUTION
        self.embedding = InputEmbeddings(d_model, vocab_size)
        self.positional_encoding = PositionalEncoding(d_model, seq_len, dropout)
        self.layers = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff, dropout) for _ in range(num_layers))
        self.output_projection = nn.Linear(d_model, vocab_size)
        ### END SOLUTION

    def forward(self, ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return logits (B, T, V) for ids (B, T). A mask, as in ex05, is combined with the causal one."""
        # TODO ex11: make the mask for this length on the device of the ids. Then embed the ids, apply the layers and
        # the projection. No softmax.
        ### BEGIN SOLUTION
        allowed = create_look_ahead_mask(ids.size(1), ids.device)  # (T, T)
        if mask is not None:
            allowed = allowed & mask  # (T, T), or the axes of the mask
        x = self.positional_encoding(self.embedding(ids))  # (B, T, D)
        for layer in self.layers:
            x = layer(x, allowed)  # (B, T, D)
        return self.output_projection(x)  # (B, T, V)
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Take a new, untrained model. Compute the mean cross-entropy of its logits with the ids shifted one
# to the left. Compare it with `math.log(vocab_size)`, the loss of pure guessing. How much worse is
# the new model? Which of its initial weights make it so sure of wrong words?
#
# Then train on texts `a b a b ...`, and on texts `a b a c a b a c ...`. Let each text begin at a
# random position of its pattern. Which of the two patterns can a model without a block learn? Which
# needs to see earlier tokens?
