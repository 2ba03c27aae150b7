# %% [markdown]
# # ex26: optimizer, learning rate and large batches
#
# ex13 left three things to the library or to luck. They are the optimizer, the schedule of the
# learning rate, and batches that do not fit into memory. This exercise has all three:
#
# | name | what it does |
# |---|---|
# | `AdamW` | moves every parameter by its own, steady step, and shrinks the weights |
# | `cosine_learning_rate` | warms up, then falls along half a cosine |
# | `accumulated_step` | makes one update from several small batches, as if they were one |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.optim.Optimizer`] | the base class; `super().__init__(params, defaults)` makes `param_groups` |
# | `self.param_groups` | a list of dicts: the list `"params"`, and the values `"lr"`, `"betas"`, ... of the group |
# | `self.state[parameter]` | a dict for each parameter, empty at first; `state_dict()` saves it |
# | [`torch.no_grad()`] | records no graph: as a decorator, or in a `with` |
# | [`torch.enable_grad()`] | records a graph again, inside of `no_grad` |
# | [`x.mul_(a)`], [`x.add_(y, alpha=a)`] | `x = x * a` and `x = x + a * y`, in place |
# | [`torch.zeros_like(x)`] | zeros with the shape, dtype and device of `x` |
# | [`nn.utils.clip_grad_norm_`] | scales all gradients down together, to a norm of at most a limit |
#
# [`torch.optim.Optimizer`]: https://docs.pytorch.org/docs/stable/optim.html#torch.optim.Optimizer
# [`torch.no_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
# [`torch.enable_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.enable_grad.html
# [`x.mul_(a)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.mul_.html
# [`x.add_(y, alpha=a)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.add_.html
# [`torch.zeros_like(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.zeros_like.html
# [`nn.utils.clip_grad_norm_`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
#
# ## AdamW
#
# Adam (Kingma and Ba 2014) keeps two running averages for every number of a parameter. They are $m$
# of its gradient $g$, and $v$ of $g^2$. It moves by their quotient $m / \sqrt{v}$, so the size of a
# step hardly depends on the size of the gradients. AdamW (Loshchilov and Hutter 2017, "Decoupled
# Weight Decay Regularization", algorithm 2) also shrinks the parameter $p$ itself. In step $t$,
# counted from 1 for each parameter:
#
# $$p \leftarrow p - \eta \lambda \, p$$
# $$m \leftarrow \beta_1 m + (1 - \beta_1) \, g$$
# $$v \leftarrow \beta_2 v + (1 - \beta_2) \, g^2$$
# $$p \leftarrow p - \eta \, \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \epsilon}$$
#
# - **The corrections.** $m$ and $v$ start at 0, so they are too small at first. After $t$ steps,
#   the weights of an average sum to $1 - \beta^t$, and the division by that makes up for it.
# - **The decay is decoupled.** It does not pass through $m$ and $v$. If you add $\lambda p$ to the
#   gradient, as Adam with "L2" does, weights with large gradients decay less.
# - *Other conventions*: the paper's algorithm does not multiply $\lambda$ by the learning rate
#   $\eta$. The handout of CS336 decays after the update, and adds $\epsilon$ to the root of the
#   uncorrected $v$. This course does what `torch.optim.AdamW` does, so you can compare.
#
# ## The learning rate
#
# Part one used $1/\sqrt{step}$. Today most models use half a cosine (Loshchilov and Hutter 2016,
# "SGDR", equation 5), after a linear warm-up. Steps count from 0, $w$ is `warmup_steps` and $n$ is
# `total_steps`:
#
# $$\mathrm{rate} = \begin{cases} max \cdot step / w & step < w \\
# min + \frac{1}{2}\left(1 + \cos \pi \frac{step - w}{n - w}\right)(max - min) & w \le step < n \\
# min & step \ge n \end{cases}$$
#
# *Other conventions*: some use `(step + 1) / w` in the warm-up, so that the first step is not lost.
# Some count `total_steps` from the end of the warm-up.
#
# ## Accumulation
#
# A batch may not fit into memory. Cut it into parts, and let each part *add* its gradients with
# `backward`. Then make one update. The result should be that of the whole batch. Its loss is the
# mean over **all real labels of all parts**. Part $i$ has $n_i$ real labels and the mean loss
# $L_i$:
#
# $$L = \frac{\sum_i n_i L_i}{\sum_i n_i}$$
#
# The mean of the $L_i$ is another number if the parts have different lengths. Several large
# libraries had this bug for years. Clear the gradients once before, clip once after, and step once.

# %% [markdown]
# ## By hand
#
# **AdamW.** One number $p = 1$, with gradients 0.5 and then -0.1. The learning rate is 0.1, and the
# weight decay is 0.1. The betas are 0.9 and 0.99, and epsilon is too small to matter:
#
# ```text
#   t    g     p after decay       m        v       m corrected   √(v corrected)     p
#   1   0.5   1 · 0.99 = 0.99    0.050   0.00250       0.500          0.500       0.99 - 0.1 · 1 = 0.890
#   2  -0.1       0.8811         0.035   0.00258       0.184          0.360       0.8811 - 0.0512 = 0.830
# ```
#
# The first step is the learning rate, whatever the gradient is. $m$ corrected is $g$, and the root
# of $v$ corrected is $|g|$.
#
# **Cosine.** From 1 down to 0.1, with 4 warm-up steps and 12 in all:
#
# ```text
#   step   0     2     4      6      8     10     12    13
#   rate   0   0.5     1  0.868  0.550  0.232  0.100 0.100
# ```
#
# **Accumulation.** Part 1 has 3 real labels and a mean loss of 2. Part 2 has 1 real label and a
# loss of 4. The loss of the whole batch is (3 · 2 + 1 · 4) / 4 = 2.5. The mean of the means would
# be 3.

# %%
import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from ex12_batching import teacher_forcing
from ex13_training import sequence_loss
from torch import Tensor, nn

# %% [markdown]
# The base class keeps the parameters in groups. Each group is a dict with its own values, which a
# schedule may change between two steps. So read them from the group in every step. `state_dict`
# saves what you keep in `self.state[parameter]`, and nothing else.


# %%
class AdamW(torch.optim.Optimizer):
    """Adam with decoupled weight decay. A parameter without a gradient is skipped.

    Negative `lr`, `eps` or `weight_decay`, or a beta outside [0, 1), is a ValueError with the number.

    Not allowed: everything of `torch.optim` except `Optimizer`.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        # TODO ex26: refuse values that make no sense; then hand params and the defaults to the base class.
        ### BEGIN SOLUTION
        for name, number in (("lr", lr), ("eps", eps), ("weight_decay", weight_decay)):
            if number < 0:
                raise ValueError(f"{name} must be 0 or more, got {number}")
        for beta in betas:
            if not 0 <= beta < 1:
                raise ValueError(f"betas must be at least 0 and below 1, got {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})
        ### END SOLUTION

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient, and leave the gradient as it is.

        A `closure` is called first, with gradients enabled; the result is the loss that it returns, else None.
        """
        # TODO ex26: call the closure; then update each parameter of each group by the formulas above.
        ### BEGIN SOLUTION
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            rate, (beta1, beta2) = group["lr"], group["betas"]
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["step"] = 0
                    state["mean"] = torch.zeros_like(parameter)
                    state["square"] = torch.zeros_like(parameter)
                state["step"] += 1
                mean, square = state["mean"], state["square"]
                parameter.mul_(1 - rate * group["weight_decay"])
                mean.mul_(beta1).add_(gradient, alpha=1 - beta1)
                square.mul_(beta2).add_(gradient * gradient, alpha=1 - beta2)
                first = mean / (1 - beta1 ** state["step"])
                second = square / (1 - beta2 ** state["step"])
                parameter.sub_(rate * first / (second.sqrt() + group["eps"]))
        return loss
        ### END SOLUTION


def cosine_learning_rate(
    step: int, max_learning_rate: float, min_learning_rate: float, warmup_steps: int, total_steps: int
) -> float:
    """Return the learning rate of a step, counted from 0: a linear warm-up, half a cosine, then the minimum.

    More warm-up steps than steps in all are a ValueError with both numbers.
    """
    # TODO ex26: one case before the end of the warm-up, one from `total_steps` on, one between them.
    ### BEGIN SOLUTION
    if warmup_steps > total_steps:
        raise ValueError(f"{warmup_steps} warm-up steps are more than {total_steps} steps in all")
    if step < warmup_steps:
        return max_learning_rate * step / warmup_steps
    if step >= total_steps:
        return min_learning_rate
    done = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_learning_rate + (1 + math.cos(math.pi * done)) / 2 * (max_learning_rate - min_learning_rate)
    ### END SOLUTION


# %% [markdown]
# The model here is a language model: it gets ids `(B, T)` and returns logits `(B, T, V)`. Input and
# labels of a part are the same row, shifted by one (`teacher_forcing`, ex12). `sequence_loss`
# (ex13) gives the mean over the real labels of one part.


# %%
def accumulated_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    parts: list[Tensor],
    pad_idx: int = 0,
    max_grad_norm: float | None = None,
) -> float:
    """Make one update, in training mode, as if all parts were one batch; return its mean loss before the update.

    Each part is Long (B_i, T_i): the input is all but the last token, the labels all but the first. The mean is over
    the labels of all parts that are not `pad_idx`. The backward pass of a part runs before the next part is computed.
    `max_grad_norm` limits the norm of the whole gradient, once. No parts are a ValueError.
    """
    # TODO ex26: count the real labels of all parts; add the gradients of each part's share; clip, and step once.
    ### BEGIN SOLUTION
    if not parts:
        raise ValueError("there are no parts")
    model.train()
    optimizer.zero_grad()
    counts = [int((part[:, 1:] != pad_idx).sum()) for part in parts]
    total = 0.0
    for part, count in zip(parts, counts, strict=True):
        if count == 0:
            continue
        decoder_input, labels = teacher_forcing(part)
        share = sequence_loss(model(decoder_input), labels, pad_idx) * (count / sum(counts))
        share.backward()
        total += share.item()
    if max_grad_norm is not None:
        nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return total
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Train a small model of part one twice. First use your `AdamW` with a weight decay of 0.3. Then add
# the decay to the gradient instead: `param.grad + 0.3 * param`. Compare the norms of the weights
# after 200 steps. Which weights differ most: those with large gradients, or those with small ones?
