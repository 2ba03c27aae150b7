# Ids as one-hot vectors, masks as numbers, losses as maxima of negative gains.
import torch


def answer_log_probs(logits, ids, mask):
    scores = logits.to(torch.promote_types(logits.dtype, torch.float32))
    scores = scores - scores.amax(-1, keepdim=True)
    log_probs = scores - scores.exp().sum(-1, keepdim=True).log()
    shifted = torch.roll(ids, -1, dims=1)
    hot = torch.nn.functional.one_hot(shifted, logits.size(-1)).to(log_probs.dtype)
    weight = torch.roll(mask, -1, dims=1).to(log_probs.dtype)
    weight = torch.cat([weight[:, :-1], torch.zeros_like(weight[:, :1])], dim=1)
    return torch.einsum("btv,btv,bt->b", log_probs, hot, weight)


def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    chosen = beta * (policy_chosen - reference_chosen.detach())
    rejected = beta * (policy_rejected - reference_rejected.detach())
    both = torch.stack([chosen, rejected], dim=-1)
    return -torch.log_softmax(both, dim=-1)[..., 0].mean()


def group_advantages(rewards, normalize=True, eps=1e-6):
    deviation, mean = torch.std_mean(rewards, dim=1, keepdim=True)
    if not normalize:
        deviation, eps = torch.ones_like(deviation), 0.0
    return (rewards - mean) / (deviation + eps)


def clipped_loss(log_probs, old_log_probs, advantages, mask, clip=0.2, per="answer"):
    weight = mask.to(log_probs.dtype)
    if per == "answer":
        weight = weight / weight.sum(1, keepdim=True) / weight.size(0)
    elif per == "token":
        weight = weight / weight.sum()
    else:
        raise ValueError("per is " + str(per))
    ratio = (log_probs - old_log_probs.detach()).exp()
    plain = -advantages[:, None] * ratio
    limited = -advantages[:, None] * torch.clip(ratio, 1.0 - clip, 1.0 + clip)
    return (torch.max(plain, limited) * weight).sum()


def kl_estimate(log_probs, reference_log_probs):
    with torch.no_grad():
        reference = reference_log_probs.clone()
    log_ratio = log_probs - reference
    return log_ratio + torch.exp(-log_ratio) - 1
