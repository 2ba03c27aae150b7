# Only the tokens that count are taken out of their tensors: the cross entropy of each, summed back with index_add.
import torch
from torch.nn import functional as F


def answer_log_probs(logits, ids, mask):
    keep = mask.clone()
    keep[:, 0] = False
    rows, places = keep.nonzero(as_tuple=True)
    wanted = logits[rows, places - 1]
    wanted = wanted if wanted.dtype == torch.float64 else wanted.float()
    found = -F.cross_entropy(wanted, ids[rows, places], reduction="none")
    return found.new_zeros(ids.size(0)).index_add(0, rows, found)


def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    reference = (reference_chosen - reference_rejected).data
    x = (policy_chosen - policy_rejected - reference) * beta
    return torch.mean(F.softplus(x) - x)


def group_advantages(rewards, normalize=True, eps=1e-6):
    difference = rewards - rewards.mean(1).unsqueeze(1)
    if normalize:
        return difference / (rewards.var(1).sqrt().unsqueeze(1) + eps)
    return difference


def clipped_loss(log_probs, old_log_probs, advantages, mask, clip=0.2, per="answer"):
    if per not in {"token", "answer"}:
        raise ValueError(per)
    rows, _ = mask.nonzero(as_tuple=True)
    ratio = torch.exp(log_probs[mask] - old_log_probs.detach()[mask])
    advantage = advantages[rows]
    bounded = torch.where(advantage > 0, ratio.clamp_max(1 + clip), ratio.clamp_min(1 - clip))
    gains = bounded * advantage
    if per == "token":
        return -gains.mean()
    sums = gains.new_zeros(mask.size(0)).index_add(0, rows, gains)
    return -(sums / mask.sum(1)).mean()


def kl_estimate(log_probs, reference_log_probs):
    ratio = torch.exp(reference_log_probs.detach() - log_probs)
    return ratio - 1 - (reference_log_probs.detach() - log_probs)
