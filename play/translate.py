"""Train the encoder-decoder to translate, and type sentences to it."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from random import Random
from typing import Any

import torch
from torch import Tensor, nn, optim

from autograder.learner.play.live import Row
from autograder.learner.play.stage import Stage
from play.language.corpus import LONGEST, Corpus, Example, corpus
from play.language.phrases import Words
from play.learning import LOOKED_AT, adam, check_sizes, initialized, kept_before, learn
from play.sanity import sane

STEPS = 3200
WARMUP, SCALE, COOLING = 400, 0.5, 0.6
"""The steps of the warm-up, what its rate is multiplied by, and the share of the steps in which it goes down to 0."""

LEAST = {"sentences": 100, "asked": 1, "batch": 1, "width": 2, "heads": 1, "blocks": 1}
"""The least that each option can be."""

MOST = LONGEST + 4
"""The most tokens of a sentence, <SOS> and <EOS> among them, and a little room for what is wrong."""

SHOWN = ("hello world", "how are you")
BATCH_OF_TESTS = 125
FEW = 0.9
"""A share of exact translations that is no success."""

CONTRACTIONS = {
    **{r"\bcan't\b": "can not", r"\bwon't\b": "will not", r"n't\b": " not", r"'m\b": " am", r"'re\b": " are"},
    **{r"'ll\b": " will", r"'ve\b": " have", r"\blet's\b": "let us", r"\bcannot\b": "can not"},
    r"\b(he|she|it|that|there|what|where|when|who|how)'s\b": r"\1 is",
}
"""What is short for two words, as patterns; any other `'s` is of an owner."""


class Translator:
    """A model of the student's, and the two vocabularies it speaks. `sizes` has its width, heads and blocks."""

    def __init__(self, stage: Stage, english: list[str], hindi: list[str], sizes: Mapping[str, Any]) -> None:
        self.stage = stage
        self.sizes = sizes
        batching = stage.own("ex12_batching")
        self.english: dict[str, int] = batching.build_vocab([[each] for each in english])
        self.hindi: dict[str, int] = batching.build_vocab([[each] for each in hindi])
        self.model = self.new_model()

    def new_model(self, **others: int) -> nn.Module:
        """Return an untrained model; `others` are sizes in the place of its own."""
        sizes = {**self.sizes, **others}
        torch.manual_seed(self.stage.seed)
        model: nn.Module = self.stage.own("ex10_transformer").Transformer(
            len(self.english),
            len(self.hindi),
            d_model=sizes["width"],
            num_heads=sizes["heads"],
            d_ff=2 * sizes["width"],
            num_encoder_blocks=sizes["blocks"],
            num_decoder_blocks=sizes["blocks"],
            dropout=0.0,
            seq_len=MOST,
        )
        return initialized(model).to(self.stage.device)

    def encoded(self, examples: Iterable[Example]) -> list[tuple[list[int], list[int]]]:
        """Return examples as ids."""
        encode = self.stage.own("ex12_batching").encode
        return [(encode(list(one), self.english), encode(list(other), self.hindi)) for one, other in examples]

    def padded(self, pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
        """Return source (B, S) and target (B, T) of a batch."""
        pad_batch = self.stage.own("ex12_batching").pad_batch
        device = self.stage.device
        return pad_batch([one for one, _ in pairs], device=device), pad_batch([two for _, two in pairs], device=device)

    def translated(self, sentences: Sequence[Words]) -> list[Words]:
        """Return the translations of English sentences, word by word the likeliest."""
        batching = self.stage.own("ex12_batching")
        greedy = self.stage.own("ex14_generation").greedy_translate
        said: list[Words] = []
        for at in range(0, len(sentences), BATCH_OF_TESTS):
            src, _ = self.padded(self.encoded((one, ()) for one in sentences[at : at + BATCH_OF_TESTS]))
            said += [tuple(batching.decode(row, self.hindi)) for row in greedy(self.model, src, MOST).tolist()]
        return said

    def exact(self, examples: Sequence[Example]) -> int:
        """Return how many of these are translated without a fault."""
        said = self.translated([english for english, _ in examples])
        return sum(one == hindi for one, (_, hindi) in zip(said, examples, strict=True))


def play(stage: Stage) -> dict[str, Any]:
    """Train, unless that was done before; say how good it is, and translate what is typed."""
    steps = stage.steps or STEPS
    check_sizes(stage.options, LEAST)
    sizes = {name: value for name, value in stage.options.items() if name != "asked"}
    kept = kept_before(stage, sizes)
    if kept is not None and kept["step"] >= steps and "figures" in kept:
        translator = _known(stage, kept)
        figures = dict(kept["figures"])
        stage.print(f"Trained before, {kept['step']:,} steps; --fresh starts over.")
    else:
        translator, figures = _trained(stage, steps, sizes, kept)
    _told(stage, figures)
    _answer(stage, translator)
    return figures


def trained(stage: Stage) -> Translator | None:
    """Return what `course play translate` trained, None where it was not run; for another activity.

    Raises `CheckpointError` where it was trained with other code than is there now.
    """
    kept = stage.checkpoint_of("translate").load()
    return None if kept is None else _known(stage, kept)


def _known(stage: Stage, kept: Mapping[str, Any]) -> Translator:
    translator = Translator(stage, kept["english"], kept["hindi"], kept["options"])
    translator.model.load_state_dict(kept["model"])
    return translator


def _trained(
    stage: Stage, steps: int, sizes: dict[str, Any], kept: dict[str, Any] | None
) -> tuple[Translator, dict[str, Any]]:
    """Train, and return the figures."""
    started = time.monotonic()
    options = stage.options
    words = corpus(stage.seed, int(options["sentences"]), int(options["asked"]))
    english, hindi = (sorted({word for pair in words.learned for word in pair[side]}) for side in (0, 1))
    translator = Translator(stage, english, hindi, sizes)
    stage.print(f"{len(words.learned):,} pairs of sentences, {len(english):,} English and {len(hindi):,} Hindi words.")
    pairs = translator.encoded(words.learned)
    if kept is None:
        sane(stage, translator.new_model(**LOOKED_AT), *translator.padded(pairs[:16]), len(translator.hindi))
    optimizer = adam(translator.model)
    before = time.monotonic() - started
    seconds = learn(
        stage,
        translator.model,
        optimizer,
        steps=steps,
        sizes=sizes,
        kept=kept,
        more={"english": english, "hindi": hindi, "options": sizes},
        rate=lambda step: _rate(stage, step, steps),
        update=_updates(stage, translator, optimizer, pairs),
        samples=lambda: _samples(translator, words),
        unit="words",
    )
    tested = time.monotonic()
    asked = len(words.unseen)
    figures: dict[str, Any] = {
        "steps": max(steps, int(kept["step"]) if kept else 0),
        "asked": asked,
        "unseen": translator.exact(words.unseen),
        "combined": translator.exact(words.combined),
    }
    figures["seconds"] = round(before + seconds + time.monotonic() - tested, 1)
    finished = stage.checkpoint.load(sizes) or {}
    stage.checkpoint.save({**finished, "figures": figures}, sizes)
    return translator, figures


def _rate(stage: Stage, step: int, steps: int) -> float:
    """Return the learning rate: that of ex13, brought down to 0 at the end."""
    rate = stage.own("ex13_training").warmup_learning_rate(step, stage.options["width"], WARMUP)
    return float(rate) * SCALE * min(1.0, (steps + 1 - step) / (COOLING * steps))


def _updates(stage: Stage, translator: Translator, optimizer: optim.Optimizer, pairs: list[Any]) -> Any:
    """Return the function that makes the step of a number: every epoch in another order, the same after a stop."""
    size = int(stage.options["batch"])
    ordered = sorted(pairs, key=lambda pair: (len(pair[1]), len(pair[0])))
    starts = range(0, max(len(ordered) - size, 0) + 1, size)
    train_step = stage.own("ex13_training").train_step
    orders: dict[int, list[int]] = {}

    def update(step: int) -> tuple[float, int]:
        epoch, at = divmod(step - 1, len(starts))
        if epoch not in orders:
            orders.clear()
            orders[epoch] = Random(f"{stage.seed} {epoch}").sample(starts, len(starts))
        chosen = ordered[orders[epoch][at] :][:size]
        loss = train_step(translator.model, optimizer, *translator.padded(chosen), max_grad_norm=1.0)
        return float(loss), sum(len(two) - 1 for _, two in chosen)

    return update


def _samples(translator: Translator, words: Corpus) -> list[Row]:
    """Return what becomes of the first phrases, and of sentences that are not learned."""
    known = {" ".join(english): (english, hindi) for english, hindi in words.learned if " ".join(english) in SHOWN}
    examples = [*(known[each] for each in SHOWN if each in known), *words.unseen[:3], *words.combined[:1]]
    said = translator.translated([english for english, _ in examples])
    rows = zip(examples, said, strict=True)
    return [(" ".join(english), " ".join(one), one == hindi) for (english, hindi), one in rows]


def _told(stage: Stage, figures: dict[str, Any]) -> None:
    """Say how good it is; what is known to be wrong stands beside it."""
    asked = figures["asked"]
    for exercise, message in stage.faults:
        own = stage.course.exercise(exercise)
        stage.print(f"Trained although {own.number} {own.title} is not right: {message}", "red")
    for name, of in (("unseen", "not learned from"), ("combined", "of words never seen together")):
        right = figures[name]
        stage.print(f"{right} of {asked} sentences {of} are translated without a fault ({right / asked:.1%}).")
    stage.print(f"{figures['seconds']:.0f} s for all of it, {figures['steps']:,} steps.")
    if figures["unseen"] < FEW * asked:
        stage.print("That is not many. Train longer with --steps N, or check your exercises with `course check --all`.")


def _answer(stage: Stage, translator: Translator) -> None:
    """Translate what is typed."""
    if not stage.say:
        stage.print("Type a sentence in English; an empty line ends.")
    for line in stage.inputs("> "):
        if words := understood(stage, translator, line):
            [said] = translator.translated([words])
            stage.print(" ".join(said))


def understood(stage: Stage, translator: Translator, line: str) -> Words:
    """Return the words of a line; none, after a sentence that says why, where they cannot be translated."""
    words = read_words(line)
    unknown = [word for word in words if word not in translator.english]
    if not words:
        stage.print(f"There is no English word in {line!r}.")
    elif len(words) > LONGEST:
        stage.print(f"That is {len(words)} words; it has learned sentences of at most {LONGEST}.")
    elif unknown:
        stage.print(" ".join(_about(word, translator.english) for word in dict.fromkeys(unknown)))
    else:
        return words
    return ()


def read_words(line: str) -> Words:
    """Return the words of a line as they are learned: in small letters, without signs, `'s` as a word."""
    text = line.lower().replace("’", "'")
    for short, whole in CONTRACTIONS.items():
        text = re.sub(short, whole, text)
    return tuple(re.findall(r"'s\b|[^\W\d_]+|\d+", text))


def _about(word: str, known: dict[str, int]) -> str:
    near = get_close_matches(word, [each for each in known if each.isalpha()], n=3, cutoff=0.6)
    hint = f" It knows {', '.join(near)}." if near else ""
    return f"The word {word} was never seen.{hint}"
