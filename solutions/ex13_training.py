# %% [markdown]
# # ex13: training
#
# In training, the model gets a batch, and the loss measures how wrong its output is. Then every
# parameter moves a little in the direction that makes the loss smaller. This needs four functions:
#
# | function | what it does |
# |---|---|
# | `sequence_loss` | measures how wrong the model is: one number per batch |
# | `warmup_learning_rate` | sets how far to move in this step |
# | `train_step` | does one batch: loss, gradients, one update |
# | `fit` | repeats this for all batches and epochs |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`F.cross_entropy(scores, classes)`] | mean cross-entropy of scores (N, V) and class ids (N,) |
# | [`x.flatten(i, j)`] | joins the axes from `i` to `j` into one |
# | [`loss.backward()`] | adds the gradient of the loss to `.grad` of every parameter |
# | [`optimizer.zero_grad()`], [`optimizer.step()`] | clears all gradients; updates all parameters |
# | [`nn.utils.clip_grad_norm_`] | scales all gradients down together, to a norm (length) of at most a limit |
# | [`model.train()`], [`loss.item()`] | switches to training mode; gives the number in a tensor as a float |
#
# [`F.cross_entropy(scores, classes)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
# [`x.flatten(i, j)`]: https://docs.pytorch.org/docs/stable/generated/torch.flatten.html
# [`loss.backward()`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
# [`optimizer.zero_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html
# [`optimizer.step()`]: https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.step.html
# [`nn.utils.clip_grad_norm_`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
# [`model.train()`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train
# [`loss.item()`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html
#
# **The loss** is the mean cross-entropy of the real tokens. In sentence $b$ at position $t$, the
# logits are $z_{b,t} \in \mathbb{R}^V$, and the label is $y_{b,t}$. The number of labels that are
# not padding is $n$:
#
# $$L = -\frac{1}{n} \sum_{y_{b,t} \ne pad} \log \mathrm{softmax}(z_{b,t})_{y_{b,t}}.$$
#
# Padding is not in the sum and not in the count. Otherwise the loss of a sentence would depend on
# the longest sentence of its batch. The model would also learn to predict padding.
#
# *Label smoothing* (Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer
# Vision", section 7) asks for a little less than certainty. A share $\varepsilon$ of the label is
# spread evenly over all $V$ classes, including the right class and padding:
#
# $$q_k = (1 - \varepsilon) \, [k = y] + \frac{\varepsilon}{V}, \qquad
# L_{b,t} = -\sum_k q_k \log \mathrm{softmax}(z_{b,t})_k.$$
#
# Here $q_k$ is the share of class $k$ in the label. $[k = y]$ is 1 for the right class and 0 for
# the others. The paper uses $\varepsilon = 0.1$ (Vaswani et al. 2017, section 5.4).
#
# **The learning rate** rises linearly in the first $warmup$ steps. In these steps, the optimizer's
# averages of the gradients are still poor. After them, it falls with one over the square root of
# the step (section 5.3, equation 3):
#
# $$\mathrm{rate} = D^{-0.5} \cdot \min\left(step^{-0.5}, \; step \cdot warmup^{-1.5}\right)$$
#
# Steps count from 1. A scheduler that begins at 0 would compute $0^{-0.5}$, or make a first step of
# length 0. So step 0 is treated as step 1.
#
# **Clipping** (Pascanu et al. 2013, "On the difficulty of training recurrent neural networks",
# algorithm 1) limits the length of the gradient. All gradients together form one long vector $g$ of
# length $\lVert g \rVert$. If $g$ is longer than the limit $c$, the whole vector is multiplied by
# one factor. Its direction does not change:
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g \rVert}\right)$$

# %% [markdown]
# ## One sentence, by hand
#
# Here $V = 3$, and padding is id 0. There are three positions, and the last is padding:
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
# With smoothing, the loss of the first position is 0.9 · 0.408 + 0.1 · (2.408 + 0.408 + 1.408) / 3
# = 0.508. Two mistakes make the model look better than it is. Divided by all three positions, the
# loss without smoothing would be 0.653. With padding as a label, it would be (1.959 + 0.013) / 3 =
# 0.657.
#
# The rate for $D = 512$ and 4,000 warm-up steps is 1.75e-7 at step 1 and 3.49e-4 at step 2,000. It
# is highest at step 4,000, with 6.99e-4, and is 3.49e-4 again at step 16,000.

# %%
import torch
from ex12_batching import teacher_forcing
from torch import Tensor, nn
from torch.nn import functional

# %% [markdown]
# The loss takes *logits*, not probabilities. It computes the softmax together with its logarithm:
# $\log \mathrm{softmax}(z)_k = z_k - \log \sum_j e^{z_j}$. This does not overflow, and it never
# takes the logarithm of 0.


# %%
def sequence_loss(logits: Tensor, labels: Tensor, pad_idx: int = 0, label_smoothing: float = 0.0) -> Tensor:
    """Return the mean cross-entropy (a scalar) of the labels (B, T) that are not `pad_idx`, for logits (B, T, V).

    `label_smoothing` is the share of each label that is spread evenly over all V classes.
    """
    # TODO ex13: compute the mean cross-entropy over the real tokens. You may use the library.
    ### BEGIN SOLUTION
    scores = logits.flatten(0, 1)  # (B*T, V)
    answers = labels.flatten()  # (B*T,)
    return functional.cross_entropy(scores, answers, ignore_index=pad_idx, label_smoothing=label_smoothing)
    ### END SOLUTION


def warmup_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """Return the learning rate of a step (Vaswani et al. 2017, equation 3). Step 0 is treated as step 1."""
    # TODO ex13: compute the formula above, also for step 0.
    ### BEGIN SOLUTION
    step = max(step, 1)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)
    ### END SOLUTION


# %% [markdown]
# After the loss, a training step has four calls, and their order matters. `backward` *adds*
# gradients to those a parameter already has, so clear the old ones first. Clip the gradients after
# `backward`. The optimizer updates last.


# %%
def train_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    src: Tensor,
    tgt: Tensor,
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    """Make one update with teacher forcing, in training mode, and return the loss before it.

    src (B, S), tgt (B, T). `max_grad_norm` limits the norm of the gradients of all parameters together.
    """
    # TODO ex13: shift the targets (ex12), compute the loss of the model's logits, and make one optimizer step.
    ### BEGIN SOLUTION
    model.train()
    decoder_input, labels = teacher_forcing(tgt)  # (B, T-1) both
    loss = sequence_loss(model(src, decoder_input), labels, pad_idx)
    optimizer.zero_grad()
    loss.backward()
    if max_grad_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()
    ### END SOLUTION


def fit(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    batches: list[tuple[Tensor, Tensor]],
    epochs: int,
    pad_idx: int = 0,
) -> list[float]:
    """Train on every batch (src, tgt) once per epoch, in order. Return the mean loss of each epoch.

    The mean is over the batches, all with the same weight.
    """
    # TODO ex13: for each epoch, make one step per batch and store the mean of their losses.
    ### BEGIN SOLUTION
    history = []
    for _ in range(epochs):
        losses = [train_step(model, optimizer, src, tgt, pad_idx) for src, tgt in batches]
        history.append(sum(losses) / len(losses))
    return history
    ### END SOLUTION


# %% [markdown]
# ## Overfit one batch
#
# Before you train a model for hours, train it on one small batch. If it cannot memorise four
# sentences, it has a bug. You see this within seconds. With the Transformer of ex10 and the batches
# of ex12:
#
# ```python
# import torch
# from ex10_transformer import Transformer
# from ex12_batching import build_vocab, encode, pad_batch
# from ex13_training import fit
#
# english = ["the dog sees the cat", "the cat sleeps", "a bird sings", "the dog sees a bird"]
# german = [
#     "der hund sieht die katze", "die katze ruht", "ein vogel singt", "der hund sieht einen vogel"
# ]
#
#
# def padded(texts):
#     sentences = [text.split() for text in texts]
#     vocab = build_vocab(sentences)
#     return pad_batch([encode(words, vocab) for words in sentences]), vocab
#
#
# src, src_vocab = padded(english)  # (4, 7), 12 tokens
# tgt, tgt_vocab = padded(german)  # (4, 7), 14 tokens
# torch.manual_seed(0)
# model = Transformer(
#     len(src_vocab), len(tgt_vocab), d_model=32, num_heads=4, d_ff=64,
#     num_encoder_blocks=2, num_decoder_blocks=2, dropout=0.0, seq_len=16,
# )
# optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
# losses = fit(model, optimizer, [(src, tgt)], epochs=200)
# ```
#
# A model that knows nothing gives each of the 14 tokens the same probability. That is a loss of ln
# 14 = 2.64, so the first loss should be near 2.64. Dropout is 0 here, because it would slow the
# learning down. The table shows the losses of the course's own modules, and of the same modules
# with one mistake each. (Your digits will differ, because your random weights differ.)
#
# | loss in epoch | 1 | 10 | 20 | 50 | 100 | 200 |
# |---|---|---|---|---|---|---|
# | everything right | 2.815 | 1.836 | 1.150 | 0.264 | 0.080 | 0.027 |
# | no causal mask | 2.807 | 1.768 | 1.075 | 0.251 | 0.082 | 0.027 |
# | no shift | 2.816 | 1.646 | 0.905 | 0.237 | 0.087 | 0.030 |
#
# All three models memorise their batch. At first, the wrong models are even faster. Then each model
# generated text from `<SOS>`, always with the likeliest token:
#
# | | "the cat sleeps" becomes |
# |---|---|
# | everything right | die katze ruht `<EOS>` |
# | no causal mask | die katze `<EOS>` |
# | no shift | `<SOS>` `<SOS>` `<SOS>` `<SOS>` |
#
# The first model translated all four sentences correctly, the others none. So a loss that stays
# high proves a bug, but a loss that falls proves little. A decoder that sees the answer, in its
# input or through its attention, learns to copy it. So also look at what the model generates
# (ex14).

# %% [markdown]
# ## Try
#
# Train the same batch with the learning rate of `warmup_learning_rate`. Set it in
# `optimizer.param_groups` before each step, once with 10 and once with 100 warm-up steps. What is
# the highest rate in each case, and what is the final loss? Then repeat the worse run with a
# `max_grad_norm` of 0.1. Adam divides by the size of the gradients anyway. Why can a limit still
# matter?
