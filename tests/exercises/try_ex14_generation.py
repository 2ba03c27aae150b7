"""ex14: which of five tokens are drawn, and a translation with the likeliest words."""

from autograder.checks import step

LOGITS = [3, 2, 1, 0, -1]
DRAWS = 2000

WORDS = ["<PAD>", "<SOS>", "<EOS>", "A", "B", "C", "D"]
NEXT = {  # the probabilities of the words that follow
    "<SOS>": {"A": 0.55, "B": 0.45},
    "A": {"C": 0.40, "D": 0.35, "<EOS>": 0.25},
    "B": {"D": 0.40, "<EOS>": 0.60},
    "C": {"A": 0.20, "B": 0.20, "D": 0.20, "<EOS>": 0.40},
    "D": {"C": 0.05, "<EOS>": 0.95},
}


def sample(impl, given, **options):
    """Return which of the five tokens come in many draws."""
    generator = given.torch.Generator().manual_seed(0)
    tokens = impl.sample_next(given.tensor([LOGITS] * DRAWS), generator=generator, **options)
    return [bool((tokens == token).any()) for token in range(len(LOGITS))]


@step("likeliest, temperature 0", "0")
def step_likeliest(impl, given):
    return impl.sample_next(given.tensor([LOGITS]), temperature=0)


@step("drawn with top_p = 0.9", "x x x . .")
def step_top_p(impl, given):
    return sample(impl, given, top_p=0.9)


@step("drawn with top_k = 3", "x x x . .")
def step_top_k(impl, given):
    return sample(impl, given, top_k=3)


@step("drawn with both", "x x . . .")
def step_both(impl, given):
    return sample(impl, given, top_k=3, top_p=0.9)


@step("greedy_translate", "<SOS> A C <EOS>")
def step_greedy(impl, given):
    torch = given.torch
    table = given.tensor([[NEXT.get(word, {}).get(other, 0.0) for other in WORDS] for word in WORDS])

    class Model(torch.nn.Module):
        def encoder(self, ids, mask=None):
            return ids.unsqueeze(-1).float()

        def decoder(self, ids, encoder_output, src_mask=None, tgt_mask=None):
            return table[ids]

        def output_projection(self, decoded):
            return decoded.log()

    ids = impl.greedy_translate(Model(), given.tensor([[3, 2]], "int64"), 6)
    return [WORDS[token] for token in ids[0].tolist()]
