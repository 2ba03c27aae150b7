# One answer at a time, with Python's numbers where they will do.
import torch
import torch.nn.functional as F


def answer_log_probs(logits, ids, mask):
    totals = []
    for scores, tokens, counts in zip(logits, ids, mask):
        scores = scores.double() if scores.dtype == torch.float64 else scores.float()
        total = scores.new_zeros(())
        for place in range(1, tokens.size(0)):
            if counts[place]:
                before = scores[place - 1]
                total = total + before[tokens[place]] - torch.logsumexp(before, dim=0)
        totals.append(total)
    return torch.stack(totals)


def dpo_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta):
    with torch.no_grad():
        offset = reference_rejected - reference_chosen
    margin = beta * (policy_chosen - policy_rejected + offset)
    return F.softplus(-margin).mean()


def group_advantages(rewards, normalize=True, eps=1e-6):
    rows = []
    for group in rewards:
        centered = group - group.sum() / group.numel()
        if normalize:
            variance = (centered * centered).sum() / (group.numel() - 1)
            centered = centered / (torch.sqrt(variance) + eps)
        rows.append(centered)
    return torch.stack(rows)


def clipped_loss(log_probs, old_log_probs, advantages, mask, clip=0.2, per="answer"):
    if per != "answer" and per != "token":
        raise ValueError(f"unknown per: {per}")
    losses, sizes = [], []
    for row in range(log_probs.shape[0]):
        kept = mask[row]
        ratio = torch.exp(log_probs[row][kept] - old_log_probs[row][kept].detach())
        advantage = advantages[row]
        if advantage >= 0:
            gains = torch.clamp(ratio, max=1 + clip) * advantage
        else:
            gains = torch.clamp(ratio, min=1 - clip) * advantage
        losses.append(-gains.sum())
        sizes.append(int(kept.sum()))
    if per == "token":
        return sum(losses) / sum(sizes)
    return sum(loss / size for loss, size in zip(losses, sizes)) / len(sizes)


def kl_estimate(log_probs, reference_log_probs):
    d = reference_log_probs.detach() - log_probs
    return torch.expm1(d) - d
