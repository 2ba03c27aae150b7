# %% [markdown]
# # ex28: speculative decoding
#
# A large model writes one token per call, and each call reads all of its weights. But one call
# can also judge many tokens at once, almost in the same time. So let a small model, the **draft**,
# write a few tokens. The large model, the **target**, reads them in one call and keeps those that
# fit. The text has exactly the target's distribution (Leviathan et al. 2022, "Fast Inference from
# Transformers via Speculative Decoding", section 2.3 and algorithm 1; Chen et al. 2023,
# algorithm 2).
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`torch.softmax(x, dim=-1)`] | turns logits into probabilities |
# | [`x.clamp(min=0)`] | replaces negative numbers by 0, as a new tensor |
# | [`torch.rand(n, generator=g)`] | `n` random numbers from 0 up to 1; takes `dtype` and `device` too |
# | [`torch.multinomial(p, 1, generator=g)`] | draws an index with the probabilities `p` |
# | [`nn.functional.one_hot(ids, V)`] | 1 at each id, 0 elsewhere, as Long |
# | [`torch.cat`], [`torch.stack`] | join tensors along an axis, or along a new one |
# | [`torch.no_grad()`] | records no graph: as a decorator, or in a `with` |
#
# [`torch.softmax(x, dim=-1)`]: https://docs.pytorch.org/docs/stable/generated/torch.softmax.html
# [`x.clamp(min=0)`]: https://docs.pytorch.org/docs/stable/generated/torch.clamp.html
# [`torch.rand(n, generator=g)`]: https://docs.pytorch.org/docs/stable/generated/torch.rand.html
# [`torch.multinomial(p, 1, generator=g)`]: https://docs.pytorch.org/docs/stable/generated/torch.multinomial.html
# [`nn.functional.one_hot(ids, V)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html
# [`torch.cat`]: https://docs.pytorch.org/docs/stable/generated/torch.cat.html
# [`torch.stack`]: https://docs.pytorch.org/docs/stable/generated/torch.stack.html
# [`torch.no_grad()`]: https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html
#
# ## Which tokens are kept
#
# The draft drew the tokens $x_0, \dots, x_{n-1}$. At place $i$ it had the distribution $q_i$, and
# the target has $p_i$. The target's call also gives $p_n$, for the place after the last token. Go
# through the tokens from the left, each with its own uniform random number $u_i$:
#
# $$\text{keep } x_i \text{ while } u_i < \frac{p_i(x_i)}{q_i(x_i)}$$
#
# - **At the first refusal**, the tokens after it are dropped: they continue a text that is not
#   written. One more token is drawn from what the target wants more than the draft:
#
# $$r_i(x) = \frac{\max(0, p_i(x) - q_i(x))}{\sum_y \max(0, p_i(y) - q_i(y))}$$
#
# - **If all are kept**, one more token is drawn from $p_n$.
#
# So each call of the target gives between 1 and $n + 1$ tokens.
#
# **Why it is exact.** A token $x$ is drafted and kept with probability
# $q(x) \min(1, p(x)/q(x)) = \min(q(x), p(x))$. A refusal has the probability
# $\sum_y \max(0, p(y) - q(y))$, which is the divisor of $r$. So $x$ comes after a refusal with
# probability $\max(0, p(x) - q(x))$. Both together are $p(x)$.
#
# The divisor is 0 only if $p = q$. Then nothing is refused, except by rounding. Use $p_i$ there.
#
# *Other conventions*: Hugging Face's first version of assisted generation kept a token only if it
# was the target's own choice. The text stays right, but fewer tokens are kept.

# %% [markdown]
# ## By hand
#
# Three tokens, with $p = (0.5, 0.4, 0.1)$ and $q = (0.2, 0.2, 0.6)$:
#
# ```text
#   token                             0       1       2     sum
#   p / q                           2.5       2   0.167
#   drafted and kept: min(p, q)     0.2     0.2     0.1     0.5
#   max(0, p - q)                   0.3     0.2       0     0.5
#   r                               0.6     0.4       0       1
#   after a refusal: 0.5 · r        0.3     0.2       0     0.5
#   both together                   0.5     0.4     0.1       1
# ```
#
# The last line is $p$. Now the draft is `[0, 2]`, both places have these $p$ and $q$, and
# $p_2 = (0.1, 0.1, 0.8)$:
#
# ```text
#   uniforms      token 0            token 2            accepted   next distribution
#   0.9, 0.1      0.9 < 2.5: keep    0.1 < 0.167: keep      2      (0.1, 0.1, 0.8)
#   0.9, 0.5      0.9 < 2.5: keep    0.5 ≥ 0.167: stop      1      (0.6, 0.4, 0)
# ```

# %%
import torch
from torch import Tensor, nn


# %%
def verify_draft(drafted: Tensor, draft_probs: Tensor, target_probs: Tensor, uniforms: Tensor) -> tuple[int, Tensor]:
    """Return how many drafted tokens are kept, and the distribution (V,) of the token after them.

    Args:
        drafted: Long (n,). `n` may be 0: then nothing is kept, and the distribution is that of the target.
        draft_probs: (n, V), what each token was drawn from.
        target_probs: (n + 1, V), the target's probabilities at the same places, and after the last token.
        uniforms: (n,), one random number for each token.

    Token `i` is kept while `uniforms[i]` is below the target's probability divided by the draft's. If what remains
    after a refusal sums to 0, the distribution is the target's there. The inputs stay as they are.
    """
    # TODO ex28: find the first token that is refused; return its index and what remains there, divided by its sum.
    ### BEGIN SOLUTION
    for i, token in enumerate(drafted.tolist()):
        p, q = target_probs[i], draft_probs[i]  # (V,) both
        if uniforms[i] < p[token] / q[token]:
            continue
        rest = (p - q).clamp(min=0)  # (V,)
        total = rest.sum()
        return i, rest / total if total > 0 else p
    return len(drafted), target_probs[len(drafted)]
    ### END SOLUTION


# %% [markdown]
# ## Generation
#
# A round: the draft model writes `num_drafted` tokens, one call each. The target reads the text
# with these tokens in **one** call. Its logits at position $j$ predict the token at position
# $j + 1$. So the last `n + 1` rows are the distributions that `verify_draft` needs.
#
# Logits become probabilities by `softmax(logits / temperature)`, with the same temperature for both
# models. Temperature 0 means one-hot: probability 1 for the likeliest token. Then the text is the
# greedy text of the target, whatever the draft is.


# %%
### BEGIN SOLUTION
def distribution(logits: Tensor, temperature: float) -> Tensor:
    """Return the probabilities (..., V) of logits, one-hot at temperature 0."""
    if temperature == 0:
        return nn.functional.one_hot(logits.argmax(dim=-1), logits.size(-1)).to(logits.dtype)
    return torch.softmax(logits / temperature, dim=-1)


### END SOLUTION
@torch.no_grad()
def speculative_generate(
    target: nn.Module,
    draft: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    num_drafted: int,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Return the prompt (1, T) and max_new_tokens more tokens: Long (1, T + max_new_tokens), as the target writes.

    Both models get ids (1, N) and return logits (1, N, V). In each round the draft writes up to num_drafted tokens, and
    the target is called once: at most max_new_tokens times in all. Both distributions have the temperature; 0 makes
    them one-hot. If there is a generator, all randomness comes from it.
    """
    # TODO ex28: until the text is long enough, draft some tokens, call the target once, verify, and draw one more.
    ### BEGIN SOLUTION
    ids, end = prompt, prompt.size(1) + max_new_tokens
    while ids.size(1) < end:
        count = min(num_drafted, end - ids.size(1) - 1)
        text, guesses = ids, []
        for _ in range(count):
            guess = distribution(draft(text)[0, -1], temperature)  # (V,)
            token = torch.multinomial(guess, 1, generator=generator)  # (1,)
            text = torch.cat([text, token.unsqueeze(0)], dim=1)
            guesses.append(guess)
        wanted = distribution(target(text)[0, -count - 1 :], temperature)  # (count + 1, V)
        draft_probs = torch.stack(guesses) if guesses else wanted[:0]  # (count, V)
        drafted = text[0, ids.size(1) :]  # (count,)
        uniforms = torch.rand(count, generator=generator, dtype=wanted.dtype, device=wanted.device)
        accepted, next_probs = verify_draft(drafted, draft_probs, wanted, uniforms)
        token = torch.multinomial(next_probs, 1, generator=generator)  # (1,)
        ids = torch.cat([ids, drafted[None, :accepted], token.unsqueeze(0)], dim=1)
    return ids
    ### END SOLUTION


# %% [markdown]
# ## Try
#
# Take two models of ex22, one with 4 layers and one with 1, and train both on the same text. Count
# the calls of the large model for 200 tokens with `num_drafted` of 1, 2, 4 and 8. How many tokens
# does each call give? Then replace the draft by an untrained model. What changes, and
# what does not?
