# %% [markdown]
# # ex13: training
#
# A model learns by being shown a batch, being told how wrong it was, and moving every parameter a little in the
# direction that would have made it less wrong. Four functions do all of it:
#
# | function | what it answers |
# |---|---|
# | `sequence_loss` | how wrong was it? One number for a batch |
# | `warmup_learning_rate` | how far to move, at this step |
# | `train_step` | one batch: loss, gradients, one move |
# | `fit` | all batches, several times over |
#
# **The loss** is the mean cross-entropy of the real tokens. With logits $z_{b,t} \in \mathbb{R}^V$ and labels
# $y_{b,t}$, and $n$ the number of labels that are not padding,
#
# $$L = -\frac{1}{n} \sum_{y_{b,t} \ne pad} \log \mathrm{softmax}(z_{b,t})_{y_{b,t}}.$$
#
# Padding is neither in the sum nor in the count. Were it counted, the loss of a sentence would depend on the longest
# one in its batch, and the model would learn above all to predict padding.
#
# *Label smoothing* (Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer Vision", section 7) asks
# for a little less than certainty. The label is no longer all of the answer; a share $\varepsilon$ of it is spread
# evenly over all $V$ classes, the right one and padding among them:
#
# $$q_k = (1 - \varepsilon) \, [k = y] + \frac{\varepsilon}{V}, \qquad
# L_{b,t} = -\sum_k q_k \log \mathrm{softmax}(z_{b,t})_k.$$
#
# The paper trains with $\varepsilon = 0.1$ (Vaswani et al. 2017, section 5.4).
#
# **The learning rate** rises in a line for the first steps, while the statistics of the optimizer are still poor, and
# then falls with the root of the step (section 5.3, equation 3):
#
# $$\mathrm{rate} = D^{-0.5} \cdot \min\left(step^{-0.5}, \; step \cdot warmup^{-1.5}\right)$$
#
# Steps count from 1. Schedulers that begin at 0 would get $0^{-0.5}$, or a first step of length 0, so 0 is read as 1.
#
# **Clipping** (Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", algorithm 1) bounds a
# step. All gradients together are one long vector $g$; is it longer than allowed, all of it is made shorter by one
# factor, so that its direction stays:
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g \rVert}\right)$$

# %% [markdown]
# ## One sentence, by hand
#
# $V = 3$, padding is id 0. Three positions, the last of them padding:
#
# ```text
#   logits        log softmax                 label   cross-entropy   smoothed, ε = 0.1
#   [0 2 1]       [-2.408 -0.408 -1.408]        1         0.408             0.508
#   [1 0 0]       [-0.551 -1.551 -1.551]        2         1.551             1.518
#   [5 0 0]       [-0.013 -5.013 -5.013]        0        padding           padding
#
#   loss                                            1.959 / 2 = 0.980   2.026 / 2 = 1.013
# ```
#
# Smoothed, the first position is 0.9 · 0.408 + 0.1 · (2.408 + 0.408 + 1.408) / 3 = 0.508. Divided by all three
# positions the loss would be 0.653, and with padding counted as a label (1.959 + 0.013) / 3 = 0.657: both look like a
# better model than there is.
#
# The rate for $D = 512$ and 4,000 steps of warm-up: 1.75e-7 at step 1, 3.49e-4 at step 2,000, 6.99e-4 at its peak at
# step 4,000, and 3.49e-4 again at step 16,000.

# %%
import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn
from torch.nn import functional

# %% [markdown]
# The loss takes *logits*, not probabilities: the softmax is inside, together with its logarithm, because
# $\log \mathrm{softmax}(z)_k = z_k - \log \sum_j e^{z_j}$ neither overflows nor takes the logarithm of 0.


# %%
def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    """Return the mean cross-entropy of the labels (B, T) that are not `pad_idx`, a scalar, for logits (B, T, V).

    `label_smoothing` is the share of each label that is spread evenly over all V classes.
    """
    # TODO ex13: sum the cross-entropy over the real tokens and divide by their number. The library may help.
    raise NotImplementedError("ex13: sequence_loss")


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Return the learning rate of a step (Vaswani et al. 2017, equation 3); steps count from 1, 0 is read as 1."""
    # TODO ex13: the formula above, safe at step 0.
    raise NotImplementedError("ex13: warmup_learning_rate")


# %% [markdown]
# A step. Four calls whose order matters: gradients are *added* to what a parameter already has, so the old ones go
# before `backward` makes new ones; what is clipped is what `backward` left; and the optimizer moves last.


# %%
def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    """Make one update with teacher forcing, in train mode, and return the loss before it.

    src (B, S), tgt (B, T). If there is a `max_grad_norm`, the gradients of all parameters together are no longer.
    """
    # TODO ex13: shift the targets (ex12), compute the loss of the model's logits, and let the optimizer move once.
    raise NotImplementedError("ex13: train_step")


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: list[tuple[Tensor, Tensor]],
    epochs: int,
    pad_idx: int = 0,
) -> list[float]:
    """Train on every batch (src, tgt) once an epoch, in their order; return the mean loss of each epoch.

    The mean is over the batches, each of the same weight.
    """
    # TODO ex13: for each epoch, a step for each batch, and the mean of their losses.
    raise NotImplementedError("ex13: fit")


# %% [markdown]
# ## One batch down
#
# Before a model trains for hours, train one small batch down: a model of the right shape that cannot learn four
# sentences by heart has a fault, and it shows within seconds. With the Transformer of ex10 and the batches of ex12:
#
# ```python
# import torch
# from ex10_transformer import Transformer
# from ex12_batching import build_vocab, encode, pad_batch
# from ex13_training import fit
#
# english = ["the dog sees the cat", "the cat sleeps", "a bird sings", "the dog sees a bird"]
# german = ["der hund sieht die katze", "die katze ruht", "ein vogel singt", "der hund sieht einen vogel"]
#
#
# def padded(texts):
#     sentences = [text.split() for text in texts]
#     vocab = build_vocab(sentences)
#     return pad_batch([encode(words, vocab) for words in sentences]), vocab
#
#
# (src, src_vocab), (tgt, tgt_vocab) = padded(english), padded(german)  # (4, 7) both, 12 and 14 tokens
# torch.manual_seed(0)
# model = Transformer(
#     len(src_vocab), len(tgt_vocab), d_model=32, num_heads=4, d_ff=64,
#     num_encoder_blocks=2, num_decoder_blocks=2, dropout=0.0, seq_len=16,
# )
# optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
# losses = fit(model, optimizer, [(src, tgt)], epochs=200)
# ```
#
# A model that knows nothing gives each of the 14 tokens the same probability, a loss of ln 14 = 2.64: the first loss
# should be near that. Dropout is 0, so that nothing stands in the way of learning by heart. This is what came out, of
# the course's own parts and of the same parts with one fault each (your digits will differ, as your random weights do):
#
# | loss in epoch | 1 | 10 | 20 | 50 | 100 | 200 |
# |---|---|---|---|---|---|---|
# | everything right | 2.815 | 1.836 | 1.150 | 0.264 | 0.080 | 0.027 |
# | no causal mask | 2.807 | 1.768 | 1.075 | 0.251 | 0.082 | 0.027 |
# | no shift | 2.816 | 1.646 | 0.905 | 0.237 | 0.087 | 0.030 |
#
# All three learn their batch, the faulty ones even sooner at first. Then each generated from `<SOS>`, always the
# likeliest token:
#
# | | "the cat sleeps" becomes |
# |---|---|
# | everything right | die katze ruht `<EOS>` |
# | no causal mask | die katze `<EOS>` |
# | no shift | `<SOS>` `<SOS>` `<SOS>` `<SOS>` |
#
# The first got all four sentences right, the others none. So a loss that stays up proves a fault, but one that falls
# proves little: a decoder that sees the answer, in its input or through its attention, learns to copy it. Look at what
# the model generates as well (ex14).

# %% [markdown]
# ## Try
#
# Train the same batch down with the learning rate of `warmup_learning_rate`, set in `optimizer.param_groups` before
# each step, once with 10 and once with 100 steps of warm-up. What is the highest rate in each case, and where does the
# loss end? Then give the worse one a `max_grad_norm` of 0.1. Adam divides by the size of the gradients anyway:
# why can a bound matter to it all the same?
