from ex12_batching import teacher_forcing
from torch.nn.utils import clip_grad_norm_


def sequence_loss(logits, labels, pad_idx=0, label_smoothing=0.0):
    z, y = logits[labels != pad_idx], labels[labels != pad_idx]
    logp = z - z.logsumexp(-1, keepdim=True)
    # the mean over all classes is the evenly spread part
    return -logp.gather(-1, y[:, None]).squeeze(-1).lerp(logp.mean(-1), label_smoothing).mean()


def warmup_learning_rate(step, d_model, warmup_steps):
    s = step or 1
    return min(s, warmup_steps) / warmup_steps * (d_model * max(s, warmup_steps)) ** -0.5


def train_step(model, optimizer, src, tgt, pad_idx=0, max_grad_norm=None):
    x, y = teacher_forcing(tgt)
    loss = sequence_loss(model.train()(src, x), y, pad_idx)
    optimizer.zero_grad()
    loss.backward()
    if max_grad_norm is not None:
        clip_grad_norm_(model.parameters(), max_grad_norm)
    optimizer.step()
    return loss.item()


def fit(model, optimizer, batches, epochs, pad_idx=0):
    return [
        sum(train_step(model, optimizer, src, tgt, pad_idx) for src, tgt in batches) / len(batches)
        for _ in range(epochs)
    ]
