# %% [markdown]
# # ex25: mixture of experts
#
# A mixture of experts has several feed-forward networks, and each token uses only a few of them. So
# the model gets many more parameters, but a token costs little more. A router decides which experts
# a token uses. Here the experts are the gated networks of ex18:
#
# $$p = \mathrm{softmax}(W_r x) \qquad
# y = \sum_{i \in \mathrm{top}_k} \frac{p_i}{\sum_{j \in \mathrm{top}_k} p_j} \,
# \mathrm{Expert}_i(x)$$
#
# $W_r$ is the router, and $p$ has a probability for each of the $E$ experts. The $k$ largest are
# chosen. Their probabilities are divided by their sum, so the weights of a token sum to 1. With
# $k = 1$ this weight is always 1.
#
# **Balance.** Experts that are chosen often learn fast, and then they are chosen more often. A
# second result of the layer, the balance loss, works against that:
#
# $$\mathrm{balance} = E \sum_{i=1}^{E} f_i \, P_i$$
#
# $f_i$ is the share of all choices that went to expert $i$. There are $k$ choices per token, over
# all tokens of the batch. $P_i$ is the mean of $p_i$ over all tokens. The loss is 1 if all choices
# and probabilities are even. $f$ is a count and has no gradient, so the loss trains the router
# through $P$. Training adds this loss, times a small coefficient, to the loss of the model. That
# coefficient is not part of this class.
#
# Source: Shazeer et al., "Outrageously Large Neural Networks" (2017, arXiv 1701.06538); Jiang et
# al., "Mixtral of Experts" (2024, arXiv 2401.04088), section 2.1; Fedus et al., "Switch
# Transformers" (2021, arXiv 2101.03961), section 2.2, equations 4 to 6.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (..., D) | tokens with any axes before the features; all tokens are one batch |
# | `router` | D to E | `nn.Linear` without a bias |
# | `p` | (tokens, E) | the probabilities of the experts |
# | weights, chosen | (tokens, k) | the k largest, and the numbers of their experts |
# | result | (..., D) and () | the mixture, and the balance loss |
#
# **PyTorch you need.** Each call is a link to its documentation.
#
# | call | what it does |
# |---|---|
# | [`nn.ModuleList(modules)`] | a list of modules whose parameters are trained |
# | [`torch.softmax(x, dim)`] | probabilities along an axis |
# | [`x.topk(k, dim)`] | the `k` largest numbers along an axis, and their indices |
# | [`torch.where(condition)`] | the indices of all True elements, as a tensor for each axis |
# | [`y.index_add(0, index, rows)`] | adds each row to the row of `y` at its index; an index may occur twice |
# | [`torch.bincount(x, minlength)`] | how often each whole number occurs |
#
# [`nn.ModuleList(modules)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html
# [`torch.softmax(x, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmax.html
# [`x.topk(k, dim)`]: https://docs.pytorch.org/docs/stable/generated/torch.topk.html
# [`torch.where(condition)`]: https://docs.pytorch.org/docs/stable/generated/torch.where.html
# [`y.index_add(0, index, rows)`]: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html
# [`torch.bincount(x, minlength)`]: https://docs.pytorch.org/docs/stable/generated/torch.bincount.html
#
# **Only the chosen ones.** An expert computes the tokens that chose it, and no others. So the
# experts see `tokens · k` rows in all. An expert that nobody chose gets no rows. It must not break
# anything. A batch without tokens gives an empty result and the loss 0.
#
# **Other conventions.** Switch, DeepSeek-V2 and OLMoE do not divide by the sum. In Hugging Face's
# Mixtral $f$ sums to $k$, so its loss is $k$ times ours.

# %% [markdown]
# ## Two tokens and three experts, in numbers
#
# ```text
#   token   router         p                        chosen     weights
#     0    [2 1 0]   [0.665 0.245 0.090]   experts 0 and 1   0.731 and 0.269
#     1    [0 2 1]   [0.090 0.665 0.245]   experts 1 and 2   0.731 and 0.269
# ```
#
# Two of the four choices went to expert 1, so f = (0.25, 0.5, 0.25). The means of both rows of p
# are P = (0.378, 0.455, 0.167). The balance loss is 3 · (0.25 · 0.378 + 0.5 · 0.455 + 0.25 · 0.167)
# = 1.091.

# %%
import torch
from ex18_gated_feed_forward import SwiGLU
from torch import Tensor, nn


# %%
class MixtureOfExperts(nn.Module):
    """Send each token to `top_k` of the experts, and mix their results (Mixtral, section 2.1).

    Attributes:
        router: `nn.Linear(D, E, bias=False)`.
        experts: `nn.ModuleList` of E networks `SwiGLU(D, F)`.
    """

    def __init__(self, d_model: int, d_ff: int, num_experts: int, top_k: int) -> None:
        """Raise ValueError with `top_k` and `num_experts` unless 1 <= top_k <= num_experts."""
        super().__init__()
        # TODO ex25: raise the error, and create the router and the experts
        ### BEGIN SOLUTION
        if not 1 <= top_k <= num_experts:
            raise ValueError(f"top_k is {top_k}, but there are {num_experts} experts to choose from")
        self.top_k = top_k
        self.router = nn.Linear(d_model, num_experts, bias=False)
        self.experts = nn.ModuleList(SwiGLU(d_model, d_ff) for _ in range(num_experts))
        ### END SOLUTION

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Turn x (..., D) into the mixture (..., D) and the balance loss ()."""
        # TODO ex25: choose the experts of each token, add up their weighted results, and compute the balance loss
        ### BEGIN SOLUTION
        tokens = x.reshape(-1, x.size(-1))  # (tokens, D)
        probabilities = torch.softmax(self.router(tokens), dim=-1)  # (tokens, E)
        largest, chosen = probabilities.topk(self.top_k, dim=-1)  # (tokens, k)
        weights = largest / largest.sum(dim=-1, keepdim=True)  # (tokens, k)

        output = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == number)  # the tokens that chose this expert
            result = weights[token, slot].unsqueeze(-1) * expert(tokens[token])
            output = output.index_add(0, token, result)  # (tokens, D)

        count = max(len(tokens), 1)  # without tokens, the loss is 0
        choices = torch.bincount(chosen.flatten(), minlength=len(self.experts))  # (E,)
        share = choices / (count * self.top_k)  # f
        mean = probabilities.sum(dim=0) / count  # P
        balance_loss = len(self.experts) * (share * mean).sum()
        return output.reshape(x.shape), balance_loss
        ### END SOLUTION


# %% [markdown]
# ## Try
#
# Make a layer with 8 experts, and train only its router with the balance loss. Print how often each
# expert is chosen before and after. Then train with `top_k = 1` on a loss of the output alone. Does
# the router get a gradient?
