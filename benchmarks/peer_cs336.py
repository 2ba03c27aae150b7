"""The tasks of Stanford's CS336: adapters and probes."""

from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

import torch
from peer_tasks import (
    Task,
    cross_entropy,
    graded,
    normal,
    probe_attention,
    probe_cosine,
    probe_cross_entropy,
    probe_optimizer,
)
from torch import Tensor

BASICS, ALIGNMENT = "assignment1-basics", "assignment5-alignment"


def masked_attention(code: ModuleType) -> Any:
    """Hand the mask on."""
    return lambda Q, K, V, mask=None: code.scaled_dot_product_attention(Q, K, V, mask)[0]  # noqa: N803


def probe_masked(attend: Any) -> list[Tensor]:
    """Attend with a mask for each matrix of scores, in three and in four axes."""
    results = probe_attention(attend)
    for leading in ((2,), (2, 3)):
        inputs = (normal(*leading, length, 8, seed=seed) for seed, length in enumerate((4, 5, 5)))
        mask = (normal(*leading, 4, 5) > 0) | torch.eye(4, 5, dtype=torch.bool)
        results += graded(partial(attend, mask=mask), *inputs)
    return results


def rope_at(code: ModuleType) -> Any:
    """Hand the positions on."""
    return lambda d_k, theta, max_seq_len, in_query_or_key, token_positions: code.RotaryPositionalEmbedding(
        theta, d_k, max_seq_len
    )(in_query_or_key, token_positions)


def probe_rope_at(turn: Any) -> list[Tensor]:
    """Turn at the first positions, at later ones, and at others in each sentence."""
    positions = torch.arange(5), torch.tensor([3, 4, 9, 0, 11]), torch.tensor([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]])
    return [x for at in positions for x in graded(lambda x: turn(8, 100.0, 12, x, at), normal(2, 5, 8))]  # noqa: B023


def adamw(code: ModuleType) -> Any:
    """Return the class."""
    return lambda: code.AdamW


def probe_adamw(get: Any) -> list[Tensor]:
    """Make steps without decay of weights, and with it."""
    return [*probe_optimizer(partial(get(), weight_decay=0.0)), *probe_optimizer(partial(get(), weight_decay=0.3))]


def cosine_cycle(code: ModuleType) -> Any:
    """Put the arguments in the order of ours."""

    def rate(
        it: int, max_learning_rate: float, min_learning_rate: float, warmup_iters: int, cosine_cycle_iters: int
    ) -> Any:
        return code.cosine_learning_rate(it, max_learning_rate, min_learning_rate, warmup_iters, cosine_cycle_iters)

    return rate


def probe_cosine_cycle(rate: Any) -> list[Tensor]:
    """Ask for the rates of a whole schedule, and for those after it."""
    return probe_cosine(lambda step, total, warmup, high, low: rate(step, high, low, warmup, total), last=24)


def normalized_rewards(code: ModuleType) -> Any:
    """Ask for the reward of each answer."""

    def normalize(
        reward_fn: Any,
        rollout_responses: Sequence[str],
        repeated_ground_truths: Sequence[str],
        group_size: int,
        advantage_eps: float,
        normalize_by_std: bool,
    ) -> tuple[Tensor, Tensor, dict[str, float]]:
        answers = zip(rollout_responses, repeated_ground_truths, strict=True)
        raw = torch.tensor([reward_fn(*answer)["reward"] for answer in answers])
        return code.group_advantages(raw.view(-1, group_size), normalize_by_std, advantage_eps).flatten(), raw, {}

    return normalize


def probe_normalized_rewards(normalize: Any) -> list[Tensor]:
    """Take groups of four, with and without a deviation, and with a large eps."""
    rewards = ["0.3", "1.0", "0.0", "0.4", "9.0", "9.5", "9.1", "9.2"]
    settings = ((True, 1e-6), (False, 1e-6), (True, 0.5))
    score = lambda answer, _: {"reward": float(answer)}  # noqa: E731
    return [normalize(score, rewards, rewards, 4, eps, by_std)[0] for by_std, eps in settings]


def clipped_tokens(code: ModuleType) -> Any:
    """Call ours for each token, as a mean over one token."""

    def loss(
        advantages: Tensor, policy_log_probs: Tensor, old_log_probs: Tensor, cliprange: float
    ) -> tuple[Tensor, dict[str, Tensor]]:
        tokens = zip(
            policy_log_probs.flatten(),
            old_log_probs.flatten(),
            advantages.expand_as(policy_log_probs).flatten(),
            strict=True,
        )
        one = torch.ones(1, 1, dtype=torch.bool)
        losses = [code.clipped_loss(a.view(1, 1), b.view(1, 1), c.view(1), one, cliprange) for a, b, c in tokens]
        return torch.stack(losses).view_as(policy_log_probs), {}

    return loss


def probe_clipped_tokens(loss: Any) -> list[Tensor]:
    """Clip at a small and a large distance, with advantages of both signs."""
    old, advantages = normal(4, 5, seed=1), torch.tensor([[1.0], [-2.0], [0.5], [-0.1]])
    call = lambda x, clip: loss(advantages, x, old, clip)[0]  # noqa: E731
    return [x for clip in (0.1, 10.0) for x in graded(partial(call, clip=clip), normal(4, 5))]


TASKS = (
    Task(
        BASICS, "scaled_dot_product_attention", "ex05_attention", masked_attention, probe_masked,
        "run_scaled_dot_product_attention",
        ("test_model.py::test_scaled_dot_product_attention", "test_model.py::test_4d_scaled_dot_product_attention"),
    ),
    Task(
        BASICS, "cross_entropy", "ex13_training", cross_entropy, probe_cross_entropy, "run_cross_entropy",
        ("test_nn_utils.py::test_cross_entropy",),
    ),
    Task(BASICS, "rope", "ex17_rotary_positions", rope_at, probe_rope_at, "run_rope", ("test_model.py::test_rope",)),
    Task(
        BASICS, "adamw", "ex26_optimizer", adamw, probe_adamw, "get_adamw_cls", ("test_optimizer.py::test_adamw",)
    ),
    Task(
        BASICS, "lr_cosine_schedule", "ex26_optimizer", cosine_cycle, probe_cosine_cycle, "run_get_lr_cosine_schedule",
        ("test_optimizer.py::test_get_lr_cosine_schedule",),
    ),
    Task(
        ALIGNMENT, "group_normalized_rewards", "ex30_preference", normalized_rewards, probe_normalized_rewards,
        "run_compute_group_normalized_rewards", ("test_grpo.py", "-k=group_normalized"),
    ),
    Task(
        ALIGNMENT, "grpo_clip_loss", "ex30_preference", clipped_tokens, probe_clipped_tokens,
        "run_compute_grpo_clip_loss", ("test_grpo.py", "-k=compute_grpo_clip"),
    ),
)  # fmt: skip
