# %% [markdown]
# # ex30: learning from preferences
#
# A language model that was trained on text continues it. It does not know which of two answers
# people prefer. Two methods teach it that, and today's chat models use both:
#
# - **DPO** learns from pairs: a chosen and a rejected answer to the same prompt (Rafailov et al.
#   2023, "Direct Preference Optimization", equation 7).
# - **GRPO** lets the model write a group of answers to one prompt. Each gets a reward, and the
#   better ones become more likely (Shao et al. 2024, "DeepSeekMath", section 4.1).
#
# Both begin with one number: the log-probability of an answer, which is the sum over its tokens.
#
# **The log-probability of an answer.** The logits at position $t$ predict the token at $t + 1$, as
# in ex11. So the logits of the last position and the token of the first one have no partner. The
# prompt and the padding do not count: a mask is True at the tokens of the answer.
#
# **DPO.** The policy $\pi$ is the model that you train. The reference is a frozen copy of it from
# before. With the log-probabilities of the chosen answer $y_w$ and the rejected one $y_l$:
#
# $$\mathrm{loss} = -\ln \sigma \Big( \beta \big[ (\ln \pi(y_w) - \ln \pi(y_l)) -
# (\ln \pi_\mathrm{ref}(y_w) - \ln \pi_\mathrm{ref}(y_l)) \big] \Big)$$
#
# The loss is low if the policy prefers the chosen answer by more than the reference does. A small
# $\beta$ lets the policy move far from the reference.
#
# **GRPO.** The advantage of an answer is its reward minus the mean of its group. DeepSeekMath also
# divides by the deviation of the group, so that easy and hard prompts weigh alike. *Other
# conventions*: Dr. GRPO (Liu et al. 2025) does not divide. Here the deviation divides by $G - 1$,
# as `torch.std` does, and `eps` is added to it.
#
# Each token then has the clipped loss of PPO (Schulman et al. 2017, equation 7). With the ratio $r
# = e^{\ln \pi - \ln \pi_\mathrm{old}}$ and the advantage $A$ of its answer:
#
# $$-\min \big( r A, \; \mathrm{clip}(r, 1 - \varepsilon, 1 + \varepsilon) \, A \big)$$
#
# The minimum takes away the reason to move further than $\varepsilon$, but never the reason to come
# back. A long answer has many tokens. GRPO takes the mean over the tokens of each answer first, so
# every answer weighs the same. *Other convention*: DAPO (Yu et al. 2025) takes the mean over all
# tokens of the batch, so every token weighs the same. The argument `per` chooses.
#
# **The distance to the reference** is a penalty per token. Its estimate, called *k3*, is never
# negative (Schulman 2020, "Approximating KL divergence"; DeepSeekMath, equation 4). With $d = \ln
# \pi_\mathrm{ref} - \ln \pi$:
#
# $$e^d - d - 1$$
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.log_softmax(x, dim)`] | the logarithm of the softmax, without overflow |
# | [`x.gather(dim, index)`] | picks one element per row; `index` has as many axes as `x` |
# | [`F.logsigmoid(x)`] | ln σ(x), also for large negative `x` |
# | [`x.detach()`] | the same numbers without a gradient |
# | [`x.clamp(low, high)`] | limits every element |
# | [`torch.minimum(a, b)`] | the smaller of two numbers, for every element |
# | [`x.std(dim, keepdim)`] | the deviation, with `n - 1` in the denominator |
#
# [`torch.log_softmax(x, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html
# [`x.gather(dim, index)`]: https://docs.pytorch.org/docs/stable/generated/torch.gather.html
# [`F.logsigmoid(x)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.logsigmoid.html
# [`x.detach()`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html
# [`x.clamp(low, high)`]: https://docs.pytorch.org/docs/stable/generated/torch.clamp.html
# [`torch.minimum(a, b)`]: https://docs.pytorch.org/docs/stable/generated/torch.minimum.html
# [`x.std(dim, keepdim)`]: https://docs.pytorch.org/docs/stable/generated/torch.std.html
#
# **Traps.** The mask belongs to the *predicted* tokens, so it is shifted as they are. A padded
# token may have any id. Nothing in a loss may send a gradient into the reference, nor into the old
# policy. `log(sigmoid(x))` is `-inf` for `x = -200`, while `logsigmoid(x)` is -200.
#
# **Not allowed:** the packages `trl` and `torchtune`.

# %% [markdown]
# ## By hand
#
# **DPO.** The policy gives the chosen answer the log-probability -2 and the rejected one -3. The
# reference gives both -2.5, and β is 0.5:
#
# ```text
#   0.5 · [(-2 + 3) - (-2.5 + 2.5)] = 0.5       loss = -ln σ(0.5) = 0.474
# ```
#
# **A group** of four answers has the rewards `[1 0 0 1]`. The mean is 0.5, and the deviation is √(4
# · 0.25 / 3) = 0.577. The advantages are `[0.866 -0.866 -0.866 0.866]`, or `[0.5 -0.5 -0.5 0.5]`
# without the division.
#
# **The clipped loss.** One token has become 1.5 times as likely, and ε is 0.2. With the advantage 1
# the loss is -min(1.5, 1.2) = -1.2: clipped, so there is no gradient. With the advantage -1 it is
# -min(-1.5, -1.2) = 1.5: not clipped, because the token must become less likely again.
#
# **The distance.** The policy gives a token -1, the reference -1.5. So d is -0.5, and the estimate
# is 0.607 + 0.5 - 1 = 0.107.

# %%
import torch
from torch import Tensor
from torch.nn import functional as F

# %% [markdown]
# The functions take numbers, not models. So they work for every model of this course.


# %%
def answer_log_probs(logits: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
    """Return the log-probability (B,) of each answer: a sum over its tokens.

    `logits` (B, T, V) at position t predict `ids` (B, T) at t + 1. The Bool `mask` (B, T) is True at the tokens that
    count; the first token is never predicted, so it does not count. Float32 at least.
    """
    # TODO ex30: log-softmax, the predicted ids of each position, the mask of those ids, a sum.
    ### BEGIN SOLUTION
    wide = torch.promote_types(logits.dtype, torch.float32)
    log_probs = torch.log_softmax(logits[:, :-1].to(wide), dim=-1)  # (B, T - 1, V)
    chosen = log_probs.gather(-1, ids[:, 1:].unsqueeze(-1)).squeeze(-1)  # (B, T - 1)
    return chosen.masked_fill(~mask[:, 1:], 0.0).sum(dim=-1)
    ### END SOLUTION


def dpo_loss(
    policy_chosen: Tensor, policy_rejected: Tensor, reference_chosen: Tensor, reference_rejected: Tensor, beta: float
) -> Tensor:
    """Return the DPO loss, a scalar: the mean over the pairs.

    All four are log-probabilities (B,). No gradient reaches those of the reference.
    """
    # TODO ex30: how much more the policy prefers the chosen answer than the reference does; its log-sigmoid.
    ### BEGIN SOLUTION
    policy = policy_chosen - policy_rejected
    reference = (reference_chosen - reference_rejected).detach()
    return -F.logsigmoid(beta * (policy - reference)).mean()
    ### END SOLUTION


def group_advantages(rewards: Tensor, normalize: bool = True, eps: float = 1e-6) -> Tensor:
    """Return the advantage (B, G) of each of G answers to B prompts: its reward minus the mean of its group.

    With `normalize`, it is divided by the deviation of its group (which divides by G - 1) plus `eps`.
    """
    # TODO ex30: subtract the mean of each group, and divide by its deviation.
    ### BEGIN SOLUTION
    centered = rewards - rewards.mean(dim=-1, keepdim=True)
    return centered / (rewards.std(dim=-1, keepdim=True) + eps) if normalize else centered
    ### END SOLUTION


def clipped_loss(
    log_probs: Tensor,
    old_log_probs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    clip: float = 0.2,
    per: str = "answer",
) -> Tensor:
    """Return the clipped policy loss, a scalar.

    `log_probs` and `old_log_probs` (B, T) are those of each token now and when the answers were written. `advantages`
    (B,) are those of the answers. The Bool `mask` (B, T) is True at the tokens that count, in each row at least one.

    With `per` "answer" the loss is the mean over the tokens of each answer, then over the answers. With "token" it is
    the mean over all tokens that count. Any other `per` is a ValueError with it. No gradient reaches the old ones.
    """
    # TODO ex30: the ratio of each token, the smaller of two products, and the mean over what counts.
    ### BEGIN SOLUTION
    if per not in ("answer", "token"):
        raise ValueError(f'per must be "answer" or "token", got {per!r}')
    ratio = torch.exp(log_probs - old_log_probs.detach())  # (B, T)
    advantage = advantages.unsqueeze(-1)  # (B, 1)
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    loss = -gain.masked_fill(~mask, 0.0)
    if per == "token":
        return loss.sum() / mask.sum()
    return (loss.sum(dim=-1) / mask.sum(dim=-1)).mean()
    ### END SOLUTION


def kl_estimate(log_probs: Tensor, reference_log_probs: Tensor) -> Tensor:
    """Return the estimate k3 of the distance from the policy to the reference, for each token: e^d - d - 1.

    d is the log-probability of the reference minus that of the policy. Both may have any shape. No gradient reaches
    the reference.
    """
    # TODO ex30: the difference of the two, and the three terms.
    ### BEGIN SOLUTION
    difference = reference_log_probs.detach() - log_probs
    return torch.exp(difference) - difference - 1
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Take the language model of ex11, and let a copy of it be the reference. Make pairs. The chosen
# answer is a sentence of your text. The rejected one has the same words in another order. Train
# with `dpo_loss` for a hundred steps. How do the log-probabilities of both answers change? Often
# both fall, and the rejected one falls faster.
