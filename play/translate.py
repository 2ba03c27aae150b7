"""Train the encoder-decoder to translate, and translate typed sentences."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from random import Random
from typing import Any

import torch
from torch import Tensor, nn, optim

from autograder.play import Row, Stage
from autograder.report import duration
from play.language.corpus import LONGEST, Corpus, Example, corpus
from play.language.phrases import Words
from play.learning import (
    EXAMINED_SIZES,
    Schedule,
    Training,
    adam,
    check_sizes,
    initialized,
    learning_rate,
    load_checkpoint,
    print_faults,
    save_figures,
)
from play.sanity import check_model

STEPS = 2000
"""So that two cores need less than five minutes. 3,200 steps make a third as many mistakes."""
SCHEDULE: Schedule = {"warmup": 400, "scale": 0.5, "cooling": 0.6}

LEAST = {"sentences": 100, "asked": 1, "batch": 1, "width": 2, "heads": 1, "blocks": 1}
"""The least value of each option."""

MOST = LONGEST + 4
"""The most tokens of a sentence: with <SOS> and <EOS>, and room for a translation that is too long."""

SHOWN = ("hello world", "how are you")
BATCH_OF_TESTS = 125
FEW = 0.9
"""Fewer exact translations than this share are no success."""

CONTRACTIONS = {
    **{r"\bcan't\b": "can not", r"\bwon't\b": "will not", r"n't\b": " not", r"'m\b": " am", r"'re\b": " are"},
    **{r"'ll\b": " will", r"'ve\b": " have", r"\blet's\b": "let us", r"\bcannot\b": "can not"},
    r"\b(he|she|it|that|there|what|where|when|who|how)'s\b": r"\1 is",
}
"""Patterns of contractions. Any other `'s` marks an owner."""


class Translator:
    """The student's model with its two vocabularies. `sizes` has its width, heads and blocks."""

    def __init__(self, stage: Stage, english: list[str], hindi: list[str], sizes: Mapping[str, Any]) -> None:
        self.stage = stage
        self.sizes = sizes
        batching = stage.own("ex12_batching")
        self.english: dict[str, int] = batching.build_vocab([[word] for word in english])
        self.hindi: dict[str, int] = batching.build_vocab([[word] for word in hindi])
        self.model = self.new_model()

    def new_model(self, **others: int) -> nn.Module:
        """Return an untrained model; `others` override its sizes."""
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
        return [(encode(list(english), self.english), encode(list(hindi), self.hindi)) for english, hindi in examples]

    def padded(self, pairs: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
        """Return source (B, S) and target (B, T) of a batch."""
        pad_batch = self.stage.own("ex12_batching").pad_batch
        device = self.stage.device
        sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
        return pad_batch(sources, device=device), pad_batch(targets, device=device)

    def translated(self, sentences: Sequence[Words]) -> list[Words]:
        """Return greedy translations of English sentences."""
        batching = self.stage.own("ex12_batching")
        greedy = self.stage.own("ex14_generation").greedy_translate
        translations: list[Words] = []
        for at in range(0, len(sentences), BATCH_OF_TESTS):
            src, _ = self.padded(self.encoded((sentence, ()) for sentence in sentences[at : at + BATCH_OF_TESTS]))
            translations += [tuple(batching.decode(row, self.hindi)) for row in greedy(self.model, src, MOST).tolist()]
        return translations

    def exact(self, examples: Sequence[Example]) -> int:
        """Return how many examples are translated exactly."""
        translations = self.translated([english for english, _ in examples])
        pairs = zip(translations, examples, strict=True)
        return sum(translation == hindi for translation, (_, hindi) in pairs)


def play(stage: Stage) -> dict[str, Any]:
    """Train unless a checkpoint is complete, print how good the model is, and translate typed sentences."""
    steps = stage.steps or STEPS
    check_sizes(stage.options, LEAST)
    sizes = {name: value for name, value in stage.options.items() if name != "asked"}
    kept = load_checkpoint(stage, sizes)
    if kept is not None and kept["step"] >= steps and "figures" in kept:
        translator = _load(stage, kept)
        figures = dict(kept["figures"])
        stage.print(f"This model is trained already ({kept['step']:,} steps); --fresh starts over.")
    else:
        translator, figures = _train(stage, steps, sizes, kept)
    _report(stage, figures)
    _translate_lines(stage, translator)
    return figures


def load_trained(stage: Stage) -> Translator | None:
    """Return the model of `course play translate` for another activity; None if there is none.

    Raises `CheckpointError` if it was trained with other code.
    """
    kept = stage.checkpoint_of("translate").load()
    return None if kept is None else _load(stage, kept)


def _load(stage: Stage, kept: Mapping[str, Any]) -> Translator:
    translator = Translator(stage, kept["english"], kept["hindi"], kept["options"])
    translator.model.load_state_dict(kept["model"])
    return translator


def _train(
    stage: Stage, steps: int, sizes: dict[str, Any], kept: dict[str, Any] | None
) -> tuple[Translator, dict[str, Any]]:
    """Train, and return the model and its figures."""
    started = time.monotonic()
    options = stage.options
    words = corpus(stage.seed, int(options["sentences"]), int(options["asked"]))
    english, hindi = (sorted({word for pair in words.training for word in pair[side]}) for side in (0, 1))
    translator = Translator(stage, english, hindi, sizes)
    stage.print(f"{len(words.training):,} pairs of sentences, {len(english):,} English and {len(hindi):,} Hindi words.")
    pairs = translator.encoded(words.training)
    if kept is None:
        batch = translator.padded(pairs[:16])
        check_model(stage, translator.new_model(**EXAMINED_SIZES), *batch, len(translator.hindi))
    optimizer = adam(translator.model)
    before = time.monotonic() - started
    training = Training(
        stage,
        translator.model,
        optimizer,
        steps=steps,
        sizes=sizes,
        more={"english": english, "hindi": hindi, "options": sizes},
        rate=lambda step: learning_rate(stage, step, steps, **SCHEDULE),
        update=_updates(stage, translator, optimizer, pairs),
        samples=lambda: _samples(translator, words),
        unit="words",
    )
    seconds = training.run(kept)
    tested = time.monotonic()
    asked = len(words.unseen)
    figures: dict[str, Any] = {
        "steps": training.step,
        "asked": asked,
        "unseen": translator.exact(words.unseen),
        "combined": translator.exact(words.combined),
    }
    figures["seconds"] = round(before + seconds + time.monotonic() - tested, 1)
    save_figures(stage, sizes, figures)
    return translator, figures


def _updates(stage: Stage, translator: Translator, optimizer: optim.Optimizer, pairs: list[Any]) -> Any:
    """Return the function that makes a step. Each epoch has its own order, the same if the training is resumed."""
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
    """Return translations of the first phrases, and of sentences that are not in the training set."""
    known = {" ".join(english): (english, hindi) for english, hindi in words.training if " ".join(english) in SHOWN}
    examples = [*(known[phrase] for phrase in SHOWN if phrase in known), *words.unseen[:3], *words.combined[:1]]
    translations = translator.translated([english for english, _ in examples])
    rows = zip(examples, translations, strict=True)
    return [(" ".join(english), " ".join(words), words == hindi) for (english, hindi), words in rows]


def _report(stage: Stage, figures: dict[str, Any]) -> None:
    """Print known faults, then how good the model is."""
    asked = figures["asked"]
    print_faults(stage)
    for name, of in (("unseen", "new sentences"), ("combined", "new combinations of words")):
        right = figures[name]
        stage.print(f"The model translates {right} of {asked} {of} exactly ({right / asked:.1%}).")
    stage.print(f"{figures['steps']:,} steps in {duration(figures['seconds'])}.")
    if figures["unseen"] < FEW * asked and figures["steps"] < (stage.steps or STEPS):
        stage.print("The model has not learned long enough yet: the same command continues the training.")
    elif figures["unseen"] < FEW * asked:
        stage.print("Few translations are right. Train longer with --steps N, or run `course check --all`.")


def _translate_lines(stage: Stage, translator: Translator) -> None:
    """Translate typed sentences."""
    if not stage.say:
        stage.print("Type a sentence in English; an empty line ends.")
    for line in stage.inputs("> "):
        if words := parse_line(stage, translator, line):
            [translation] = translator.translated([words])
            stage.print(" ".join(translation))


def parse_line(stage: Stage, translator: Translator, line: str) -> Words:
    """Return the words of a line. If they cannot be translated, print why and return none."""
    words = parse_words(line)
    unknown = [word for word in words if word not in translator.english]
    if not words:
        stage.print(f"There is no English word in {line!r}.")
    elif len(words) > LONGEST:
        stage.print(f"The sentence has {len(words)} words; the model knows sentences of at most {LONGEST} words.")
    elif unknown:
        stage.print(" ".join(_about(word, translator.english) for word in dict.fromkeys(unknown)))
    else:
        return words
    return ()


def parse_words(line: str) -> Words:
    """Return the words of a line as in the training set: in lower case, without punctuation, `'s` as a word."""
    text = line.lower().replace("’", "'")
    for short, whole in CONTRACTIONS.items():
        text = re.sub(short, whole, text)
    return tuple(re.findall(r"'s\b|[^\W\d_]+|\d+", text))


def _about(word: str, known: dict[str, int]) -> str:
    near = get_close_matches(word, [other for other in known if other.isalpha()], n=3, cutoff=0.6)
    similar = f" It knows similar words: {', '.join(near)}." if near else ""
    return f"The model does not know the word {word}.{similar}"
