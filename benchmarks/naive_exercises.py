"""Naive checks of the exercises: the shapes of the results, and one example with one seed.

Both kinds make the same calls, with the round sizes that are customary. They compare what a student's code gives with
what the solution gives: the shapes alone, or the numbers too.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

B, T, S, H, D, F, V, LENGTH = 2, 4, 4, 2, 8, 16, 10, 16
TOLERANCE = 1e-4
IDS = ((1, 5, 6, 2), (1, 7, 2, 0))

Check = Callable[[ModuleType, ModuleType], None]


@dataclass(frozen=True)
class Part:
    """The code of an exercise. Its modules get the weights of the same modules in `weights`, or keep their own."""

    code: ModuleType
    weights: ModuleType | None

    def build(self, name: str, *arguments: Any) -> Any:
        """Make a module in eval mode; a state dict that does not fit raises RuntimeError."""
        with torch.random.fork_rng():
            torch.manual_seed(0)
            module = getattr(self.code, name)(*arguments)
            if self.weights is not None:
                torch.manual_seed(0)
                module.load_state_dict(getattr(self.weights, name)(*arguments).state_dict())
        return module.eval()


Calls = Callable[[Part], list[Tensor]]


def embeddings(part: Part) -> list[Tensor]:
    """Look up random ids (B, T)."""
    ids = torch.randint(0, V, (B, T))
    return [part.build("InputEmbeddings", D, V)(ids)]


def positional_encoding(part: Part) -> list[Tensor]:
    """Add the positions to random vectors (B, T, D); the table has more rows than that."""
    return [part.code.PositionalEncoding(D, LENGTH).eval()(torch.randn(B, T, D))]


def layer_norm(part: Part) -> list[Tensor]:
    """Normalize random vectors (B, T, D) with a fresh layer: scale one, shift zero."""
    return [part.code.LayerNormalization(D)(torch.randn(B, T, D))]


def masks(part: Part) -> list[Tensor]:
    """Make all three masks, for two sentences of which one is padded."""
    ids = torch.tensor(IDS)
    return [part.code.create_padding_mask(ids), part.code.create_look_ahead_mask(T), part.code.create_target_mask(ids)]


def attention(part: Part) -> list[Tensor]:
    """Attend by hand, and in heads (B, H, T, D / H) without a mask and with a causal one."""
    x, w_q, w_k, w_v = torch.randn(T, D), torch.randn(D, D), torch.randn(D, D), torch.randn(D, D)
    query, key, value = (torch.randn(B, H, T, D // H) for _ in range(3))
    attend = part.code.scaled_dot_product_attention
    by_hand = part.code.self_attention_by_hand(x, w_q, w_k, w_v)
    return [*by_hand[:6], *attend(query, key, value), *attend(query, key, value, causal())]


def multi_head_attention(part: Part) -> list[Tensor]:
    """Attend from a sequence to itself under a causal mask, and to another one of the same length without a mask."""
    x, memory = torch.randn(B, T, D), torch.randn(B, S, D)
    module = part.build("MultiHeadAttention", D, H)
    own = module(x, x, x, causal())
    return [own, module(x, memory, memory), module.attention_weights]


def feed_forward(part: Part) -> list[Tensor]:
    """Send random vectors (B, T, D) through."""
    return [part.build("FeedForwardNetwork", D, F)(torch.randn(B, T, D))]


def encoder(part: Part) -> list[Tensor]:
    """Run a block and a stack of two, without a mask and with a padding mask."""
    x, ids = torch.randn(B, S, D), torch.tensor(IDS)
    block = part.build("EncoderBlock", D, H, F, 0.1)
    stack = part.build("Encoder", V, D, H, F, 0.1, 2, LENGTH)
    return [block(x), block(x, padding()), stack(ids), stack(ids, padding())]


def decoder(part: Part) -> list[Tensor]:
    """Run a block and a stack of two, without masks and with a padding mask and a causal one."""
    x, memory, ids = torch.randn(B, T, D), torch.randn(B, S, D), torch.tensor(IDS)
    block = part.build("DecoderBlock", D, H, F, 0.1)
    stack = part.build("Decoder", V, D, H, F, 0.1, 2, LENGTH)
    both = (padding(), causal())
    return [block(x, memory), block(x, memory, *both), stack(ids, memory), stack(ids, memory, *both)]


def transformer(part: Part) -> list[Tensor]:
    """Run a model of two blocks each on a batch with padding, for logits and for probabilities."""
    src, tgt = torch.tensor(IDS), torch.tensor(IDS).flip(0)
    model = part.build("Transformer", V, V, D, H, F, 2, 2, 0.1, LENGTH)
    return [model(src, tgt), model.forward_with_softmax(src, tgt)]


def language_model(part: Part) -> list[Tensor]:
    """Run a model of two blocks, without a mask and with a padding mask."""
    ids = torch.tensor(IDS)
    model = part.build("LanguageModel", V, D, H, F, 2, LENGTH)
    return [model(ids), model(ids, padding())]


def causal() -> Tensor:
    """Return the mask (T, T), True on and below the diagonal."""
    return torch.ones(T, T).tril().bool()


def padding() -> Tensor:
    """Return the mask (B, 1, 1, S), True where there is no padding."""
    return (torch.tensor(IDS) != 0)[:, None, None, :]


def batching_shapes(student: ModuleType, _: ModuleType) -> None:
    """Count words, ids and tokens."""
    vocab = student.build_vocab([["the", "cat", "sat"], ["the", "dog"]])
    assert len(vocab) == 8
    assert len(student.encode(["the", "cat"], vocab)) == 4
    assert len(student.decode([1, 4, 5, 2], vocab)) == 2
    assert student.pad_batch([[1, 4, 2], [1, 4, 5, 2]]).shape == (2, 4)
    decoder_input, labels = student.teacher_forcing(torch.tensor(IDS))
    assert decoder_input.shape == labels.shape == (B, T - 1)


def batching_example(student: ModuleType, _: ModuleType) -> None:
    """Work two sentences through."""
    vocab = student.build_vocab([["the", "cat", "sat"], ["the", "dog"]])
    special = {"<PAD>": 0, "<SOS>": 1, "<EOS>": 2, "<UNK>": 3}
    assert vocab == {**special, "the": 4, "cat": 5, "sat": 6, "dog": 7}
    assert student.encode(["the", "cat"], vocab) == [1, 4, 5, 2]
    assert student.encode(["the", "bird"], vocab) == [1, 4, 3, 2]
    assert student.decode([1, 4, 5, 2], vocab) == ["the", "cat"]
    assert student.decode([1, 4, 5, 2, 0, 0], vocab) == ["the", "cat"]
    assert student.pad_batch([[1, 4, 2], [1, 4, 5, 2]]).tolist() == [[1, 4, 2, 0], [1, 4, 5, 2]]
    decoder_input, labels = student.teacher_forcing(torch.tensor([[1, 4, 5, 2]]))
    assert decoder_input.tolist() == [[1, 4, 5]]
    assert labels.tolist() == [[4, 5, 2]]


def training_shapes(student: ModuleType, _: ModuleType) -> None:
    """Look at the types of losses and rates, and count the epochs."""
    ids = torch.tensor(IDS)
    assert student.sequence_loss(torch.randn(B, T, V), ids).shape == ()
    assert isinstance(student.warmup_learning_rate(1, 512, 4000), float)
    model, optimizer = small_transformer()
    assert isinstance(student.train_step(model, optimizer, ids, ids), float)
    assert len(student.fit(model, optimizer, [(ids, ids), (ids, ids)], epochs=3)) == 3


def training_example(student: ModuleType, solution: ModuleType) -> None:
    """Compare the loss and the rate with the solution's, then see the loss of a small model fall."""
    ids, logits = torch.tensor(IDS), torch.randn(B, T, V)
    for smoothing in (0.0, 0.1):
        found = student.sequence_loss(logits, ids, label_smoothing=smoothing)
        assert torch.allclose(found, solution.sequence_loss(logits, ids, label_smoothing=smoothing), atol=TOLERANCE)
    for step in (1, 4000, 8000):
        expected = solution.warmup_learning_rate(step, 512, 4000)
        assert abs(student.warmup_learning_rate(step, 512, 4000) - expected) < 1e-8
    model, optimizer = small_transformer()
    losses = [student.train_step(model, optimizer, ids, ids, max_grad_norm=1.0) for _ in range(20)]
    model, optimizer = small_transformer()
    assert abs(losses[0] - solution.train_step(model, optimizer, ids, ids, max_grad_norm=1.0)) < TOLERANCE
    assert losses[-1] < losses[0]
    history = student.fit(model, optimizer, [(ids, ids), (ids, ids)], epochs=3)
    assert len(history) == 3
    assert history[-1] < history[0]


def small_transformer(dropout: float = 0.0) -> tuple[Any, torch.optim.Optimizer]:
    """Make the solution's Transformer, always with the same weights, and an optimizer for it."""
    torch.manual_seed(0)
    model = importlib.import_module("ex10_transformer").Transformer(V, V, D, H, F, 2, 2, dropout, LENGTH)
    return model, torch.optim.Adam(model.parameters(), lr=1e-3)


def small_language_model() -> Any:
    """Make the solution's language model in eval mode, always with the same weights."""
    torch.manual_seed(0)
    return importlib.import_module("ex11_language_model").LanguageModel(V, D, H, F, 2, LENGTH).eval()


def generation_shapes(student: ModuleType, _: ModuleType) -> None:
    """Look at the shapes of what is drawn, generated, translated and found."""
    ids, transformer = torch.tensor(IDS), small_transformer()[0].eval()
    assert student.sample_next(torch.randn(B, V)).shape == (B,)
    assert student.sample_next(torch.randn(B, V), 0.5, top_k=3, top_p=0.9).shape == (B,)
    assert student.generate(small_language_model(), ids, 5).shape == (B, T + 5)
    translated = student.greedy_translate(transformer, ids, 6)
    assert len(translated) == B
    assert translated.size(1) <= 6
    found, _score = student.beam_search(transformer, ids[:1], 2, 6)
    assert found.dim() == 1


def generation_example(student: ModuleType, solution: ModuleType) -> None:
    """Draw from four tokens, and compare greedy texts and translations with the solution's."""
    logits = torch.tensor([[0.15, 0.5, 0.05, 0.3]] * B).log()
    assert student.sample_next(logits, temperature=0).tolist() == [1] * B
    assert student.sample_next(logits, top_k=1).tolist() == [1] * B
    for options in ({"top_k": 2}, {"top_p": 0.7}):
        drawn = {token for _ in range(50) for token in student.sample_next(logits, **options).tolist()}
        assert drawn == {1, 3}
    ids, model, transformer = torch.tensor(IDS), small_language_model(), small_transformer()[0].eval()
    assert torch.equal(student.generate(model, ids, 5), solution.generate(model, ids, 5))
    greedy = solution.greedy_translate(transformer, ids[:1], 6)
    assert torch.equal(student.greedy_translate(transformer, ids, 6), solution.greedy_translate(transformer, ids, 6))
    found, score = student.beam_search(transformer, ids[:1], 1, 6)
    assert torch.equal(found, greedy[0])
    assert float(student.beam_search(transformer, ids[:1], 3, 6)[1]) >= float(score)


def shapes(calls: Calls) -> Check:
    """Return a check that the results have the shapes of the solution's."""

    def check(student: ModuleType, solution: ModuleType) -> None:
        found, expected = results(calls, student, None), results(calls, solution, None)
        assert [tensor.shape for tensor in found] == [tensor.shape for tensor in expected]

    return check


def values(calls: Calls) -> Check:
    """Return a check that the results are close to the solution's, with its weights."""

    def check(student: ModuleType, solution: ModuleType) -> None:
        found, expected = results(calls, student, solution), results(calls, solution, solution)
        for one, other in zip(found, expected, strict=True):
            assert one.shape == other.shape
            same = torch.equal(one, other) if other.dtype == torch.bool else torch.allclose(one, other, atol=TOLERANCE)
            assert same

    return check


def results(calls: Calls, code: ModuleType, weights: ModuleType | None) -> list[Tensor]:
    """Make the calls, with the same random inputs each time."""
    torch.manual_seed(0)
    return calls(Part(code, weights))


CALLS: Mapping[str, Calls] = {
    "ex01_embeddings": embeddings,
    "ex02_positional_encoding": positional_encoding,
    "ex03_layer_norm": layer_norm,
    "ex04_masks": masks,
    "ex05_attention": attention,
    "ex06_multi_head_attention": multi_head_attention,
    "ex07_feed_forward": feed_forward,
    "ex08_encoder": encoder,
    "ex09_decoder": decoder,
    "ex10_transformer": transformer,
    "ex11_language_model": language_model,
}

SHAPES: Mapping[str, Check] = {
    **{exercise: shapes(calls) for exercise, calls in CALLS.items()},
    "ex12_batching": batching_shapes,
    "ex13_training": training_shapes,
    "ex14_generation": generation_shapes,
}

EXAMPLES: Mapping[str, Check] = {
    **{exercise: values(calls) for exercise, calls in CALLS.items()},
    "ex12_batching": batching_example,
    "ex13_training": training_example,
    "ex14_generation": generation_example,
}
